"""The settings in force as a table, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from pgs_neo4j.cli.pages import tables
from pgs_neo4j.text.shown import counted

if TYPE_CHECKING:
    from rich.table import Table

    from pgs_neo4j.config import Loaded, Source

WIDE, MEANING = 120, 34  # columns of a table with all four, and of a meaning in a narrow one
LOCAL = "the local server"
UNSET = "not set"
PLACES: dict[Source, str] = {
    "default": "default",
    "call": "call",
    "environment": "environment",
    "named": "PGS_CONFIG",
    "user": "your pgs.toml",
    "directory": "pgs.toml here",
    "customary": "OPENAI_*",
}


def settings_rows(
    loaded: Loaded, settings: Iterable[tuple[str, Any, str]]
) -> list[tuple[str, str, str, str]]:
    """Return name, value, origin, and meaning of every setting.

    ``settings`` have name, value without secrets, and meaning.
    """
    return [
        (name, _worded(name, value, loaded), PLACES[loaded.provenance.source(name)], meaning)
        for name, value, meaning in settings
    ]


def settings_table(rows: list[tuple[str, str, str, str]], width: int) -> Table:
    """Return settings as a table; in a narrow one, each meaning has a line of its own."""
    if width >= WIDE:
        return tables.table(("setting", "value", "origin", "meaning"), rows)
    lines = [
        line
        for name, value, origin, meaning in rows
        for line in ((name, value, origin), *(("", part, "") for part in wrap(meaning, MEANING)))
    ]
    return tables.table(("setting", "value, and its meaning", "origin"), lines)


def _worded(name: str, value: Any, loaded: Loaded) -> str:
    return _inferred(name, loaded) if value is None else _in_words(name, value, loaded)


def _in_words(name: str, value: Any, loaded: Loaded) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if name == "search.weights":
        return ", ".join(f"{weight:g}" for weight in value)
    if isinstance(value, list | dict):
        return counted(len(value), "entry", "entries") if value else UNSET
    if name == "partition_relevance_threshold":
        return ", ".join(_thresholds(value, loaded))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _inferred(name: str, loaded: Loaded) -> str:
    """Return what takes the place of a setting that is not set."""
    from pgs_neo4j.config import PGSConfig, Settings, declarations

    settings = loaded.settings
    if name == "neo4j_uri":
        return LOCAL
    if name == "neo4j_password" and settings.neo4j_uri is None:
        return "its own"
    if name == "llm_provider":
        return f"{UNSET}: {settings.provider}"
    declared = (*declarations(Settings), *declarations(PGSConfig))
    return "none" if any(one.nullable for one in declared if one.name == name) else UNSET


def _thresholds(value: float, loaded: Loaded) -> Iterator[str]:
    """Yield the threshold of each kind of vectors that may be compared."""
    from pgs_neo4j.config import HASHING_THRESHOLD

    own = loaded.provenance.source("partition_relevance_threshold") != "default"
    hashing = loaded.settings.embedder in (None, "hashing")
    if own or not hashing:
        yield f"{value:g}"
        return
    yield f"{HASHING_THRESHOLD:g} with hashing"
    if loaded.settings.embedder is None:
        yield f"{value:g} with stored vectors"
