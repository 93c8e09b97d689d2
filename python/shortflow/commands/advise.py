"""`advise`: thresholds of a switch for given traffic. Combines `import`, `tune` and `export`."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from shortflow.commands.import_files import import_files
from shortflow.commands.tune import NOWHERE, tune
from shortflow.errors import ConfigError, require_at_least
from shortflow.exports.sonic import FILE as PATCH
from shortflow.exports.sonic import FULL_PACKET, patch, write_json
from shortflow.exports.sonic_patch import Patch
from shortflow.exports.sonic_profiles import CURVE
from shortflow.front import complete
from shortflow.front import options as given
from shortflow.front.command import Answer, Arg, Opt, showing
from shortflow.imports.documents import read_json
from shortflow.imports.files import File
from shortflow.imports.formats import read_all
from shortflow.imports.parts import Options, Part, Ports, Value
from shortflow.imports.rates import written
from shortflow.imports.scenario import FILE
from shortflow.imports.sonic import SCHEMES, SONIC
from shortflow.judge.verdicts import Verdict
from shortflow.metrics.catalogue import possible
from shortflow.quantities import counted, parse
from shortflow.report.blocks import Block, Words
from shortflow.terms import pairs
from shortflow.tuning.goal import Parameter
from shortflow.tuning.proposals import require_optuna
from shortflow.tuning.record import Tuning
from shortflow.tuning.verdict import joint_verdict, paired_change, sentence

RACK = 32
"""Maximum number of hosts of the rack that represents a network."""
_RTT = "8us"
_DURATION, _WARMUP = "10ms", "2ms"
MINIMIZE = "slowdown_p99_imported"
GOODPUT = "throughput_imported_bps"
_KEPT = 0.98
"""Share of today's goodput that advised thresholds must keep."""
TRIALS, SEEDS, CHECK_SEEDS = 32, 3, 20
MOST_RUNS = 200
_NEAR = 0.05
"""Values within this share of a range (in logarithms) from an end count as at the end."""


@dataclass(frozen=True)
class AdviceCommands:
    """The three commands as words of the shell."""

    import_: list[str]
    tune: list[str]
    export: list[str]

    @property
    def text(self) -> str:
        """The commands for the shell, one option per line."""
        return "\n".join(map(_shell, (self.import_, self.tune, self.export)))


def _shell(words: Sequence[str]) -> str:
    """A command for the shell. Each argument, and each option with its values, has a line of its own."""
    lines = [shlex.join(["shortflow", words[0]])]
    for word in words[1:]:
        text = shlex.quote(word)
        if lines[-1].startswith("    --") and not word.startswith("--"):
            lines[-1] += f" {text}"
        else:
            lines.append(f"    {text}")
    return " \\\n".join(lines)


@dataclass(frozen=True)
class Advice:
    """Today's thresholds, the best thresholds found, and the change of metrics on fresh seeds."""

    today: Mapping[str, str]
    found: Mapping[str, str]
    """The best thresholds found; today's if no other thresholds could be told apart from them."""
    buys: Mapping[str, str]
    """Change of each metric on fresh seeds, in words."""
    keep: bool
    """True if today's thresholds should stay."""
    sentence: str
    patch: Mapping[str, Any]
    """Part of config_db.json; empty if there is no patch."""
    not_expressed: Sequence[str]
    at_ends: Sequence[str]
    """Sentences on thresholds at an end of their range, with the option that widens the range."""
    steps: AdviceCommands
    runs: int

    def _blocks(self, out: Path) -> Iterator[Block]:
        rows = [f"{key} is {self.today[key]} today, and the best value is {self.found[key]}." for key in self.today]
        yield Words("\n".join(rows))
        if self.buys:
            changes = [f"  {name} is {words}." for name, words in self.buys.items()]
            yield Words("\n".join(["Fresh seeds compare the best values with today's:", *changes]))
        if self.keep:
            yield Words(f"Keep today's thresholds. {self.sentence}")
        else:
            yield Words(f"{self.sentence}\nThe patch is {out / 'patch' / PATCH}.")
            if self.not_expressed:
                yield Words(
                    "\n".join(["SONiC cannot express all settings:", *(f"  {each}" for each in self.not_expressed)])
                )
        if self.at_ends:
            yield Words("\n".join(self.at_ends))
        yield Words(f"The advice took {counted(self.runs, 'run')}. These three commands do the same:")
        yield Words(self.steps.text, "code")


def _answer(found: Advice | AdviceCommands, values: Mapping[str, Any]) -> Answer:
    if isinstance(found, AdviceCommands):
        words = {"import": found.import_, "tune": found.tune, "export": found.export}
        return Answer(lambda: words, [Words(found.text, "code")])
    document = {
        "today": found.today,
        "found": found.found,
        "buys": found.buys,
        "keep": found.keep,
        "sentence": found.sentence,
        "patch": found.patch,
        "not_expressed": found.not_expressed,
        "at_ends": found.at_ends,
        "runs": found.runs,
    }
    return Answer(lambda: document, found._blocks(Path(values["out"])))


