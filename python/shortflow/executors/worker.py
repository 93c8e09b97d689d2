"""Main loop of a process of `executors.processes`: reads a task, sends None at its start, then the answer."""

import os
import pickle
import sys
import threading
import time

from shortflow._core import Control
from shortflow.executors.processes import send
from shortflow.executors.task import perform, portable


def serve() -> None:
    """Answers tasks from stdin on stdout. Output of a law goes to stderr."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while True:
            try:
                task = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            send(answers, None)
            try:
                send(answers, perform(task, Control()))
            except Exception as error:
                send(answers, portable(error))


def _end_with(parent: int) -> None:
    """Exits when the parent process is gone, even during a law's code."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    serve()
