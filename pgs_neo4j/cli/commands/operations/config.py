"""`pgs config show`: every setting, its value, its origin, and its meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.run import run

if TYPE_CHECKING:
    from pgs_neo4j.config import Loaded

config_app = typer.Typer(no_args_is_help=True, help="Show the settings in force.")


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
    from pgs_neo4j.cli.pages.settings_page import settings_rows, settings_table

    listed = settings_rows(
        loaded, [(str(row["name"]), row["value"], str(row["about"])) for row in rows]
    )
    output.write_table(settings_table(listed, output.width()))
    output.write_lines(["", *_closing(loaded)])


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


def _closing(loaded: Loaded) -> Iterator[str]:
    """Yield where the settings come from, and what follows from them."""
    from pgs_neo4j.config import explain_key

    path = loaded.provenance.path
    yield f"file: {path or 'none; use pgs.toml here, or name one in PGS_CONFIG'}"
    if loaded.settings.neo4j_uri is None:
        yield "database: the managed local server ('pgs local status'), with a password of its own"
    withheld = explain_key(loaded.settings)
    if withheld:
        yield f"models: {withheld}"


def masked(value: object, *, address: bool = False) -> object:
    """Return the value with secrets as ***, also those in an ``address``."""
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
