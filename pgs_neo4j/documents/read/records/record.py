"""Makes the document of a record: chooses its title and key, and writes its text.

Columns are chosen by their names and by the values in a sample of the file. The first line of the
text is the title. Then there is a line for each column, and finally the text column.
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
"""Names of columns that are keys, whatever their values; the first of these columns in a record is
used."""
SURE_RECORDS = 20
"""Minimum number of different values with which a column named like a key counts as a key.

In a shorter sample, the values of a foreign key may be different by chance.
"""
LONGEST_KEY = 200
FAMILY, UNKNOWN = 3, 4
"""The rank of titles that are family names, and the rank of names that may belong to something
else."""
Fields = Mapping[str, tuple[str, ...]]
"""Values by column, in the order of the record."""


@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """The columns with the titles and the keys of a file's records, None for no column."""

    title: str | None = None
    key: str | None = None


def choose_columns(records: Sequence[Fields], file: str) -> ChosenColumns:
    """Return the title and key columns of a file, by a sample of its records in order.

    In ``products.csv``, the key is ``productID`` if no two records share a value. It is not
    ``supplierID``, even if this column is first. The title is ``productName``.
    """
    columns = [*dict.fromkeys(name for fields in records for name in fields if "." not in name)]
    values = _Values(records)
    forms = _singular_forms(PurePosixPath(file).stem)
    return ChosenColumns(_choose_title(columns, values, forms), _choose_key(columns, values, forms))


@dataclass(frozen=True, slots=True)
class _Values:
    """Returns the values of a column as texts, which are made only for requested columns."""

    records: Sequence[Fields]

    def __getitem__(self, name: str) -> list[str]:
        return [" ".join(fields.get(name, ())) for fields in self.records]


def _choose_key(columns: Sequence[str], values: _Values, forms: Sequence[str]) -> str | None:
    unique = [name for name in columns if rank_name(name, KEY_WORDS) is not None]
    unique = [name for name in unique if _are_different(values[name])]
    for name in unique:
        if any(is_part(split_words(name)[:-1], form) for form in forms):
            return name
    for name in unique:
        if name == columns[0] or len(values.records) >= SURE_RECORDS:
            return name
    return None


def _choose_title(columns: Sequence[str], values: _Values, forms: Sequence[str]) -> str | None:
    ranked: list[tuple[int, int]] = []
    for place, name in enumerate(columns):
        ranks = [rank for form in forms if (rank := rank_title(form, name)) is not None]
        given = [value for value in values[name] if value] if ranks else []
        if not ranks or 2 * len(given) < len(values.records):
            continue
        # A category's name repeats from record to record, but the name of the record itself does
        # not.
        if min(ranks) == UNKNOWN and 2 * len(set(given)) <= len(given):
            continue
        ranked.append((min(ranks), place))
    return columns[min(ranked)[1]] if ranked else None


def _are_different(values: Sequence[str]) -> bool:
    """Return whether all values differ, and are present and short enough for a key."""
    return all(0 < len(value) <= LONGEST_KEY for value in values) and (
        len(set(values)) == len(values)
    )


def _singular_forms(stem: str) -> tuple[str, ...]:
    """Return possible names of a record in the file: ``products`` gives ``product`` and itself."""
    forms = [stem]
    if stem.lower().endswith("ies"):
        forms.append(f"{stem[:-3]}y")
    if stem.lower().endswith("es"):
        forms.append(stem[:-2])
    if stem.lower().endswith("s"):
        forms.append(stem[:-1])
    return tuple(forms)


TEXTS = ("text", "body", "content", "article", "abstract", "description", "message", "comment")
"""Names of text columns if the user names no column; the first of these in a record is used."""
MISSING = frozenset(("NULL", "null", "\\N", "NaN", "nan", "#N/A", "N/A", "n/a"))
"""Values with which databases and spreadsheets mark an empty cell. ``None`` may be an answer."""
LONGEST_NAME = 200
LONGEST_TITLE = 200
"""Maximum characters of a title. The name of each chunk repeats the title."""
LONGEST_BEGINNING = 80
"""Maximum characters of a title made of first values, for a record without a title and a key."""
LONGEST_SEEN = 10_000
"""First characters of a value, including white space, that may be used for a title made of
values."""
LINE_PIECE = 2**20
"""Number of characters of a value to split into words at a time."""
_NONE_CHOSEN = ChosenColumns()


@dataclass(frozen=True, slots=True)
class RecordText:
    """The document of a record; ``key`` identifies the record within its file.

    ``guessed`` means that the key's column was only guessed, so several records may have this key.
    """

    key: str
    title: str
    text: DocumentText
    guessed: bool = False


def fields_of(record: Mapping[str, object]) -> Fields:
    """Return the values of a record by column. Raises InputFileError if it is nested too deeply."""
    return dict(_flatten(record, "", 0))


