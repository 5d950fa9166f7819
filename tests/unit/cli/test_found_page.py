"""What a search found, on a terminal and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.cli.pages import found_page
from pgs_neo4j.config import Settings
from pgs_neo4j.model import Found, FoundFact, FoundFinding, FoundItem, FoundUnit, PathReport
from tests.fakes.commands import StandIn, pgs


def found(**changed: Any) -> Found:
    items = (
        FoundItem(
            id="4:x:1", key="doi/1", title="Tea trade", text="Tea trade\nTea was traded early.",
            labels=("Paper",), score=1.0, scores={"text": 7.5, "hops": 0.25},
        ),
        FoundItem(
            id="4:x:2", key="doi/2", title="Salt", text="", labels=("Paper",), score=0.4,
            scores={"hops": 0.5},
        ),
    )  # fmt: skip
    paths = (
        PathReport(name="vector", method="no embeddings to compare", count=0, seconds=0.0),
        PathReport(name="text", method="full-text index papers", count=7, seconds=0.01),
        PathReport(name="hops", method="", count=0, seconds=5.0, error="it took longer than 5 s"),
    )
    given: dict[str, Any] = {
        "question": "Who trades tea?", "mode": "hybrid", "items": items, "paths": paths,
        "seconds": 0.02, "warnings": ("words decide alone",),
    }  # fmt: skip
    return Found(**(given | changed))


def test_each_node_has_its_title_key_score_paths_and_first_words() -> None:
    assert found_page.lines(found(), 80) == [
        "  1  Tea trade (doi/1) 1.00 text, hops",
        "     Tea was traded early.",
        "  2  Salt (doi/2) 0.40 hops",
        "",
        "2 nodes in 20 ms; text: full-text index papers",
    ]
    assert found_page.notes(found()) == [
        "words decide alone",
        "the path hops failed: it took longer than 5 s",
    ]


def test_the_id_of_the_database_stands_behind_no_title() -> None:
    item = FoundItem(
        id="4:x:1", key="4:x:1", title="Film-Noir", text="", labels=("Genre",), score=1.0,
        scores={"text": 1.0},
    )  # fmt: skip
    assert found_page.lines(found(items=(item,)), 80)[0] == "  1  Film-Noir 1.00 text"


def test_relationships_partitions_and_findings_follow_the_nodes() -> None:
    fact = FoundFact(
        id="5:x:1", type="SHIPS", source="4:x:1", target="4:x:2", source_title="Tea trade",
        target_title="Salt", hops=1, score=0.5,
    )  # fmt: skip
    unit = FoundUnit(level=0, id=3, label="tea, salt", titles=("Tea trade",), size=40, score=1.0)
    read = replace(unit, domain_state="Trade\nis old.", run="r1", score=0.25)
    above = replace(unit, level=1, id=2)
    finding = FoundFinding(id="f", text="Tea was cheap.", run="r1", partition=3, score=1.0)
    rich = found(
        items=(), facts=(fact,) * 7, units=(unit, read, above), findings=(finding,),
        reason="local: the question names a title",
    )  # fmt: skip
    assert found_page.lines(rich, 80) == [
        "nothing was found, but not everything could be searched",
        "",
        "relationships",
        *["     Tea trade --[SHIPS]--> Salt 0.50"] * 5,
        "     and 2 more (--json)",
        "",
        "partitions, and units above them",
        "     P3 tea, salt, 40 nodes, 1.00",
        "     P3 tea, salt, 40 nodes, 0.25; run r1: Trade is old.",
        "     unit 2 of level 1 tea, salt, 40 nodes, 1.00",
        "",
        "findings of earlier runs",
        "     Tea was cheap. (run r1, P3)",
        "",
        "0 nodes in 20 ms; local: the question names a title; text: full-text index",
        "papers",
    ]
    data = found_page.as_json(rich)
    assert data["facts"][0]["line"] == "Tea trade --[SHIPS]--> Salt"
    assert (len(data["units"]), data["findings"][0]["run"]) == (3, "r1")


def test_nothing_found_says_whether_everything_was_searched() -> None:
    whole = found(items=(), paths=found().paths[:2])
    assert found_page.lines(whole, 80)[0] == "nothing in the graph matches the question"
    assert found_page.lines(found(items=(), changed=True), 80)[0] == found_page.FAILED
    changed = found_page.lines(replace(whole, changed=True), 80)
    assert " ".join(changed[:2]) == found_page.CHANGED
    assert all(len(line) <= 80 for line in changed)


def test_lines_fit_and_drive_no_terminal(hostile: str) -> None:
    item = FoundItem(
        id="1", key=hostile, title=hostile * 9, text=f"{hostile}\n" * 99, labels=(), score=0.1,
        scores={"text": 1.0},
    )  # fmt: skip
    for width in (40, 80, 200):
        lines = found_page.lines(found(items=(item,)), width)
        assert all(len(line) <= width for line in lines)
        assert not any(character in "".join(lines) for character in "\x1b\x07\x9b\u202e\n\r")


def test_json_is_one_document_whose_items_have_the_form_of_other_retrievers(
    engine: StandIn,
) -> None:
    document = json.loads(pgs("search", "Who", "trades", "tea?", "--json").stdout)
    first, second = document["items"]
    assert first["content"] == "Tea trade\nTea was traded early."
    assert second["content"] == "Salt"
    assert first["metadata"] == {
        "id": "4:x:1", "key": "doi/1", "title": "Tea trade", "labels": ["Paper"], "score": 1.0,
        "scores": {"text": 7.5, "hops": 0.25}, "way": "",
    }  # fmt: skip
    assert document["mode"] == "hybrid"
    assert [path["name"] for path in document["paths"]] == ["vector", "text", "hops"]
    assert document["warnings"] == ["words decide alone"]


@pytest.fixture
def engine(engine: StandIn) -> StandIn:
    engine.replies["search"] = found()
    engine.have({"settings": Settings(search={})})
    return engine


def test_the_command_passes_on_what_it_is_given(engine: StandIn) -> None:
    words = ["--mode", "mix", "--top-k", "3", "--weights", "1", "0.5", "0", "--rerank", "mmr"]
    done = pgs("search", "Who trades tea?", "-g", "papers", *words)
    assert done.exit_code == 0
    asked = {
        "graph": "papers", "mode": "mix", "top_k": 3, "weights": (1.0, 0.5, 0.0), "rerank": "mmr",
    }  # fmt: skip
    assert engine.asked == [("search", "Who trades tea?", asked)]
    assert "note: words decide alone" in done.stderr
    assert "Tea trade (doi/1)" in done.stdout


def test_the_context_takes_the_place_of_the_list_where_it_is_wanted(engine: StandIn) -> None:
    context = "## Nodes\n[n1] Tea trade"
    engine.replies["search"] = found(context=context)
    words = ("search", "tea", "-g", "papers", "--context", "--max-context-tokens", "900")
    assert pgs(*words).stdout == f"{context}\n"
    assert engine.asked == [("search", "tea", {"graph": "papers", "max_context_tokens": 900})]
    document = json.loads(pgs(*words, "--json").stdout)
    assert document["context"] == context
    assert len(document["items"]) == 2
    assert "## Nodes" not in pgs("search", "tea").stdout


def test_what_no_option_says_is_left_to_the_settings(engine: StandIn) -> None:
    pgs("search", "tea", "--context")
    engine.have({"settings": Settings(search={"max_context_tokens": 700})})
    pgs("search", "tea", "--context")
    assert engine.asked == [("search", "tea", {"max_context_tokens": 12_000}), ("search", "tea")]
