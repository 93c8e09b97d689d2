"""Common views of results: data frames, text, plots, and a view in notebooks."""

import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from shortflow.errors import MissingRequirement, front_door
from shortflow.lazy import console, markup, pd, pl, tables


class Shown(ABC):
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

    def __str__(self) -> str:
        """The main tables, as the command prints them."""
        text = io.StringIO()
        width = tables.WIDTH
        console.Console(file=text, width=width, highlight=False, emoji=False, markup=False).print(self._tables())
        return text.getvalue().rstrip()

    @abstractmethod
    def _tables(self) -> "console.RenderableType":
        """The main tables for a terminal."""

    @abstractmethod
    def _view(self) -> "tuple[str, Sequence[tables.Section], Sequence[str]]":
        """Caption, main tables, and notes."""

    def _repr_html_(self) -> str:
        """Main tables and one plot, for a notebook."""
        head, sections, notes = self._view()
        return markup.part(
            "api/result.html", caption=head.split("\n"), sections=sections, notes=notes, plot=self.plot.sketch()
        )
