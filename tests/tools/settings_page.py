"""The settings page of the manual, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, get_args, get_origin

from pydantic import BaseModel

from pgs_neo4j.config.declaration import Declaration, Topic, bounds_of, declarations, types_of
from pgs_neo4j.config.knobs import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.config.providers import PRESETS, Preset
from pgs_neo4j.config.schedule_table import ScheduleEntry
from pgs_neo4j.config.search_table import SearchDefaults
from pgs_neo4j.config.settings import Settings
from pgs_neo4j.config.token_table import TokenEntry

HEADINGS: dict[Topic, str] = {
    "connection": "Connection",
    "models": "Models",
    "embedding": "Embedding",
    "search": "Searches",
    "partitioning": "Partitions",
    "routing": "Routing",
    "sweeping": "Sweeps",
    "synthesis": "Synthesis",
    "ingestion": "Ingestion",
    "limits": "Limits of one run",
    "calls": "Model calls",
    "cache": "Reply cache",
    "jobs": "Jobs",
    "serving": "Server",
}
INTRODUCTION = """\
# Settings

Each setting has a default. `pgs.toml` overrides the default, the environment overrides
`pgs.toml`, and a command line option or Python argument overrides them all.

- `pgs.toml` is the file that `PGS_CONFIG` names. Without `PGS_CONFIG`, it is the one in the working
  directory, or else the one in your configuration directory: `~/.config/pgs-neo4j` on Linux,
  `~/Library/Application Support/pgs-neo4j` on macOS. `pgs doctor` names the file in force. Its keys
  are the names below.
- An environment variable is the name of the setting in capitals after `PGS_`, as in
  `PGS_NEO4J_URI`. An empty variable counts as not set, except that an empty limit is an error.
- In Python, `PGS.connect(...)` takes every setting by its name. Knobs are settings that a single
  call can override: `pgs.execute(...)` takes `query_timeout_s`, and the settings from Partitions to
  Jobs below, except `[[schedule]]` and the five settings `ingest_…`.

`pgs config show` lists every value in force with its origin. It masks secrets.

A variable that begins with `PGS_` but is not a setting is reported, with the nearest name. This is
not an error, because other programs may use such names. An unknown name in `pgs.toml` or in a call
is an error.

## Which secret goes where

A password or key is sent only to an address that is trusted at least as much as the secret itself.

- Options, arguments, environment variables, the file that `PGS_CONFIG` names, and the `pgs.toml` in
  your configuration directory are yours. They trust each other.
- A `pgs.toml` in the working directory may come with an archive or a clone. An address in it gets
  only secrets from the same file. Otherwise the command ends with an error that says how to allow
  it. While the file is in force, every command says so and lists the hosts that it names.
- `OPENAI_API_KEY` belongs to `OPENAI_BASE_URL`, or else to OpenAI. To use it at another address,
  copy it to `PGS_LLM_API_KEY`. A server on this machine, such as Ollama, is used without a key.
- In the same way, `GROQ_API_KEY` and similar variables belong to the addresses of their providers,
  which are listed below. `AZURE_OPENAI_API_KEY` goes to a resource of Azure, unless only a
  `pgs.toml` in the working directory names that resource.
- The key in the table of a model goes to the address in that table. `llm_api_key` goes only to the
  endpoint of all models.
- `rerank_api_key` belongs to `rerank_base_url` alone. No other key goes to that address.
- The password of the managed local server never leaves this machine. No other password goes to that
  server.

You are warned when a key goes over `http://` or a password over `bolt://` or `neo4j://` to another
machine, and when other users can read a `pgs.toml` that holds secrets.
"""
PROVIDERS = """\
## Providers

`llm_provider` says where the models are. `pgs` knows the addresses of these providers, and the
usual variables for their keys, so the name and a key are enough:

| provider | address | variable for its key |
| --- | --- | --- |
{rows}

`llm_base_url` replaces the address, for a server on another machine. If you set only an address,
`pgs` recognizes a provider of the table by its address, and Ollama, LM Studio, vLLM, llama.cpp, and
TGI by their answers. Any other server must have the interface of OpenAI. `pgs` calls Anthropic and
Ollama through their own interfaces. Anthropic needs `pip install 'pgs-neo4j[anthropic]'`.

