"""All tables as CSV: `runs.csv` with settings and metrics, and the tables of each run."""

from pathlib import Path

from shortflow.exports.export import Export, stem
from shortflow.lazy import pl
from shortflow.metrics.columns import TABLES
from shortflow.results import Results
from shortflow.store.frames import runs_frame


def _write(results: Results, directory: Path) -> list[str]:
    runs = runs_frame(results.results, results.superseded, results.failed)
    runs = runs.with_columns(pl.col(pl.List(pl.String)).list.join(" "))
    runs.write_csv(directory / "runs.csv")
    for run in results.runs:
        for name in TABLES:
            table = run.table(name)
            if table.height:
                table.write_csv(directory / f"{name}_{stem(run)}.csv")
    return []


EXPORT = Export(
    "csv", "runs.csv with settings and metrics, and each table of each run that has rows, as CSV", write_runs=_write
)
