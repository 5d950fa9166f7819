"""Names in statements stay one name each, whatever they hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.database import queries
from pgs_neo4j.database.quoted_names import fill_names, quote

CODE = re.compile(r"\\u([0-9a-fA-F]{4})")


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("Paper", "`Paper`"),
        ("a`b", "`a``b`"),
        ("a\\b", "`a\\u005Cb`"),
        ("\\u0060) DELETE", "`\\u005Cu0060) DELETE`"),
        ('it\'s "a"\n//', '`it\'s "a"\n//`'),
    ],
)
def test_a_name_is_quoted(name: str, quoted: str) -> None:
    assert quote(name) == quoted


@given(st.text(st.sampled_from("`\\u0060C5xa{}"), max_size=40))
def test_the_server_reads_one_name_back(name: str) -> None:
    decoded = CODE.sub(lambda match: chr(int(match[1], 16)), quote(name))
    body = decoded[1:-1]
    assert not re.search("(?<!`)(?:``)*`(?!`)", body)  # no single back-tick ends the name
    assert body.replace("``", "`") == name


def test_names_are_joined_as_their_place_wants() -> None:
    query = queries.get("retrieval/create_text_indexes")
    filled = fill_names(query, labels=["A", "{properties}"], properties=["x", "y`"])
    assert "FOR (n:`A`|`{properties}`) ON EACH [n.`x`, n.`y```]" in filled.text
    assert filled.name == query.name


def test_each_place_needs_a_name_and_each_name_a_place() -> None:
    query = queries.get("retrieval/create_text_indexes")
    for names in ({"labels": ["A"]}, {"labels": ["A"], "properties": []}):
        with pytest.raises(ValueError, match="has places for labels, properties"):
            fill_names(query, **names)
