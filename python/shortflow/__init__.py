"""Shortflow: a workbench for data-centre transports that finish short flows first.

>>> import shortflow as sf
>>> comparison = sf.compare(sf.load("l2dct-benchmark").with_(duration="300ms"), ["dctcp", "l2dct"], seeds=3)
>>> comparison.difference("l2dct", "dctcp", "afct_short_s")
Estimate(-0.644195, ci95=(-0.675788, -0.609524), n=3)
>>> chart = comparison.plot.fct_cdf()

Names are imported at first use. The command handles Ctrl-C before any slow import.
"""

from importlib import import_module


def __getattr__(name: str) -> object:
    """Imports a public name from its module."""
    if name == "__version__":
        return import_module("shortflow._core").version()
    homes = import_module("shortflow.lazy").homes(__file__)
    if name == "__all__":
        return sorted([*homes, "__version__"])
    if name not in homes:
        hint = "" if name.startswith("__") else import_module("shortflow.errors").did_you_mean(name, homes)
        raise AttributeError(f"module 'shortflow' has no attribute {name!r}{hint}")
    value: object = getattr(import_module(homes[name][0]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
