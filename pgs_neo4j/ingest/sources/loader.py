"""Loads documents from files and data, by readers for each ending."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.ingest.read.text import read_text
from pgs_neo4j.ingest.sources.opening import check_size, read_file
from pgs_neo4j.model.documents import (
    DocumentSource,
    DocumentText,
    LoadedDocument,
    RefusedDocument,
)

FORM = "1"
"""Of the readers; another one writes documents again."""
LONGEST_ID = 500
READERS: Mapping[str, Callable[[bytes], tuple[DocumentText, str]]] = {
    ".txt": read_text,
    ".text": read_text,
    ".md": read_text,
    ".markdown": read_text,
    ".rst": read_text,
}
"""Readers by the ending of a file's name, in lower case."""


@dataclass(frozen=True, slots=True)
class FileLoader:
    """Loads text and Markdown of at most ``most_bytes``."""

    most_bytes: int = 100_000_000

    @property
    def signature(self) -> str:
        """A hash of the readers' rules."""
        return digest(["files", FORM])

    def takes(self, name: str) -> bool:
        """Whether there is a reader for the ending of a name."""
        return _ending(name) in READERS

    async def load(self, source: DocumentSource) -> AsyncIterator[LoadedDocument | RefusedDocument]:
        """Yield the document of a source. Raises InputFileError at any fault."""
        check_id(source.id)
        reader = READERS.get(_ending(source.id))
        if reader is None:
            endings = ", ".join(READERS)
            named = _ending(source.id) or "it"
            raise InputFileError(f"no reader takes {named}; those are {endings}")
        data = await asyncio.to_thread(_data_of, source, self.most_bytes)
        text, note = await asyncio.to_thread(reader, data)
        yield LoadedDocument(id=source.id, text=text, size=len(data), note=note)


def check_id(id_: str) -> None:
    """Raise InputFileError for an id that the database cannot hold."""
    try:
        id_.encode()
    except UnicodeEncodeError:
        raise InputFileError("its name is not valid UTF-8; rename it") from None
    if len(id_) > LONGEST_ID:
        raise InputFileError(f"its path has more than {LONGEST_ID} characters; shorten it")


def _data_of(source: DocumentSource, most_bytes: int) -> bytes:
    if source.path is not None:
        return read_file(source.path, source.root or source.path.parent, most_bytes)
    data = source.data or b""
    data = data.encode("utf-8", "replace") if isinstance(data, str) else data
    check_size(len(data), most_bytes)
    return data


def _ending(name: str) -> str:
    return PurePosixPath(name).suffix.lower()
