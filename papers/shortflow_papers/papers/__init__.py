"""Papers, one package each: the five with pages, their baseline DCTCP, and known results. Other packages add more.

Figures are the `Figure` objects at the top level of a package's modules. `CHOICES` of a package has the details that
the paper leaves open, by name. `STAND_INS` has the scheme that each of the paper's schemes modifies.
"""

import functools
import pkgutil
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType

from shortflow import ConfigError, MissingRequirement
from shortflow.api.commands import added, left_out, load_added
from shortflow.api.errors import unknown_name
from shortflow.api.scenarios import as_pairs, load_schemes, split_settings
from shortflow_papers.lab.figure import Claim, Figure
from shortflow_papers.lab.study import Choice, require_kind

PAPERS = ("l2dct", "xdctcp", "pecn", "atcp", "fast")
OWN = (*PAPERS, "dctcp", "known")
"""Short names of the papers in this package."""
GROUP = "shortflow.papers"
"""Group of entry points. An entry point has the short name of a paper, and names the paper's package."""


@functools.cache
def every_paper() -> list[str]:
    """Short names of all papers: those of this package, then those of other installed packages."""
    return list(dict.fromkeys([*OWN, *added(GROUP)]))


def _package(paper: str) -> ModuleType:
    found: ModuleType = import_module(f"{__name__}.{paper}") if paper in OWN else load_added(GROUP, paper)
    return found


@functools.cache
def _read() -> tuple[dict[str, Figure], dict[str, MissingRequirement]]:
    """Figures by id, and the error of each paper of another package that cannot be used."""
    found: dict[str, Figure] = {}
    errors: dict[str, MissingRequirement] = {}
    for paper in every_paper():
        try:
            read = partial(_figures_of, paper)
            found |= read(_package(paper)) if paper in OWN else load_added(GROUP, paper, read)
        except MissingRequirement as error:
            if paper in OWN:
                raise
            errors[paper] = error
    return found, errors


def _figures_of(paper: str, package: ModuleType) -> dict[str, Figure]:
    if not hasattr(package, "__path__"):
        raise ConfigError(f"the entry point {paper!r} must name a package, a folder with an __init__.py")
    found: dict[str, Figure] = {}
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        contents = vars(import_module(f"{package.__name__}.{module.name}"))
        for figure in contents.values():
            if isinstance(figure, Figure) and found.setdefault(figure.id, figure) is not figure:
                raise ConfigError(f"{figure.id}: two figures have this name")
    claims = Counter(claim.id for figure in found.values() for claim in figure.claims)
    for each in (*found, *claims):
        if not each.startswith(f"{paper}/"):
            raise ConfigError(f"{each}: figures and claims of this package must be named {paper}/…")
        if claims[each] > 1:
            raise ConfigError(f"{each}: two claims have this name")
    if not found:
        raise ConfigError(f"no module of {package.__name__} has a lab.Figure at its top level")
    for figure in found.values():
        figure.check()
    _check_details(package, found.values())
    return found


def _check_details(package: ModuleType, found: Collection[Figure]) -> None:
    """Raises `ConfigError` for `CHOICES` without choices by name, and for `STAND_INS` of schemes that no study runs."""
    details = {name: getattr(package, name, {}) for name in ("CHOICES", "STAND_INS")}
    for name, each in details.items():
        require_kind(each, Mapping, name, "a mapping of names")
    for name, choice in details["CHOICES"].items():
        require_kind(choice, Choice, f"CHOICES: {name}", "a lab.Choice")
    studies = [study for figure in found for study in figure.studies.values()]
    schemes = dict.fromkeys(scheme.rpartition(":")[2] for study in studies for scheme in study.schemes)
    for scheme, instead in details["STAND_INS"].items():
        if scheme not in schemes:
            raise ConfigError(f"STAND_INS: {unknown_name('scheme of the studies', scheme, schemes)}")
        if instead not in schemes:
            load_schemes([instead])  # raises the error of an unknown scheme


def figures() -> dict[str, Figure]:
    """All figures by id, in the order of papers and module names."""
    return _read()[0]


def refused() -> dict[str, MissingRequirement]:
    """Papers of other packages that cannot be used, each with its error."""
    return _read()[1]


def unheard() -> list[str]:
    """Sentences on papers of other packages that are left out."""
    return [*left_out(GROUP, OWN), *map(str, refused().values())]


def package_of(paper: str) -> str:
    """Name of the top-level Python package that has a paper."""
    return _package(paper).__name__.partition(".")[0]


def claims() -> dict[str, Claim]:
    """All claims by id."""
    return {claim.id: claim for figure in figures().values() for claim in figure.claims}


def title(paper: str) -> str:
    """Short name, authors and title of a paper."""
    return " ".join((_package(paper).__doc__ or paper).split())


def choices(paper: str) -> dict[str, Choice]:
    """Details that a paper leaves open, by name."""
    chosen: dict[str, Choice] = getattr(_package(paper), "CHOICES", {})
    return chosen


def set_apart(figure: Figure) -> str:
    """Sentence on scheme settings that are neither choices nor grid values; empty for none."""
    taken = {pair for each in choices(figure.paper).values() for pair in as_pairs(each.values[each.taken])}
    where: dict[str, list[str]] = {}
    for name, study in figure.studies.items():
        _, of_all = split_settings(study.settings)
        owned = [(f" for {scheme}", own) for scheme, own in study.of_scheme.items() if scheme in study.schemes]
        pairs = [(pair, whose) for whose, own in [("", of_all), *owned] for pair in as_pairs(own)]
        if said := ", ".join(f"{'='.join(pair)}{whose}" for pair, whose in pairs if pair not in taken):
            where.setdefault(said, []).append(name)
    parts = [said if len(at) == len(figure.studies) else f"{said} ({', '.join(at)})" for said, at in where.items()]
    return f"Schemes as listed, but with {'; '.join(parts)}." if parts else ""


def stand_ins(paper: str) -> dict[str, str]:
    """For each of the paper's schemes, the scheme that it modifies, which is its stand-in in checks."""
    found: dict[str, str] = getattr(_package(paper), "STAND_INS", {})
    return found


def set_ups(paper: str) -> Sequence[Mapping[str, str]]:
    """Set-ups of a paper, near the printed numbers of its baselines. Verdicts on its claims span them."""
    found: Sequence[Mapping[str, str]] = getattr(_package(paper), "SET_UPS", ())
    return found


def paper_headlines(paper: str) -> dict[str, str]:
    """Claims at the top of a paper's page, each with the cause of a difference (empty without one)."""
    found: dict[str, str] = getattr(_package(paper), "HEADLINES", {})
    return found
