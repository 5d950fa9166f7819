"""Hostile texts in every place of an answer: each form shows them, and none obeys them."""

from __future__ import annotations

import json
import random
import re

import pytest
from rich.console import Console

from pgs_neo4j.cli.pages import answer_page as page
from pgs_neo4j.cli.pages import tables
from pgs_neo4j.cli.progress.board import Board
from pgs_neo4j.cli.progress.lines import line
from pgs_neo4j.events import StepStarted, Warned
from pgs_neo4j.export import to_fragment, to_html, to_json, to_markdown, to_notebook
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.invisible import INVISIBLE
from tests.renderers import Judge, markdown_it
from tests.thorough import tries
from tests.unit.export.conftest import HOSTILE, located, make_answer, make_document, parse

PARTS = [
    "'", '"', "`", "``", "\\", "\n", "\r\n", "\t", "\0", "\x1b[31m", "\x1b]0;owned\x07", "\x9b2J",
    "\u202e", "\u2066", "\u200b", "\u2028", "\ufeff", "\ud800", "\U000e0041", "שלום", "مرحبا",
    "👩‍💻", "🏳️‍🌈", "漢字", "é", "e\u0301", "$", "${x}", "{{x}}", "%s", "{0}", "$(id)", ";", "--",
    "//", "/*", "../../etc/passwd", "C:\\x", "[bold]", "[/]", "[P1:n2]", "(n3)", "<b>",
    "</style>", "<script>alert(1)</script>", "<!--", "&lt;", "**", "__init__", "_", "#", "|", "~~",
    "null", "NaN", "' OR 1=1 //", "MATCH (n) DETACH DELETE n", "javascript:alert(1)", "http://x.y",
    "a@b.c", "name", " ", "A",
]  # fmt: skip
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ufeff]")


def names(count: int) -> list[str]:
    """Names of one part, of several, and of 10 kB."""
    chance = random.Random(12)
    several = ["".join(chance.choices(PARTS, k=chance.randint(2, 9))) for _ in range(2 * count)]
    long = [part * (10_000 // len(part)) for part in PARTS[: tries(2, 12)]]
    return list(dict.fromkeys((*HOSTILE, *PARTS, *long, *several)))[:count]


NAMES = names(tries(100, 300))


@pytest.mark.parametrize("part", range(10))
def test_names_are_inert_in_every_file(
    part: int,
) -> None:
    """``parse`` refuses what is not inert."""
    for name in NAMES[part::10]:
        document = located(make_document(name, text=f"## Thesis\n{name}\n\n{name} [P1:n2]"), name)
        page = parse(to_html(document))
        assert len(page.having("main")) == len(page.having("style")) == 1
        assert len(page.having("div", "report")) == 3
        assert len(parse(to_fragment(document)).having("div", "answer")) == 1
        cell = parse(to_notebook(document.answer))
        assert (len(cell.having("style")), cell.having("a")) == (1, [])
        written = to_markdown(document)
        assert not Judge(markdown_it(written)).live, name
        data = to_json(document)
        assert json.loads(data)["graph"] == name
        assert json.loads(data)["checked_absences"][0]["text"] == f"nothing on {name}"
        for text in (written, data, page.having("body")[0].text):
            text.encode("utf-8")
            assert not INVISIBLE.search(text.replace("\n", "")), name
            assert not UNSAFE.search(text.replace("\t", "")), name


def test_names_are_one_line_on_a_terminal() -> None:
    for name in NAMES:
        lines = page.below(make_answer(name), 80)
        lines += page.above(make_answer(name), name, "partial", 80) + page.advice(make_answer(name))
        board = Board()
        lines += [line(Warned(name), board), line(StepStarted("partition", name), board)]
        assert [text for text in lines if UNSAFE.search(text) or "\n" in text] == [], name


def test_names_are_cells_of_tables() -> None:
    console = Console(width=200, force_terminal=False, color_system=None)
    for name in NAMES:
        view = GraphMapping(labels=(name,), relationship_types=(name,), text=(name,), title=name)
        with console.capture() as captured:
            console.print(tables.mapping(view))
        assert not UNSAFE.search(captured.get()), name
