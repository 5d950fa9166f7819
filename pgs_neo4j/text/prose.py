"""Reads the Markdown in a reply, with a small grammar that leaves quoted text alone.

A model writes headings, lists, tables, bold words, and code, and it also quotes the graph. The
graph's text must look as it is in the graph. So few marks have a meaning, and only in places where
a writer of prose would put them. Everything else is text: links, images, HTML, entities,
backslashes, underscores, and everything in quotation marks.

``read_blocks`` divides a text by lines into headings, paragraphs, lists, tables, and preformatted
text. ``read_inline`` divides one line into words, code, bold words, and citations. Reading takes
time in proportion to the text.

Blocks are those of CommonMark, except where models write otherwise, which is why no parser of
CommonMark reads them. An entry of a list may begin with "•" or any number, and an inner entry needs
only a deeper indent. A year at the beginning of a line is no entry, a fence without an end is text,
and neither a quotation nor a table takes in the line after it. No nesting is too deep to be shown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pgs_neo4j.text.citations import Cited, pieces

COLUMNS = 40  # maximum number of columns of a table; wider tables are text
DEPTH = 5  # deepest level of lists in lists; deeper entries stay on this level
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_CLOSING = re.compile(r"(?:^| )#+$")  # signs at the end of a heading
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([\w+.-]*)")
_ENTRY = re.compile(r"([ \t]*)(?:[-*+•]|(\d{1,2})[.)])[ \t]+(\S.*)")
_QUOTATION = re.compile(r" {0,3}>(?: (.*))?")
_MARKED = re.compile(r"\|?:?-+:?(?:\|:?-+:?)*\|?")  # the line below a table's head
_BETWEEN = re.compile(r"(?<!\\)\|")  # a bar that divides cells; a backslash makes it text
_EDGE = re.compile(r"(?<!\\)\|$")
_WRAPPED = {"md", "markdown"}
LONGEST_QUOTE = 600  # maximum characters of a quotation; a lone mark must not begin a long one
_MARKS = re.compile(r'`+|\*+|“|"')
_OPENS = "([{\"'“\u2018«/:-\u2010\u2013\u2014"  # signs that may precede bold words and quotations


@dataclass(frozen=True, slots=True)
class Heading:
    """The text of a heading; ``level`` counts its ``#`` signs."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines without an empty line between them, joined."""

    text: str
    quotation: bool = False


@dataclass(frozen=True, slots=True)
class ListItem:
    """An entry of a list at a ``depth`` from 0; ``number`` is None for a bullet."""

    depth: int
    number: int | None
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries of a list in order, including the entries of inner lists."""

    entries: tuple[ListItem, ...]


@dataclass(frozen=True, slots=True)
class Preformatted:
    """Text between fences, line by line."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, the head first; ``right`` marks columns that are aligned to the right."""

    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal rule."""


Block = Heading | Paragraph | Listing | Preformatted | Table | Rule


@dataclass(slots=True)
class _Reader:
    """The blocks so far, and the open list and paragraph."""

    blocks: list[Block] = field(default_factory=list)
    entries: list[ListItem] = field(default_factory=list)
    indents: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # the lines of the open paragraph
    gap: bool = False  # whether the last line was empty

    def end_paragraph(self) -> None:
        """Turn the open lines into a paragraph."""
        if self.lines:
            self.blocks.append(Paragraph(" ".join(self.lines)))
            self.lines = []

    def end_list(self) -> None:
        """Turn the open entries into a list."""
        if self.entries:
            self.blocks.append(Listing(tuple(self.entries)))
            self.entries, self.indents = [], []

    def add(self, block: Block) -> None:
        """End the open paragraph and list, and add a block."""
        self.end_paragraph()
        self.end_list()
        self.blocks.append(block)


def read_blocks(text: str) -> tuple[Block, ...]:
    """Read the blocks of a text, in order."""
    lines = _unwrap(text.splitlines())
    ends = _find_fence_ends(lines)
    reader = _Reader()
    number = 0
    while number < len(lines):
        if number in ends:
            reader.add(_read_code(lines[number : ends[number]]))
            number = ends[number] + 1
        elif (rows := _find_table_end(lines, number)) > number:
            reader.add(_read_table(lines[number:rows]))
            number = rows
        else:
            _read_line(reader, lines[number])
            number += 1
    reader.end_paragraph()
    reader.end_list()
    return tuple(reader.blocks)


def _read_line(reader: _Reader, line: str) -> None:
    """Add a line outside of fences and tables to the reader's blocks."""
    text = " ".join(line.split())
    if not text:
        reader.gap = True
        reader.end_paragraph()
        return
    gap, reader.gap = reader.gap, False
    if heading := _HEADING.fullmatch(line):
        reader.add(Heading(len(heading[1]), _CLOSING.sub("", " ".join(heading[2].split()))))
    elif _RULE.fullmatch(line):
        reader.add(Rule())
    elif entry := _ENTRY.fullmatch(line):
        reader.end_paragraph()
        _add_entry(reader, entry)
    elif quotation := _QUOTATION.fullmatch(line):
        _add_quotation(reader, " ".join((quotation[1] or "").split()), new=gap)
    elif reader.entries and (not gap or line[0].isspace()):
        _continue_entry(reader, text, new=gap)
    else:
        reader.end_list()
        reader.lines.append(text)


