"""Aliases of relationships in prompts and replies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.answering.aliases import (
    defuse_relationships,
    relationship_aliases,
    separate_citations,
)


@pytest.mark.parametrize(
    ("text", "aliases"),
    [
        ("It ships [t1].", ["t1"]),
        ("[T2, t1; t2]", ["t2", "t1"]),
        ("(n1, t03)", ["t3"]),
        ("[n1] and [n2]", []),
        ("【relationship t4 and t5】", ["t4", "t5"]),
        ("[t1 and more]", []),
        ("[t1x] t1 [t]", []),
    ],
)
def test_relationships_are_found_in_their_brackets(text: str, aliases: list[str]) -> None:
    assert list(relationship_aliases(text)) == aliases


def test_citations_of_both_kinds_are_written_apart() -> None:
    assert separate_citations("So [n1, t2, n3] [n4] [t5].") == "So [n1, n3] [t2] [n4] [t5]."


def test_what_looks_like_an_alias_is_made_harmless() -> None:
    assert defuse_relationships("(t8) [n1] [t1, n2]") == "⟦t8⟧ [n1] ⟦t1, n2⟧"


@given(st.text(st.sampled_from("[]()tn123, ;and【】x"), max_size=60))
def test_no_text_of_a_graph_cites_a_relationship(text: str) -> None:
    assert list(relationship_aliases(defuse_relationships(text))) == []


@given(st.text(st.sampled_from("[]()tn123, ;and【】x"), max_size=60))
def test_writing_apart_loses_no_alias(text: str) -> None:
    apart = separate_citations(text)
    assert list(relationship_aliases(apart)) == list(relationship_aliases(text))
    assert separate_citations(apart) == apart
