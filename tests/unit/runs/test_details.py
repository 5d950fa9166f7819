"""An answer's details are read back from JSON as they were written."""

import json
from dataclasses import replace

from pgs_neo4j.model import (
    Answer,
    Citation,
    Convergence,
    Coverage,
    Crosscheck,
    Route,
    Routing,
    Stated,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from pgs_neo4j.runs.answer_rows import answer_rows
from pgs_neo4j.runs.details import details_json, read_details
from pgs_neo4j.runs.earlier_answers import parsed_synthesis
from pgs_neo4j.runs.session import Read

TEXT = "## Thesis\nIron [P1:n1].\n\n## Connections\n- One [P1:n2].\n\n## Convergences\n- Two."
CITED = (
    Citation(alias="n1", partition=1, node="a", title="A", rank=0, element_id="4:x:1"),
    Citation(alias="n2", partition=1, node="b", title="B", rank=1, element_id="4:x:2"),
)
UNREAD = Sweep(partition=2, status=SweepStatus.UNREAD, nodes=7, errors=("no time",), wave=2)
ANSWER = Answer(
    question="Why?",
    graph="g",
    session="s",
    run="r",
    mode="full",
    model="m",
    synthesis=Synthesis(
        text=TEXT,
        thesis="Iron [P1:n1].",
        connections=("One [P1:n2].",),
        convergences=("Two.",),
        citations=CITED,
        usage=Usage(calls=1, input_tokens=2, output_tokens=3, estimated=True, cached=1),
        complete=False,
        reductions=2,
    ),
    routing=Routing(routes=(Route(partition=1, similarity=0.5, reason="near"),), considered=2),
    sweeps=(Sweep(partition=1, status=SweepStatus.ACCEPTED, nodes=2, read=((0, 2),)), UNREAD),
    coverage=Coverage(partitions_swept=1, partitions_total=2, nodes_read=2, nodes_total=9),
    usage=Usage(calls=3),
    seconds={"total": 1.25},
    crosscheck=Crosscheck(
        convergences=(
            Convergence(
                kind="neighbors",
                findings=(Stated(1, 0, "x", "r0"), Stated(3, 4, "y")),
                citations=CITED,
            ),
        )
    ),
    generation="gen",
)
READ = Read({1: frozenset({0, 1})})


def test_details_read_back_equal_and_hold_no_element_id():
    stored = details_json(ANSWER, READ)
    details = read_details(stored)
    assert details.synthesis == ANSWER.synthesis
    assert details.crosscheck == ANSWER.crosscheck
    assert (details.routing, details.coverage) == (ANSWER.routing, ANSWER.coverage)
    assert (details.usage, details.seconds) == (ANSWER.usage, ANSWER.seconds)
    assert details.unread == (UNREAD,)
    assert details.nodes_read == {1: 2}
    assert "element_id" not in stored
    assert not {"complete", "reductions", "citations"} & set(json.loads(stored))


def test_details_of_earlier_releases_are_read_with_their_spelling():
    data = json.loads(details_json(ANSWER, READ))
    del data["synthesis"], data["nodes_read"]
    data["crosscheck"]["convergences"][0]["kind"] = "neighbours"
    data |= {"complete": False, "reductions": 2}
    first = read_details(json.dumps(data))
    assert (first.synthesis, first.citations, first.nodes_read) == (None, None, None)
    assert first.crosscheck == ANSWER.crosscheck
    nodes = {(each.partition, each.alias): each for each in CITED}
    same = replace(ANSWER.synthesis, usage=Usage())
    assert parsed_synthesis(TEXT, first, nodes) == same
    gone = parsed_synthesis(TEXT, first, {})
    assert [each.valid for each in gone.citations] == [False, False]
    judged = replace(first, citations=CITED)
    assert parsed_synthesis(TEXT, judged, {}) == same


def test_an_answer_becomes_rows_that_are_keyed_by_its_run():
    rows = answer_rows(ANSWER)
    assert rows["thesis"] == {"id": "r:thesis", "text": "Iron [P1:n1]."}
    assert rows["connections"] == [{"id": "r:c0", "text": "One [P1:n2].", "place": 0}]
    assert [(row["id"], row["kind"]) for row in rows["convergences"]] == [
        ("r:v0", "synthesis"),
        ("r:w0", "neighbors"),
    ]
    assert rows["joins"] == [
        {"id": "r:w0", "finding": "r0:1:f0"},
        {"id": "r:w0", "finding": "r:3:f4"},
    ]
    cited = [(row["id"], row["alias"], row["rank"]) for row in rows["citations"]]
    assert cited == [
        ("r:thesis", "n1", 0),
        ("r:thesis", "n2", 1),
        ("r:c0", "n2", 1),
        ("r:w0", "n1", 0),
        ("r:w0", "n2", 1),
    ]
    assert rows["absences"] == rows["sightings"] == []  # type: ignore[comparison-overlap]
