"""Files of a Rust crate do not import each other in a circle, and crates export few names.

For Python, import-linter checks this (pyproject.toml).

A name belongs to the file that defines it. Files of a folder may therefore import each other's names from a `mod.rs`
that only re-exports them (`pub use`). Code that is compiled only for tests does not count.
"""

import graphlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CRATES = sorted(
    path for room in ("crates", "linux") for name in ("lib", "main") for path in ROOT.glob(f"{room}/*/src/{name}.rs")
)

Module = tuple[str, ...]

NO_CODE = re.compile(r"""//[^\n]*|\br(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'""", re.DOTALL)
TESTS = re.compile(r"^#\[cfg\(test\)\]\s+(?:pub(?:\(\w+\))? )?mod \w+ \{.*?^\}", re.DOTALL | re.MULTILINE)
CHILD = re.compile(r"((?:#\[[^\]]*\]\s*)*)(?:pub(?:\(\w+\))?\s+)?mod\s+(\w+)\s*;")
USE = re.compile(r"(pub(?:\(\w+\))?\s+)?\buse\s+([^;]+);")
ITEM = re.compile(r"\b(?:struct|enum|union|fn|trait|type|const|static|macro_rules!)\s+(\w+)")
PATH = re.compile(r"(?<![\w:.])\w+(?:\s*::\s*\w+)+")
GROUP = re.compile(r"((?:\w+::)+)?\{([^{}]*)\}")
MACRO = re.compile(r"^\w+! \{.*?^\}", re.DOTALL | re.MULTILINE)

EXPORT = re.compile(r"^pub (?:(?:const |unsafe )*fn|struct|enum|union|trait|type|const|static) (\w+)", re.MULTILINE)
IN_MACRO = re.compile(r"^    pub (?:struct|enum) (\w+)", re.MULTILINE)
HANDED_ON = re.compile(r"^pub use ([^;]+);", re.MULTILINE)
PUBLIC_CHILD = re.compile(r"^pub mod (\w+);", re.MULTILINE)
MOST_EXPORTS = {"units": 12, "spec": 55, "cc": 25, "sim": 175}
"""Maximum number of names that a crate exports. Export a new name only if another crate needs it."""


def exported(file: Path) -> set[str]:
    """Names that a file and its public child modules export, without names of other crates of the project."""
    text = TESTS.sub("", NO_CODE.sub('""', file.read_text()))
    folder = file.parent if file.stem in ("mod", "lib") else file.with_suffix("")
    names = {*EXPORT.findall(text), *IN_MACRO.findall(text)}
    handed_on = (use for tree in HANDED_ON.findall(text) for use in imported(tree))
    names |= {name for path, name in handed_on if not path[0].startswith("shortflow_")}
    for child in PUBLIC_CHILD.findall(text):
        names |= exported(next(p for p in (folder / f"{child}.rs", folder / child / "mod.rs") if p.exists()))
    return names


def imported(tree: str) -> Iterator[tuple[Module, str]]:
    """Paths of a `use` declaration, each with its name in the file."""
    while group := GROUP.search(tree):
        parts = [f"{group[1] or ''}{part.strip()}" for part in group[2].split(",") if part.strip()]
        tree = tree.replace(group[0], ", ".join(parts))
    for one in tree.split(","):
        path, _, alias = one.strip().partition(" as ")
        words = path.removesuffix("::self").split("::")
        yield tuple(words), alias or words[-1]


@dataclass
class File:
    """A Rust file: its code without `use`, and the names in it."""

    code: str
    items: set[str]
    children: set[str] = field(default_factory=set)
    uses: list[tuple[bool, Module, str]] = field(default_factory=list)
    """Imports from the same crate: true for a re-export, path, and name."""
    others: set[str] = field(default_factory=set)
    """Names from other crates, and modules of tests."""


