"""The answer's own absences say what the checks found, however the text arrives."""

from __future__ import annotations

import random

import pytest

from pgs_neo4j.model import AbsenceStatus, CheckedAbsence, Sighting, Stated, Synthesis
from pgs_neo4j.pgs.synthesis.verdicts import VerdictFilter, judged


def absence(text: str, term: str, status: AbsenceStatus, *ranks: int) -> CheckedAbsence:
    sightings = tuple(
        Sighting(partition=1, rank=rank, node=f"k{rank}", title="t", read=True) for rank in ranks
    )
    return CheckedAbsence(
        text=text, reported=(Stated(1, 0, text),), status=status, terms=(term,), searched=160,
        texts=160, count=15 if ranks else 0, sightings=sightings,
    )  # fmt: skip


ABSENCES = (
    absence("no mention of “kill”", "kill", AbsenceStatus.CONTRADICTED, 27, 33),
    absence("No evidence on walruses", "walruses", AbsenceStatus.CONFIRMED),
    absence("nothing on cost of catalysis", "catalysis", AbsenceStatus.UNCHECKED),
)
TEXT = """## Thesis
Something short [P1:n2].

A long line of the thesis that is surely no heading, because it has far more than a hundred letters.

## Absences
- “kill”: absent from 3 of 8 partitions
- **Walruses** are nowhere,
  as P2 says.
- The cost of catalysis in industry
- Weather on the moon

None of this matters.

## Convergences
- “kill” converges [P1:n2]
"""
VERDICTS = {
    "3 of 8 partitions": (
        "checked: contradicted, its words are in 15 nodes, such as [P1:n28, P1:n34]"
    ),
    "as P2 says.": "checked: confirmed, in none of 160 nodes",
    "in industry": "unchecked: it could not be searched for in every text",
    "on the moon": "unchecked: no report states it in these words",
}


def expected() -> str:
    text = TEXT
    for end, verdict in VERDICTS.items():
        text = text.replace(f"{end}\n", f"{end} ({verdict})\n")
    return text


def test_every_absence_of_the_answer_says_what_its_check_found() -> None:
    synthesis = judged(Synthesis(text=TEXT), ABSENCES)
    assert synthesis.text == expected()
    assert len(synthesis.absences) == 5
    assert all("checked: " in bullet for bullet in synthesis.absences[:4])
    assert judged(synthesis, ABSENCES) is synthesis


@pytest.mark.parametrize("seed", range(20))
def test_a_stream_is_judged_alike_however_it_is_cut(seed: int) -> None:
    chance = random.Random(seed)
    verdicts, text, place = VerdictFilter(ABSENCES), "", 0
    while place < len(TEXT):
        size = chance.randint(1, 9)
        text += verdicts.pass_on(TEXT[place : place + size])
        place += size
    assert text + verdicts.end() == expected()


def test_other_text_is_passed_on_at_once() -> None:
    verdicts = VerdictFilter(ABSENCES)
    assert verdicts.pass_on("Sleep is") == "Sleep is"
    assert verdicts.pass_on(" long.\n- a bullet") == " long.\n- a bullet"
    assert verdicts.pass_on("\nAbsen") == "\n"
    assert verdicts.pass_on("t-minded people") == "Absent-minded people"


def test_neither_none_nor_an_answer_without_sections_is_judged() -> None:
    plain = Synthesis(text="Nothing on walruses, as far as I see.")
    assert judged(plain, ABSENCES).text == plain.text
    text = "## Absences\n- None\n- missing here:\n  - walruses"
    verdict = " (checked: confirmed, in none of 160 nodes)"
    assert judged(Synthesis(text=text), ABSENCES).text == text + verdict
