"""Errors of recipes and commands, beside those of `shortflow`."""

from shortflow.errors import TooLittle, did_you_mean, unknown_name
