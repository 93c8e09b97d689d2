"""Errors about unknown metrics, and about metrics that the runs do not have, with the reason."""

import math
from collections.abc import Iterable
from dataclasses import replace

from shortflow.errors import ConfigError, did_you_mean, unknown_name
from shortflow.metrics.catalogue import (
    BIN_MEAN_FCT,
    CONVERGENCE,
    DISTANCE,
    FLOWS_DONE,
    JAIN,
    MEAN_FCT,
    OF_COUNTED_FLOWS,
    SHORT_JAIN,
    SIZE_MEAN_FCT,
    THROUGHPUT,
    UNFINISHED_SHARE,
    possible,
)
from shortflow.metrics.data import SHARE_WINDOWS, USUAL_BINS, Bins
from shortflow.metrics.statistic import Metric
from shortflow.records import Meta


def check_name(name: str, classes: Iterable[str], without_ideal: str = "", bins: Bins = USUAL_BINS) -> None:
    """Raises `ConfigError` if no run with these flow classes can have the metric. The error suggests the nearest name.

    `without_ideal` is the reason why no ideal scheduler runs; empty if one runs.
    """
    if name not in (known := possible(classes, bins)):
        hint = did_you_mean(name, known) or "; see `shortflow list metrics`"
        raise ConfigError(f'"{name}": unknown metric{hint}')
    if without_ideal and known[name].statistic is DISTANCE:
        raise ConfigError(f"{name}: the metric compares with ideal SRPT, and {without_ideal}")


def missing(name: str, present: Iterable[Metric], metas: Iterable[Meta], bins: Bins = USUAL_BINS) -> ConfigError:
    """Error that says why the runs, with the metrics `present` and these metadata, do not have the metric `name`."""
    metrics = list(present)
    wanted = possible((metric.flow_class for metric in metrics if metric.flow_class), bins).get(name)
    if wanted is None:
        return unknown_name("metric", name, [metric.name for metric in metrics])
    of_class = [metric.statistic for metric in metrics if metric.flow_class == wanted.flow_class]
    if wanted.statistic in (CONVERGENCE, SHORT_JAIN):
        windows_s = (meta.get("fairness_windows_s", {}).get(wanted.flow_class or "") for meta in metas)
        shortest_s = min((window_s for window_s in windows_s if window_s), default=None)
        return _unrecorded(wanted, shortest_s if JAIN in of_class else None)
    mean = BIN_MEAN_FCT if wanted.flow_class and wanted.size_bin else SIZE_MEAN_FCT if wanted.size_bin else MEAN_FCT
    is_counted = replace(wanted, statistic=mean) in metrics
    is_finite = wanted.flow_class is None or FLOWS_DONE in of_class
    if wanted.statistic not in OF_COUNTED_FLOWS or is_counted or not is_finite:
        return ConfigError(f"{name} ({wanted.statistic.about}): no run here has this metric")
    flows = f"{wanted.flow_class or 'finite'} flow{f' of {wanted.sizes}' if wanted.size_bin else ''}"
    if THROUGHPUT in of_class and UNFINISHED_SHARE not in of_class:
        why = "as all of them started during the `warmup`; start them later, or shorten it"
    else:
        has = " if the scenario has such sizes" if wanted.size_bin else ""
        why = f"as none started in the measured time of any run; more seeds or a longer `duration` may have one{has}"
    return ConfigError(f"{name}: no {flows} was counted, {why}")


def _unrecorded(wanted: Metric, window_s: float | None) -> ConfigError:
    """Error with the sampling interval that a fairness metric needs.

    `window_s` is the runs' shortest window of convergence in seconds; None if no run has several backlogged flows.
    """
    flows = f"{wanted.name}: needs two or more backlogged flows of class {wanted.flow_class}"
    if window_s is None:
        return ConfigError(f"{flows}, and no run here has one")
    longest_s = window_s if wanted.statistic is CONVERGENCE else SHARE_WINDOWS * window_s
    every = f"{math.floor(longest_s * 1e6)}us"
    return ConfigError(
        f"{flows}, and samples no more than {every} apart; `--set measure.sample_every={every}` records it"
    )