class Crate:
    """The files of a crate by their module paths; its root is ()."""

    def __init__(self, root: Path) -> None:
        self.files: dict[Module, File] = {}
        self.read((), root)

    def read(self, module: Module, file: Path) -> None:
        text = TESTS.sub("", NO_CODE.sub('""', file.read_text()))
        code = USE.sub("", text)
        here = self.files[module] = File(code, set(ITEM.findall(code)))
        folder = file.parent if file.stem in ("mod", "lib", "main") else file.with_suffix("")
        for attributes, name in CHILD.findall(text):
            if "cfg(test)" in attributes:
                here.others.add(name)
                continue
            here.children.add(name)
            self.read((*module, name), next(p for p in (folder / f"{name}.rs", folder / name / "mod.rs") if p.exists()))
        for public, tree in USE.findall(text):
            for path, name in imported(tree):
                if path[0] in {"crate", "self", "super"} | here.children:
                    here.uses.append((bool(public), path, name))
                else:
                    here.others.add(name)

    def named(self, module: Module, name: str) -> tuple[Module, bool] | None:
        """The module called `name` in `module` (False), or the module that defines the item `name` (True).

        None for names of other crates.
        """
        here = self.files[module]
        if name in here.children:
            return (*module, name), False
        if name in here.items:
            return module, True
        for _, path, alias in here.uses:
            if alias == name:
                return self.meant(module, path)
            if alias == "*" and (of := self.meant(module, path[:-1])) and (found := self.named(of[0], name)):
                return found
        return None

    def meant(self, module: Module, path: Module) -> tuple[Module, bool] | None:
        """Like `named`, for a path in `module`."""
        at = module
        if path[0] == "crate":
            at, path = (), path[1:]
        while path and path[0] in ("self", "super"):
            at, path = (at[:-1] if path[0] == "super" else at), path[1:]
        is_relative = at == module
        for name in path:
            found = self.named(at, name)
            if found is None:
                return None if is_relative or name in self.files[at].others else (at, True)  # a macro defines the name
            if found[1]:
                return found
            at, is_relative = found[0], False
        return at, False

    def used(self, module: Module) -> Iterator[tuple[Module, bool] | None]:
        here = self.files[module]
        words = set(re.findall(r"\w+", here.code))
        for public, path, name in here.uses:
            if not public or name in words:
                yield self.meant(module, path)
        for path in set(PATH.findall(here.code)):
            yield self.meant(module, tuple(re.findall(r"\w+", path)))
        for child in set(re.findall(r"\w+", " ".join(MACRO.findall(here.code)))) & here.children:
            yield (*module, child), True

    def graph(self) -> dict[str, set[str]]:
        def shown(module: Module) -> str:
            return "::".join(("crate", *module))

        return {
            shown(module): {shown(found[0]) for found in self.used(module) if found and found[1] and found[0] != module}
            for module in self.files
        }


def circle(graph: dict[str, set[str]]) -> str:
    """Text of a circle of files, each of which imports the next one; empty without a circle."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return " -> ".join(reversed(error.args[1]))
    return ""


@pytest.mark.parametrize("root", CRATES, ids=lambda root: f"{root.parts[-3]}-{root.stem}")
def test_files_of_a_crate_form_no_circle(root: Path) -> None:
    graph = Crate(root).graph()
    assert not circle(graph), "these files import in a circle: move what both need into a file below them"


def crate(folder: Path, **files: str) -> dict[str, set[str]]:
    (folder / "a").mkdir()
    for name, text in files.items():
        (folder / f"{name.replace('_', '/')}.rs").write_text(text)
    return Crate(folder / "lib.rs").graph()


def test_a_circle_is_found_through_names_that_are_handed_on(tmp_path: Path) -> None:
    graph = crate(
        tmp_path,
        lib="mod a;\npub mod c;\n",
        a_mod="mod one;\nmod two;\npub use one::{One, first};\npub use two::Two;\n",
        a_one='use super::Two; // use crate::c::C;\npub struct One(Two);\npub fn first() -> &str { "crate::c::C" }\n',
        a_two="pub struct Two;\nimpl Two { fn one() { let quote = '\"'; crate::a::first(); } }\n",
        c="use crate::a::{One, Two};\npub struct C(One, Two);\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n",
    )
    assert graph["crate::c"] == {"crate::a::one", "crate::a::two"}
    assert graph["crate::a"] == graph["crate"] == set()
    one, two = "crate::a::one", "crate::a::two"
    assert circle(graph) in (f"{one} -> {two} -> {one}", f"{two} -> {one} -> {two}")


def test_a_registry_uses_what_it_lists(tmp_path: Path) -> None:
    registry = "mod one;\npub trait Kind {}\nregistry! {\n    One => one,\n}\n"
    assert circle(crate(tmp_path, lib="mod a;\n", a_mod=registry, a_one="use super::Kind;\npub struct One;\n"))


@pytest.mark.parametrize(("crate", "most"), MOST_EXPORTS.items())
def test_a_crate_exports_few_names(crate: str, most: int) -> None:
    names = exported(ROOT / "crates" / crate / "src" / "lib.rs")
    assert len(names) <= most, f"{len(names)} names: {', '.join(sorted(names))}"


def test_names_of_private_modules_are_not_exported(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text("mod a;\npub mod b;\npub use a::{One, first};\n")
    (tmp_path / "a.rs").write_text("pub struct One;\npub struct Two;\npub fn first() {}\n")
    (tmp_path / "b.rs").write_text("pub(crate) struct Four;\nkeys! {\n    pub struct Three {\n    }\n}\n")
    assert exported(tmp_path / "lib.rs") == {"One", "first", "Three"}