def make_document(
    fields: Fields, columns: RecordColumns, chosen: ChosenColumns = _NONE_CHOSEN
) -> RecordText:
    """Return the document of a record. Raises InputFileError, also if it lacks a named column.

    ``chosen`` has the title and key columns by the file's sample. They are used if the record has
    no column with a usual name.
    """
    for named in (columns.text, columns.key):
        if named and not fields.get(named):
            raise InputFileError(f"it has nothing in the column {named!r}")
    title = columns.title or _find_first(fields, TITLES) or _column_if_given(fields, chosen.title)
    key = columns.key or _find_first(fields, KEYS)
    guess = None if key else _column_if_given(fields, chosen.key)
    text = _write_document(fields, columns, title, key)
    name = _first_line(fields.get(key or guess or "", ()))
    if len(name) > LONGEST_KEY:
        if key:
            raise InputFileError(
                f"its key has more than {LONGEST_KEY} characters; name another column"
            )
        name = ""
    shown_title = _first_line(fields.get(title, ())) if title else ""
    if not (shown_title or name):
        shown_title = _join_first_values(fields)
    return RecordText(
        name or digest(text.text)[:16],
        shown_title[:LONGEST_TITLE].rstrip(),
        text,
        guessed=bool(guess),
    )


def _write_document(
    fields: Fields, columns: RecordColumns, title: str | None, key: str | None
) -> DocumentText:
    """Return the text of a record, and the entities in its columns."""
    body = columns.text or _find_first(fields, TEXTS)
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


def _join_first_values(fields: Fields) -> str:
    """Return the first values of a record as a title that distinguishes the record in a list."""
    parts: list[str] = []
    for name, values in fields.items():
        # A number alone means nothing in a list, so the name of its column precedes it.
        parts += [v if any(map(str.isalpha, v)) else f"{_line(name)} {v}" for v in values[:1]]
        if sum(map(len, parts)) >= LONGEST_BEGINNING:
            break
    parts = [_first_line((one,)) for one in parts]
    return ", ".join(parts)[:LONGEST_BEGINNING].rstrip(", ")


@dataclass(slots=True)
class _RecordWriter:
    """Writes the text of a record, and collects its entities; ``types`` maps columns to types.

    The text is a list of ``pieces`` with a total of ``length`` characters. Copying one string for
    each column of a wide record would take quadratic time.
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
        """Add a line with the values of a column, if there are any."""
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
        """Add the values of the text column, after a blank line."""
        if self.pieces and not "".join(self.pieces[-2:]).endswith("\n\n"):
            self._put("\n")
        self._put("\n\n".join(normalize(value).strip() for value in values) + "\n")

    def _put(self, piece: str) -> None:
        self.pieces.append(piece)
        self.length += len(piece)


def _column_if_given(fields: Fields, column: str | None) -> str | None:
    return column if column and fields.get(column) else None


def _find_first(fields: Fields, names: Iterable[str]) -> str | None:
    """Return the first column of ``names`` that has a value; case is ignored."""
    known = {name.lower(): name for name, values in reversed([*fields.items()]) if values}
    return next((known[name] for name in names if name in known), None)


def _flatten(value: object, name: str, depth: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield columns with their values; the names of nested columns are joined with dots."""
    if depth > MOST_DEPTH:
        raise InputFileError(f"it is nested more than {MOST_DEPTH} levels deep")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flatten(inner, f"{name}.{key}" if name else str(key), depth + 1)
    elif isinstance(value, list):
        plain = tuple(one for item in value if (one := _write_plain(item)))
        nested = (item for item in value if isinstance(item, Mapping | list))
        yield name, plain
        for number, item in enumerate(nested, start=1):
            yield from _flatten(item, f"{name}.{number}", depth + 1)
    else:
        yield name, (one,) if (one := _write_plain(value)) else ()


def _write_plain(value: object) -> str:
    """Return a value as text, empty for a missing, blank, or nested value."""
    if value is None or isinstance(value, Mapping | list):
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value).strip()
    return "" if text in MISSING else text


def _is_name(value: str) -> bool:
    return len(value) <= LONGEST_NAME and any(map(str.isalnum, normalize_name(value)))


def _first_line(values: Sequence[str]) -> str:
    """Return the beginning of some values as one line, cut to the length of a record's name."""
    return _line(" ".join(value[:LONGEST_SEEN] for value in values[:LONGEST_SEEN])[:LONGEST_SEEN])


def _line(value: str) -> str:
    """Return a value as one normalized line; for ASCII, this only changes NUL and white space."""
    plain = value if value.isascii() and "\0" not in value else normalize(value)
    return "".join(_words_of(plain)).strip()


def _words_of(plain: str) -> Iterator[str]:
    """Yield a text with single spaces between words, piece by piece.

    Splitting a long text at once would take ten times the memory of the text, because each word is
    an object.
    """
    apart = False
    for start in range(0, len(plain), LINE_PIECE):
        piece = plain[start : start + LINE_PIECE]
        apart = apart or piece[0].isspace()
        if words := " ".join(piece.split()):
            yield f" {words}" if apart else words
            apart = piece[-1].isspace()
