"""Nodes that are gone lose their element ids in an answer, wherever it cites them."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.checking.citing import locate_answer
from pgs_neo4j.model import (
    Answer,
    CheckedAbsence,
    Citation,
    Coverage,
    Crosscheck,
    Finding,
    Report,
    Routing,
    Sighting,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from pgs_neo4j.model.crosscheck import AbsenceStatus
from tests.fakes.database import FakeDatabase

WHOLE = Coverage(partitions_swept=1, partitions_total=1, nodes_read=3, nodes_total=3)


def cited(name: str) -> Citation:
    return Citation(
        alias=f"n{name}", partition=1, node=name, title=name, element_id=f"e{name}", rank=int(name)
    )


def sighting(name: str) -> Sighting:
    return Sighting(
        partition=1, rank=int(name), node=name, title=name, read=True, element_id=f"e{name}"
    )


def answer_of(*names: str) -> Answer:
    """An answer that cites and sees these nodes in all places, and nothing twice."""
    every = tuple(map(cited, names))
    report = Report(partition=1, findings=(Finding(text="It is so.", citations=every),))
    absence = CheckedAbsence(
        text="Nothing.", reported=(), status=AbsenceStatus.ELSEWHERE,
        sightings=tuple(map(sighting, names)),
    )  # fmt: skip
    return Answer(
        question="Why?", graph="papers", session="s", run="r", mode="full", model="m",
        synthesis=Synthesis(text="So.", citations=every), routing=Routing(routes=(), considered=0),
        sweeps=(
            Sweep(partition=1, status=SweepStatus.ACCEPTED, nodes=3, read=((0, 3),), report=report),
            Sweep(partition=2, status=SweepStatus.FAILED, nodes=3),
        ),
        coverage=WHOLE, own_coverage=WHOLE, usage=Usage(), seconds={},
        crosscheck=Crosscheck(absences=(absence,)), generation="g",
    )  # fmt: skip


def element_ids(answer: Answer) -> list[list[str | None]]:
    report = answer.sweeps[0].report
    assert report is not None
    places: tuple[tuple[Any, ...], ...] = (
        answer.synthesis.citations, report.citations, answer.crosscheck.absences[0].sightings
    )  # fmt: skip
    return [[one.element_id for one in place] for place in places]


async def test_what_is_gone_loses_its_element_id_everywhere() -> None:
    db: Any = FakeDatabase(read_still_cited=[{"element_ids": ["e1", "e3"]}])
    given = answer_of("1", "2", "3")
    found = await locate_answer(db, given)
    assert element_ids(found) == [["e1", None, "e3"]] * 3
    assert found == given  # names, titles, and everything else stay as they were
    (sent,) = db.params("read_still_cited")
    assert sent["generation"] == "g"
    assert sent["cited"][1] == {"element_id": "e2", "partition": 1, "rank": 2}
    assert len(sent["cited"]) == 3


async def test_an_answer_whose_nodes_are_all_there_is_the_same() -> None:
    db: Any = FakeDatabase(read_still_cited=[{"element_ids": ["e1", "e2"]}])
    given = answer_of("1", "2")
    assert await locate_answer(db, given) is given


async def test_an_answer_without_citations_asks_nothing() -> None:
    db: Any = FakeDatabase()
    given = answer_of()
    assert await locate_answer(db, given) is given
    assert db.sent == []
