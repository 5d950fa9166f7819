"""Pages of text whose letters take two columns of a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgs_neo4j.cli.commands import inspect
from pgs_neo4j.cli.pages import found_page, runs_page
from pgs_neo4j.cli.pages.text import columns, item, labeled, wrap_lines
from pgs_neo4j.engine.survey.proposal import Proposal
from pgs_neo4j.model import FoundFact, FoundFinding, FoundUnit
from pgs_neo4j.model.graph import GraphMapping
from pgs_neo4j.pgs.runs.listing import StoredReply
from tests.unit.cli.test_cli_latest import info
from tests.unit.cli.test_found_page import found

WIDE = "灯塔用强烈的白光警告船只远离岩石、港口的市场又大又古老。" * 20
MIXED = "The 灯塔 warns ships of 岩石 with a strong 白光, and boats are built there. " * 9
TEXTS = pytest.mark.parametrize("text", [WIDE, MIXED, "東京都の図書館 " * 40, "한국어 글 " * 60])
WIDTHS = pytest.mark.parametrize("width", [40, 41, 80])
"""An odd width has a last column that no wide letter fits."""


def _bare(lines: list[str]) -> str:
    return "".join("".join(lines).split())


@TEXTS
@WIDTHS
def test_text_beside_a_label_fits_and_fills_its_lines(text: str, width: int) -> None:
    for label in ("About", "灯塔"):
        lines = labeled(label, text, width)
        assert max(map(columns, lines)) <= width
        assert _bare(lines) == label + _bare([text])
        assert all(columns(line) > width - 20 for line in lines[:-1])


def test_texts_begin_at_one_column_whatever_the_label() -> None:
    first, second = labeled("灯塔", "x", 40)[0], labeled("Owls", "x", 40)[0]
    assert columns(first.partition("x")[0]) == columns(second.partition("x")[0])


@TEXTS
@WIDTHS
def test_a_bullet_fits_its_three_lines(text: str, width: int) -> None:
    lines = item(text, width)
    assert len(lines) == 3
    assert max(map(columns, lines)) <= width
    assert lines[-1].endswith("…")


@TEXTS
@WIDTHS
def test_what_a_search_found_fits(text: str, width: int) -> None:
    one = found().items[0]
    fact = FoundFact(
        id="5:x:1", type="SHIPS", source="a", target="b", source_title=text, target_title=text,
        hops=1, score=0.5,
    )  # fmt: skip
    whole = found(
        items=(replace(one, title=text[:90], text=text, way=text),), facts=(fact,), reason=text,
        units=(FoundUnit(level=0, id=3, label=text, titles=(), size=40, score=1.0),),
        findings=(FoundFinding(id="f", text=text, run="r1", partition=3, score=1.0),),
    )  # fmt: skip
    lines = found_page.lines(whole, width)
    assert max(map(columns, lines)) <= width
    assert sum(columns(line) > width - 20 for line in lines) > 10


@TEXTS
def test_an_excerpt_has_at_most_its_columns(text: str) -> None:
    for room in range(20, 200, 7):
        shown = found_page.excerpt(text, "白光", room)
        assert columns(shown) <= room
        assert columns(shown) > room // 2 - 2


@TEXTS
@WIDTHS
def test_a_reply_a_question_and_a_note_fit(text: str, width: int) -> None:
    reply = StoredReply(
        text=text, model="m", size=9, output_tokens=9, error=None, partition=None, number=None,
        created_at="2026-01-02T03:04:05Z",
    )  # fmt: skip
    begins = runs_page.reply_lines([(1, reply)], [reply], width)[-1]
    question = runs_page.run_lines([info(question=text)], width)[-1]
    for line in (begins, question):
        assert width - 2 <= columns(line) <= width
    noted = Proposal(GraphMapping(), (text,))
    for line in inspect.proposal_lines(noted, None, width):
        assert columns(line) <= max(44, width)


def test_plain_text_is_filled_as_before() -> None:
    assert wrap_lines("one two  three", 7) == ["one two", "three"]
    assert wrap_lines("", 7) == []
