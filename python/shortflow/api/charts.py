"""Charts of pages and pictures."""

from shortflow.report.chart import (
    Chart,
    Row,
    Spec,
    by_scheme,
    line_encodings,
    mark,
    markers,
    numeric,
    tips,
    view,
    words,
)
from shortflow.report.figures import extremes
from shortflow.report.marks import heat
