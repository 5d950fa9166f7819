"""What looking and counting found is told in a few lines, and nothing in none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pgs_neo4j.cli.pages import checks_page
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Crosscheck,
    Sighting,
    Stated,
)

Make = Callable[..., Answer]


def absence(status: AbsenceStatus, text: str = "none on x [n3]", **changed: Any) -> CheckedAbsence:
    given = {"reported": (Stated(2, 0, text),), "searched": 586, "terms": ("x",)}
    return CheckedAbsence(text=text, status=status, **given | changed)


def seen(partition: int, rank: int, *, read: bool) -> Sighting:
    return Sighting(partition=partition, rank=rank, node="k", title="t", read=read)


def told(answer_of: Make, width: int = 80, **met: Any) -> list[list[str]]:
    return checks_page.sections(answer_of(crosscheck=Crosscheck(**met)), width)


def joined(section: list[str]) -> str:
    return " ".join(" ".join(section).split())


def test_nothing_found_is_nothing_told(answer_of: Make) -> None:
    assert told(answer_of) == []
    assert told(answer_of, absences=(absence(AbsenceStatus.UNCHECKED),)) == []


@pytest.mark.parametrize(
    ("status", "sightings", "count", "said"),
    [
        (AbsenceStatus.CONFIRMED, (), 0, "and not found in any of 586 nodes."),
        (
            AbsenceStatus.ELSEWHERE, (seen(7, 11, read=False),), 1,
            "but found in 1 node that was not read (P7:n12).",
        ),
        (
            AbsenceStatus.ELSEWHERE,
            (seen(7, 11, read=False), seen(8, 0, read=False), seen(9, 0, read=False)), 3,
            "but found in 3 nodes that were not read (P7:n12, P8:n1, …).",
        ),
        (
            AbsenceStatus.CONTRADICTED, (seen(2, 3, read=True), seen(9, 0, read=False)), 2,
            "but found in P2:n4 (read).",
        ),
    ],
)  # fmt: skip
def test_an_absence_says_who_reports_it_and_what_was_found(
    answer_of: Make, status: AbsenceStatus, sightings: tuple[Sighting, ...], count: int, said: str
) -> None:
    confirmed = status is AbsenceStatus.CONFIRMED
    reported = tuple(
        Stated(part, 0, "none on x [n3]") for part in ((2, 5, 7) if confirmed else (2,))
    )
    found = absence(status, reported=reported, sightings=sightings, count=count)
    (section,) = told(answer_of, absences=(found,))
    assert section[0] == f"Checked absences: 1 {status}"
    by = "P2, P5, and P7," if confirmed else "P2,"
    assert joined(section[1:]) == f"- “x”: reported missing by {by} {said}"


def test_of_many_the_first_of_each_kind_are_told_and_where_the_others_are(answer_of: Make) -> None:
    many = tuple(
        absence(status, f"none on {status}{place}")
        for status in AbsenceStatus
        for place in range(5)
    )
    (section,) = told(answer_of, absences=many)
    assert section[0] == ("Checked absences: 5 confirmed, 5 elsewhere, 5 contradicted, 5 unchecked")
    assert sum(line.startswith("  - ") for line in section) == 6
    assert section[-1] == "  To see all of them: pgs export r1 --to answer.html"


def test_an_opportunity_names_both_sides(answer_of: Make) -> None:
    flag = ChasedFlag(
        source=1, place=0, text="they may know y [n2]", target=7, swept=True,
        absent=Stated(7, 1, "no y"),
    )  # fmt: skip
    plain = ChasedFlag(source=1, place=1, text="else", target=8, swept=True)
    (section,) = told(answer_of, flags=(flag, plain))
    assert section[0] == "Opportunities"
    assert joined(section[1:]) == (
        "- P1 → P7: they may know y [P1:n2] (P7 reports it missing: no y)"
    )


def test_findings_that_meet_are_told_by_how_they_do(answer_of: Make) -> None:
    said = tuple(Stated(partition, 0, f"finding {partition} [n1]") for partition in range(1, 7))
    cited = (Citation(alias="n4", partition=1), Citation(alias="n5", partition=2))
    met = (
        Convergence(kind="words", findings=said),
        Convergence(kind="neighbors", findings=said[:2], citations=cited),
    )
    (section,) = told(answer_of, convergences=met)
    text = joined(section)
    assert "- P1, P2, P3, P4, and 2 more say nearly the same: finding 1 [P1:n1]" in text
    assert (
        "- P1 and P2 cite connected nodes (P1:n4, P2:n5): finding 1 [P1:n1] / finding 2 [P2:n1]"
        in text
    )


@pytest.mark.parametrize("width", [40, 60, 80])
def test_long_and_hostile_texts_stay_in_their_lines(
    answer_of: Make, hostile: str, width: int
) -> None:
    text = f"{hostile} and a very long account of it" * 20
    met = {
        "absences": (absence(AbsenceStatus.CONFIRMED, text),),
        "flags": (
            ChasedFlag(
                source=1, place=0, text=text, target=2, swept=True, absent=Stated(2, 0, text)
            ),
        ),
        "convergences": (Convergence(kind="words", findings=(Stated(1, 0, text),)),),
    }
    for section in told(answer_of, width, **met):
        assert len(section) <= 1 + 3
        assert all(line.isprintable() and len(line) <= width for line in section)
