"""All kinds of exports."""

from collections.abc import Mapping

from shortflow.exports import fct, sonic, tables
from shortflow.exports.export import Export

KINDS: Mapping[str, Export] = {each.name: each for each in (fct.EXPORT, tables.EXPORT, sonic.EXPORT)}
"""Kinds of exports, by the value of `--as`."""
