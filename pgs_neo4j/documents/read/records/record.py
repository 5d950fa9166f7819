"""Makes the document of a record: chooses its title and key, and writes its text.

Columns are chosen by their names and by the values in a sample of the file. The text is the title,
a line for each column, and the column of its own text last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from pgs_neo4j.documents.read.limits import MOST_DEPTH
from pgs_neo4j.documents.read.text import normalize
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import DocumentText, GivenEntity, RecordColumns
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.property_names import (
    KEY_WORDS,
    is_part,
    rank_name,
    rank_title,
    split_words,
)

TITLES = ("title", "headline", "subject", "name")
KEYS = ("id", "_id", "key", "uuid")
"""Columns that are taken before any other, whatever their values are, the first that there is."""
SURE_RECORDS = 20
"""From so many different values on, any column whose name ends like a key is believed to be one.

In a shorter sample a foreign key has different values by chance.
"""
LONGEST_KEY = 200
FAMILY, UNKNOWN = 3, 4
"""Ranks of titles that are family names, and names of something that may not be the record."""
Fields = Mapping[str, tuple[str, ...]]
"""Values by column, in the order of the record."""


@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """The columns of a file that title its records and tell them apart; None without one."""

    title: str | None = None
    key: str | None = None


def choose_columns(records: Sequence[Fields], file: str) -> ChosenColumns:
    """Return the columns that a sample of a file's records, in their order, speaks for.

    ``productID`` is the key of ``products.csv`` if no two records share one, and ``supplierID``
    is not, although it may come before. ``productName`` is the title.
    """
    columns = [*dict.fromkeys(name for fields in records for name in fields if "." not in name)]
    values = _Values(records)
    forms = _singular_forms(PurePosixPath(file).stem)
    return ChosenColumns(_title(columns, values, forms), _key(columns, values, forms))


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of a column as texts, made only for columns whose names are of interest."""

    records: Sequence[Fields]

    def __getitem__(self, name: str) -> list[str]:
        return [" ".join(fields.get(name, ())) for fields in self.records]


def _key(columns: Sequence[str], values: _Values, forms: Sequence[str]) -> str | None:
    unique = [name for name in columns if rank_name(name, KEY_WORDS) is not None]
    unique = [name for name in unique if _are_different(values[name])]
    for name in unique:
        if any(is_part(split_words(name)[:-1], form) for form in forms):
            return name
    for name in unique:
        if name == columns[0] or len(values.records) >= SURE_RECORDS:
            return name
    return None


def _title(columns: Sequence[str], values: _Values, forms: Sequence[str]) -> str | None:
    ranked: list[tuple[int, int]] = []
    for place, name in enumerate(columns):
        ranks = [rank for form in forms if (rank := rank_title(form, name)) is not None]
        given = [value for value in values[name] if value] if ranks else []
        if not ranks or 2 * len(given) < len(values.records):
            continue
        # The name of a category repeats from record to record, and that of the record does not.
        if min(ranks) == UNKNOWN and 2 * len(set(given)) <= len(given):
            continue
        ranked.append((min(ranks), place))
    return columns[min(ranked)[1]] if ranked else None


def _are_different(values: Sequence[str]) -> bool:
    """Whether every record has a value of its own, short enough for a key."""
    return all(0 < len(value) <= LONGEST_KEY for value in values) and (
        len(set(values)) == len(values)
    )


def _singular_forms(stem: str) -> tuple[str, ...]:
    """Return what one record of a file may be called: ``product`` and ``products``."""
    forms = [stem]
    if stem.lower().endswith("ies"):
        forms.append(f"{stem[:-3]}y")
    if stem.lower().endswith("es"):
        forms.append(stem[:-2])
    if stem.lower().endswith("s"):
        forms.append(stem[:-1])
    return tuple(forms)


TEXTS = ("text", "body", "content", "article", "abstract", "description", "message", "comment")
"""Columns that are taken if none is named, the first that a record has."""
MISSING = frozenset(("NULL", "null", "\\N", "NaN", "nan", "#N/A", "N/A", "n/a"))
"""How databases and spreadsheets write that a cell has no value. ``None`` may be an answer."""
LONGEST_NAME = 200
LONGEST_TITLE = 200
"""Characters of a title by which a document is called; the name of each chunk repeats it."""
LONGEST_BEGINNING = 80
"""Characters of its first values, by which a record with neither title nor key is called."""
LONGEST_SEEN = 10_000
"""Characters of a value that are looked at for such a name, with all blanks in it."""
LINE_PIECE = 2**20
"""Characters of a value that are split into words at a time."""
_NONE_CHOSEN = ChosenColumns()


