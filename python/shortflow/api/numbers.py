"""Quantities: numbers with units in texts and options."""

from shortflow.quantities import RELATIVE, DisplayUnit, counted, in_unit_of_first, parse, scale_for
from shortflow.terms import pair
