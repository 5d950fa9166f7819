"""The rows of an answer from a search, and its details read back unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pgs_neo4j.answering.context import build_context
from pgs_neo4j.answering.reading import read_reply_text, shown_citations
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model import (
    Answer,
    Coverage,
    Crosscheck,
    Routing,
    Shown,
    Synthesis,
    Usage,
)
from pgs_neo4j.runs.details import details_json, read_details, result_properties
from pgs_neo4j.runs.search_answers import search_answer_rows
from pgs_neo4j.runs.session import Read
from tests.unit.answering.test_context import fact, found, node

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


def test_an_answer_becomes_rows_of_what_was_shown_claimed_and_cited() -> None:
    rows = search_answer_rows(made(), CONTEXT.nodes, CONTEXT.facts)
    assert rows["nodes"] == [
        {"element_id": one.id, "key": one.key, "place": place, "hash": text_hash(one.text)}
        for place, one in enumerate(CONTEXT.nodes.values())
    ]
    (ships,) = CONTEXT.facts.values()
    assert rows["relationships"] == [
        {"source": ships.source, "target": ships.target, "type": "SHIPS", "place": 0}
    ]
    assert [
        (row["id"], row["place"], row["supported"], row["misquoted"]) for row in rows["findings"]
    ] == [("r1:f0", 0, True, 0), ("r1:f1", 1, True, 1), ("r1:f2", 2, False, 0)]
    # Only valid citations of nodes become links.
    assert [(row["id"], row["alias"], row["rank"]) for row in rows["citations"]] == [
        ("r1:thesis", "n1", 0),
        ("r1:thesis", "n2", 1),
        ("r1:f0", "n1", 0),
        ("r1:f1", "n2", 1),
    ]


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
