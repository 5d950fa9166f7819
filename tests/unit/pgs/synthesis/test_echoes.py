"""A model that answers with its instructions says nothing, and is not taken at its word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model import Prompt
from pgs_neo4j.pgs.answering.prompt import ANSWER, SUMMARY
from pgs_neo4j.pgs.answering.reading import NOT_FOUND
from pgs_neo4j.pgs.answering.reading import SECTIONS as ANSWER_SECTIONS
from pgs_neo4j.pgs.synthesis.echoes import ECHOED, find_echoes
from pgs_neo4j.pgs.synthesis.prompt import SECTIONS, SYSTEM
from pgs_neo4j.pgs.synthesis.statements import StatementFilter, without_echoes

DATA = (
    "# Partition P1\n## Findings\n- The manual says: “Bullets, the strongest first.” [P1:n1]\n"
    "- Kilns burn at 900 °C [P1:n2]\n\nQuestion: Which kilns are hot?"
)
PROMPT = Prompt(task="synthesis", system=SYSTEM, user=DATA, question="Which kilns are hot?")
REPEATS = find_echoes(PROMPT)
ECHO = """## Thesis
One to three paragraphs that answer the question. Kilns burn at 900 °C [P1:n2]. Do not survey.

## Connections
- Chase each outbound flag: look into the report of the partition it points to.
- The kilns of both are hot.

## Absences
- Never call something missing from the graph when partitions were left unread.
- The most certain first, as bullets
- Prices of kilns

## Convergences
Cite with partition and alias, as [P4:n12] or [P4:n12, P7:n3], and only what the reports cite.
"""
LEFT = """## Thesis
Kilns burn at 900 °C [P1:n2].

## Connections
- The kilns of both are hot.

## Absences
- The most certain first, as bullets
- Prices of kilns

## Convergences
"""


@pytest.mark.parametrize("system", [SYSTEM, ANSWER, SUMMARY])
def test_each_instruction_is_recognized_wherever_it_stands(system: str) -> None:
    repeats = find_echoes(Prompt(task="answer", system=system, user=DATA, question="?"))
    names = SECTIONS if system == SYSTEM else ANSWER_SECTIONS
    for name in names:
        for text in (system, *(f"- {one}" for one in system.splitlines() if len(one) > 40)):
            if text == "- Bullets, the strongest first.":
                continue
            left = without_echoes(f"## {name.title()}\n{text}\n", repeats, names)
            said = left.replace(ECHOED, "").split()
            assert len(said) <= 0.25 * len(text.split()) + 2, (text, left)


def test_what_repeats_the_instructions_is_left_out_and_nothing_else() -> None:
    assert without_echoes(ECHO, REPEATS) == LEFT
    assert without_echoes(LEFT, REPEATS) == LEFT
    assert without_echoes(ECHO, None) == ECHO


@pytest.mark.parametrize(
    "text",
    [
        "Bullets, the strongest first.",  # a node says it
        "None of the partitions that were read says so.",
        "The reports of P1 and P4 agree that the kiln is hot [P1:n2].",
        "P4 was left unread, so this stays open.",
        "The connection from P1 to P4 is genuine.",
        "The same absence is reported by three partitions.",
        "Both findings rest on two partitions, independently of each other.",
        "It is missing from the graph.",
        "None.",
        "Kilns are hot.",
    ],
)
def test_what_a_model_says_of_its_own_is_no_echo(text: str) -> None:
    assert not REPEATS(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Commit to a position, rank what matters, and say what would change your mind.",
         f"{ECHOED}\n\n"),
        ("Your four tasks\n\n## Thesis\nSo it is.", "\n## Thesis\nSo it is."),
        ("## Thesis\nOne to three paragraphs that answer the question.\n## Absences\nNone.",
         f"## Thesis\n{ECHOED}\n\n## Absences\nNone."),
        ("## Thesis: One to three paragraphs that answer the question.\nSo it is.",
         "## Thesis: \nSo it is."),
        ("## Absences\n- Bullets, the most certain first.\n", "## Absences\n"),
        ("## Thesis\n...\n", f"## Thesis\n{ECHOED}\n\n"),
    ],
)  # fmt: skip
def test_an_answer_of_nothing_but_instructions_says_so(text: str, left: str) -> None:
    assert without_echoes(text, REPEATS) == left


@given(st.lists(st.integers(0, len(ECHO)), max_size=12))
def test_the_pieces_of_an_echo_make_no_difference(cuts: Sequence[int]) -> None:
    places = [0, *sorted(cuts), len(ECHO)]
    statements = StatementFilter(None, repeats=REPEATS)
    parts = [statements.pass_on(ECHO[first:last]) for first, last in pairwise(places)]
    assert "".join((*parts, statements.end())) == LEFT


def test_a_section_that_is_not_looked_up_is_filtered_as_well() -> None:
    repeats = find_echoes(Prompt(task="answer", system=ANSWER, user=DATA, question="?"))
    text = (
        "## Answer\nHot.\n\n## Not found\n- what the question asks for and nothing shown here "
        "says, in a few words each.\n- Prices\n"
    )
    statements = StatementFilter(lambda *_: ("no",), NOT_FOUND, ANSWER_SECTIONS, repeats)
    shown = statements.pass_on(text) + statements.end()
    assert shown == "## Answer\nHot. (in doubt: no)\n\n## Not found\n- Prices\n"
