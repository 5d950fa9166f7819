"""Sentences in doubt are marked as the answer streams, however its pieces arrive."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model import Citation, Finding, Partition, Prompt, Report, Sweep, SweepStatus
from pgs_neo4j.pgs.answering.context import ANSWER, SUMMARY
from pgs_neo4j.pgs.answering.reading import NOT_FOUND
from pgs_neo4j.pgs.answering.reading import SECTIONS as ANSWER_SECTIONS
from pgs_neo4j.pgs.synthesis.prompt import SECTIONS, SYSTEM
from pgs_neo4j.pgs.synthesis.statements import (
    ECHOED,
    NOTHING_LEFT,
    StatementFilter,
    doubt_statements,
    doubted_sentences,
    find_echoes,
    strike_sentences,
    without_echoes,
)

CITED = Citation(alias="n1", partition=1, node="k", title="Kiln", rank=0)
REPORT = Report(
    partition=1,
    findings=(
        Finding(text="Its fact says 640 tiles [n1].", citations=(CITED,)),
        Finding(
            text="It has 777 doors [n1].", citations=(CITED,), doubts=("no cited node has 777",)
        ),
    ),
)
SWEEPS = [
    Sweep(partition=1, status=SweepStatus.ACCEPTED, nodes=40, read=((0, 40),), report=REPORT),
    Sweep(partition=2, status=SweepStatus.FAILED, nodes=30),
]
PARTITIONS = [
    Partition(id=1, uid="g:1", size=40, tokens=9),
    Partition(id=2, uid="g:2", size=30, tokens=9),
]
DOUBTING = doubt_statements(
    "Are there 5 kilns?", SWEEPS, PARTITIONS, {(1, 0): "It burns at 900 °C."}
)
TEXT = """## Thesis
The kiln burns at 900 °C [P1:n1]. It burns
at 950 °C [P1:n1]. One of 2 partitions was read, 40 nodes.

## Connections
- 640 tiles of the 5 kilns [P1:n1]
- 777 doors
- Fine

## Absences
- Nothing on 1234 walls

## Convergences
None.
"""


def streamed(pieces: Sequence[str]) -> str:
    statements = StatementFilter(DOUBTING)
    return "".join([*map(statements.pass_on, pieces), statements.end()])


def test_what_reports_and_nodes_do_not_bear_out_is_marked() -> None:
    marked = streamed([TEXT])
    assert [(one.text, one.reason) for one in doubted_sentences(marked)] == [
        ("It burns at 950 °C [P1:n1].", "no cited node has 950 °C"),
        ("777 doors", "no cited node has 777"),
    ]
    assert (
        marked.replace(" (in doubt: no cited node has 950 °C)", "").replace(
            " (in doubt: no cited node has 777)", ""
        )
        == TEXT
    )


@given(st.lists(st.integers(0, len(TEXT)), max_size=12))
def test_the_pieces_make_no_difference(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(TEXT)]
    pieces = [TEXT[first:last] for first, last in pairwise(places)]
    assert streamed(pieces) == streamed([TEXT])


@pytest.mark.parametrize("text", ["", "\n", "no end", "## Thesis", "None."])
def test_a_text_without_claims_passes_as_it_is(text: str) -> None:
    assert streamed([text]) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("## Thesis\nAt 98 °C.\n\n## Connections\n- b",
         f"## Thesis\n{NOTHING_LEFT}\n\n## Connections\n- b"),
        ("## Thesis: At 98 °C [P1:n1]. It burns.", "## Thesis: It burns."),
        ("**Thesis: At 98 °C [P1:n1].**\nIt burns.", "**Thesis: It burns.**"),
        ("It burns.\n\n### At 98 °C [P1:n1]\n\nSo it is.", "It burns.\n\n\nSo it is."),
        ("- **Heat:** It has 98 doors. It burns [P1:n1].\n- 98 °C\n- b",
         "- It burns [P1:n1].\n- b"),
        ("At 98 °C.", NOTHING_LEFT),
        ("It burns.", "It burns."),
        ("## Absences\n- No 98 °C", "## Absences\n- No 98 °C"),
    ],
)  # fmt: skip
def test_marked_sentences_are_struck_and_their_sections_stay(text: str, left: str) -> None:
    statements = StatementFilter(DOUBTING)
    marked = statements.pass_on(text) + statements.end()
    assert strike_sentences(marked, SECTIONS, "thesis") == left
    assert bool(doubted_sentences(marked)) == (left != text)


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
