"""`pgs config show`: every setting, its value, and its origin."""

from __future__ import annotations

from typing import Any

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.shown import counted

config_app = typer.Typer(no_args_is_help=True, help="Show the settings in force.")


@config_app.callback()
def config() -> None:
    """Show the settings in force."""


@config_app.command("show")
def show(as_json: JsonOption = False) -> None:
    """Show every setting with its value and origin: default, file, or environment.

    Set each in pgs.toml by its name, or in the environment as PGS_ and its name in capitals.
    Secrets are masked.
    """
    run(_show(as_json=as_json))


async def _show(*, as_json: bool) -> None:
    from pgs_neo4j import config as settings

    loaded = settings.load()
    path = settings.config_file()
    rows = [
        {
            "name": setting.name,
            "value": masked(
                getattr(part, setting.name), address=setting.name in settings.ADDRESSES
            ),
            "origin": loaded.origins[setting.name],
            "about": setting.description,
        }
        for part in (loaded.settings, loaded.config)
        for setting in settings.declarations(type(part))
    ]
    if as_json:
        output.write_json({"file": str(path) if path else None, "settings": rows})
        return
    from pgs_neo4j.cli.pages import tables

    cells = [(r["name"], _cell(r["value"]), r["origin"]) for r in rows]
    output.write_table(tables.table(("setting", "value", "origin"), cells))
    output.write_lines(
        ["", f"file: {path or 'none; use pgs.toml here, or name one in PGS_CONFIG'}"]
    )


def _cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        return counted(len(value), "entry", "entries") if value else "-"
    return "-" if value is None else value


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
