"""Executor for a Dask cluster with a scheduler address, on one machine or many."""

import contextlib
import gc
import logging
import socket
import time
import uuid
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from shortflow._core import Control
from shortflow.errors import ConfigError, MissingRequirement
from shortflow.executors.executor import Pool, Session
from shortflow.executors.task import Files, OtherCode, Parcel, adopted, code_id, paths_of, perform, portable
from shortflow.result import Result
from shortflow.runs import Run

Client = Any
Future = Any
"""Types of `distributed`; Dask is optional and untyped."""

_PATIENCE_S = 10
"""Seconds for the scheduler to answer and to have a worker."""
_AHEAD = 2
"""Runs submitted per thread of the cluster, so that no thread idles."""


class Dask(Pool):
    """Workers of a Dask scheduler. They need the same build of Shortflow as this process.

    A run that loses its worker is done by another. A Python law must be in a file with the same path on all workers;
    other files named in a scenario are sent along.
    """

    def __init__(self, address: str) -> None:
        """`address` is the scheduler's, such as `tcp://10.0.0.1:8786`. Does not connect yet."""
        self.address = address

    @contextlib.contextmanager
    def session(self, *, tables: bool) -> Iterator[Session]:
        """Connects. Raises `MissingRequirement` if something is missing or differs."""
        client = _connected(self.address)
        try:
            _check_workers(client, self.address)
            yield _Cluster(client, self.address, tables)
        finally:
            client.close(timeout=1)


class _Cluster(Session):
    def __init__(self, client: Client, address: str, tables: bool) -> None:
        self._client, self._address, self._tables = client, address, tables
        self._jobs: set[Future] = set()
        self._files: dict[tuple[tuple[str, str, str], ...], Future] = {}
        self._name = f"shortflow-{uuid.uuid4().hex}"  # so that what is cancelled here is nobody else's
        self._threads, self._counted_at = 0, float("-inf")

    @property
    def room(self) -> int:
        with self._connection():
            if time.monotonic() - self._counted_at > 1:
                self._threads, self._counted_at = sum(self._client.nthreads().values()), time.monotonic()
        return _AHEAD * max(self._threads, 1)

    def submit(self, run: Run) -> Future:
        task = Parcel.of(run, tables=self._tables)
        job = self._client.submit(_perform, task, self._shared(run), pure=False, key=f"{self._name}-{run.key}")
        self._jobs.add(job)
        return job

    def outcome(self, run: Run, job: Future) -> Result:
        self._jobs.discard(job)
        with self._connection():
            if job.status != "finished":
                error = job.exception() if job.status == "error" else ConnectionError("the scheduler lost the run")
                return Result.failed(run, portable(error))
            answer: Result | Exception = job.result()
        if isinstance(answer, OtherCode):
            raise MissingRequirement(f"--dask {self._address}: {answer}")
        return Result.failed(run, answer) if isinstance(answer, Exception) else adopted(run, answer)

    def stop(self) -> bool:
        """Cancels the runs. Runs already started on workers continue there unobserved."""
        with contextlib.suppress(MissingRequirement), self._connection():
            self._client.cancel(list(self._jobs), force=True)
        return True

    @contextlib.contextmanager
    def _connection(self) -> Iterator[None]:
        """Raises the error with the remedy if the scheduler is gone."""
        gone = f"--dask {self._address}: the scheduler is gone; the same command resumes with another one"
        if self._client.status != "running":
            raise MissingRequirement(gone)
        try:
            yield
        except (OSError, TimeoutError) as error:
            raise MissingRequirement(gone) from error

    def _shared(self, run: Run) -> Future:
        """The files of a run's scenario, sent to a worker once, and again if lost."""
        hashes, paths = run.scenario.files(), paths_of(run.scenario)
        named = tuple((key, hashes[key], path.suffix) for key, path in paths.items())
        if named and named not in self._files:
            self._files[named] = self._client.submit(
                dict, {key: (path.suffix, path.read_bytes()) for key, path in paths.items()}, pure=False
            )
        return self._files.get(named)


def _perform(task: Parcel, files: Files | None) -> Result | Exception:
    """Does a task on a worker. Returns errors as data that needs no code of this process to be read."""
    try:
        return perform(task, Control(), files)
    except OtherCode as error:
        worker = import_module("distributed").get_worker()
        return OtherCode(f"worker {worker.address} {error}")
    except Exception as error:
        return portable(error)


def _connected(address: str) -> Client:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingRequirement("--dask needs Dask: pip install 'shortflow[dask]'") from None
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] == distributed.__name__:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # it is said here what went wrong, and in one line
    gc.collect()  # closes clients that never connected; amid the start of another they would block it by their lock
    try:  # first without a client: one that cannot connect outlives its error
        place = distributed.comm.get_address_host_port(distributed.comm.normalize_address(address))
        socket.create_connection(place, _PATIENCE_S).close()
        return distributed.Client(address, timeout=_PATIENCE_S, set_as_default=False)
    except ValueError as error:
        raise ConfigError(f"--dask {address}: not an address such as tcp://10.0.0.1:8786 ({error})") from None
    except (OSError, TimeoutError) as error:
        raise MissingRequirement(f"--dask {address}: no scheduler answers there within {_PATIENCE_S} s") from error


def _check_workers(client: Client, address: str) -> None:
    """Refuses workers with other code. Later workers are checked with their first task."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_S)
    except TimeoutError:
        raise MissingRequirement(f"--dask {address}: the scheduler has no workers") from None
    found: dict[str, Any] = client.run(code_id, on_error="return")
    for worker, code in sorted(found.items()):
        if isinstance(code, BaseException):
            raise MissingRequirement(f"--dask {address}: worker {worker} cannot load Shortflow: {code}")
        if code != code_id():
            raise MissingRequirement(
                f"--dask {address}: worker {worker} has Shortflow {code}, expected {code_id()}; "
                "install the same build there"
            )
