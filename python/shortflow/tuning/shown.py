"""Tunings as users get them, with text, plots and a table."""

from dataclasses import fields
from pathlib import Path
from typing import Self

import polars as pl

from shortflow.errors import front_door
from shortflow.quantities import in_base_unit
from shortflow.report.blocks import Block, Words
from shortflow.shown import Shown
from shortflow.tuning import record
from shortflow.tuning.plots import TuningPlots
from shortflow.tuning.tables import sections
from shortflow.tuning.verdict import sentence


class Tuning(record.Tuning, Shown):
    """A search for parameters: question, trials, and checks on fresh seeds.

    `chosen` is the best trial for the goal, with its `settings`; None if no trial is feasible.
    """

    @classmethod
    def showing(cls, plain: record.Tuning) -> Self:
        """The tuning of a record, with text, plots and a table."""
        return cls(**{each.name: getattr(plain, each.name) for each in fields(plain)})

    @property
    def plot(self) -> TuningPlots:
        """Charts of the report; `plot.all()` returns all of them."""
        return TuningPlots(self)

    def to_frame(self) -> pl.DataFrame:
        """Table with one row per trial: parameters, mean of each metric of the goal, and state.

        Parameters with a unit of time, data or rate are in seconds, bytes or bits per second.
        """
        keys, metrics = [each.key for each in self.question.parameters], self.question.goal.metrics
        of_keys = {key: [trial.settings[key] for trial in self.trials] for key in keys}
        return pl.DataFrame(
            [
                pl.Series("trial", [trial.number for trial in self.trials], pl.UInt32),
                *(pl.Series(key, in_base_unit(texts), pl.Float64) for key, texts in of_keys.items()),
                *(pl.Series(name, [trial.found.mean(name) for trial in self.trials], pl.Float64) for name in metrics),
                pl.Series("given_up", [trial.given_up for trial in self.trials], pl.Boolean),
                pl.Series("feasible", [trial.number in self.feasible for trial in self.trials], pl.Boolean),
            ]
        )

    def _blocks(self) -> list[Block]:
        of = self.question
        changed = "".join(f", {key} = {value}" for key, value in of.settings.items())
        head = Words(f"{of.title}\n{of.scenario}{changed}: {of.scheme} for {of.goal.text}")
        return [head, *sections(self), Words(sentence(self))]


@front_door
def read_tuning(directory: str | Path) -> Tuning:
    """Reads the tuning in a directory. Raises `DamagedResult` if it is missing or damaged."""
    return Tuning.showing(record.load_tuning(directory))
