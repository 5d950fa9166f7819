"""What a run keeps of an answer, and which part of a session it has read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.export import AreaState
from pgs_neo4j.model import (
    Answer,
    Citation,
    Coverage,
    Crosscheck,
    Partition,
    Quote,
    Routing,
    Shown,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from pgs_neo4j.pgs.answering.context import build_context
from pgs_neo4j.pgs.answering.reading import read_reply_text, shown_citations
from pgs_neo4j.pgs.runs.answers import details_json, read_details, result_properties
from pgs_neo4j.pgs.runs.documents import make_area
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.runs.sweep_rows import (
    citations_json,
    locate_citations,
    parse_citations,
    parse_quotes,
    quotes_json,
)
from tests.thorough import tries
from tests.unit.pgs.answering.test_context import fact, found, node

CONTEXT = build_context(
    found(node(1, "Tea was traded early."), node(2, "Salt is old."), facts=(fact(1, "Tea"),)), 2000
)
REPLY = (
    "## Answer\nEarly [n1], as [n9] says.\n\n## Findings\n- “Tea was traded early” [n1, t1]\n"
    "- “Tea was never traded” [n2]\n- Nobody knows [n9]\n\n## Not found\n- zeppelins"
)
NONE = Coverage(partitions_swept=0, partitions_total=4, nodes_read=0, nodes_total=160)


def made(**changed: Any) -> Answer:
    read = read_reply_text(REPLY, CONTEXT)
    cited = shown_citations(CONTEXT)
    given: dict[str, Any] = {
        "question": "Why?", "graph": "papers", "session": "default", "run": "r1",
        "mode": "hybrid", "model": "large", "routing": Routing(routes=(), considered=4),
        "synthesis": Synthesis(
            text=REPLY, thesis=read.answer, absences=read.missing, citations=read.citations,
            judged=True,
        ),
        "sweeps": (), "coverage": NONE, "own_coverage": NONE, "usage": Usage(calls=1),
        "seconds": {"total": 1.0}, "crosscheck": Crosscheck(),
        "shown": Shown(
            nodes=cited[:2], relationships=cited[2:], nodes_total=160, tokens=90,
            findings=read.findings, reason="local: the question names a title",
        ),
    }  # fmt: skip
    return Answer(**given | changed)


def test_details_are_read_back_unchanged_without_element_ids() -> None:
    answer = made()
    details = read_details(details_json(answer, Read({})))
    assert details.shown == answer.shown
    assert details.synthesis == answer.synthesis
    first = next(iter(CONTEXT.nodes.values()))
    assert first.id not in details_json(answer, Read({}))


def test_other_answers_store_nothing_of_searches() -> None:
    assert read_details(details_json(made(shown=None), Read({}))).shown is None
    assert "nodes_shown" not in result_properties(made(shown=None), Read({}))


def test_a_run_ends_with_what_it_showed() -> None:
    ended = result_properties(made(), Read({}))
    assert (ended["status"], ended["nodes_read"], ended["nodes_shown"]) == ("complete", 0, 2)
    cut = made(synthesis=replace(made().synthesis, complete=False))
    assert result_properties(cut, Read({}))["status"] == "partial"


words = st.text(st.characters(exclude_categories=("Cs",)), max_size=9)
citations = st.builds(
    Citation,
    alias=words,
    partition=st.integers(0, 9),
    node=st.none() | words,
    title=st.none() | words,
    valid=st.booleans(),
    element_id=st.none() | words,
    rank=st.none() | st.integers(0, 99),
)


@settings(max_examples=tries(25, 100))
@given(st.lists(citations, max_size=4).map(tuple))
def test_citations_come_back_as_they_were_but_for_what_only_this_database_knows(given_ones):
    stored = citations_json(given_ones)
    assert parse_citations(stored, {}) == locate_citations(given_ones, {})
    assert all("element_id" not in each for each in json.loads(stored))
    assert [c.valid for c in parse_citations(stored, {})] == [c.valid for c in given_ones]


def test_a_node_that_is_still_there_is_located_and_an_invalid_citation_never_is():
    there, gone = (Citation(alias=a, partition=4, node=a, rank=0) for a in ("n1", "n2"))
    invalid = Citation(alias="n1", partition=4, valid=False)
    found = parse_citations(citations_json((there, gone, invalid)), {(4, "n1"): "e1"})
    assert [each.element_id for each in found] == ["e1", None, None]


@settings(max_examples=tries(25, 100))
@given(st.lists(st.builds(Quote, words, st.booleans()), max_size=4).map(tuple))
def test_quotes_come_back_with_their_verdicts(quotes):
    assert parse_quotes(quotes_json(quotes)) == quotes


READ = Read(
    {1: frozenset(range(10)), 2: frozenset({0, 1})},
    {1: frozenset({0, 1, 2}), 2: frozenset({0})},
)
PARTITIONS = (Partition(id=1, size=10, tokens=9), Partition(id=2, size=4, tokens=9))


def test_coverage_counts_nodes_and_texts() -> None:
    coverage = READ.coverage(PARTITIONS, texts=5)
    assert (coverage.partitions_swept, coverage.nodes_read, coverage.nodes_total) == (1, 12, 14)
    assert (coverage.texts_read, coverage.texts_total, coverage.fraction) == (4, 5, 0.8)


@pytest.mark.parametrize(
    ("read", "unproven", "failed", "state"),
    [
        (4, 0, False, AreaState.READ),
        (2, 2, False, AreaState.PARTIAL),
        (0, 1, True, AreaState.UNPROVEN),
        (0, 0, True, AreaState.FAILED),
        (0, 0, False, AreaState.UNREAD),
    ],
)
def test_an_area_has_the_state_of_what_was_read_and_shown(
    read: int, unproven: int, failed: bool, state: AreaState
) -> None:
    sweep = Sweep(partition=2, status=SweepStatus.FAILED, nodes=4)
    answer = made(sweeps=(sweep,) if failed else ())
    area = make_area(PARTITIONS[1], read, read, unproven, answer)
    assert (area.state, area.nodes_unproven) == (state, unproven)


def test_what_sweeps_read_with_text_is_the_part_of_an_answer() -> None:
    status = SweepStatus.ACCEPTED
    first = Sweep(partition=1, status=status, nodes=4, read=((1, 5),), without_text=(3, 4))
    again = Sweep(partition=1, status=status, nodes=1, read=((1, 2),))
    unread = Sweep(partition=2, status=SweepStatus.UNREAD, nodes=4)
    part = READ.of_sweeps((first, again, unread))
    assert part.ranks == {1: frozenset({1, 2, 3, 4})}
    assert part.texts == {1: frozenset({1, 2})}
    blank = Sweep(
        partition=1, status=SweepStatus.ACCEPTED, nodes=2, read=((0, 2),), without_text=(0, 1)
    )
    assert READ.of_sweeps([blank]).texts == {}
    assert (blank.nodes_read, blank.texts_read) == (2, 0)
