"""Makes the text of a document of a record: its title, lines of columns, and a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.ingest.read.limits import MOST_DEPTH
from pgs_neo4j.ingest.read.text import normalize
from pgs_neo4j.model.documents import DocumentText, GivenEntity, RecordColumns
from pgs_neo4j.text.extraction.names import normalize_name

TEXTS = ("text", "body", "content", "article", "abstract", "description", "message", "comment")
TITLES = ("title", "headline", "subject", "name")
KEYS = ("id", "_id", "key", "uuid")
"""Columns that are taken if none is named, the first that a record has."""
LONGEST_KEY = 200
LONGEST_NAME = 200
LONGEST_TITLE = 200
"""Characters of a title by which a document is called; the name of each chunk repeats it."""

Fields = Mapping[str, tuple[str, ...]]
"""Values by column, in the order of the record."""


@dataclass(frozen=True, slots=True)
class RecordText:
    """The document of a record; ``key`` tells it from others of its file."""

    key: str
    title: str
    text: DocumentText


def make_document(record: Mapping[str, object], columns: RecordColumns) -> RecordText:
    """Return the document of a record. Raises InputFileError, also for a column it lacks."""
    fields = dict(_flat(record, "", 0))
    for named in (columns.text, columns.key):
        if named and not fields.get(named):
            raise InputFileError(f"it has nothing in the column {named!r}")
    title = columns.title or _first(fields, TITLES)
    key = columns.key or _first(fields, KEYS)
    text, given = _composed(fields, columns, title, key)
    name = _line(" ".join(fields.get(key, ()))) if key else ""
    if len(name) > LONGEST_KEY:
        raise InputFileError(f"its key has more than {LONGEST_KEY} characters; name another column")
    heading = _line(" ".join(fields.get(title, ()))) if title else ""
    called = heading[:LONGEST_TITLE].rstrip()
    return RecordText(name or digest(text)[:16], called, DocumentText(text=text, given=given))


def _composed(
    fields: Fields, columns: RecordColumns, title: str | None, key: str | None
) -> tuple[str, tuple[GivenEntity, ...]]:
    """Return the text of a record, and the entities that its columns name."""
    body = columns.text or _first(fields, TEXTS)
    types = dict(columns.entities)
    writer = _RecordWriter(types)
    if title:
        writer.add("# ", fields.get(title, ())[:1], title, "\n\n")
    for name in fields:
        if name not in (title, body) and (name in types or not (body or name == key)):
            writer.add(f"{_line(name)}: ", fields[name], name, "\n")
    if body:
        writer.end(fields.get(body, ()))
    text = writer.text
    if not text.strip():
        raise InputFileError("it has no text")
    return text, tuple(writer.given)


@dataclass(slots=True)
class _RecordWriter:
    """The text of a record so far, and the entities in it; ``types`` are by column.

    It is kept in ``pieces`` of ``length`` characters in all: to copy it for each column of a wide
    record would take time with the square of its size.
    """

    types: Mapping[str, str]
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    given: list[GivenEntity] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.pieces)

    def add(self, before: str, values: Sequence[str], column: str, after: str) -> None:
        """Add a line of values, unless there are none."""
        between = before
        for value in map(_line, values):
            self._put(between)
            start = self.length
            self._put(value)
            if column in self.types and _is_name(value):
                given = GivenEntity(value, self.types[column], start, self.length)
                self.given.append(given)
            between = ", "
        if values:
            self._put(after)

    def end(self, values: Iterable[str]) -> None:
        """Add the text itself, after a blank line."""
        if self.pieces and not "".join(self.pieces[-2:]).endswith("\n\n"):
            self._put("\n")
        self._put("\n\n".join(normalize(value).strip() for value in values) + "\n")

    def _put(self, piece: str) -> None:
        self.pieces.append(piece)
        self.length += len(piece)


def _first(fields: Fields, names: Iterable[str]) -> str | None:
    """Return the first column of these names that has a value, whatever its case."""
    known = {name.lower(): name for name, values in reversed([*fields.items()]) if values}
    return next((known[name] for name in names if name in known), None)


def _flat(value: object, name: str, depth: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield columns with their values; the names of nested ones are joined with a dot."""
    if depth > MOST_DEPTH:
        raise InputFileError(f"it is nested more than {MOST_DEPTH} levels deep")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key), depth + 1)
    elif isinstance(value, list):
        plain = tuple(one for item in value if (one := _plain(item)))
        nested = (item for item in value if isinstance(item, Mapping | list))
        yield name, plain
        for number, item in enumerate(nested, start=1):
            yield from _flat(item, f"{name}.{number}", depth + 1)
    else:
        yield name, (one,) if (one := _plain(value)) else ()


def _plain(value: object) -> str:
    """Return a value as text; nothing for what is missing, blank, or nested."""
    if value is None or isinstance(value, Mapping | list):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _is_name(value: str) -> bool:
    return len(value) <= LONGEST_NAME and any(map(str.isalnum, normalize_name(value)))


def _line(value: str) -> str:
    """Return a value in one line. Of ASCII, only blanks have several forms."""
    plain = value if value.isascii() and "\0" not in value else normalize(value)
    return " ".join(plain.split())
