"""Known results: arithmetic, queueing theory, RFCs, and published measurements outside the five papers."""

from shortflow_papers import lab
from shortflow_papers.lab.quantity import Quantity

CHOICES: dict[str, lab.Choice] = {}
"""There are no choices: every scenario states all its values."""
STAND_INS: dict[str, str] = {}
"""No scheme modifies another."""
VALUES: dict[str, float | tuple[float, float]] = {}
"""Known value of each claim, or the range that the source gives, by the claim's id, in base units."""


def holds(figure: lab.Figure, name: str, statement: str, quantity: Quantity, value: float, error: float) -> None:
    """Adds the claim that a quantity equals the known value within a relative error."""
    claim = f"known/{name}"
    VALUES[claim] = value
    figure.claim(claim).says(statement, quantity.near(value, error=error))


def lies_in(figure: lab.Figure, name: str, statement: str, quantity: Quantity, low: float, high: float) -> None:
    """Adds the claim that a quantity lies in the range that its source gives."""
    claim = f"known/{name}"
    VALUES[claim] = (low, high)
    figure.claim(claim).says(statement, quantity.within(low, high))
