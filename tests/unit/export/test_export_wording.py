"""What an answer reports is worded once, in plain English."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.export import figures, wording
from pgs_neo4j.model import (
    AbsenceStatus,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Finding,
    Quote,
    Report,
    Sighting,
    Stated,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from tests.unit.export.conftest import make_answer


def sighting(partition: int, rank: int, *, read: bool) -> Sighting:
    return Sighting(partition=partition, rank=rank, node="k", title="t", read=read)


def absence(status: AbsenceStatus, **changes: Any) -> CheckedAbsence:
    text = "“library”: no mention in the 538 nodes read here."
    reported = tuple(Stated(number, 0, text) for number in (1, 2, 3, 4, 5, 6))
    fields = {"text": text, "reported": reported, "searched": 586, "terms": ("library",)}
    return CheckedAbsence(status=status, **fields | changes)


CONTRADICTED = AbsenceStatus.CONTRADICTED
READ = (sighting(1, 27, read=True), sighting(5, 33, read=True))
UNREAD = tuple(sighting(7, rank, read=False) for rank in range(3))


@pytest.mark.parametrize(
    ("status", "changes", "found"),
    [
        (CONTRADICTED, {"sightings": READ, "count": 2}, "in P1:n28 and P5:n34 (both read)"),
        (CONTRADICTED, {"sightings": (*READ[:1], *UNREAD), "count": 4}, "in P1:n28 (read)"),
        (CONTRADICTED, {"sightings": READ * 2}, "in P1:n28, P5:n34, and others (all read)"),
        (
            AbsenceStatus.ELSEWHERE,
            {"sightings": UNREAD, "count": 9},
            "in 9 nodes that were not read (P7:n1, P7:n2, …)",
        ),
    ],
)
def test_an_absence_that_was_found_is_one_natural_sentence(
    status: AbsenceStatus, changes: dict[str, Any], found: str
) -> None:
    line = wording.absence_line(absence(status, **changes))
    assert line == f"“library”: reported missing by 6 partitions, but found {found}."


def test_an_absence_that_was_not_found_tells_where_it_was_searched() -> None:
    one, confirmed = (Stated(4, 0, "x"),), AbsenceStatus.CONFIRMED
    told = "“library”: reported missing by P4, and not found in any of"
    assert wording.absence_line(absence(confirmed, reported=one)) == f"{told} 586 nodes."
    among = wording.absence_line(absence(confirmed, reported=one, texts=90))
    assert among == f"{told} 90 texts of 586 nodes."
    unchecked = absence(AbsenceStatus.UNCHECKED, terms=(), text="x", reported=one)
    assert wording.absence_line(unchecked) == (
        "x. Reported by P4, but not searched for in every node."
    )
    text = "No price of tea [n2]."
    reported = (Stated(4, 0, text), Stated(5, 1, "None"))
    several = absence(confirmed, terms=("cost", "tea"), text=text, reported=reported)
    assert wording.absence_line(several) == (
        "No price of tea [P4:n2]. Reported by P4 and P5, and not found in any of 586 nodes."
    )


def test_a_search_tells_where_how_and_for_which_words() -> None:
    checked = absence(AbsenceStatus.CONFIRMED, method="full-text index", terms=("a", "b"), count=1)
    assert wording.search_line(checked) == (
        "586 nodes searched by full-text index for “a”, “b”; 1 node contains it."
    )
    assert wording.search_line(replace(checked, searched=0)) == "Not searched for “a”, “b”."
    assert wording.more_sightings(replace(checked, sightings=READ, count=5)) == "; and 3 more"
    assert wording.more_sightings(checked) == ""


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"target": None}, "names no partition"),
        ({"swept": False}, "open: P7 was not read"),
        ({"absent": Stated(7, 0, "x")}, "opportunity: P7 reports it missing"),
        ({"answers": (Stated(7, 0, "x"), Stated(7, 1, "y"))}, "answered by 2 findings of P7"),
        ({}, "P7 says nothing about it"),
    ],
)
def test_a_flag_has_an_outcome(changes: dict[str, Any], outcome: str) -> None:
    flag = ChasedFlag(source=1, place=0, text="x", target=7, swept=True)
    changed = replace(flag, **changes)
    assert wording.flag_outcome(changed) == outcome
    assert wording.flag_course(changed) == ("P1" if changed.target is None else "P1 → P7")


def test_a_convergence_names_who_meets_and_how() -> None:
    findings = tuple(Stated(number, 0, "x") for number in range(1, 7))
    words = Convergence(kind="words", findings=findings)
    assert wording.convergence_heading(words, 4) == "P1, P2, P3, P4, and 2 more say nearly the same"
    connected = Convergence(kind="neighbors", findings=findings[:2])
    assert wording.convergence_heading(connected) == "P1 and P2 cite connected nodes"


def test_checks_count_what_rests_on_nothing() -> None:
    findings = (
        Finding(text="a", citations=(Citation(alias="n1", partition=1),)),
        Finding(text="b", quotes=(Quote("x", False), Quote("y", True))),
    )
    sweep = Sweep(
        partition=1,
        status=SweepStatus.ACCEPTED,
        nodes=1,
        report=Report(partition=1, findings=findings),
    )
    wrong = Citation(alias="n9", partition=1, valid=False)
    answer = make_answer(sweeps=(sweep,), synthesis=Synthesis(text="x", citations=(wrong, wrong)))
    told = "1 of 2 findings unsupported, 1 misquote, 1 invalid citation in the answer"
    assert figures.problems_line(answer) == figures.checks_line(answer) == told
    whole = make_answer(sweeps=(), synthesis=Synthesis(text="x"))
    assert figures.problems_line(whole) == ""
    assert figures.checks_line(whole) == (
        "0 findings; no unsupported finding, misquote, or invalid citation"
    )
    assert wording.finding_count(answer) == 2


def test_figures_are_worded_for_people() -> None:
    used = Usage(calls=6, input_tokens=1200, output_tokens=3, cached=10, estimated=True)
    assert figures.usage_line(used) == "6 calls, 10 from the cache, about 1,200 tokens in, 3 out"
    assert figures.cost_line(None) == "unknown, because a model has no configured price"
    assert figures.cost_line(0.25) == "0.25, in the unit of the configured prices"
    assert figures.timing_line({}) == "unknown"
    assert figures.timing_line({"total": 3.2, "sweep": 2.0, "x": 1.0, "partition": 0.1}) == (
        "3.2 s (partition 0.1 s, sweep 2.0 s, x 1.0 s)"
    )
