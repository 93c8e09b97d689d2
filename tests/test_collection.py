"""The garbage collector is paused while a run is measured, and no reference cycles are left."""

import gc
import threading

import pytest

import shortflow
from shortflow.metrics.collection import collection_paused


def test_the_collector_is_off_only_while_some_thread_has_paused_it() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def other() -> None:
        with collection_paused():
            inside.set()
            go_on.wait(10)

    thread = threading.Thread(target=other)
    with collection_paused():
        thread.start()
        assert inside.wait(10)
    assert not gc.isenabled()
    go_on.set()
    thread.join()
    assert gc.isenabled()


def test_an_error_does_not_leave_the_collector_off() -> None:
    with pytest.raises(ZeroDivisionError), collection_paused():
        _ = 1 / 0
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_measuring_a_run_leaves_no_flow_for_the_collector() -> None:
    shortflow.run("incast", scheme="dctcp")
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        shortflow.run("incast", scheme="dctcp")
        gc.collect()
        assert {type(each).__name__ for each in gc.garbage} & {"Flow", "FlowGroup", "RunData"} == set()
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.collect()
