"""Output of `why` for fourteen pairs drawn by a seed, compared with the packets of `run --trace`."""

import random
from pathlib import Path

import polars as pl
import pytest

from conftest import Command
from shortflow.scenario import shipped_scenarios
from test_scenarios import SMALL

SCHEMES = ("tcp", "tcp-ecn", "dctcp", "l2dct", "d2tcp", "xdctcp", "pecn", "pfabric", "swift")
EVENTS = ("sent", "dropped", "marked", "timeout")
FIELDS = ("time_s", "event", "reason", "port", "flow", "kind", "seq", "length")


def drawn() -> list[tuple[str, ...]]:
    """Fourteen scenarios with two schemes each, without large networks and known results."""
    of = random.Random(57)
    names = sorted(
        set(shipped_scenarios()) - {name for name in shipped_scenarios() if name.startswith(("known", "bench"))}
    )
    return [(name, *of.sample(SCHEMES, 2)) for name in of.sample(names, 14)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first", "second"), drawn())
def test_an_explanation_is_that_of_the_packets(
    shortflow: Command, tmp_path: Path, name: str, first: str, second: str
) -> None:
    given = {"duration": "10ms", "warmup": "1ms", **SMALL.get(name, {})}
    settings = [each for key, value in given.items() for each in ("--set", f"{key}={value}")]
    names = ("--schemes", f"{first},{second}")
    shortflow("compare", name, *names, "--seeds", "1", "--no-ideal", *settings, "--out", "store")
    said = shortflow("why", "store", first, second, "--json", code=0).document
    runs = []
    for scheme in (first, second):
        shortflow("run", name, "--scheme", scheme, *settings, "--trace", f"all={scheme}.parquet", code=0)
        events = pl.scan_parquet(tmp_path / f"{scheme}.parquet").filter(pl.col("event").is_in(EVENTS))
        runs.append(events.select(FIELDS).collect())
    plain = [run.rows() for run in runs]
    if said["parting"] is None:
        assert plain[0] == plain[1]
    else:
        at = next((at for at, (mine, theirs) in enumerate(zip(*plain, strict=False)) if mine != theirs), None)
        at = min(map(len, plain)) if at is None else at
        for of_run, side in zip(plain, ("first", "second"), strict=True):
            event = said["parting"][side]
            found = of_run[at] if at < len(of_run) else None
            assert (tuple(event[field] for field in FIELDS) if event else None) == found
    for run, of_scheme in zip(runs, said["schemes"], strict=True):
        flows = {event: set(run.filter(pl.col("event") == event, pl.col("kind") == "data")["flow"]) for event in EVENTS}
        assert of_scheme["asked"]["marked"] <= len(flows["marked"])
        if not flows["dropped"] and not (run["event"] == "timeout").any():
            assert of_scheme["asked"]["lossy"] == 0
