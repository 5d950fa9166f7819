"""Replies to the context of a search, their aliases, and the gate before what was not found."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pgs_neo4j.pgs.answering.context import (
    build_context,
    cited_things,
    defuse_relationships,
    separate_citations,
)
from pgs_neo4j.pgs.answering.reading import SectionGate, read_reply_text, shown_citations
from tests.unit.pgs.answering.test_context import fact, found, node

CONTEXT = build_context(
    found(node(1, "Tea was traded early in China."), node(2, ""), facts=(fact(1, "Tea"),)), 2000
)


def test_sections_claims_and_quotations_are_read_or_else_all_is_the_answer() -> None:
    reading = read_reply_text(
        "<think>Hm.</think>## Answer\nIt was early [n1].\n\n## Findings\n"
        "- “Tea was traded early” it says [n1, t1].\n- Nobody knows [n9].\n\n"
        "## Not found\n- the price of salt\n- None.",
        CONTEXT,
    )
    assert reading.answer == "It was early [n1]."
    first, second = reading.findings
    assert [(one.alias, one.valid) for one in first.citations] == [("n1", True), ("t1", True)]
    assert [quote.found for quote in first.quotes] == [True]
    assert not second.supported
    assert reading.missing == ("the price of salt",)
    reading = read_reply_text("Early [n1].\nLate.", CONTEXT)
    assert (reading.answer, reading.findings, reading.missing) == ("Early [n1].\nLate.", (), ())
    reading = read_reply_text("## Findings\n- “Tea SHIPS Port 1” [t1]", CONTEXT)
    assert [quote.found for quote in reading.findings[0].quotes] == [True]


def test_everything_shown_is_a_citation_with_its_place() -> None:
    shown = shown_citations(CONTEXT)
    assert [(one.alias, one.rank) for one in shown] == [("n1", 0), ("n2", 1), ("t1", None)]


@pytest.mark.parametrize("heading", ["## Not found", "**Not found**", "Not found:", "# Gaps"])
def test_what_was_not_found_is_held_back(heading: str) -> None:
    gate = SectionGate()
    assert gate.pass_on(f"## Answer\nSo.\n{heading}\n- x\n") + gate.end() == "## Answer\nSo.\n"


@given(
    st.text(st.sampled_from("No tfud#\n-*:abc"), max_size=120),
    st.lists(st.integers(0, 120), max_size=8),
)
@example("## Answer\nSo.\n## Not found\n- x", [3, 14, 16, 20])
@example("abc\n## Not found\n- x", [2, 3, 5])
def test_the_gate_passes_the_same_whatever_the_pieces(text: str, cuts: list[int]) -> None:
    whole, pieces = SectionGate(), SectionGate()
    expected = whole.pass_on(text) + whole.end()
    ends = [*sorted(min(cut, len(text)) for cut in cuts), len(text)]
    passed = "".join(
        pieces.pass_on(text[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)
    )
    assert passed + pieces.end() == expected
    assert text.startswith(expected)


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
    assert list(cited_things(text)) == aliases


def test_citations_of_both_kinds_are_written_apart() -> None:
    assert separate_citations("So [n1, t2, n3] [n4] [t5].") == "So [n1, n3] [t2] [n4] [t5]."


@given(st.text(st.sampled_from("[]()tn123, ;and【】x"), max_size=60))
def test_no_text_of_a_graph_cites_a_relationship(text: str) -> None:
    assert list(cited_things(defuse_relationships(text))) == []


@given(st.text(st.sampled_from("[]()tn123, ;and【】x"), max_size=60))
def test_writing_apart_loses_no_alias(text: str) -> None:
    apart = separate_citations(text)
    assert list(cited_things(apart)) == list(cited_things(text))
    assert separate_citations(apart) == apart
