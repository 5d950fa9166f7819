"""Writes text as Markdown that every renderer reads in the same way.

Renderers differ on backslashes, on underscores inside words, and on links without marks. So every
mark in a text becomes an entity, which no renderer treats as a mark. Names with underscores would
need many entities, and renderers would link web and mail addresses, so these names and addresses
become code. Each paragraph of a text is one line, so no line inside it can begin a list or a
heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pgs_neo4j.text.citations import Cited
from pgs_neo4j.text.headings import lowered
from pgs_neo4j.text.prose import (
    Block,
    Cites,
    Code,
    Heading,
    Inline,
    Listing,
    ListItem,
    Paragraph,
    Preformatted,
    Table,
    read_blocks,
    read_inline,
)
from pgs_neo4j.text.shown import one_line, plain

# The characters of a word that can become code: no blanks, and no characters that end code or a
# cell.
_WORD = re.compile(r"(?:[^\s`<>|\\\[\]*&]|&(?!#|\w+;))+")
# Words that become code: names with underscores, and addresses that a renderer might link.
_TOP = r"biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop|xn--|рф|[a-z]{2}"
_LINKED = re.compile(
    rf"\w_|_\w|//|@|www\.|(?:mailto|xmpp|data|file|javascript|vbscript):|\w\.(?:{_TOP})(?![^\W_])",
    re.IGNORECASE,
)
_BEFORE, _AFTER = "([{\"'“\u2018«", ".,;:!?)]}\"'”\u2019»"  # Punctuation around a word.
_MARK = re.compile(r"[\\`*_\[\]<|]|&(?=[#\w])|(?<!\s)~|~(?!\d)|\$(?!\d)|#$|!(?=$)")
_BEGINNING = re.compile(r"[#>+=:~^|-]|\d{1,9}(?=[.)](?:\s|$))")
_NEXT = re.compile(r"[(\[:^]")  # After a bracket, each of these could turn the bracket into a link.
_NO_CODE = re.compile(r"[`|]")

Draw = Callable[[tuple[Cited, ...]], str]


def inert(text: str, limit: int | None = None) -> str:
    """Return text on one line, with all Markdown marks escaped."""
    return _escape_beginning(_escape(one_line(text, limit)))


def inert_line(text: str, draw: Draw, partition: int = 0, *, quoted: bool = False) -> str:
    """Write a line of prose with its bold words, code, and citations.

    ``draw`` writes a group of aliases. Aliases without a partition belong to ``partition``.
    """
    parts = read_inline(one_line(text), partition, quoted=quoted)
    written = "".join(_write_parts(parts, draw))
    return _escape_beginning(written)


def inert_blocks(text: str, draw: Draw, *, quoted: bool = False) -> str:
    """Write a model's prose as safe Markdown with the same blocks.

    The headings of the prose get levels below those of pgs, which has the levels 1 and 2.
    """

    def write(line: str) -> str:
        return inert_line(line, draw, quoted=quoted)

    return "\n\n".join(
        filter(None, (_write_block(part, write) for part in read_blocks(plain(text))))
    )


def _escape(line: str) -> str:
    """Escape all marks in a line; addresses and names with underscores become code."""
    parts: list[str] = []
    begin = 0
    for word in _WORD.finditer(line):
        if not _LINKED.search(word[0]):
            continue
        start = word.end() - len(word[0].lstrip(_BEFORE))
        end = start + len(line[start : word.end()].rstrip(_AFTER))
        if end > start and _LINKED.search(line[start:end]):
            parts += (_escape_marks(line[begin:start]), f"`{line[start:end]}`")
            begin = end
    return "".join((*parts, _escape_marks(line[begin:])))


def _escape_marks(text: str) -> str:
    return _MARK.sub(_make_entity, text)


def _make_entity(mark: re.Match[str]) -> str:
    return {"<": "&lt;", "&": "&amp;"}.get(mark[0], f"&#{ord(mark[0])};")


def _escape_beginning(line: str) -> str:
    """Escape the beginning of a line that would start a heading, list, quotation, or rule."""
    mark = _BEGINNING.match(line)
    if not mark:
        return line
    place = mark.end() if mark[0].isdigit() else 0
    if line.startswith("**"):
        return line
    return f"{line[:place]}&#{ord(line[place])};{line[place + 1 :]}"


def _write_parts(parts: Sequence[Inline], draw: Draw) -> Iterator[str]:
    """Yield the parts of a line, with stars around bold parts."""
    bold = False
    cited = False
    for part in parts:
        if part.bold != bold:
            yield "**"
            bold = part.bold
        if isinstance(part, Cites):
            yield draw(part.group)
        elif isinstance(part, Code) and not _NO_CODE.search(part.text):
            yield f"`{part.text.strip()}`"
        else:
            text = _escape(part.text)
            # The character after a citation's bracket could turn the citation into a link.
            yield f"&#{ord(text[0])};{text[1:]}" if cited and _NEXT.match(text) else text
        cited = isinstance(part, Cites)
    if bold:
        yield "**"


def _write_block(block: Block, write: Callable[[str], str]) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * lowered(level)} {write(text)}"
        case Paragraph(text, quotation):
            return f"> {write(text)}" if quotation else write(text)
        case Listing(entries):
            return "\n".join(_write_entry(entry, write) for entry in entries)
        case Preformatted(text):
            return inert_code(text)
        case Table():
            return _write_table(block, write)
        case _:
            return "---"


def _write_entry(entry: ListItem, write: Callable[[str], str]) -> str:
    indent = "    " * entry.depth
    mark = "-" if entry.number is None else f"{entry.number}."
    first, *more = (write(text) for text in entry.paragraphs)
    return "".join((f"{indent}{mark} {first}", *(f"\n\n{indent}    {text}" for text in more)))


def inert_code(text: str) -> str:
    """Write each line of a preformatted text as inline code.

    Some renderers do not know fences and would read the text as HTML. Others would treat indented
    code after a list as a part of the list.
    """
    return "  \n".join(map(_write_code_line, filter(str.strip, text.splitlines())))


def _write_code_line(line: str) -> str:
    line = line.expandtabs(4).rstrip()
    indent = "\xa0" * (len(line) - len(line.lstrip()))
    code = line.strip()
    if _NO_CODE.search(code):
        return f"{indent}{_escape_beginning(_escape(code))}"
    return f"`{indent}{code}`"


def _write_table(table: Table, write: Callable[[str], str]) -> str:
    marks = tuple("---:" if right else "---" for right in table.right)
    head, *body = ([write(cell) for cell in row] for row in table.rows)
    rows = (map(_escape_quotes, head), marks, *body)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _escape_quotes(cell: str) -> str:
    """Write quotation marks outside code as entities.

    Some renderers turn the head of a table into an id, and a quotation mark would end this id.
    """
    parts = cell.split("`")
    return "`".join(part if n % 2 else part.replace('"', "&quot;") for n, part in enumerate(parts))
