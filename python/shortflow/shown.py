"""Common views of results: data frames, text, plots, and a view in notebooks."""

import io
from abc import ABC, abstractmethod
from typing import Any

from shortflow.errors import MissingRequirement, front_door
from shortflow.lazy import blocks, console, markup, pd, pl


class Printed(ABC):
    """A result with text."""

    def __str__(self) -> str:
        """The main tables, as the command prints them."""
        text = io.StringIO()
        paper = console.Console(file=text, width=blocks.WIDTH, highlight=False, emoji=False, markup=False)
        paper.print(blocks.terminal(self._blocks()))
        return text.getvalue().rstrip()

    def to_markdown(self) -> str:
        """The main tables as Markdown."""
        return blocks.markdown(self._blocks())

    @abstractmethod
    def _blocks(self) -> "list[blocks.Block]":
        """The main tables, with caption and notes."""


class Shown(Printed):
    """A result with frame, text, plots and notebook view."""

    @abstractmethod
    def to_frame(self) -> "pl.DataFrame":
        """The numbers as a tidy polars table."""

    @property
    @abstractmethod
    def plot(self) -> Any:
        """The plots."""

    @front_door
    def to_pandas(self) -> "pd.DataFrame":
        """`to_frame` as a pandas frame. Raises `MissingRequirement` if pandas or pyarrow is not installed."""
        try:
            return self.to_frame().to_pandas()
        except ModuleNotFoundError as error:
            raise MissingRequirement(
                f"to_pandas needs {error.name}, which is not installed: pip install 'shortflow[pandas]'"
            ) from error

    def _repr_html_(self) -> str:
        """Main tables and one plot, for a notebook."""
        return markup.part("report/notebook.html", blocks=self._blocks(), chart=self.plot.sketch())
