"""Tokens of Cypher, and what is written from them."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.gate.tokens import LONGEST_STATEMENT, read_tokens, write_tokens
from pgs_neo4j.errors import GateError


@pytest.mark.parametrize(
    ("statement", "written"),
    [
        ("RETURN 1 AS x", "RETURN 1 AS x"),
        ("RETURN\t1 // one\n AS/* two */x", "RETURN 1 AS x"),
        (r"\u0052ETURN 1 AS x", "RETURN 1 AS x"),
        (r"RETURN 1 /\u002A a */ AS x", "RETURN 1 AS x"),
        ("RETURN 1 AS `a``b`", "RETURN 1 AS `a``b`"),
        (r"RETURN 1 AS `a\u005Cb`", r"RETURN 1 AS `a\u005Cb`"),
        (r"RETURN 'a\nb'", r"RETURN 'a\u005Cnb'"),
        # A backslash before another one begins no escape, so this is a text of six characters.
        (r"RETURN '\\u0041'", r"RETURN '\u005C\u005Cu0041'"),
        (r"RETURN '\u0041'", "RETURN 'A'"),
        (r"RETURN 'a\'b' AS `'`", r"RETURN 'a\u005C'b' AS `'`"),
        ("RETURN '// no comment' AS x", "RETURN '// no comment' AS x"),
        ("MATCH (a)-[:T*1..3]->(b) RETURN a.x<>b.y", "MATCH (a)-[:T*1..3]->(b) RETURN a.x<>b.y"),
        # Words never grow together, and words with letters beyond ASCII are no keywords.
        ("RETURN 1 AS a$b", "RETURN 1 AS a $b"),
        ("RETURN 1 A\u017f x", "RETURN 1 `A\u017f` x"),
        ("MATCH (n:\u00c9tat) RETURN n", "MATCH (n:`\u00c9tat`) RETURN n"),
        ("RETURN $`a b`, $1, $x", "RETURN $`a b`, $1, $x"),
        (r"RETURN '\ud83d\ude00'", "RETURN '\U0001f600'"),
        ("RETURN 1.5e-3, .5, 0xFF, 1_000, xs[1..2]", "RETURN 1.5e-3, .5, 0xFF, 1_000, xs[1..2]"),
    ],
)
def test_a_statement_is_written_as_it_was_read(statement: str, written: str) -> None:
    tokens = read_tokens(statement)
    assert write_tokens(tokens) == written
    assert [token.text for token in read_tokens(written)] == [token.text for token in tokens]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("", "empty"),
        (" // nothing\n", "empty"),
        ("RETURN 'a", "does not end"),
        ("RETURN `a", "does not end"),
        (r"RETURN 1 AS `a\u0060b`", "does not end"),
        ("RETURN 1 /* a", "does not end"),
        (r"RETURN '\u00'", "four hexadecimal digits"),
        (r"RETURN '\uu0041'", "four hexadecimal digits"),
        (r"RETURN '\ud83d'", "half of a character"),
        ("RETURN 1 \x00", r"U\+0000"),
        ("RETURN\ufeff1", r"U\+FEFF"),
        ("RETURN a#b", "character #"),
        ("RETURN \\", r"character \\"),
        ("x" * (LONGEST_STATEMENT + 1), "characters"),
    ],
)
def test_what_is_no_statement_is_refused(statement: str, reason: str) -> None:
    with pytest.raises(GateError, match=reason):
        read_tokens(statement)
