"""Main loop of a worker process of `executors.processes`.

The loop reads a task, sends None when the task begins, and then sends the answer.
"""

import os
import pickle
import sys
import threading
import time

from shortflow._core import Control
from shortflow.executors.processes import send
from shortflow.executors.task import perform, portable


def serve() -> None:
    """Reads tasks from stdin and writes answers to stdout. Output of a law goes to stderr instead."""
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
    """Exits within a second after the parent process is gone, even while a law's code runs."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    serve()
