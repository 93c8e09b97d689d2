"""The schema of Vega-Lite, as Altair ships it."""

import functools
import json
from importlib.resources import files

import jsonschema

from shortflow.report.chart import Chart, finite_only


@functools.cache
def _validator() -> jsonschema.Draft7Validator:
    schema = files("altair").joinpath("vegalite/v6/schema/vega-lite-schema.json")
    return jsonschema.Draft7Validator(json.loads(schema.read_text("utf-8")))


def check(chart: Chart) -> None:
    """Checks that the specification of a chart, with its data, is valid, and that its texts lack no value."""
    assert "None" not in f"{chart.heading} {chart.caption}"
    _validator().validate(finite_only(chart.spec))
