"""Charts of results: single charts of the report. A scheme looks the same in all charts."""

from shortflow.bursts import with_burst
from shortflow.errors import ConfigError, front_door, unknown_name
from shortflow.report import figures, views
from shortflow.report.answer import headlines
from shortflow.report.chart import Chart
from shortflow.report.timeline import timeline
from shortflow.results import Results


class Plots:
    """Charts of results. Notebooks show them offline.

    A chart's `spec` is its Vega-Lite specification; its `save` writes SVG, PNG, PDF or JSON. If the runs lack data for
    a chart, such as flows of a class, samples, or tables, a `ConfigError` names the missing data.
    """

    def __init__(self, results: Results) -> None:
        """`results` has the runs of the charts."""
        self._results = results

    def _study(self, tables: bool) -> Results:
        """Runs of the only scenario by point; with `tables`, only runs with tables."""
        return views.one_scenario(self._results, tables=tables)

    @front_door
    def ranked(self) -> Chart:
        """Chart of the schemes by rank, for each headline metric, with 95 % intervals over the seeds."""
        return figures.ranked(self._study(False))

    @front_door
    def trade_off(self) -> Chart:
        """Chart of the p99 slowdown of short flows against the goodput of long flows, with 95 % intervals of both."""
        return figures.trade_off(self._study(False))

    @front_door
    def by_size(self) -> Chart:
        """Chart of the p99 slowdown by flow size. Slowdown is the completion time over that in an empty network."""
        return figures.by_size(self._study(False))

    @front_door
    def headlines(self) -> Chart:
        """Chart of the headline metrics over the settings that vary, with 95 % intervals."""
        return figures.over_points(self._study(False))

    @front_door
    def fct_cdf(self, flow_class: str | None = None) -> Chart:
        """Chart of the distribution of completion times and of its tail. A curve pools all seeds of a scheme.

        The flows are those up to the largest short size (by default 100 KB), or those of `flow_class`. A curve ends at
        the share of flows that finished.
        """
        return figures.completion_times(self._study(True), flow_class)

    @front_door
    def queue(self) -> Chart:
        """Chart of the queue at the busiest measured port: over time for one seed, and its distribution over all seeds.

        The runs must have samples, which `measure.sample_every` turns on.
        """
        return figures.queue(self._study(True))

    @front_door
    def timeline(self, scheme: str | None = None) -> Chart:
        """Chart of the largest burst over time: which flows sent, queued, were marked, and waited for a timer.

        A burst is 8 or more flows to one host that begin together. The burst is that of the first seed, under `scheme`
        or the first scheme that has one. Runs in a store (`compare(…, out=DIR)`) have the burst's packets. A run in
        memory is repeated until the burst is over.
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
    def metric(self, name: str | None = None) -> Chart:
        """Chart of a metric over the settings that vary, with 95 % intervals and a panel for each setting.

        The default metric is the first headline metric. Raises `ConfigError` if nothing varies.
        """
        study = self._study(False)
        return figures.over_points(study, [study.require(name)] if name else headlines(study)[:1])

    def sketch(self) -> str:
        """One chart as HTML: the first headline metric over the settings that vary or, if none vary, the distribution.

        Empty if the runs have data for neither.
        """
        for make in (self.metric, self.fct_cdf):
            try:
                return make()._repr_html_()
            except ConfigError:
                continue
        return ""
