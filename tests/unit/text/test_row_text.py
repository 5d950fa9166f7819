"""Rows of a statement as text."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.row_text import write_row, write_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (0.1 + 0.2, "0.3"),
        ("two\nlines", "two lines"),
        ([1, "a", [None]], "[1, a, [null]]"),
        ({"a": 1, "b": {"c": "d"}}, "{a: 1, b: {c: d}}"),
        (
            {"element_id": "4:x:1", "labels": ["Paper", "New"], "properties": {"title": "T"}},
            "(:Paper:New {title: T})",
        ),
        ({"element_id": "5:x:1", "type": "CITES", "properties": {}}, "[:CITES {}]"),
    ],
)
def test_each_kind_of_value_is_one_line(value: object, text: str) -> None:
    assert write_value(value) == text


def test_a_row_names_its_columns() -> None:
    assert write_row(("name", "papers"), ("Ann", 3)) == "name: Ann; papers: 3"


def test_a_long_text_is_cut() -> None:
    assert len(write_value("word " * 1_000)) <= 1_000
