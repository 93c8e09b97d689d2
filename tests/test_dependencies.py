"""C sources and Rust dependencies have licences that deny.toml allows, and need no newer Rust than the stated one."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
RULES = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def packages() -> list[dict[str, Any]]:
    """Metadata of every package in Cargo.lock. Cargo downloads packages that are absent."""
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        pytest.skip(f"cargo metadata: {done.stderr.strip()}")
    found: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    assert len(found) > 100
    return found


def is_allowed(expression: str, licences: set[str]) -> bool:
    """True if an SPDX expression can be met by allowed licences alone. Crates may write `/` for OR."""
    while inner := re.search(r"\(([^()]*)\)", expression):
        expression = expression.replace(inner[0], "yes" if is_allowed(inner[1], licences) else "no")
    choices = expression.replace("/", " OR ").split(" OR ")
    return any(set(choice.split(" AND ")) <= licences | {"yes"} for choice in choices)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0/MIT", True),
        ("MIT AND GPL-3.0", False),
        ("GPL-3.0 OR MIT AND ISC", True),
        ("(GPL-3.0 OR MIT) AND ISC", True),
        ("(GPL-3.0 OR MIT) AND GPL-3.0", False),
        ("ISC WITH exception", False),
    ],
)
def test_licence_expressions(expression: str, wanted: bool) -> None:
    assert is_allowed(expression, {"MIT", "ISC"}) is wanted


def test_every_licence_is_allowed(packages: list[dict[str, Any]]) -> None:
    allowed = set(RULES["licenses"]["allow"])
    assert not {p["name"]: p["license"] for p in packages if not is_allowed(p["license"] or "none", allowed)}


def test_c_sources_have_the_licence_that_license_and_package_give_them() -> None:
    place, choice = "linux/deploy/src/bpf", "Apache-2.0 OR MIT OR GPL-2.0-only"
    programs = set((ROOT / place).rglob("*.[ch]"))
    for path in (path for room in ("crates", "linux") for path in (ROOT / room).rglob("*.[ch]")):
        first, text = path.read_text(encoding="utf-8").split("\n", 1)
        expected = choice if path in programs else "Apache-2.0 OR MIT"
        assert first.strip("/* ") == f"SPDX-License-Identifier: {expected}", path
        strings = ["Dual MIT/GPL"] if path.name.endswith(".bpf.c") else []
        assert re.findall(r'SEC\("license"\) = "(.*)"', text) == strings, path
    said = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert f"{place} are {choice}" in said
    assert "Dual MIT/GPL" in said
    debian = (ROOT / "linux/deploy/debian/copyright").read_text(encoding="utf-8")
    assert re.search(rf"Files: {place}/\*\nCopyright: .*\nLicense: Apache-2.0 or MIT or GPL-2\n", debian)


def test_every_package_is_ours_or_from_an_allowed_registry(packages: list[dict[str, Any]]) -> None:
    allowed = {f"registry+{registry}" for registry in RULES["sources"]["allow-registry"]}
    assert not {p["name"]: p["source"] for p in packages if p["source"] and p["source"] not in allowed}
    ours = (f"{ROOT}/crates/", f"{ROOT}/linux/")
    outside = [p["name"] for p in packages if not p["source"] and not p["manifest_path"].startswith(ours)]
    assert not outside


def test_no_package_needs_a_newer_rust_than_is_stated(packages: list[dict[str, Any]]) -> None:
    def number(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in version.split("."))[:2]

    stated = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["rust-version"]
    needed = {p["name"]: p["rust_version"] for p in packages if p["rust_version"]}
    assert not {name: version for name, version in needed.items() if number(version) > number(stated)}
