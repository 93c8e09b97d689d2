"""Output for people: terminal tables, plots and pages."""

from typing import TYPE_CHECKING

from shortflow.lazy import modules

if TYPE_CHECKING:
    from shortflow.report import answer as answer
    from shortflow.report import blocks as blocks
    from shortflow.report import caveats as caveats
    from shortflow.report import document as document
    from shortflow.report import notes as notes
    from shortflow.report import plots as plots
    from shortflow.report import tables as tables
    from shortflow.report import templates as templates
    from shortflow.report import views as views

__getattr__ = modules(__name__)
