"""The map of the package shows what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pgs_neo4j

PACKAGE = Path(pgs_neo4j.__file__).parent
MAP = (PACKAGE.parent / ".github" / "ARCHITECTURE.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([a-z_/]+(?:\.py)?/?)`", MAP)


def test_every_folder_of_the_package_has_a_line() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", MAP, re.MULTILINE))
    assert folders == listed


def test_every_module_that_the_map_names_exists() -> None:
    modules = [f"/{path.relative_to(PACKAGE).as_posix()}" for path in PACKAGE.rglob("*.py")]
    named = [one for one in QUOTED if one.endswith(".py")]
    missing = [one for one in named if not any(path.endswith(f"/{one}") for path in modules)]
    assert len(named) > 20
    assert missing == []


def test_every_folder_that_the_map_names_exists() -> None:
    named = [one for one in QUOTED if "/" in one and not one.endswith(".py")]
    places = [PACKAGE, PACKAGE.parent]
    missing = [one for one in named if not any((place / one).is_dir() for place in places)]
    assert len(named) > 10
    assert missing == []
