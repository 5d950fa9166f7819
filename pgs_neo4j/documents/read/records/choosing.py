"""Chooses the title and the key of a file's records by the names and values of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

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
