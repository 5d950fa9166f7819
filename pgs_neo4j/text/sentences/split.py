"""Splits a text into sentences, each with its place; together they are the text."""

from __future__ import annotations

from collections.abc import Iterator

from pgs_neo4j.model.documents import Sentence, SentenceKind
from pgs_neo4j.text.sentences.ends import cut_long, sentence_starts
from pgs_neo4j.text.sentences.lines import LONGEST_HEADING, LOOK, Line, LineKind, read_lines

CODE_BLOCK = 800
"""Characters of code that count as one sentence; a blank line ends it as well."""

_UNDERLINES = {"=": 1, "-": 2, "~": 3, "^": 4, '"': 4, "'": 4, "*": 1, "+": 3, "#": 1}
_GRID = ("+-", "+=")  # begins the line between two rows of a grid, which may have several lines
_Start = tuple[int, SentenceKind, bool, int]
"""Where a sentence begins, its kind, whether it opens a block, and its level."""


def split_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text in order, without gap or overlap.

    Blank lines belong to the sentence before them. Only ``\\n`` is a line break.
    """
    starts = _starts(text)
    first = next(starts, None)
    if first is None:
        if text:
            yield Sentence(0, len(text), "rule")
        return
    begin, kind, opens, level = 0, *first[1:]
    for start in starts:
        yield Sentence(begin, start[0], kind, opens, level)
        begin, kind, opens, level = start
    yield Sentence(begin, len(text), kind, opens, level)


def _starts(text: str) -> Iterator[_Start]:
    paragraph: list[Line] = []
    block = 0
    grid = False
    for before, line in _titled_lines(text):
        if line.kind == "prose" and paragraph:
            paragraph.append(line)
            continue
        yield from _paragraph_starts(text, paragraph)
        paragraph = []
        if line.kind in ("prose", "opener"):
            paragraph = [line]
        elif line.kind == "code":
            if before != "code" or line.end - block > CODE_BLOCK:
                block = line.start
                yield from _long_starts(text, line, "code")
        elif line.kind == "row":
            if before != "row" or not grid or line.end - block > CODE_BLOCK:
                block = line.start
                yield from _long_starts(text, line, "row")
        elif line.kind in ("heading", "rule"):
            grid = text[line.start : line.start + LOOK].lstrip().startswith(_GRID)
            yield line.start, "rule" if line.kind == "rule" else "heading", True, line.level
    yield from _paragraph_starts(text, paragraph)


def _paragraph_starts(text: str, lines: list[Line]) -> Iterator[_Start]:
    if lines:
        opens = True
        for start, long in sentence_starts(text, lines[0].start, lines[-1].end):
            yield start, "data" if long else "prose", opens, 0
            opens = False


def _long_starts(text: str, line: Line, kind: SentenceKind) -> Iterator[_Start]:
    opens = True
    for start, _ in cut_long(text, line.start, line.end):
        yield start, kind, opens, 0
        opens = False


def _titled_lines(text: str) -> Iterator[tuple[LineKind, Line]]:
    """Yield lines after the kind of the line before; a title and its underline are one line."""
    before: LineKind = "blank"
    waiting: Line | None = None
    for line in read_lines(text):
        if waiting is not None:
            level = _underline_level(text, waiting, line) if before in ("blank", "rule") else 0
            if level:
                yield before, Line(waiting.start, line.end, "heading", level)
                before, waiting = "heading", None
                continue
            yield before, waiting
            before = waiting.kind
        waiting = line
    if waiting is not None:
        yield before, waiting


def _underline_level(text: str, title: Line, rule: Line) -> int:
    """Return the level of a title by the rule below it, 0 if it has none."""
    if title.kind != "prose" or rule.kind != "rule" or title.end - title.start > LONGEST_HEADING:
        return 0
    words, line = text[title.start : title.end].strip(), text[rule.start : rule.end].strip()
    mark = line[0]
    if len(set(line)) > 1 or len(line) < 3 or (mark not in "=-" and len(line) < len(words) - 1):
        return 0
    return _UNDERLINES.get(mark, 0)
