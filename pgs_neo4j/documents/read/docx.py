"""Reads docx files, converted to HTML by Word's styles, unless they would unpack to too much.

The converter, mammoth, needs some kilobytes of memory per element, and its time per element grows
with the number of styles to compare. So it gets pieces of limited size, and only the styles that
affect the text. If a piece begins with a list, this list continues the previous piece's last list.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import IO
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring
from xml.parsers.expat import ExpatError, ParserCreate

from pgs_neo4j.documents.read.docx_parts import WORD, GatheredText, gather_text, make_paragraph
from pgs_neo4j.documents.read.docx_stream import local
from pgs_neo4j.documents.read.html import plain_text
from pgs_neo4j.documents.read.limits import (
    MOST_ATTRIBUTES,
    MOST_BLOCK,
    MOST_CONVERTED,
    MOST_RATIO,
    SMALL_BYTES,
)
from pgs_neo4j.documents.read.text import check_text, missing_extra, normalize_text
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentText

MOST_UNPACKED = 512 * 2**20
MOST_MEMBERS = 10_000
FAULTS = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError),
    *(ExpatError, ParseError, KeyError, ValueError, AttributeError),
)
"""Errors that a broken file raises."""
_PIECE = 2**16
PIECE = 20_000
"""Number of elements per piece. A piece needs about 40 MB in the converter."""
LEVELS = 5
"""Number of levels of nested lists that are converted."""
HEADINGS = 6
NOTE = "pgs-note"
"""The style and class of a marker paragraph before each note."""
_BEGIN_NOTE = f'<h6 class="{NOTE}">.</h6>'
_BODY = "word/document.xml"


def read_docx(data: bytes) -> tuple[DocumentText, str]:
    """Return the text of a docx file, and an empty note. Raises InputFileError."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive)
            check_markup(archive)
            gathered = gather_text(archive)
            html = convert_text(gathered)
    except ImportError as error:
        raise missing_extra(error, "reading docx") from None
    except FAULTS as error:
        if isinstance(error, InputFileError):
            raise
        raise InputFileError("it is broken, or not docx; save it again") from None
    text, unread = plain_text(html), gathered.seen.unread
    check_text(text, unread)
    return DocumentText(text=normalize_text(text), unread=unread), ""


def check_archive(archive: zipfile.ZipFile) -> None:
    """Raise InputFileError if an archive would unpack to too much, or is encrypted.

    The check uses the sizes in the archive's directory, before anything is unpacked. No member is
    read beyond its size in the directory.
    """
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise InputFileError(f"it has {len(members):,} parts; at most {MOST_MEMBERS:,} are read")
    unpacked = sum(member.file_size for member in members)
    if unpacked > MOST_UNPACKED:
        raise InputFileError(
            f"it unpacks to {unpacked / 2**20:,.0f} MiB; at most {MOST_UNPACKED // 2**20} are read"
        )
    packed = sum(member.compress_size for member in members)
    if unpacked > SMALL_BYTES and unpacked > MOST_RATIO * packed:
        raise InputFileError(
            f"it unpacks to over {MOST_RATIO} times its size, which no document does; save it again"
        )
    if any(member.flag_bits & 1 for member in members):
        raise InputFileError("it is encrypted; save it without a password")


def check_markup(archive: zipfile.ZipFile) -> None:
    """Raise InputFileError if a part defines XML entities, or has an excessively large element.

    A document type is refused, because only a document type can define entities. Very many
    attributes are refused, because parsers store each attribute several times.
    """
    for member in archive.infolist():
        if member.filename.lower().endswith((".xml", ".rels")):
            with archive.open(member) as part:
                _check_part(part)


def _check_part(part: IO[bytes]) -> None:
    begun = False

    def begin(_: str, attributes: list[str]) -> None:
        nonlocal begun
        begun = True
        if len(attributes) > 2 * MOST_ATTRIBUTES:  # The list has both names and values.
            raise InputFileError(
                f"one of its elements has more than {MOST_ATTRIBUTES:,} attributes, which no "
                "program that writes docx makes; save it again"
            )

    parser = ParserCreate()
    parser.ordered_attributes = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = begin
    try:
        while piece := part.read(_PIECE):
            parser.Parse(piece)
    except ExpatError:
        # No reader may need this part. If one does, it reports the fault.
        if not begun:
            raise


def _refuse_doctype(*_: object) -> None:
    raise InputFileError(
        "it defines XML entities, which no program that writes docx does; save it again"
    )


def _write_rules() -> str:
    """Return mammoth's style rules that affect the text, and one for the title."""
    numbers = range(1, HEADINGS + 1)
    rules = [f"p.{NOTE} => h6.{NOTE}:fresh", "p[style-name='Title'] => h1:fresh"]
    rules += (f"p.Heading{number} => h{number}:fresh" for number in numbers)
    for name in ("Heading", "heading"):
        rules += (f"p[style-name='{name} {number}'] => h{number}:fresh" for number in numbers)
    # Apple Pages writes these styles.
    rules += ["p.Heading => h1:fresh", "p[style-name='Heading'] => h1:fresh"]
    for name, tag in (("unordered", "ul"), ("ordered", "ol")):
        for level in range(1, LEVELS + 1):
            outer = "ul|ol > li > " * (level - 1)
            rules.append(f"p:{name}-list({level}) => {outer}{tag} > li:fresh")
    return "\n".join(rules)


RULES = _write_rules()


