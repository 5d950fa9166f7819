"""The names of uploaded files, which become the ids of documents."""

from __future__ import annotations

from pathlib import PurePosixPath

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.text.shown import one_line

LONGEST = 500
"""Characters, as many as the id of a document may have."""
SHOWN = 80


def document_name(name: str) -> str:
    """Return the id of the document of an uploaded file: its path below its folder.

    Nothing is ever opened under this name. Raises InputFileError for one that ``pgs ingest`` would
    not give: absolute, with ``..``, of a hidden file, or with characters that do not print.
    """
    parts = name.split("/")
    if len(name) > LONGEST or not _is_plain(name) or not all(map(_is_visible, parts)):
        raise InputFileError(
            f"{one_line(name[:SHOWN])!r} cannot be the name of a document; name a file by its path "
            "below its folder, as in notes/a.md"
        )
    return name


def ending_of(name: str) -> str:
    """Return the ending of a name, in lower case."""
    return PurePosixPath(name).suffix.lower()


def _is_plain(name: str) -> bool:
    return name.isprintable() and "\\" not in name


def _is_visible(part: str) -> bool:
    """Whether a folder with such a part shows it: not empty, and not hidden."""
    return bool(part) and part.strip() == part and not part.startswith(".")
