"""Figures and claims of published transports, reproduced with Shortflow: `reproduce` and `survey`."""

__version__ = "0.3.0"
