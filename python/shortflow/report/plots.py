"""The charts of results, those of the report one at a time; a scheme looks the same in all."""

from shortflow.bursts import with_burst
from shortflow.errors import ConfigError, front_door, unknown_name
from shortflow.report import figures, views
from shortflow.report.answer import headlines
from shortflow.report.chart import Chart
from shortflow.report.timeline import timeline
from shortflow.results import Results


class Plots:
    """Charts of runs, which show themselves in notebooks without a network.

    `spec` of a chart is its Vega-Lite specification; `save` writes SVG, PNG, PDF or JSON. A `ConfigError` says what the
    runs lack: flows of a class, samples, or tables that were not kept.
    """

    def __init__(self, results: Results) -> None:
        """The runs of the charts."""
        self._results = results

    def _study(self, tables: bool) -> Results:
        """The runs of the only scenario at the points of what varies; those that have tables, if these are needed."""
        return views.one_scenario(self._results, tables=tables)

    @front_door
    def ranked(self) -> Chart:
        """The schemes by rank, by each headline metric, with 95 % intervals over the seeds."""
        return figures.ranked(self._study(False))

    @front_door
    def trade_off(self) -> Chart:
        """The p99 slowdown of short flows against the goodput of long ones, with both intervals."""
        return figures.trade_off(self._study(False))

    @front_door
    def by_size(self) -> Chart:
        """The 99th percentile of the slowdown (completion time over the time in an empty network) by flow size."""
        return figures.by_size(self._study(False))

    @front_door
    def headlines(self) -> Chart:
        """The headline metrics over what varies, with 95 % intervals."""
        return figures.over_points(self._study(False))

    @front_door
    def fct_cdf(self, flow_class: str | None = None) -> Chart:
        """The distribution of completion times with its tail, all seeds of a scheme in one curve.

        Of flows up to 100 KB, or of a class. A curve ends at the share of flows that finished.
        """
        return figures.completion_times(self._study(True), flow_class)

    @front_door
    def queue(self) -> Chart:
        """The queue of the busiest measured port over time, of one seed, and its distribution over all seeds.

        Runs take samples where `measure.sample_every` says how often.
        """
        return figures.queue(self._study(True))

    @front_door
    def timeline(self, scheme: str | None = None) -> Chart:
        """The time-line of the largest burst: who sent, who queued, who was marked, and who waited for a timer.

        A burst is 8 or more flows to one host that begin together; that of the first seed is shown, under a scheme or
        under the first one. What a store keeps has its packets (`compare(…, out=DIR)`); a run that is in memory is done
        once more until the burst is over.
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
        """A metric over the settings that vary between the runs: lines with 95 % intervals, a panel for each setting.

        Unless named it is the first headline metric. A `ConfigError` where nothing varies.
        """
        study = self._study(False)
        return figures.over_points(study, [study.require(name)] if name else headlines(study)[:1])

    def sketch(self) -> str:
        """One chart as HTML, for where there is room for one: over what varies, else the distribution; else nothing."""
        for make in (self.metric, self.fct_cdf):
            try:
                return make()._repr_html_()
            except ConfigError:
                continue
        return ""
