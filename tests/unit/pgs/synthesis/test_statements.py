"""Sentences in doubt are marked as the answer streams, however its pieces arrive."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model import Citation, Finding, Partition, Report, Sweep, SweepStatus
from pgs_neo4j.pgs.synthesis.prompt import SECTIONS
from pgs_neo4j.pgs.synthesis.statements import (
    NOTHING_LEFT,
    StatementFilter,
    doubt_statements,
    doubted_sentences,
    strike_sentences,
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
