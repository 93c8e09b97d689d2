"""Processes of this machine for Python laws. Each process does one run at a time, which it receives over a pipe.

`multiprocessing` is not used, because it would rerun the user's script.
"""

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO

from shortflow.errors import Cancelled, ConfigError, LostRun
from shortflow.executors.task import OtherCode, Parcel, adopted
from shortflow.result import Result
from shortflow.runs import Run
from shortflow.simulate import REMEDY

_ATTEMPTS = 3
"""Maximum number of attempts at a run whose process dies."""


class Processes:
    """Worker processes, started on demand."""

    def __init__(self) -> None:
        """Starts no process."""
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        self._all: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def work(self, run: Run, *, tables: bool) -> Result:
        """Does a run in an idle process, or in a new one. Thread-safe.

        Raises `LostRun` if the process dies repeatedly or has other code, `ConfigError` if the law ends the process,
        and the error of the run.
        """
        task = Parcel.of(run, tables=tables)
        for _ in range(_ATTEMPTS):
            process, begun = self._process(), False
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                send(process.stdin, task)
                # The first answer comes before the law runs, so an exit before this answer is no fault of the law.
                begun = pickle.load(process.stdout) is None
                answer: Result | Exception = pickle.load(process.stdout)
            except (EOFError, OSError, pickle.UnpicklingError):  # the process has died
                code = self._end(process)
                if code >= 0 and not begun:
                    raise LostRun(
                        f"its process ended with exit code {code} before the run began; an error above says why"
                    ) from None
                if code >= 0:
                    raise ConfigError(
                        f"{run.scheme.name}: the law ended its process with exit code {code}; {REMEDY}"
                    ) from None
                continue
            self._idle.put(process)
            if isinstance(answer, OtherCode):
                raise LostRun(f"{run.scheme.name}: another process {answer}; was it changed meanwhile?")
            if isinstance(answer, Exception):
                raise answer
            return adopted(run, answer)
        killed = "; is there too little memory?" if code == -signal.SIGKILL else ""
        raise LostRun(f"its process died {_ATTEMPTS} times, of signal {-code}{killed}")

    def stop(self) -> None:
        """Kills all processes, and refuses new ones."""
        with self._lock:
            self._stopped = True
            for process in self._all:
                process.kill()

    def close(self) -> None:
        """Kills all processes, and waits for their ends."""
        self.stop()
        for process in [*self._all]:
            self._end(process)

    def _process(self) -> "subprocess.Popen[bytes]":
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            pass
        with self._lock:
            if self._stopped:
                raise Cancelled("the run was cancelled")
            command = [sys.executable, "-P", "-m", "shortflow.executors.worker"]
            paths = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            # A session of its own, so that Ctrl-C reaches only this process, which then ends the worker.
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=paths, start_new_session=True
            )
            self._all.add(process)
            return process

    def _end(self, process: "subprocess.Popen[bytes]") -> int:
        """Kills a process and returns its exit code. A negative code is the signal that ended the process."""
        with self._lock:
            self._all.discard(process)
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(OSError):  # a dead process does not read the rest
                    pipe.close()
        return process.wait()


def send(pipe: IO[bytes], message: object) -> None:
    """Writes a message to a pipe."""
    pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()
