"""What --json prints of an answer and of a stored run, key by key."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pgs_neo4j.answering.layered import SearchAnswer
from pgs_neo4j.cli.pages import answer_json
from pgs_neo4j.export import Area, AreaState, Document, to_json
from pgs_neo4j.model import (
    Absence,
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Crosscheck,
    Finding,
    Flag,
    Node,
    Quote,
    Report,
    Sighting,
    Stated,
    Sweep,
    SweepStatus,
    Usage,
)
from pgs_neo4j.runs.runs import StoredRun
from pgs_neo4j.text.json_data import json_text

Make = Callable[..., Answer]
KEYS = {
    "question", "graph", "session", "run", "mode", "model", "generation", "partial", "stopped",
    "answer", "complete", "reductions", "thesis", "connections", "absences", "convergences",
    "citations", "checks", "checked_absences", "flags", "converging_findings", "sweeps",
    "routing", "coverage", "own_coverage", "usage", "synthesis_usage", "cost", "seconds",
    "warnings",
}  # fmt: skip
AREAS = (Area(partition=1, nodes=40, nodes_read=40, state=AreaState.READ, keywords=("a", "b")),)
CITED = Citation(alias="n2", partition=1, node="doi/2", title="Second", element_id="4:x:9", rank=1)
REPORT = Report(
    partition=1,
    domain_state="All of it.",
    findings=(Finding(text="“so” [n2]", citations=(CITED,), quotes=(Quote("so", True),)),),
    flags=(Flag(text="P2: why [n2]", target=2, citations=(CITED,)),),
    absences=(Absence(text="nothing on x"),),
)
SEEN = Sighting(partition=2, rank=3, node="doi/9", title="Nine", read=False, element_id="4:x:1")
MET = Crosscheck(
    absences=(
        CheckedAbsence(
            text="nothing on x",
            reported=(Stated(1, 0, "nothing on x"),),
            status=AbsenceStatus.ELSEWHERE,
            terms=("x",),
            searched=160,
            method="scan",
            count=1,
            sightings=(SEEN,),
        ),
    ),
    flags=(
        ChasedFlag(
            source=1, place=0, text="why", target=2, swept=True, absent=Stated(2, 0, "no why")
        ),
    ),
    convergences=(Convergence(kind="words", findings=(Stated(1, 0, "a"), Stated(2, 0, "b"))),),
)


def full(answer_of: Make, **changed: Any) -> Answer:
    sweeps = (
        Sweep(
            partition=1, status=SweepStatus.ACCEPTED, nodes=40, read=((0, 40),), passes=1,
            passes_accepted=1, report=REPORT, usage=Usage(calls=1, cached=2), wave=2,
        ),
        Sweep(partition=2, status=SweepStatus.UNREAD, nodes=30, errors=("2 calls",)),
    )  # fmt: skip
    given = {"sweeps": sweeps, "crosscheck": MET, "generation": "g1", "stopped": "2 calls"}
    return answer_of(**given | changed)


def test_an_answer_carries_the_keys_that_the_issue_lists(answer_of: Make) -> None:
    document = json.loads(json_text(answer_json.answer(answer_of(), AREAS)))
    assert set(document) == KEYS | {"search"}
    assert document["citations"] == [
        {"partition": 1, "alias": "n2", "node": "doi/2", "title": "Second", "valid": True},
        {"partition": 1, "alias": "n9", "node": None, "title": None, "valid": False},
    ]
    first, second = document["sweeps"]
    assert (first["partition"], first["status"], first["nodes_read"]) == (1, "accepted", 40)
    assert first["keywords"] == ["a", "b"]
    assert (second["status"], second["nodes_read"], second["errors"]) == ("failed", 0, ["429"])
    assert (second["keywords"], second["report"]) == ([], None)
    assert document["coverage"] == {
        "partitions_swept": 1, "partitions_total": 4, "nodes_read": 40, "nodes_total": 160,
        "texts_read": 40, "texts_total": 160, "fraction": 0.25,
    }  # fmt: skip
    assert document["usage"]["input_tokens"] == 1200
    assert document["seconds"] == answer_of().seconds
    assert (document["partial"], document["stopped"], document["cost"]) == (True, "", None)
    assert document["search"] is None


def test_a_run_has_the_same_keys_and_values_wherever_it_is_printed(answer_of: Make) -> None:
    found = full(answer_of)
    document = Document(answer=found, asked_at="2026-01-02T03:04:05Z", areas=AREAS)
    exported = json.loads(to_json(document))
    asked = json.loads(json_text(answer_json.answer(found, AREAS)))
    run = stored(status="partial", started_at=document.asked_at)
    shown = json.loads(json_text(answer_json.run(run, document)))
    assert {name: exported[name] for name in KEYS} == {name: asked[name] for name in KEYS}
    assert {name: exported[name] for name in KEYS} == {name: shown[name] for name in KEYS}
    assert set(exported) == KEYS | {"asked_at", "areas", "sources"}
    assert set(shown) == KEYS | {"status", "asked_at", "finished_at", "error", "outcome"}
    assert shown["status"] == "partial"
    assert exported["asked_at"] == shown["asked_at"]


def test_it_carries_what_each_partition_reported(answer_of: Make) -> None:
    document = answer_json.answer(full(answer_of, cost=0.25))
    read, unread = document["sweeps"]
    assert (read["wave"], read["usage"]["cached"]) == (2, 2)
    report = read["report"]
    assert report["domain_state"] == "All of it."
    assert report["findings"] == [
        {
            "text": "“so” [n2]",
            "supported": True,
            "citations": [
                {"partition": 1, "alias": "n2", "node": "doi/2", "title": "Second", "valid": True}
            ],
            "quotes": [{"text": "so", "found": True}],
        }
    ]
    assert report["flags"][0]["target"] == 2
    assert report["absences"] == ["nothing on x"]
    assert (unread["status"], unread["errors"], unread["report"]) == ("unread", ["2 calls"], None)
    assert (document["cost"], document["stopped"], document["generation"]) == (
        0.25, "2 calls", "g1",
    )  # fmt: skip


def test_it_carries_what_was_found_by_looking(answer_of: Make) -> None:
    document = answer_json.answer(full(answer_of))
    (absence,) = document["checked_absences"]
    assert (absence["status"], absence["terms"], absence["searched"]) == ("elsewhere", ["x"], 160)
    assert (absence["method"], absence["partitions"]) == ("scan", [1])
    assert absence["sightings"] == [
        {"partition": 2, "alias": "n4", "node": "doi/9", "title": "Nine", "read": False}
    ]
    (flag,) = document["flags"]
    assert (flag["source"], flag["target"], flag["opportunity"]) == (1, 2, True)
    (met,) = document["converging_findings"]
    assert (met["kind"], met["partitions"]) == ("words", [1, 2])
    assert document["checks"]["invalid_citations"] == 1


def test_no_id_of_the_database_is_in_it_and_hostile_text_loses_nothing(
    answer_of: Make, hostile: str
) -> None:
    text = json_text(answer_json.answer(full(answer_of, warnings=(hostile,))))
    assert "4:x" not in text
    assert "element" not in text
    assert json.loads(text)["warnings"] == [hostile]


def test_an_answer_carries_the_search_before_it(answer_of: Make) -> None:
    node = Node(rank=0, element_id="e", key="k", title="t", text="")
    found = SearchAnswer("near", (node,), (Citation(alias="n1", partition=0),), "index", Usage())
    document = answer_json.answer(answer_of(), (), found)
    assert document["search"]["nodes"] == [{"alias": "n1", "node": "k", "title": "t"}]
    assert document["search"]["method"] == "index"


def stored(**properties: Any) -> StoredRun:
    given = {"status": "stopped", "question": "what?", "mode": "full", "error": "2 calls"}
    return StoredRun("r1", "papers", "default", "g1", True, False, given | properties)


@pytest.mark.parametrize("status", ["stopped", "running", "failed"])
def test_a_run_without_an_answer_says_how_it_ended(status: str) -> None:
    found = answer_json.run(stored(status=status), None)
    assert (found["status"], found["answer"], found["partial"]) == (status, None, True)
    assert (found["run"], found["graph"], found["error"]) == ("r1", "papers", "2 calls")
