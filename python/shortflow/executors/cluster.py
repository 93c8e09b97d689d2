"""Executor for a Dask cluster, which may span several machines."""

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
"""Types of `distributed`. Dask is an optional package without type hints."""

_PATIENCE_S = 10
"""Seconds to wait for an answer of the scheduler, and then for its first worker."""
_AHEAD = 2
"""Number of runs submitted per thread of the cluster. More than one, so that no thread waits for its next run."""


class Dask(Pool):
    """Workers of a Dask scheduler. The workers need the same build of Shortflow as this process.

    If a run's worker is lost, another worker does the run. A Python law must be in a file with the same path on all
    workers. Other files that a scenario names are sent to the workers.
    """

    def __init__(self, address: str) -> None:
        """Stores the scheduler's address, such as `tcp://10.0.0.1:8786`, without connecting."""
        self.address = address

    @contextlib.contextmanager
    def session(self, *, tables: bool) -> Iterator[Session]:
        """Connects to the scheduler.

        Raises `MissingRequirement` if Dask, the scheduler or a worker is missing, or if a worker has other code. Raises
        `ConfigError` for an invalid address.
        """
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
        self._name = f"shortflow-{uuid.uuid4().hex}"  # a unique name, so that `stop` cancels no run of another client
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
        """Cancels the runs. A run that a worker has started continues there, and its result is lost."""
        with contextlib.suppress(MissingRequirement), self._connection():
            self._client.cancel(list(self._jobs), force=True)
        return True

    @contextlib.contextmanager
    def _connection(self) -> Iterator[None]:
        """Raises a `MissingRequirement` with the remedy if the scheduler is gone."""
        gone = f"--dask {self._address}: the scheduler is gone; the same command resumes with another one"
        if self._client.status != "running":
            raise MissingRequirement(gone)
        try:
            yield
        except (OSError, TimeoutError) as error:
            raise MissingRequirement(gone) from error

    def _shared(self, run: Run) -> Future:
        """Files of a run's scenario.

        Each set of files is sent to the cluster once, and sent again if the cluster loses it.
        """
        hashes, paths = run.scenario.files(), paths_of(run.scenario)
        named = tuple((key, hashes[key], path.suffix) for key, path in paths.items())
        if named and named not in self._files:
            self._files[named] = self._client.submit(
                dict, {key: (path.suffix, path.read_bytes()) for key, path in paths.items()}, pure=False
            )
        return self._files.get(named)


def _perform(task: Parcel, files: Files | None) -> Result | Exception:
    """Does a task on a worker. Returns errors as data that any process can read."""
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
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # the errors below say in one line what went wrong
    gc.collect()  # closes clients that never connected; during the start of another client, their lock would block it
    try:  # probe the address first, because a client that cannot connect outlives its error
        place = distributed.comm.get_address_host_port(distributed.comm.normalize_address(address))
        socket.create_connection(place, _PATIENCE_S).close()
        return distributed.Client(address, timeout=_PATIENCE_S, set_as_default=False)
    except ValueError as error:
        raise ConfigError(f"--dask {address}: not an address such as tcp://10.0.0.1:8786 ({error})") from None
    except (OSError, TimeoutError) as error:
        raise MissingRequirement(f"--dask {address}: no scheduler answers there within {_PATIENCE_S} s") from error


def _check_workers(client: Client, address: str) -> None:
    """Refuses workers with other code. A worker that joins later is checked by its first task."""
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
