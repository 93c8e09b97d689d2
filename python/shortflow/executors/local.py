"""Executor for this machine: one thread per run, because the core releases the GIL during simulation.

A Python law holds the GIL. With several jobs such runs use processes, and each thread waits for one.
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
    """Threads of this process, and processes for Python laws."""

    def __init__(self, jobs: int | None = None, captures: Mapping[str, Capture] | None = None) -> None:
        """`jobs` runs at a time (default: one per available core). `captures` receive packets' events, by run key."""
        self.jobs = jobs or available_cores()
        self._captures = captures or {}

    @contextlib.contextmanager
    def session(self, *, tables: bool) -> Iterator[Session]:
        """Starts threads, which last until all runs are done."""
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
        """One waiting run per thread, so that no thread idles."""
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
        """Stops the runs. The pool's own wait ignores signals, so no run may be left by then."""
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
        if self._jobs > 1 and run.scheme_source and run.scheme_source.in_python and not capture:
            return self._processes.work(run, tables=self._tables)
        result = simulate_run(run, control, capture)
        return result.encoded() if self._tables else result
