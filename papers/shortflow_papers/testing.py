"""Verdicts of a paper's claims, for tests of its package."""

from shortflow.api.runs import Runner
from shortflow_papers.lab import Scale
from shortflow_papers.reproduction.engine import ask_reproduction, select


def verdicts_of(pattern: str, scale: Scale = Scale.QUICK) -> dict[str, str]:
    """Verdict of each claim of a paper or figure, by the claim's id.

    A verdict is `agrees`, `direction`, `differs`, `undecided` or `untested`. Raises `ConfigError` if no paper, figure
    or claim matches the pattern.
    """
    found = Runner().answer(ask_reproduction(select([pattern]), scale))
    return {each.claim.id: each.finding.verdict.value for each in found.claims}