def _add_entry(reader: _Reader, entry: re.Match[str]) -> None:
    """Add an entry to the open list, inside the last entry with a smaller indent."""
    indent = len(entry[1].expandtabs(4))
    while reader.indents and reader.indents[-1] > indent:
        reader.indents.pop()
    if not reader.indents or reader.indents[-1] < indent:
        reader.indents.append(indent)
    depth = min(len(reader.indents) - 1, DEPTH)
    number = int(entry[2]) if entry[2] else None
    reader.entries.append(ListItem(depth, number, (" ".join(entry[3].split()),)))


def _continue_entry(reader: _Reader, text: str, *, new: bool) -> None:
    last = reader.entries[-1]
    *before, end = last.paragraphs
    paragraphs = (*last.paragraphs, text) if new else (*before, f"{end} {text}")
    reader.entries[-1] = replace(last, paragraphs=paragraphs)


def _add_quotation(reader: _Reader, text: str, *, new: bool) -> None:
    """Add a line of a quotation; an empty line only ends the paragraph before it."""
    if not text:
        reader.end_paragraph()
        reader.end_list()
        reader.gap = True
        return
    last = reader.blocks[-1] if reader.blocks and not reader.lines and not reader.entries else None
    if not new and isinstance(last, Paragraph) and last.quotation:
        reader.blocks[-1] = Paragraph(f"{last.text} {text}".strip(), quotation=True)
    else:
        reader.add(Paragraph(text, quotation=True))


def _unwrap(lines: list[str]) -> list[str]:
    """Return the lines of a reply without the fence that some models put around the whole."""
    full = [place for place, line in enumerate(lines) if line.strip()]
    if len(full) < 2:
        return lines
    first, last = (_FENCE.fullmatch(lines[full[place]].strip()) for place in (0, -1))
    if first and last and first[2].lower() in _WRAPPED and last[1] == first[1] and not last[2]:
        return lines[full[0] + 1 : full[-1]]
    return lines


def _find_fence_ends(lines: Sequence[str]) -> dict[int, int]:
    """Return the number of the line that closes each fence, by the line that opens it.

    The closing fence is at least as long as the opening one, so that code may contain shorter
    fences. A fence that is never closed is text, so it cannot swallow the rest of an answer.
    """
    ends: dict[int, int] = {}
    # Closing fences below the current line. Each is shorter than the next one below; a lower fence
    # no longer than this one would never be reached.
    below: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}
    for number in reversed(range(len(lines))):
        fence = _FENCE.fullmatch(lines[number].strip())
        if not fence:
            continue
        size, closing = len(fence[1]), below[fence[1][0]]
        end = next((place for length, place in reversed(closing) if length >= size), None)
        if end is not None:
            ends[number] = end
        if not fence[2]:
            while closing and closing[-1][0] <= size:
                closing.pop()
            closing.append((size, number))
    return ends


def _read_code(lines: Sequence[str]) -> Preformatted:
    """Read code below its opening fence; the fence's indent is not part of it."""
    fence, *code = lines
    indent = _count_blanks(fence)
    return Preformatted("\n".join(line[min(indent, _count_blanks(line)) :] for line in code))


def _count_blanks(line: str) -> int:
    return len(line) - len(line.lstrip())


def _find_table_end(lines: Sequence[str], number: int) -> int:
    """Return the number of the line after a table that begins at ``number``, else ``number``."""
    if number + 1 >= len(lines) or "|" not in lines[number] or "|" not in lines[number + 1]:
        return number
    marked = _MARKED.fullmatch("".join(lines[number + 1].split()))
    if not marked or len(_split_cells(lines[number])) > COLUMNS:
        return number
    end = number + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end


def _read_table(lines: Sequence[str]) -> Table:
    head, marks, *body = (_split_cells(line) for line in lines)
    width = len(head)
    right = tuple(mark.endswith(":") and not mark.startswith(":") for mark in marks)
    rows = tuple(tuple(_pad_row(row, width)) for row in (head, *body))
    return Table(rows, (*right, *(False,) * width)[:width])