@showing(_answer)
def advise(
    config: Annotated[str | Path, Arg("The config_db.json of a SONiC switch.", "CONFIG", read=Path)],
    *,
    out: Annotated[str | Path, Opt("New directory for the scenario, the tuning and the patch.", "DIR", read=Path)],
    traffic: Annotated[
        str | Path | None,
        Opt("File of flow sizes in a format of `import` (default: the web-search sizes).", "FILE", read=Path),
    ] = None,
    load: Annotated[float, Opt("Load of the hosts' links, as a share of their rate.", "SHARE", kind=float)] = 0.5,
    topology: Annotated[
        str | Path | None,
        Opt(f"File of a network in a format of `import` (default: a rack of at most {RACK} hosts).", "FILE", read=Path),
    ] = None,
    minimize: Annotated[str, Opt("Metric to minimize.", "METRIC", complete=complete.metrics)] = MINIMIZE,
    scheme: Annotated[
        str, Opt("Scheme of the hosts; the switches mark by WRED.", "NAME", complete=complete.schemes)
    ] = SCHEMES[0],
    queue: Annotated[int | None, given.whole("Queue of the switch's ports whose thresholds are tuned.", 0, 63)] = None,
    settings: given.Settings = None,
    parameters: Annotated[
        Mapping[str, str] | None,
        Opt(
            "Range to try for a key (default: a range around today's value). Append `:log` for a logarithmic range, or "
            "`:STEP`.",
            "KEY=LOW:HIGH",
            "--param",
            many=True,
            read=partial(pairs, option="--param", expected="KEY=LOW:HIGH, such as switch.mark_above=2KB:1MB:log"),
        ),
    ] = None,
    trials: Annotated[int, given.whole("Number of sets of thresholds to try.")] = TRIALS,
    seeds: Annotated[int, given.whole("Number of seeds of each trial.")] = SEEDS,
    check_seeds: Annotated[int, given.whole("Number of seeds of the check; no trial used them.", 2)] = CHECK_SEEDS,
    show: Annotated[bool, Opt("Print the three commands and run nothing.")] = False,
    jobs: given.Jobs = None,
    progress: given.Progress = None,
) -> Advice | AdviceCommands:
    """Recommend marking thresholds of a SONiC switch for your traffic.

    The command imports the configuration, tunes its WRED thresholds, and writes the best thresholds as a patch:
    `import`, `tune` and `export` in one. A check with fresh seeds compares the found thresholds with today's. If the
    check cannot tell a gain from chance, the advice is to keep today's thresholds, and no patch is written.

    `shortflow advise config_db.json --traffic sizes.txt --load 0.5 --out advice` takes the flow sizes from a file.

    In Python the answer has `today`, `found`, `buys`, `keep` and `patch`; with `show` it has the three commands.
    """
    require_optuna()
    require_at_least(1, trials=trials, seeds=seeds)
    place = Path(out)
    if not show and (place.exists() or place.is_symlink()):
        raise ConfigError(f"--out: {place} exists; name a new directory")
    paths = [Path(each) for each in (config, traffic, topology) if each is not None]
    today, rate, ports = _today(paths, queue)
    changes: dict[str, str | int | float] = {"traffic.1.load": load, "duration": _DURATION, "warmup": _WARMUP}
    if topology is None:
        hosts = max(2, min(RACK, ports))
        changes |= {
            "topology.kind": "star",
            "topology.hosts": hosts,
            "topology.rate": written(rate),
            "topology.rtt": _RTT,
        }
    changes |= settings or {}
    ranges = {**_ranges(today), **(parameters or {})}
    constraint = f"{GOODPUT} >= {_KEPT} * {scheme}"
    runs = trials * seeds + seeds + 2 * check_seeds
    if runs > MOST_RUNS:
        raise ConfigError(f"--trials, --seeds, --check-seeds: {runs} runs; expected at most {MOST_RUNS}")
    steps = _steps(paths, place, changes, queue, scheme, ranges, minimize, constraint, (trials, seeds, check_seeds))
    if show:
        return steps
    scenario = import_files(paths, out=place / "scenario", queue=queue, settings=changes).scenario
    tuned = tune(
        scenario,
        scheme,
        ranges,
        out=place / "tuned",
        minimize=minimize,
        subject_to=constraint,
        trials=trials,
        seeds=seeds,
        baseline=scheme,
        check_on=NOWHERE,
        check_seeds=check_seeds,
        jobs=jobs,
        progress=progress,
    )
    return _advice(tuned, steps, Path(config), queue, place, [minimize, GOODPUT], scheme)


def _today(paths: Sequence[Path], queue: int | None) -> tuple[dict[str, Value], float, int]:
    """Settings of the ports with the most frequent rate, this rate in bit/s, and the number of these ports."""
    parts: list[Part] = [
        part for _, form, part in read_all([File(path) for path in paths], None, Options(queue=queue)) if form is SONIC
    ]
    if not parts or parts[0].ports is None:
        raise ConfigError(f"{paths[0]}: expected a switch's config_db.json")
    ports: Ports = parts[0].ports
    rates = [link.rate for link in ports.rack[0].links] if ports.rack else []
    usual = max(set(rates), key=lambda rate: (rates.count(rate), rate)) if rates else ""
    rate = _number(usual) if usual else max(ports.by_rate)
    settings = dict(ports.by_rate[min(ports.by_rate, key=lambda each: abs(each - rate))])
    if settings["mark_above"].value == "unlimited":
        raise ConfigError(f"{paths[0]}: the ports' queue has no WRED profile, so no threshold can be tuned")
    return settings, rate or 25e9, rates.count(usual) or RACK


