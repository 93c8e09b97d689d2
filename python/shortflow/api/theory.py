"""Closed forms of the papers."""

from shortflow.theory import Bottleneck, LongFlows, Weights, gain_bound, threshold_bound