def _split_cells(line: str) -> list[str]:
    inside = _EDGE.sub("", line.strip().removeprefix("|"))
    return [" ".join(cell.replace(r"\|", "|").split()) for cell in _BETWEEN.split(inside)]


def _pad_row(row: Iterable[str], width: int) -> Iterator[str]:
    cells = list(row)
    return iter([*cells, *[""] * width][:width])


@dataclass(frozen=True, slots=True)
class Words:
    """Text to show without changes."""

    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """Text between backticks."""

    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Cites:
    """A group of aliases with its brackets."""

    group: tuple[Cited, ...]
    bold: bool = False


Inline = Words | Code | Cites


@dataclass(frozen=True, slots=True)
class _Mark:
    """A mark between two stretches of text; it sets whether the next stretch is bold or code."""

    start: int
    end: int
    code: bool
    bold: bool


def read_inline(text: str, partition: int = 0, *, quoted: bool = False) -> list[Inline]:
    """Split a line into its parts, without the marks of Markdown.

    Aliases without a partition belong to ``partition``. A ``quoted`` text comes from the graph as a
    whole, so only its citations are read, and no marks.
    """
    parts: list[Inline] = []
    begin, code, bold = 0, False, False
    marks = [] if quoted else _find_marks(text)
    for mark in (*marks, _Mark(len(text), len(text), False, False)):
        for piece in pieces(text[begin : mark.start], partition):
            if not isinstance(piece, str):
                parts.append(Cites(piece, bold))
            elif code and piece.strip():
                parts.append(Code(piece, bold))
            elif not code:
                parts.append(Words(piece, bold))
        begin, code, bold = mark.end, mark.code, mark.bold
    return parts


def _find_marks(text: str) -> list[_Mark]:
    """Return the marks of code and bold text, in order."""
    if not _MARKS.search(text):
        return []
    spans, stars = _find_spans_and_stars(text)
    bold = list(_find_bold(text, stars))
    edges: list[tuple[int, int, str]] = [(start, end, "code") for start, end in spans]
    edges += [(start, start + 2, "on" if even else "off") for start, even in bold]
    marks: list[_Mark] = []
    is_bold = False
    for start, end, kind in sorted(edges):
        if kind == "code":
            ticks = len(text[start:end]) - len(text[start:end].lstrip("`"))
            marks.append(_Mark(start, start + ticks, True, is_bold))
            marks.append(_Mark(end - ticks, end, False, is_bold))
        else:
            is_bold = kind == "on"
            marks.append(_Mark(start, end, False, is_bold))
    return marks


def _find_spans_and_stars(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the spans of code, and the places of ``**`` outside of code and quotations."""
    runs = list(_MARKS.finditer(text))
    ticks: dict[int, list[int]] = defaultdict(list)
    for run in runs:
        if run[0][0] == "`":
            ticks[len(run[0])].append(run.start())
    spans: list[tuple[int, int]] = []
    stars: list[int] = []
    done = 0
    for run in runs:
        start, mark = run.start(), run[0]
        if start < done:
            continue
        if mark[0] == "`":
            places = ticks[len(mark)]
            after = bisect_right(places, start)
            if after < len(places):
                done = places[after] + len(mark)
                spans.append((start, done))
        elif mark == "**":
            stars.append(start)
        elif mark[0] != "*":
            done = _find_quotation_end(text, start)
    return spans, stars


def _find_quotation_end(text: str, start: int) -> int:
    """Return the end of the quotation that starts here, else the end of the mark."""
    closing = "”" if text[start] == "“" else '"'
    end = text.find(closing, start + 1, start + LONGEST_QUOTE) + 1
    if not end or (closing == '"' and not (_opens(text, start, start + 1) and _closes(text, end))):
        return start + 1
    return end


def _find_bold(text: str, stars: list[int]) -> Iterator[tuple[int, bool]]:
    """Yield the places of marks around bold text, in pairs: True opens and False closes."""
    opened: int | None = None
    for start in stars:
        ends = opened is not None and start > opened + 2 and not text[start - 1].isspace()
        if ends and opened is not None and _closes(text, start + 2):
            yield opened, True
            yield start, False
            opened = None
        elif _opens(text, start, start + 2):
            opened = start


def _opens(text: str, start: int, end: int) -> bool:
    """Return whether a mark is at the beginning of a word."""
    before = text[start - 1] if start else " "
    return (before.isspace() or before in _OPENS) and end < len(text) and not text[end].isspace()


def _closes(text: str, end: int) -> bool:
    """Return whether a mark that ends here is at the end of a word."""
    return end >= len(text) or not (text[end].isalnum() or text[end] == "_")
