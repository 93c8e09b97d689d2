"""Plots of results, as in the report. Each is a plotly figure; a scheme has the same colour in all."""

from collections.abc import Iterable

import plotly.graph_objects as go

from shortflow.bursts import with_burst
from shortflow.errors import ConfigError, front_door, unknown_name
from shortflow.lab.drawing import Drawing, Line
from shortflow.report import views
from shortflow.report.drawing import draw
from shortflow.report.figures import plot_of
from shortflow.report.looks import look_of
from shortflow.report.plot import AnyPlot, Plot, Series
from shortflow.report.plotting import labelled
from shortflow.report.sweep.plots import plot_of_metric
from shortflow.report.sweep.runs import swept
from shortflow.report.timeline import timeline
from shortflow.reproduction.svg import picture
from shortflow.results import Results
from shortflow.tuning.plots import plots as tuning_plots
from shortflow.tuning.record import Tuning


class Plots:
    """Plots of runs as plotly figures.

    `flow_class` is a class of flows (default: the first with data). A `ConfigError` names missing data: flows of that
    class, samples, or tables that were not kept.
    """

    def __init__(self, results: Results) -> None:
        """Plots these results."""
        self._results = results

    def _study(self, tables: bool) -> Results:
        """Runs of the only scenario, at the points of the varying settings; with `tables`, only runs that have them."""
        return views.one_scenario(self._results, tables=tables)

    @front_door
    def fct(self, flow_class: str | None = None) -> go.Figure:
        """Mean and 99th percentile of FCT, with 95 % intervals over the seeds."""
        return draw(plot_of(self._study(False), "fct", flow_class))

    @front_door
    def fct_cdf(self, flow_class: str | None = None) -> go.Figure:
        """Distribution of FCTs, with all seeds of a scheme in one curve.

        The curve ends at the share of finished flows.
        """
        return draw(plot_of(self._study(True), "fct_cdf", flow_class))

    @front_door
    def by_size(self, flow_class: str | None = None) -> go.Figure:
        """Slowdown (FCT over the FCT in an empty network): mean and 99th percentile by flow size."""
        return draw(plot_of(self._study(True), "by_size", flow_class))

    @front_door
    def goodput(self, flow_class: str | None = None) -> go.Figure:
        """Acknowledged payload of backlogged flows per second of measured time, with 95 % intervals."""
        return draw(plot_of(self._study(False), "goodput", flow_class))

    @front_door
    def queue(self) -> go.Figure:
        """Queue of the busiest measured port over time, for one seed, and its distribution over all seeds.

        Needs samples: set `measure.sample_every`.
        """
        return draw(plot_of(self._study(True), "queue"))

    @front_door
    def timeline(self, scheme: str | None = None) -> go.Figure:
        """Timeline of the largest burst: packets sent, queued and marked, and waits for timers.

        A burst is 8 or more flows to one host that start together. The first seed is shown, under a scheme (default:
        the first). A store has the burst's packets (`compare(…, out=DIR)`); a run in memory is repeated until the burst
        ends.
        """
        study = self._study(True)
        results = study.results
        if scheme is not None and scheme not in (names := [*study.schemes, *study.ideal_names]):
            raise unknown_name("scheme of these runs", scheme, names)
        first = min(each.seed for each in results)
        for each in results:
            of_scheme = scheme in (None, each.scheme) and each.seed == first
            if of_scheme and (traced := with_burst(each)):
                return timeline(traced)
        raise ConfigError(
            f"{study.scenario}: no burst in seed {first}{f' of {scheme}' if scheme else ''}: no 8 flows to one host "
            "begin together, or packets were not stored; store them with `compare(…, out=DIR)`"
        )

    @front_door
    def metric(self, name: str | None = None) -> go.Figure:
        """A metric over the one or two varying keys: lines with bands, or maps (default: the first main metric).

        Raises `ConfigError` if no key or more than two keys vary.
        """
        return draw(self._over(name))

    def _over(self, name: str | None = None) -> AnyPlot:
        beside = self._results.ideal_names
        found = swept(run for run in self._results.results if run.scheme not in beside)
        if len(found) != 1:
            raise ConfigError(f"runs of several scenarios: {', '.join(each.name for each in found)}")
        return plot_of_metric(found[0], name)

    def sketch(self) -> str:
        """One plot as SVG: over the varying settings, else the distribution; empty if neither exists."""
        for make in (self._over, lambda: plot_of(self._study(True), "fct_cdf")):
            try:
                plot = make()
            except ConfigError:
                continue
            if isinstance(plot, Plot):
                return sketch(plot)
        return ""


class TuningPlots:
    """Plots of a tuning as plotly figures."""

    def __init__(self, tuning: Tuning) -> None:
        """Plots this tuning."""
        self._tuning = tuning

    def all(self) -> list[go.Figure]:
        """Plots of the report: trade-off of two objectives, history, parameters, and their importance."""
        return [draw(plot) for plot in tuning_plots(self._tuning)]

    def sketch(self) -> str:
        """The first plot as SVG."""
        return _first_sketch(tuning_plots(self._tuning))


def _first_sketch(plots: Iterable[AnyPlot]) -> str:
    return next((sketch(plot) for plot in plots if isinstance(plot, Plot)), "")


def sketch(plot: Plot) -> str:
    """First panel of a plot as SVG without scripts; empty if its positions are words."""
    panel = plot.panels[0]
    at_once = [each for each in panel.series if each.at in (None, plot.shown)]
    if any(isinstance(place, str) for each in at_once for place in each.x):
        return ""
    x, y = panel.x, panel.y
    lines = [_line(each, marked=panel.mark not in ("steps", "line"), apart=panel.mark == "scatter") for each in at_once]
    return picture(
        Drawing(
            plot.heading,
            labelled(x.label, x.unit.replace("share", "")),
            labelled(y.label, y.unit.replace("share", "")),
            lines,
            log_x=x.scale == "log",
            log_y=y.scale == "log",
        )
    )


def _line(series: Series, *, marked: bool, apart: bool) -> Line:
    return Line(
        series.scheme,
        [place for place in series.x if not isinstance(place, str)],
        series.y,
        series.ci95 or (),
        markers=marked,
        lower_bound=series.lower_bound,
        apart=apart and not series.joined,
        colour=look_of(series.scheme).colour,
    )
