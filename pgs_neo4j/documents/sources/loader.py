"""Loads documents from files, URLs, and data, with a reader for each ending."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import BinaryIO

from pgs_neo4j.documents.read.limits import INLINE_BYTES
from pgs_neo4j.documents.read.records import RECORDS
from pgs_neo4j.documents.read.text import EmptyDocumentError, read_text
from pgs_neo4j.documents.read.titles import find_title
from pgs_neo4j.documents.read.worker import ParseWorker
from pgs_neo4j.documents.sources.fetch import fetch
from pgs_neo4j.documents.sources.opening import (
    check_size,
    open_file,
    read_file,
    read_opened,
    reopen_file,
)
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import (
    DocumentSource,
    DocumentText,
    LoadedDocument,
    RecordColumns,
    RefusedDocument,
)

FORM = "3"
"""Version of the readers. When it changes, documents are written again."""
LONGEST_ID = 500
NODE_IDS = ("entity:", "ruling:")
"""Prefixes of ids that other nodes in a graph of documents have."""
TEXTS = (
    *(".txt", ".text", ".log", ".md", ".markdown", ".mdx", ".rst", ".rest"),
    *(".adoc", ".asciidoc", ".asc", ".org", ".tex"),
)
"""Endings of files whose text is used without parsing."""
PARSED: Mapping[str, str] = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
}
"""Parsers by the endings of files that are parsed in a second process."""
MEDIA_TYPES: Mapping[str, str] = {
    **dict.fromkeys((".txt", ".text", ".log"), "text/plain"),
    **dict.fromkeys((".md", ".markdown", ".mdx"), "text/markdown"),
    **dict.fromkeys((".rst", ".rest"), "text/x-rst"),
    **dict.fromkeys((".adoc", ".asciidoc", ".asc"), "text/asciidoc"),
    ".org": "text/org",
    ".tex": "text/x-tex",
    **dict.fromkeys((".html", ".htm"), "text/html"),
    ".xhtml": "application/xhtml+xml",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    **dict.fromkeys((".jsonl", ".ndjson"), "application/jsonl"),
}
"""Media types by the endings of files."""
_NO_COLUMNS = RecordColumns()
ENDINGS = (*TEXTS, *PARSED, *RECORDS)


@dataclass(frozen=True, slots=True)
class FileLoader:
    """Loads text, Markdown, HTML, PDF, and docx of at most ``most_bytes``, and files of records.

    ``columns`` names the columns of records. ``private`` allows URLs with private addresses.
    """

    most_bytes: int = 100_000_000
    columns: RecordColumns = _NO_COLUMNS
    private: bool = False
    worker: ParseWorker = field(default_factory=ParseWorker)

    @property
    def signature(self) -> str:
        """A hash of the readers' version."""
        return digest(["files", FORM])

    def takes(self, name: str) -> bool:
        """Return whether there is a reader for the ending of a name."""
        return ending_of(name) in ENDINGS

    async def load(self, source: DocumentSource) -> AsyncIterator[LoadedDocument | RefusedDocument]:
        """Yield the documents of a source. Raises InputFileError at any fault."""
        check_id(source.id)
        ending, charset = ending_of(source.id), ""
        if source.url is not None:
            fetched = await fetch(source.url, self.most_bytes, ENDINGS, private=self.private)
            ending, charset = fetched.ending, fetched.charset
            source = replace(source, data=fetched.data)
        if ending not in ENDINGS:
            known = ", ".join(ENDINGS)
            what = f"no reader takes {ending}" if ending else "its name has no ending"
            raise InputFileError(f"{what}; the endings that can be read are {known}")
        if ending in RECORDS:
            given = (source.id, ending, self.columns, self.most_bytes, MEDIA_TYPES[ending])
            with _open_source(source) as file:
                async with aclosing(self.worker.parse_records(file, *given)) as records:
                    async for record in records:
                        yield record
            return
        data = await asyncio.to_thread(_read_data, source, self.most_bytes)
        if not data:
            raise EmptyDocumentError("it is empty")
        text, note = await self._read(ending, data, charset)
        media_type = MEDIA_TYPES[ending]
        yield LoadedDocument(
            id=source.id,
            text=text,
            size=len(data),
            name=text.title or find_title(text.text, ending),
            note=note,
            media_type=media_type,
        )

    async def _read(self, ending: str, data: bytes, charset: str) -> tuple[DocumentText, str]:
        if ending in TEXTS and len(data) <= INLINE_BYTES:
            return await asyncio.to_thread(read_text, data, charset)
        kind = PARSED.get(ending, "text")
        given = (charset,) if kind in ("html", "text") else ()
        return await self.worker.parse(kind, data, self.most_bytes, *given)

    async def close(self) -> None:
        """End the parsing process."""
        await self.worker.close()


def check_id(id_: str) -> None:
    """Raise InputFileError if a document cannot have this id in the graph."""
    try:
        id_.encode()
    except UnicodeEncodeError:
        raise InputFileError("its name is not valid UTF-8; rename it") from None
    if id_.startswith(NODE_IDS):
        raise InputFileError(f"its name begins like the id of another node, {id_[:7]!r}; rename it")
    if len(id_) > LONGEST_ID:
        raise InputFileError(f"its path has more than {LONGEST_ID} characters; shorten it")


def _read_data(source: DocumentSource, most_bytes: int) -> bytes:
    if source.path is not None:
        return read_file(source.path, source.root or source.path.parent, most_bytes)
    if source.opened is not None:
        return read_opened(source.opened, most_bytes)
    data = _encode_data(source)
    check_size(len(data), most_bytes)
    return data


def _encode_data(source: DocumentSource) -> bytes:
    data = source.data or b""
    return data.encode("utf-8", "replace") if isinstance(data, str) else data


def _open_source(source: DocumentSource) -> AbstractContextManager[BinaryIO]:
    if source.opened is not None:
        return reopen_file(source.opened)
    if source.path is None:
        return io.BytesIO(_encode_data(source))
    return open_file(source.path, source.root or source.path.parent)


def ending_of(name: str) -> str:
    """Return the ending of a file's name, in lower case."""
    return PurePosixPath(name).suffix.lower()
