from __future__ import annotations

import pytest

from pgs_neo4j.text.sentences.lines import LONGEST_HEADING, indent_of, read_lines


def kinds(text: str) -> list[str]:
    return [line.kind for line in read_lines(text)]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Plain words", "prose"),
        ("", "blank"),
        ("- item", "opener"),
        ("> quoted", "opener"),
        (":param x: the x", "opener"),
        ("name() -- what it does", "opener"),
        ("-5 degrees", "prose"),
        ("# Title", "heading"),
        ("#hashtag first", "prose"),
        ("# " + "x" * LONGEST_HEADING, "prose"),
        ("| a | b |", "row"),
        ("a\tb\tc", "row"),
        ("-----", "rule"),
        ("|---|---|", "rule"),
        ("def f(x):", "code"),
        ("import os", "code"),
        ("from os import path", "code"),
        ("from here to there", "prose"),
        ("x = compute(1)", "code"),
        ("run(1, 2)", "code"),
        ("</div>", "code"),
        (">>> 1 + 1", "code"),
        ("Traceback (most recent call last):", "code"),
    ],
)
def test_a_line_by_itself(line: str, kind: str) -> None:
    assert kinds(line + "\n") == [kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">>> f()\nresult\n\nText\n", "code code blank prose"),
        ("So::\n\n    any words\n\n    more\nText\n", "prose blank code blank code prose"),
        ("~~~\n# x\n```\n- y\n~~~\n# Title\n", "code code code code code heading"),
        ("x" * 5000, "prose"),
        ("| " + "x" * 5000, "row"),
        (" " * 5000 + "x", "prose"),
    ],
)
def test_a_block_ends_with_a_blank_line_its_indent_or_its_own_mark(
    text: str, expected: str
) -> None:
    assert kinds(text) == expected.split()


def test_blank_lines_are_one() -> None:
    lines = list(read_lines("a\n\n\n\nb"))
    assert [(line.start, line.end, line.kind) for line in lines] == [
        (0, 2, "prose"),
        (2, 5, "blank"),
        (5, 6, "prose"),
    ]


def test_tabs_count_as_columns() -> None:
    assert indent_of("\tx") == 8
    assert indent_of("  x") == 2
    assert indent_of("x") == 0
