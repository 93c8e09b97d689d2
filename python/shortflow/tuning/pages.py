"""Report of a tuning, and the tuning as plain data."""

from pathlib import Path
from typing import Any

import msgspec

from shortflow.report.blocks import PagePart, Words
from shortflow.report.chart import finite_only
from shortflow.report.markup import now, write_blocks
from shortflow.tuning.plots import plots
from shortflow.tuning.proposals import importances
from shortflow.tuning.record import Check, Trial, Tuning
from shortflow.tuning.tables import sections
from shortflow.tuning.verdict import HOLDS, joint_verdict, sentence, verdict, verdicts


def write_page(tuning: Tuning, path: Path) -> None:
    """Writes the report: verdict, tables and plots in one file that opens offline."""
    of = tuning.question
    settings = "".join(f", {key} = {value}" for key, value in of.settings.items())
    flows = "" if of.flow_keys else ", and so on the same flows"
    about = (
        f"{of.title} (scenario `{of.scenario}`{settings}). Every trial ran with seeds 1 to {of.seeds}{flows}. A trial "
        "that leaves flows unfinished is infeasible. Intervals are 95 % over the seeds, differences paired."
    )
    numbers = "\n".join(each.words for each in verdicts(tuning))
    write_blocks(
        path,
        title=f"Shortflow: {of.scheme} tuned",
        heading=f"{of.scheme} tuned: {of.goal.text}",
        head=[Words(sentence(tuning), "answer"), Words(numbers), Words(about, "note")],
        parts=[PagePart("Trials and checks", [*sections(tuning), *plots(tuning)])],
        footer=f"Simulated by Shortflow {of.code}. Written {now()}.",
    )


def tuning_table(tuning: Tuning) -> dict[str, Any]:
    """The tuning as plain data. `docs/results.md` describes the keys."""
    chosen, found, goal = tuning.chosen, importances(tuning), tuning.question.goal
    objectives = [each.metric for each in goal.objectives]
    wanted = [{"metric": each.metric, "maximize": each.maximize} for each in goal.objectives]
    in_words = {"objectives": wanted, "constraints": [each.text for each in goal.constraints]}
    return {
        "question": {**msgspec.to_builtins(tuning.question), "goal": in_words},
        "verdict": sentence(tuning),
        "holds": HOLDS[joint_verdict(tuning)],
        "chosen": {"trial": chosen.number, "settings": chosen.settings} if chosen else None,
        "front": tuning.front,
        "importance": dict(zip(objectives, found, strict=True)) if found else {},
        "references": msgspec.to_builtins(tuning.references),
        "trials": [_trial(tuning, trial) for trial in tuning.trials],
        "checks": [_check(tuning, check) for check in tuning.checks],
        "plots": finite_only([plot.document for plot in plots(tuning)]),
    }


def _trial(tuning: Tuning, trial: Trial) -> dict[str, Any]:
    judgement = tuning.judge(trial)
    return {
        "number": trial.number,
        "settings": trial.settings,
        "given_up": trial.given_up,
        "feasible": judgement.feasible,
        "objectives": judgement.objectives,
        "violations": judgement.violations,
        **msgspec.to_builtins(trial.found),
    }


def _check(tuning: Tuning, check: Check) -> dict[str, Any]:
    trials = {}
    for number, found in check.trials.items():
        judged = verdict(tuning, check, number)
        trials[str(number)] = {"holds": judged.holds, "words": judged.words, **msgspec.to_builtins(found)}
    return {
        "scenario": check.scenario,
        "settings": check.settings,
        "left_out": check.left_out,
        "schemes": msgspec.to_builtins(check.schemes),
        "trials": trials,
    }
