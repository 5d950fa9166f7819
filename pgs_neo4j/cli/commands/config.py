"""`pgs config show`: every setting in force, with its value, origin, and meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.shown import counted

if TYPE_CHECKING:
    from rich.table import Table

    from pgs_neo4j.config import Loaded, Source


config_app = typer.Typer(no_args_is_help=True, help="Show the settings in force.")
# Minimum columns of a table with a column for meanings, and the width of a meaning in a narrower
# table.
WIDE, MEANING = 120, 34
LOCAL = "the local server"
UNSET = "not set"
SOURCES: dict[Source, str] = {
    "default": "default",
    "call": "call",
    "environment": "environment",
    "named": "PGS_CONFIG",
    "user": "your pgs.toml",
    "directory": "pgs.toml here",
    "customary": "OPENAI_*",
}


@config_app.callback()
def config() -> None:
    """Show the settings in force."""


@config_app.command("show")
def show(as_json: JsonOption = False) -> None:
    """Show every setting with its value, origin, and meaning.

    Set each in pgs.toml by its name, or in the environment as PGS_ and its name in capitals. The
    file is here, or in your configuration directory, ~/.config/pgs-neo4j on Linux.
    Secrets are masked.
    """
    run(_show(as_json=as_json))


async def _show(*, as_json: bool) -> None:
    from pgs_neo4j import config as settings

    loaded = settings.load()
    path = loaded.provenance.path
    rows = [
        {
            "name": name,
            "value": masked(value, address=name in settings.ADDRESSES),
            "origin": loaded.origins[name],
            "source": loaded.provenance.source(name),
            "about": about,
        }
        for name, value, about in _settings(loaded)
    ]
    for notice in settings.notices(loaded.settings):
        output.note(notice)
    if as_json:
        output.write_json({"file": str(path) if path else None, "settings": rows})
        return
    listed = settings_rows(
        loaded, [(str(row["name"]), row["value"], str(row["about"])) for row in rows]
    )
    output.write_table(settings_table(listed, output.width()))
    output.write_lines(["", *_closing_lines(loaded)])


def _settings(loaded: Loaded) -> Iterator[tuple[str, object, str]]:
    """Yield name, value, and meaning of every setting, and of every key of ``[search]``."""
    from pgs_neo4j import config as settings

    for part in (loaded.settings, loaded.config):
        for setting in settings.declarations(type(part)):
            if setting.name != "search":
                yield setting.name, getattr(part, setting.name), setting.description
                continue
            for name, value in loaded.settings.search:
                field = settings.SearchDefaults.model_fields[name]
                yield f"search.{name}", value, field.description or ""


def _closing_lines(loaded: Loaded) -> Iterator[str]:
    """Yield lines on the settings file, the database, and a withheld model key."""
    from pgs_neo4j.config import explain_key

    path = loaded.provenance.path
    yield f"file: {path or 'none; use pgs.toml here, or name one in PGS_CONFIG'}"
    if loaded.settings.neo4j_uri is None:
        yield "database: the managed local server ('pgs local status'), with a password of its own"
    withheld = explain_key(loaded.settings)
    if withheld:
        yield f"models: {withheld}"


def masked(value: object, *, address: bool = False) -> object:
    """Return a JSON-ready value with secrets as ``***``; in an ``address``, also its password."""
    from pgs_neo4j.config import MASK, masked_address

    if hasattr(value, "get_secret_value"):
        return MASK
    if isinstance(value, tuple):
        return [masked(item) for item in value]
    if isinstance(value, dict):
        return {name: masked(item) for name, item in value.items()}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    return masked_address(value) if address and isinstance(value, str) else value


def settings_rows(
    loaded: Loaded, settings: Iterable[tuple[str, Any, str]]
) -> list[tuple[str, str, str, str]]:
    """Return rows of name, value, origin, and meaning, one per setting, with values in words.

    Each entry of ``settings`` has a name, a value without secrets, and a meaning.
    """
    return [
        (
            name,
            _text_if_unset(name, loaded) if value is None else _value_in_words(name, value, loaded),
            SOURCES[loaded.provenance.source(name)],
            meaning,
        )
        for name, value, meaning in settings
    ]


def settings_table(rows: list[tuple[str, str, str, str]], width: int) -> Table:
    """Return settings as a table; below WIDE columns, each meaning is on separate lines."""
    from pgs_neo4j.cli.pages import tables

    if width >= WIDE:
        return tables.table(("setting", "value", "origin", "meaning"), rows)
    lines = [
        line
        for name, value, origin, meaning in rows
        for line in ((name, value, origin), *(("", part, "") for part in wrap(meaning, MEANING)))
    ]
    return tables.table(("setting", "value, and its meaning", "origin"), lines)


def _value_in_words(name: str, value: Any, loaded: Loaded) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if name == "search.weights":
        return ", ".join(f"{weight:g}" for weight in value)
    if isinstance(value, list | dict):
        return counted(len(value), "entry", "entries") if value else UNSET
    if name == "partition_relevance_threshold":
        return ", ".join(_thresholds(value, loaded))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _text_if_unset(name: str, loaded: Loaded) -> str:
    """Return in words what applies when a setting is not set."""
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
    """Yield the threshold for each kind of vector that routing may compare."""
    from pgs_neo4j.config import HASHING_THRESHOLD

    own = loaded.provenance.source("partition_relevance_threshold") != "default"
    hashing = loaded.settings.embedder in (None, "hashing")
    if own or not hashing:
        yield f"{value:g}"
        return
    yield f"{HASHING_THRESHOLD:g} with hashing"
    if loaded.settings.embedder is None:
        yield f"{value:g} with stored vectors"
