"""Executor for this machine: one thread per run, because the core releases the GIL during simulation.

A Python law holds the GIL. With several jobs, runs of Python laws use processes, and a thread waits for each process.
"""

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor

from shortflow._core import Capture, Control
from shortflow.errors import Cancelled
from shortflow.executors.executor import Pool, Session
from shortflow.executors.processes import Processes
from shortflow.result import Result
from shortflow.runs import Run
from shortflow.simulate import available_cores, simulate_run


class Local(Pool):
    """Does runs in threads of this process, and runs of Python laws in other processes."""

    def __init__(self, jobs: int | None = None, captures: Mapping[str, Capture] | None = None) -> None:
        """Does `jobs` runs at a time (default: one per available core).

        `captures` receive the packet events of runs, by run key.
        """
        self.jobs = jobs or available_cores()
        self._captures = captures or {}

    @contextlib.contextmanager
    def session(self, *, tables: bool) -> Iterator[Session]:
        """Starts the threads, which end when all runs are done."""
        with contextlib.closing(Processes()) as processes, ThreadPoolExecutor(self.jobs) as pool:
            yield _Threads(pool, self.jobs, processes, tables, self._captures)


class _Threads(Session):
    def __init__(
        self, pool: ThreadPoolExecutor, jobs: int, processes: Processes, tables: bool, captures: Mapping[str, Capture]
    ) -> None:
        self._pool, self._jobs, self._processes, self._tables = pool, jobs, processes, tables
        self._captures = captures
        self._at_work: dict[Future[Result], Control] = {}
        self._stopping = threading.Event()

    @property
    def room(self) -> int:
        """Two runs per thread. The second waits, so that the thread has work when the first ends."""
        return 2 * self._jobs

    @property
    def controls(self) -> Sequence[Control]:
        return list(self._at_work.values())

    def submit(self, run: Run) -> Future[Result]:
        control = Control()
        job = self._pool.submit(self._work, run, control)
        self._at_work[job] = control
        return job

    def outcome(self, run: Run, job: Future[Result]) -> Result:
        del self._at_work[job]
        error = job.exception()
        return Result.failed(run, error) if error else job.result()

    def stop(self) -> bool:
        """Cancels the runs. Waits 0.1 s at a time, because the pool's own wait at the end ignores signals."""
        self._stopping.set()
        self._processes.stop()
        for job, control in self._at_work.items():
            job.cancel()
            control.cancel()
        return not futures.wait(self._at_work, 0.1).not_done

    def _work(self, run: Run, control: Control) -> Result:
        if self._stopping.is_set():
            raise Cancelled("the run was cancelled")
        capture = self._captures.get(run.key)
        # A capture cannot take events from another process, so its run stays in this one.
        if self._jobs > 1 and run.scheme_source and run.scheme_source.in_python and not capture:
            return self._processes.work(run, tables=self._tables)
        result = simulate_run(run, control, capture)
        return result.encoded() if self._tables else result