def _number(text: object) -> float:
    found = parse(str(text))
    return found.number * found.factor if found else 0.0


def _ranges(today: Mapping[str, Value]) -> dict[str, str]:
    """Ranges around today's thresholds, below the buffer space of a port."""
    low, high = (_number(today[key].value) for key in CURVE[:2])
    room = _number(today["buffer"].value) if "buffer" in today else 0.0
    if "memory" in today:
        alpha = float(str(today["xoff_alpha" if "xoff_alpha" in today else "memory_alpha"].value))
        room = _number(today["memory"].value) * alpha / (1 + alpha)
    most = 0.9 * room if room else 16 * high
    least = max(min(low, 30_000) / 4, 1500)
    ends = ((least, min(4 * low, most)), (least, min(4 * high, max(most, high))))
    ranges = {f"switch.{key}": f"{a:.0f}B:{max(b, 2 * a):.0f}B:log" for key, (a, b) in zip(CURVE, ends, strict=False)}
    return {**ranges, "switch.mark_probability": "0.01:1:log"}


def _steps(
    paths: Sequence[Path],
    place: Path,
    changes: Mapping[str, object],
    queue: int | None,
    scheme: str,
    parameters: Mapping[str, str],
    minimize: str,
    constraint: str,
    numbers: tuple[int, int, int],
) -> AdviceCommands:
    of_queue = [] if queue is None else ["--queue", str(queue)]
    sets = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
    ranges = [word for key, text in parameters.items() for word in ("--param", f"{key}={text}")]
    options = ("--trials", "--seeds", "--check-seeds")
    sizes = [word for option, number in zip(options, numbers, strict=True) for word in (option, str(number))]
    goal = ["--minimize", minimize, "--subject-to", constraint, "--baseline", scheme, "--check-on", NOWHERE]
    tuned, scenario = str(place / "tuned"), str(place / "scenario" / FILE)
    base = ["--base", str(paths[0]), *of_queue]
    return AdviceCommands(
        ["import", *map(str, paths), "--out", str(place / "scenario"), *of_queue, *sets],
        ["tune", scenario, "--scheme", scheme, *ranges, *goal, *sizes, "--out", tuned],
        ["export", tuned, "--as", "sonic", *base, "--out", str(place / "patch")],
    )


def _advice(
    tuned: Tuning,
    steps: AdviceCommands,
    config: Path,
    queue: int | None,
    place: Path,
    metrics: Sequence[str],
    scheme: str,
) -> Advice:
    """The advice from a tuning, with its patch if the gain is distinguishable from chance."""
    chosen, today = tuned.chosen, dict(tuned.question.untuned)
    keep = chosen is None or tuned.is_untuned(chosen) or joint_verdict(tuned) is not Verdict.AGREES
    buys: dict[str, str] = {}
    if chosen is not None and tuned.checks:
        check = tuned.checks[0]
        units = possible(check.classes)
        for metric in metrics:
            found = paired_change(metric, check.trials[chosen.number], check.schemes[scheme])
            buys[metric] = found.words(units[metric].unit) if found else "not measured"
    made = Patch()
    if chosen is not None and not keep:
        made = patch(chosen.settings, FULL_PACKET, base=read_json(File(config)), queue=queue)
        (place / "patch").mkdir()
        write_json(place / "patch" / PATCH, made.tables)
    return Advice(
        today,
        today if chosen is None else dict(chosen.settings),
        buys,
        keep,
        sentence(tuned),
        made.tables,
        made.not_expressed,
        [] if chosen is None else at_ends(tuned.question.parameters, chosen.values),
        steps,
        tuned.runs,
    )


def at_ends(parameters: Sequence[Parameter], values: Mapping[str, float]) -> list[str]:
    """Sentences on thresholds at an end of their range, if a wider range may have a better value."""
    found = []
    for each in parameters:
        value, whole = values[each.key], math.log(each.high / each.low) if each.low > 0 else 0.0
        if not whole:
            continue
        packet = FULL_PACKET / (_number(f"1{each.unit}") or 1.0)
        is_share = each.key.endswith(CURVE[-1])
        low = each.low / 4 if is_share else max(each.low / 4, packet)
        high = min(each.high * 4, 1.0) if is_share else each.high * 4
        is_low = math.log(value / each.low) < _NEAR * whole and low < each.low
        is_high = math.log(each.high / value) < _NEAR * whole and high > each.high
        if is_low or is_high:
            wider = replace(each, low=low if is_low else each.low, high=high if is_high else each.high)
            found.append(
                f"{each.key} = {each.written(value)} is at the {'low' if is_low else 'high'} end of its range, and a "
                f"better value may lie beyond. Widen it with --param {wider.text}"
            )
    return found