With Ollama, each call asks for the context that its prompt needs, up to 32,768 tokens or the
training length of the model. If your machine has the memory for more, write a larger `context` in
the table of the model. If it has too little, the context is halved until it fits.

A model may have an endpoint of its own, so that each task can use another provider:

```toml
llm_provider = "anthropic"
synthesis_model = "claude-opus-4-5"
sweep_model = "fast"
answer_model = "local"

[models.fast]
provider = "groq"
model = "llama-3.1-8b-instant" # its name there

[models.local]
base_url = "http://box:11434"
model = "qwen3:8b"
```
"""
SIGNS = {"ge": "≥", "gt": ">", "le": "≤"}
TABLES: dict[str, type[BaseModel]] = {
    "models": ModelEntry,
    "search": SearchDefaults,
    "schedule": ScheduleEntry,
    "token": TokenEntry,
}
KEYS = {
    "models": "[models.NAME]",
    "search": "[search]",
    "schedule": "[[schedule]]",
    "token": "[[token]]",
}


def settings_page() -> str:
    """Return all settings by topic, and the keys of ``pgs.toml`` tables."""
    listed = [*declarations(Settings), *declarations(PGSConfig)]
    parts = [INTRODUCTION, "\n", PROVIDERS.format(rows="\n".join(map(_provider, PRESETS.items())))]
    for topic in get_args(Topic):
        rows = [declared for declared in listed if declared.about.topic == topic]
        parts.append(f"\n## {HEADINGS[topic]}\n\n" + _table(_row(declared) for declared in rows))
    for name, entry in TABLES.items():
        parts.append(f"\n## Keys of `{KEYS[name]}`\n\n" + _table(_keys(entry)))
    return "".join(parts)


def _provider(listed: tuple[str, Preset]) -> str:
    name, preset = listed
    url = f"`{preset.url}`" if preset.url else "that of your resource, in `llm_base_url`"
    variables = ", ".join(f"`{variable}`" for variable in preset.variables)
    return f"| `{name}` | {url} | {variables} |"


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    head = (("setting", "default", "values", "meaning"), ("---",) * 4)
    return "".join(f"| {' | '.join(row)} |\n" for row in (*head, *rows))


def _row(declared: Declaration) -> tuple[str, ...]:
    name = KEYS.get(declared.name, declared.name)
    return f"`{name}`", _default(declared), _values(declared), declared.description


def _default(declared: Declaration) -> str:
    value = declared.field.default
    if declared.name in TABLES:
        return "no table"
    return "`none`" if value is None and declared.nullable else _value(value)


def _value(value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(f'{number:g}' for number in value)}]`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _values(declared: Declaration) -> str:
    options = _options(declared.types)
    if bool in declared.types:
        return "`true`, `false`"
    if declared.name in TABLES or (not options and not declared.bounds):
        return ""
    values = ", ".join(options) or bounds_text(dict(declared.bounds))
    return f"{values}, `none`" if declared.nullable else values


def _keys(entry: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    for name, field in entry.model_fields.items():
        default = (
            "required"
            if field.is_required()
            else _value(field.get_default(call_default_factory=True))
        )
        values = ", ".join(_options(types_of(field))) or bounds_text(dict(bounds_of(field)))
        yield f"`{field.alias or name}`", default, values, field.description or ""


def _options(types: Iterable[object]) -> list[str]:
    """Return the values of a Literal among some types; none of other types."""
    literals = (kind for kind in types if get_origin(kind) is Literal)
    return [f"`{value}`" for kind in literals for value in get_args(kind)]


def bounds_text(bounds: Mapping[str, float]) -> str:
    """Return bounds in words: ``1 to 256``, ``> 0``; empty without any."""
    if {"ge", "le"} <= bounds.keys():
        return f"{bounds['ge']:g} to {bounds['le']:g}"
    return ", ".join(f"{SIGNS[name]} {value:,}" for name, value in bounds.items())