@dataclass(frozen=True, slots=True)
class RecordText:
    """The document of a record; ``key`` tells it from others of its file.

    ``guessed``: the key is of a column that may be none, so records may share it.
    """

    key: str
    title: str
    text: DocumentText
    guessed: bool = False


def fields_of(record: Mapping[str, object]) -> Fields:
    """Return the values of a record by column. Raises InputFileError if it is nested too deeply."""
    return dict(_flat(record, "", 0))


def make_document(
    fields: Fields, columns: RecordColumns, chosen: ChosenColumns = _NONE_CHOSEN
) -> RecordText:
    """Return the document of a record. Raises InputFileError, also for a column it lacks.

    ``chosen`` are the columns that its file speaks for, if it has none of the usual names.
    """
    for named in (columns.text, columns.key):
        if named and not fields.get(named):
            raise InputFileError(f"it has nothing in the column {named!r}")
    title = columns.title or _first(fields, TITLES) or _if_given(fields, chosen.title)
    key = columns.key or _first(fields, KEYS)
    guess = None if key else _if_given(fields, chosen.key)
    text = _composed(fields, columns, title, key)
    name = _first_line(fields.get(key or guess or "", ()))
    if len(name) > LONGEST_KEY:
        if key:
            raise InputFileError(
                f"its key has more than {LONGEST_KEY} characters; name another column"
            )
        name = ""
    called = _first_line(fields.get(title, ())) if title else ""
    if not (called or name):
        called = _beginning(fields)
    return RecordText(
        name or digest(text.text)[:16],
        called[:LONGEST_TITLE].rstrip(),
        text,
        guessed=bool(guess),
    )


def _composed(
    fields: Fields, columns: RecordColumns, title: str | None, key: str | None
) -> DocumentText:
    """Return the text of a record, with the entities that its columns name."""
    body = columns.text or _first(fields, TEXTS)
    types = dict(columns.entities)
    writer = _RecordWriter(types)
    if title:
        writer.add("# ", fields.get(title, ())[:1], title, "\n\n")
    labels: list[str] = []
    for name in fields:
        if name not in (title, body) and (name in types or not (body or name == key)):
            label = _line(name)
            if fields[name]:
                labels.append(label)
            writer.add(f"{label}: ", fields[name], name, "\n")
    if body:
        writer.end(fields.get(body, ()))
    text = writer.text
    if not text.strip():
        raise InputFileError("it has no text")
    return DocumentText(text=text, given=tuple(writer.given), labels=tuple(labels))


def _beginning(fields: Fields) -> str:
    """Return the first values of a record, by which it can be told from others in a list."""
    said: list[str] = []
    for name, values in fields.items():
        # A number alone says nothing in a list.
        said += [v if any(map(str.isalpha, v)) else f"{_line(name)} {v}" for v in values[:1]]
        if sum(map(len, said)) >= LONGEST_BEGINNING:
            break
    said = [_first_line((one,)) for one in said]
    return ", ".join(said)[:LONGEST_BEGINNING].rstrip(", ")


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


def _if_given(fields: Fields, column: str | None) -> str | None:
    return column if column and fields.get(column) else None


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
    text = str(value).lower() if isinstance(value, bool) else str(value).strip()
    return "" if text in MISSING else text


def _is_name(value: str) -> bool:
    return len(value) <= LONGEST_NAME and any(map(str.isalnum, normalize_name(value)))


def _first_line(values: Sequence[str]) -> str:
    """Return the beginning of some values in one line, enough for any name of a record."""
    return _line(" ".join(value[:LONGEST_SEEN] for value in values[:LONGEST_SEEN])[:LONGEST_SEEN])


def _line(value: str) -> str:
    """Return a value in one line. Of ASCII, only blanks have several forms."""
    plain = value if value.isascii() and "\0" not in value else normalize(value)
    return "".join(_words_of(plain)).strip()


def _words_of(plain: str) -> Iterator[str]:
    """Yield a text with one blank between words, a piece at a time.

    Split as a whole, a long text would be in memory ten times, a bit for each word.
    """
    apart = False
    for start in range(0, len(plain), LINE_PIECE):
        piece = plain[start : start + LINE_PIECE]
        apart = apart or piece[0].isspace()
        if words := " ".join(piece.split()):
            yield f" {words}" if apart else words
            apart = piece[-1].isspace()