def convert_text(gathered: GatheredText) -> str:
    """Return the HTML of a docx, with its notes as a numbered list at the end.

    Raises ImportError, InputFileError, KeyError, and errors of its parsers.
    """
    html = _convert(chain(gathered.blocks, _note_blocks(gathered)), gathered.styles)
    body, *notes = html.split(_BEGIN_NOTE)
    items = "".join(f"<li>{_add_arrow(note)}</li>" for note in notes)
    return f"{body}<ol>{items}</ol>"


def _note_blocks(gathered: GatheredText) -> Iterator[Element]:
    """Yield the blocks of all notes, which are known only after reading the body's blocks."""
    for note in gathered.notes:
        yield make_paragraph(".", style=NOTE)
        yield from note


def _add_arrow(note: str) -> str:
    """Return a note with an arrow at its end, which stands for a link back to the reference."""
    end = "</p>"
    return f"{note.removesuffix(end)} \u2191{end}" if note.endswith(end) else f"{note} \u2191"


def _convert(blocks: Iterable[Element], styles: Mapping[str, Element]) -> str:
    """Return the HTML of some blocks."""
    import mammoth

    written: list[str] = []
    parts = {f"word/{name}.xml": tostring(root, "utf-8") for name, root in styles.items()}
    for piece, continues in _divide_into_pieces(blocks):
        root = Element(f"{{{WORD}}}document")
        SubElement(root, f"{{{WORD}}}body").extend(piece)
        packed = _pack({**parts, _BODY: tostring(root, "utf-8")})
        html = mammoth.convert_to_html(
            packed, style_map=RULES, include_default_style_map=False
        ).value
        _append_html(written, html, ("ol", "ul", "table") if continues else ("ol", "ul"))
    return "".join(written)


def _pack(parts: Mapping[str, bytes]) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed


def _append_html(written: list[str], html: str, tags: Iterable[str]) -> None:
    """Add the HTML of a piece; a list or table at its beginning continues the previous one."""
    for tag in tags:
        begin, end = f"<{tag}>", f"</{tag}>"
        if written and html.startswith(begin) and written[-1].endswith(end):
            written[-1] = written[-1].removesuffix(end)
            html = html.removeprefix(begin)
            break
    if html:
        written.append(html)


def _divide_into_pieces(blocks: Iterable[Element]) -> Iterator[tuple[list[Element], bool]]:
    """Yield pieces of blocks, each with a flag that says if it begins within a table."""
    piece: list[Element] = []
    size, within = 0, False
    for block, weight, continues in _bound_blocks(blocks):
        full = size + weight > PIECE and not (_is_merged(piece[-1:]) or _is_nested(block))
        if piece and (full or continues or size + weight > MOST_BLOCK):
            # The paragraph with which mammoth would merge the last one is not in this piece.
            _end_deletion(piece)
            yield piece, within
            piece, size, within = [], 0, continues
        if _begins_note(block):
            _end_deletion(piece)
        piece.append(block)
        size += weight
    if piece:
        _end_deletion(piece)
        yield piece, within


def _bound_blocks(blocks: Iterable[Element]) -> Iterator[tuple[Element, int, bool]]:
    """Yield blocks with their sizes, and whether a block continues a table that was divided.

    Raises InputFileError if a block is too large and cannot be divided, and if the document has too
    many elements.
    """
    total = 0
    for block in blocks:
        parts = _divide_table(block) if local(block) == "tbl" else [block]
        for place, part in enumerate(parts):
            weight = _size(part)
            total += weight
            if total > MOST_CONVERTED:
                raise InputFileError(
                    f"its text has more than {MOST_CONVERTED:,} elements, as many as thousands of "
                    "pages; split it"
                )
            if weight > MOST_BLOCK:
                raise InputFileError(
                    f"one of its paragraphs or rows has more than {MOST_BLOCK:,} elements; divide "
                    "that paragraph or row"
                )
            yield part, weight, place > 0


def _size(block: Element) -> int:
    return sum(1 for _ in block.iter())


def _divide_table(table: Element) -> Iterator[Element]:
    """Yield a table in parts of several rows; no cell is divided."""
    part, size = Element(table.tag), 0
    for row in [*table]:
        weight = _size(row)
        merged = any(
            local(one) == "vMerge" and "restart" not in one.attrib.values() for one in row.iter()
        )
        if size and size + weight > PIECE and not merged:
            yield part
            part, size = Element(table.tag), 0
        part.append(row)
        size += weight
    yield part


def _deletion_marks(blocks: Sequence[Element]) -> Iterator[Element]:
    """Yield the deletion marks of paragraphs that mammoth would merge with the next paragraph."""
    properties = (one for block in blocks for one in block.iter() if local(one) == "pPr")
    return (mark for one in properties for marks in one if local(marks) == "rPr" for mark in marks)


def _end_deletion(piece: Sequence[Element]) -> None:
    """Prevent mammoth from merging the last paragraph of a piece with the next one."""
    for mark in _deletion_marks(piece[-1:]):
        mark.tag = "none"


def _begins_note(block: Element) -> bool:
    styles = (one for properties in block[:1] for one in properties if local(one) == "pStyle")
    return any(NOTE in one.attrib.values() for one in styles)


def _is_merged(blocks: Sequence[Element]) -> bool:
    return any(True for _ in _deletion_marks(blocks))


def _is_nested(block: Element) -> bool:
    """Return whether a block is an item of a list within a list."""
    properties = next((one for one in block if local(one) == "pPr"), ())
    numbered = (one for one in properties if local(one) == "numPr")
    levels = (level for one in numbered for level in one if local(level) == "ilvl")
    return any(value not in ("", "0") for level in levels for value in level.attrib.values())
