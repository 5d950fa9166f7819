"""In which order the tests of a file run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from tests.conftest import STRIPPING, put_schema_last


def item(name: str, file: str, *fixtures: str, marked: bool = False) -> SimpleNamespace:
    """A test in a file, with the fixtures that it asks for."""
    return SimpleNamespace(
        name=name,
        path=Path(file),
        fixturenames=fixtures,
        get_closest_marker=lambda mark: mark if marked and mark == "schema" else None,
    )


def test_those_that_change_the_schema_are_last_in_their_files_and_nothing_else_moves() -> None:
    items = [
        item("b1", "b.py", "db"),
        item("b2", "b.py", "db", marked=True),
        item("a1", "a.py", *STRIPPING),
        item("b3", "b.py"),
        item("a2", "a.py", "db"),
        item("a3", "a.py"),
    ]
    put_schema_last(items)
    assert [one.name for one in items] == ["b1", "b3", "b2", "a2", "a3", "a1"]
