"""Errors for recipes and commands, in addition to those of `shortflow`."""

from shortflow.errors import TooLittle, did_you_mean, unknown_name
