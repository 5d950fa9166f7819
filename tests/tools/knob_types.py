"""The types of knobs and settings, as Python source made from their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args, get_origin

from pydantic import SecretStr

from pgs_neo4j.config.declaration import Declaration, declarations
from pgs_neo4j.config.knobs import PGSConfig
from pgs_neo4j.config.settings import Settings

HEAD = '''"""Knobs and settings as keyword arguments, written by ``tests/tools/generate.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from pydantic import SecretStr

from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.config.schedule_table import ScheduleEntry
from pgs_neo4j.config.search_table import SearchDefaults
from pgs_neo4j.config.settings import Provider
from pgs_neo4j.config.token_table import TokenEntry
from pgs_neo4j.model.scope import ScopeValue


class Knobs(TypedDict, total=False):
    """Knobs of PGSConfig for one call; None leaves the configured value."""

'''
SETTINGS = '''

class SettingsOverrides(Knobs, total=False):
    """Settings and knobs for one connection; None leaves the configured value."""

'''
OWN_PARAMETER = "embedder"  # an argument of PGS.connect, where it can also be an object
TABLES = {
    "llm_provider": "Provider",
    "scope": "Mapping[str, ScopeValue]",
    "where": "str",
    "as_of": "str",
    "models": "Mapping[str, ModelEntry | Mapping[str, object]]",
    "search": "SearchDefaults | Mapping[str, object]",
    "schedule": "Sequence[ScheduleEntry | Mapping[str, object]]",
    "token": "Sequence[TokenEntry | Mapping[str, object]]",
}


def knob_types() -> str:
    """Return the source of ``knob_types.py``."""
    settings = (declared for declared in declarations(Settings) if declared.name != OWN_PARAMETER)
    return "".join((HEAD, *_lines(declarations(PGSConfig)), SETTINGS, *_lines(settings)))


def _lines(listed: Iterable[Declaration]) -> Iterable[str]:
    return (f"    {declared.name}: {_type(declared)} | None\n" for declared in listed)


def _type(declaration: Declaration) -> str:
    if declaration.name in TABLES:
        return TABLES[declaration.name]
    texts = [_text(kind) for kind in declaration.types]
    return " | ".join([*texts, 'Literal["none"]'] if declaration.nullable else texts)


def _text(kind: object) -> str:
    if get_origin(kind) is Literal:
        return "Literal[" + ", ".join(f'"{value}"' for value in get_args(kind)) + "]"
    if kind is SecretStr:
        return "str | SecretStr"
    return getattr(kind, "__name__", str(kind))
