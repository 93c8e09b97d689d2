"""Schemes are told apart by colour, marker and dash: by every kind of colour vision, on light and dark pages."""

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

from shortflow import _core
from shortflow.report.looks import DARK, LIGHT, PAGE, looks

Array = npt.NDArray[np.float64]

VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}
"""Colour vision deficiencies (Machado, Oliveira and Fernandes 2009, severity 1), on linear RGB."""
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
LEAST_DIFFERENCE = 15.0
LEAST_CONTRAST = 3.0


def linear(colour: str) -> Array:
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: Array) -> tuple[float, float, float]:
    x, y, z = XYZ @ np.clip(rgb, 0, 1) / (0.95047, 1, 1.08883)
    fx, fy, fz = (v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def difference(one: Array, other: Array) -> float:
    """CIEDE2000 (Sharma, Wu and Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = lab(one), lab(other)
    mean_c = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    grey = 1.5 - 0.5 * math.sqrt(mean_c**7 / (mean_c**7 + 25**7))
    c1, c2 = math.hypot(grey * a1, b1), math.hypot(grey * a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, grey * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    mean_l, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    t = 1 - 0.17 * _cos(h - 30) + 0.24 * _cos(2 * h) + 0.32 * _cos(3 * h + 6) - 0.2 * _cos(4 * h - 63)
    rotation = -2 * math.sqrt(c**7 / (c**7 + 25**7)) * math.sin(math.radians(60 * math.exp(-(((h - 275) / 25) ** 2))))
    lightness = (l2 - l1) / (1 + 0.015 * (mean_l - 50) ** 2 / math.sqrt(20 + (mean_l - 50) ** 2))
    chroma, hue = (c2 - c1) / (1 + 0.045 * c), hue / (1 + 0.015 * c * t)
    return math.sqrt(lightness**2 + chroma**2 + hue**2 + rotation * chroma * hue)


def _cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def least_difference(colours: tuple[str, ...]) -> float:
    """Least distance of any two colours under any vision."""
    return min(
        difference(np.clip(seen @ linear(one), 0, 1), np.clip(seen @ linear(other), 0, 1))
        for seen in VISION.values()
        for one, other in itertools.combinations(colours, 2)
    )


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(XYZ[1] @ linear(each)) for each in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_the_measure_is_that_of_its_authors() -> None:
    assert difference(linear("#000000"), linear("#ffffff")) == pytest.approx(100, abs=0.01)
    assert least_difference(("#d55e00", "#b87c00")) < 1, "which look alike without green cones"


@pytest.mark.parametrize("dark", [False, True])
def test_colours_differ_to_every_kind_of_vision_and_from_the_page(dark: bool) -> None:
    colours = DARK if dark else LIGHT
    assert least_difference(colours) >= LEAST_DIFFERENCE
    assert round(min(contrast(each, PAGE["paper"][dark]) for each in colours), 2) >= LEAST_CONTRAST


def test_every_registered_scheme_is_alone_with_its_marker_and_with_its_colour_and_dash() -> None:
    names = [entry["name"] for kind in ("schemes", "ideal") for entry in _core.registry()[kind]]
    found = looks(names)
    assert len({(look.marker, look.hollow) for look in found.values()}) == len(names) > 22
    assert len({(look.colour, look.dash) for look in found.values()}) == len(names)


def test_the_schemes_of_a_paper_have_colours_of_their_own() -> None:
    for names in (
        ("tcp", "tcp-ecn", "dctcp", "d2tcp", "l2dct", "l2dct-srpt", "l2dct-ps"),
        ("tcp", "newreno", "dctcp", "d2tcp", "pecn", "pecn-pmark", "pecn-edf"),
        ("tcp", "newreno", "dctcp", "atcp"),
        ("tcp", "newreno", "dctcp", "fast"),
        ("tcp", "dctcp", "xdctcp"),
    ):
        assert len({look.colour for look in looks(names).values()}) == len(names), names


def test_a_look_belongs_to_the_scheme_and_not_to_its_neighbours() -> None:
    assert looks(["tcp", "l2dct"])["l2dct"] == looks(["l2dct", "dctcp"])["l2dct"]
    own = [f"mine{number}.py:Mine" for number in range(12)]
    found = looks([*own, "dctcp"])
    assert looks(own[:1])[own[0]] == found[own[0]]
    assert len({(look.marker, look.hollow) for look in found.values()}) == 13


def test_a_scheme_of_the_user_never_has_the_grey_of_ideal_schedulers() -> None:
    names = [f"law{number}" for number in range(20)]
    assert "var(--c5)" not in {look.colour for look in looks(["tcp", "dctcp", "l2dct", *names]).values()}
