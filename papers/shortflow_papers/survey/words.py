"""Sentences on the findings of the survey. All numbers and names come from its cells."""

from collections.abc import Iterable, Sequence

import numpy as np

from shortflow.api.judge import CONFIDENCE, DECISIVE, Verdict, true_interval
from shortflow.api.numbers import counted
from shortflow.api.pages import number
from shortflow.api.scenarios import ONE_ALPHA
from shortflow_papers.survey.engine import Survey, SurveyPlace, View
from shortflow_papers.survey.schemes import OTHER_ALPHA, PLAIN, SCHEMES
from shortflow_papers.survey.tables import cells_of, wins
from shortflow_papers.survey.winners import AFCT, CRITERIA, SEVERAL, SOLE, TIE, UNDECIDED, Cell, Criterion

Cells = dict[SurveyPlace, Cell]


def conclusions(view: View) -> list[str]:
    """Sentences on the winners at one initial alpha: by mean FCT for each kind of workload, then by other criteria."""
    found = []
    of_mean = cells_of(view, AFCT)
    for group in dict.fromkeys(place.workload.group for place in of_mean):
        cells = {place: cell for place, cell in of_mean.items() if place.workload.group == group}
        found.append(_verdicts(f"{_capital(AFCT.name)}, on {group}", cells))
    others = [criterion for criterion in CRITERIA if criterion is not AFCT]
    return [*found, *(_verdicts(_capital(each.name), cells) for each in others if (cells := cells_of(view, each)))]


def alpha_effects(found: Survey) -> list[str]:
    """Sentences that compare the schemes' numbers of wins at both initial alphas; empty for a single alpha."""
    if len(found.views) < 2:
        return []
    return [_effect(criterion, *found.views) for criterion in CRITERIA if cells_of(found.views[0], criterion)]


def about_alpha(found: Survey) -> str:
    """Sentence on the initial alphas, and on schemes with a fixed alpha."""
    first = found.views[0].alpha
    if len(found.views) < 2:
        return f"Schemes that estimate the share of marks begin with alpha {first}."
    others = ", ".join(f"{scheme} has {OTHER_ALPHA}" for scheme in ONE_ALPHA)
    return (
        "Schemes that estimate the share of marks are compared twice: beginning with alpha "
        f"{first} like the papers' ns-2 code ({others}), and all with alpha {OTHER_ALPHA}, as RFC 8257 and Linux do."
    )


def about_seeds(found: Survey) -> str:
    """Width of the intervals that do not tell schemes apart."""
    if found.seeds < DECISIVE:
        return f"No winner is named from fewer than {DECISIVE} seeds: run at least {DECISIVE} seeds."
    parts = []
    for criterion in CRITERIA:
        cells = [cell for view in found.views for cell in cells_of(view, criterion).values()]
        open_ones = [each for cell in cells for each in cell.line.standings if each.verdict is Verdict.UNDECIDED]
        ends = [true_interval(each.lead) for each in open_ones if each.lead]
        if wide := [np.sqrt((1 + high) / (1 + low)) - 1 for low, high in ends if low > -1 and high < np.inf]:
            middle, most = (number(100 * float(value)) for value in np.percentile(wide, (50, 90)))
            parts.append(f"±{middle} % by {criterion.name} (a tenth of them by more than {most} %)")
    if not parts:
        return "Every cell with several schemes tells them apart."
    return (
        f"{found.seeds} seeds and {100 * CONFIDENCE:g} % confidence for {len(SCHEMES) - 1} ratios together do not show "
        "small differences. Median interval of the ratio between the best and a scheme that is not told apart from it: "
        f"{'; '.join(parts)}."
    )


def _verdicts(where: str, cells: Cells) -> str:
    """Sentences on the cells of one criterion, by outcome."""
    found = [(place, cell.outcome) for place, cell in cells.items()]
    of = {word: [place for place, outcome in found if outcome == word] for word in (SOLE, TIE, SEVERAL, UNDECIDED)}
    parts = [f"{where} ({counted(len(cells), 'cell')}).", f"Sole winners: {_alone(cells, of[SOLE])}."]
    for begins, word in (("Tied for the best", TIE), ("Not told apart", SEVERAL)):
        if shared := [place for place in of[word] if cells[place].has_worse]:
            parts.append(f"{begins}: {_sharing(cells, shared)}.")
    if every := [place for place in of[TIE] if not cells[place].has_worse]:
        parts.append(f"All schemes tie: {_names(every)}.")
    parts.append(f"Undecided: {_names(of[UNDECIDED]) or 'none'}.")
    return " ".join(parts)


def _sharing(cells: Cells, places: Sequence[SurveyPlace]) -> str:
    """Number of schemes that share places, and the most frequent of them."""
    size = np.median([len(cells[place].best) for place in places])
    counts = {scheme: sum(scheme in cells[at].best for at in places) for scheme in SCHEMES}
    most = max(counts.values())
    often = ", ".join(each for each, count in counts.items() if count == most)
    return f"{size:g} schemes in the median of {counted(len(places), 'cell')}, most often with {often} ({most})"


def _alone(cells: Cells, places: Sequence[SurveyPlace]) -> str:
    winners: dict[str, list[SurveyPlace]] = {}
    for place in places:
        winners.setdefault(cells[place].best[0], []).append(place)
    ordered = sorted(winners.items(), key=lambda each: -len(each[1]))
    return ", ".join(f"{scheme} in {len(won)} ({_names(won)})" for scheme, won in ordered) or "none"


def _effect(criterion: Criterion, first: View, other: View) -> str:
    """Sentences on the schemes that win more or fewer cells at the other initial alpha."""
    before, after = cells_of(first, criterion), cells_of(other, criterion)
    counts = {scheme: (sum(wins(before, scheme)), sum(wins(after, scheme))) for scheme in SCHEMES}
    plain = counts.pop(PLAIN)
    changed = sorted((s for s, (x, y) in counts.items() if x != y), key=lambda s: -abs(counts[s][1] - counts[s][0]))
    moves = ", ".join(f"{scheme} {counts[scheme][0]} → {counts[scheme][1]}" for scheme in changed)
    kept = ", ".join(f"{scheme} {count}" for scheme, (count, other_count) in counts.items() if count == other_count > 0)
    alone = [sum(cell.outcome == SOLE for cell in cells.values()) for cells in (before, after)]
    return (
        f"{_capital(criterion.name)}: plain {PLAIN} is among the best in {plain[0]} of {len(before)} cells at "
        f"{first.label} and in {plain[1]} at {other.label}. The others, alone, tied or not "
        f"told apart from the best: {moves or 'no change'}; "
        f"as often at both: {kept or 'none'}. "
        f"Cells with a sole winner: {alone[0]} at {first.label}, {alone[1]} at {other.label}."
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _names(places: Iterable[SurveyPlace]) -> str:
    return ", ".join(place.name for place in places)
