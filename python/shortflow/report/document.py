"""Results as plain data for other programs. `docs/results.md` describes the keys."""

from collections.abc import Sequence
from typing import Any

from shortflow.criteria import USUAL
from shortflow.judge.estimates import difference_table, mean_table
from shortflow.metrics.catalogue import UNFINISHED_OF_ALL
from shortflow.report.answer import answer
from shortflow.report.notes import notes_on_settings, omitted_flows
from shortflow.results import Results


def results_table(results: Results) -> dict[str, Any]:
    """Results as plain data. Several points are a list of points, each with digests and paired differences."""
    found: dict[str, Any] = {"scenario": results.scenario, "title": results.title, "settings": dict(results.settings)}
    found |= {"bins": list(results.bins.ends), "notes": [*omitted_flows(results), *notes_on_settings(results)]}
    if len(results.schemes) > 1 or results.dimensions:
        found["answer"] = answer(results, results.criteria or USUAL).document()
    if results.keys:
        return {
            **found,
            "keys": list(results.keys),
            "points": [_point(each) for each in results.points],
            "runs": len(results.results) + len(results.failed),
            "failed": results.failures,
        }
    schemes = _schemes(results, results.schemes)
    found |= {"seeds": results.seeds, "runs_digest": results.runs_digest, "schemes": schemes}
    if results.measured_s:
        found["measured_s"] = list(results.measured_s)
    if results.ideal:
        found["ideal"] = _schemes(results, results.ideal_names)
    if own := results.measured:
        here = _schemes(results, [own.result.scheme])[own.result.scheme]["metrics"]
        found["measured"] = {"file": own.name, "flows": own.flows.height, "metrics": here}
    return {**found, **_paired(results)}


def _point(point: Results) -> dict[str, Any]:
    schemes = _schemes(point, point.schemes)
    table = {"at": dict(point.at), "seeds": point.seeds, "runs_digest": point.runs_digest, "schemes": schemes}
    table |= _paired(point)
    return table if point.met is None else {**table, "until_ci_met": point.met}


def _schemes(results: Results, schemes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Estimates of each scheme, with its unfinished share and digests."""
    unfinished = UNFINISHED_OF_ALL.pattern
    return {
        scheme: {
            "metrics": {name: mean_table(of) for name in results.metric_names if (of := results.mean(scheme, name))},
            "unfinished_share": left.value if (left := results.mean(scheme, unfinished)) else None,
            "digests": results.digests(scheme),
        }
        for scheme in schemes
    }


def _paired(results: Results) -> dict[str, Any]:
    """Paired differences of each scheme from each other scheme; empty for a single scheme."""
    if len(results.schemes) < 2:
        return {}
    paired = {
        scheme: {other: _differences(results, scheme, other) for other in results.schemes if other != scheme}
        for scheme in results.schemes
    }
    return {"paired": paired}


def _differences(results: Results, scheme: str, baseline: str) -> dict[str, dict[str, Any]]:
    found = ((name, results.relation(scheme, baseline, name)) for name in results.metric_names)
    return {name: difference_table(each) for name, each in found if each}
