"""Reads docx, converted to HTML by Word's styles, unless it would unpack to too much."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import IO
from xml.etree.ElementTree import ParseError
from xml.parsers.expat import ExpatError, ParserCreate

from pgs_neo4j.documents.read.docx_parts import gather_text
from pgs_neo4j.documents.read.docx_pieces import convert_text
from pgs_neo4j.documents.read.extra import missing_extra
from pgs_neo4j.documents.read.html import plain_text
from pgs_neo4j.documents.read.limits import MOST_ATTRIBUTES, MOST_RATIO, SMALL_BYTES
from pgs_neo4j.documents.read.text import check_text, normalize_text
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentText

MOST_UNPACKED = 512 * 2**20
MOST_MEMBERS = 10_000
FAULTS = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError),
    *(ExpatError, ParseError, KeyError, ValueError, AttributeError),
)
"""What a broken file ends in."""
_PIECE = 2**16


def read_docx(data: bytes) -> tuple[DocumentText, str]:
    """Return the text of a docx file. Raises InputFileError."""
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
    """Raise InputFileError for an archive that would unpack to too much.

    Its directory tells, before anything is unpacked; no member is read beyond what that says.
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
        raise InputFileError(f"it unpacks to over {MOST_RATIO} times its size, as no document does")
    if any(member.flag_bits & 1 for member in members):
        raise InputFileError("it is encrypted; save it without a password")


def check_markup(archive: zipfile.ZipFile) -> None:
    """Raise InputFileError if a part defines entities, or has an element as no program writes it.

    Entities are defined in a document type. Of an element with very many attributes, parsers hold
    each several times.
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
        if len(attributes) > 2 * MOST_ATTRIBUTES:  # names and values
            raise InputFileError(
                f"one of its elements has more than {MOST_ATTRIBUTES:,} attributes, as no program "
                "that writes docx makes them; save it again"
            )

    parser = ParserCreate()
    parser.ordered_attributes = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = begin
    try:
        while piece := part.read(_PIECE):
            parser.Parse(piece)
    except ExpatError:
        # Not every part is read. The reader of this one meets the fault again.
        if not begun:
            raise


def _refuse(*_: object) -> None:
    raise InputFileError("it defines XML entities, as no program that writes docx does")
