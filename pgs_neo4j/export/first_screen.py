"""The page's first screen: the thesis, what was read, and what is in doubt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from pgs_neo4j.export import counts, figures, wording
from pgs_neo4j.export.document import Document
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.register import Register
from pgs_neo4j.model import AbsenceStatus, Answer, CheckedAbsence
from pgs_neo4j.text.prose.blocks import Block, Heading, read_blocks
from pgs_neo4j.text.shown import counted, one_line, plain

LONG_QUESTION = 160  # characters; longer questions get smaller type
DOUBTED = 3  # absences that the first screen states
THESES = ("thesis", "answer")
"""Headings of what the first screen shows: in an answer of all of a graph, and of a search."""
# In the order in which they matter to a reader.
LISTED = (AbsenceStatus.CONTRADICTED, AbsenceStatus.UNCHECKED, AbsenceStatus.ELSEWHERE)
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*(Z|[+-]00:00)?")


def header(document: Document, nodes: Register, contents: Html) -> Html:
    """Return the question, the thesis, what the answer rests on, and the ``contents``."""
    answer = document.answer
    question = one_line(answer.question) or "No question"
    graph = f"Partitioned graph synthesis of {one_line(answer.graph, 80)}"
    thesis, _ = split_thesis(answer)
    lead = element("div", nodes.blocks(thesis), class_="lead") if thesis else EMPTY
    return element(
        "header",
        element("p", graph, class_="eyebrow"),
        element("h1", question, class_="long" if len(question) > LONG_QUESTION else None),
        element("p", *_asked(document), class_="meta"),
        lead,
        element("div", _reading(answer), _doubts(answer, nodes), class_="facts"),
        contents,
    )


def split_thesis(answer: Answer) -> tuple[Sequence[Block], Sequence[Block]]:
    """Return the blocks of the thesis without its heading, and all other blocks."""
    blocks = read_blocks(plain(answer.text))
    headings = [place for place, block in enumerate(blocks) if isinstance(block, Heading)]
    for place, after in pairwise([*headings, len(blocks)]):
        heading = blocks[place]
        if isinstance(heading, Heading) and heading.text.strip(" *:#").lower() in THESES:
            return blocks[place + 1 : after], blocks[:place] + blocks[after:]
    return (), blocks


def moment(at: str) -> str:
    """Return an ISO 8601 time to the minute, or any other text as it is."""
    read = _MOMENT.fullmatch(at)
    return f"{read[1]} {read[2]}{' UTC' if read[3] else ''}" if read else at


def _asked(document: Document) -> tuple[Html, str]:
    asked = one_line(document.asked_at, 60)
    answer = document.answer
    more = f" · {one_line(answer.model, 80)} · session {one_line(answer.session, 60)}"
    return element("time", moment(asked), datetime=asked), more


def _reading(answer: Answer) -> Html:
    rows = dict(figures.figures(answer))
    names = ("Coverage", "Session")
    lines = [f"{rows[name]}." for name in names if name in rows]
    lines.append(f"This run: {rows['This run']}.")
    if counts.used_extractive_reader(answer):
        lines.append(figures.NO_MODEL)
    return element(
        "section",
        element("h2", "What was shown" if answer.shown else "What was read"),
        *(element("p", one) for one in lines),
    )


def _doubts(answer: Answer, nodes: Register) -> Html:
    """Return what a reader must know before trusting the answer."""
    notes = [note for note in figures.notes(answer) if note != figures.NO_MODEL]
    problems = figures.problems_line(answer)
    absences = answer.crosscheck.absences
    lines: list[str] = [*notes, *([f"{problems}."] if problems else [])]
    lines += _doubted(absences, nodes)
    if not lines:
        lines = [f"Nothing that was checked: {figures.checks_line(answer)}."]
    title = "This answer is partial" if answer.partial else "What is in doubt"
    listed = element("ul", *(element("li", line) for line in lines))
    return element("section", element("h2", title), listed, class_="notes")


def _doubted(absences: Sequence[CheckedAbsence], nodes: Register) -> list[str]:
    """Return the absences in doubt: how many, and those that most partitions report."""
    doubted = [absence for absence in absences if absence.status in LISTED]
    if not doubted:
        return []
    ranked = sorted(doubted, key=lambda one: (LISTED.index(one.status), -len(one.partitions)))
    count = f"{counted(len(absences), 'absence')}: {wording.status_counts(absences)}."
    first = [nodes.line(wording.absence_line(one)) for one in ranked[:DOUBTED]]
    link = element("a", "All checked absences", href=f"#{anchor(wording.ABSENCES)}")
    more = [link] if len(ranked) > DOUBTED else []
    return [count, *first, *more]


def anchor(title: str) -> str:
    """Return the id of a section."""
    return "section-" + "-".join(title.lower().split())


def contents_of(titles: Sequence[str]) -> Html:
    """Return the table of contents."""
    links = (element("li", element("a", title, href=f"#{anchor(title)}")) for title in titles)
    return element("nav", joined((element("ul", *links),)), aria_label="Contents")
