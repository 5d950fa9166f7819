"""Parses a ``[[schedule]]`` table of ``pgs.toml``: when to repartition or ingest a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator

from pgs_neo4j.config.declaration import LIST, TABLE
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model.ceilings import check_number
from pgs_neo4j.text.invalid_values import describe_invalid, name_place

CRON_FIELDS = 5
REPARTITIONING = ("all", "if_changed", "max_drift", "keep")
INGESTING = (
    *("paths", "sync", "forget", "refresh", "embed", "schema"),
    *("max_calls", "max_tokens", "max_cost", "run_timeout_s"),
)
"""Keys that only one kind of entry may have."""


class ScheduleEntry(BaseModel):
    """A graph or all graphs, and the times at which they are repartitioned or ingested.

    ``cron`` has the five fields of crontab: minute, hour, day of month, month, day of week.
    """

    model_config = TABLE

    cron: Annotated[str, Field(description="when it runs: the five fields of crontab")]
    kind: Annotated[
        Literal["repartition", "ingest"],
        Field(description="what the job does: repartition a graph, or ingest files"),
    ] = "repartition"
    graph: Annotated[
        str | None,
        Field(min_length=1, description="the graph of the job; or set all to repartition each"),
    ] = None
    all_graphs: Annotated[
        bool, Field(alias="all", description="repartition all stored graphs, one after another")
    ] = False
    if_changed: Annotated[
        bool, Field(description="skip graphs that did not change; false: always from scratch")
    ] = True
    max_drift: Annotated[
        float | None,
        Field(ge=0.0, le=1.0, description="also skip graphs that changed by at most this share"),
    ] = None
    keep: Annotated[
        int | None, Field(ge=1, description="generations to keep; unset: keep_generations")
    ] = None
    timezone: Annotated[
        str | None,
        Field(min_length=1, description="time zone of cron; unset: that of the machine"),
    ] = None

    paths: Annotated[
        tuple[str, ...],
        LIST,
        Field(description="ingest: files, folders, patterns, and URLs"),
    ] = ()
    sync: Annotated[
        bool, Field(description="ingest: delete documents whose files are gone from the folders")
    ] = False
    forget: Annotated[
        bool, Field(description="ingest, with sync: remove the text of answers that quote them")
    ] = False
    refresh: Annotated[
        bool, Field(description="ingest: extract again what another model, prompt, or schema did")
    ] = False
    embed: Annotated[
        bool, Field(description="ingest: also make vectors of chunks, entities, and facts")
    ] = False
    schema_file: Annotated[
        str | None,
        Field(
            alias="schema",
            min_length=1,
            description="ingest: a file with the types of entities and relations",
        ),
    ] = None
    max_calls: Annotated[
        int | None, Field(ge=1, description="ingest: most model calls of a job")
    ] = None
    max_tokens: Annotated[int | None, Field(ge=1, description="ingest: most tokens of a job")] = (
        None
    )
    max_cost: Annotated[
        float | None, Field(gt=0.0, description="ingest: most that a job may cost")
    ] = None
    run_timeout_s: Annotated[
        float | None, Field(gt=0.0, description="ingest: most seconds of a job")
    ] = None

    @field_validator("*", mode="after")
    @classmethod
    def check_numbers(cls, value: object) -> object:
        """Refuse numbers that the database cannot handle."""
        return check_number(value)

    @property
    def target(self) -> str:
        """The graph, or all graphs, in words."""
        if self.all_graphs:
            return "all graphs"
        return f"files of graph {self.graph}" if self.kind == "ingest" else f"graph {self.graph}"

    @property
    def limits(self) -> dict[str, int | float]:
        """The limits that the entry sets for an ingestion, by name."""
        names = ("max_calls", "max_tokens", "max_cost", "run_timeout_s")
        limits = {name: getattr(self, name) for name in names}
        return {name: limit for name, limit in limits.items() if limit is not None}


def entries(values: object) -> tuple[ScheduleEntry, ...]:
    """Return the entries in their order. Raises ConfigError, naming the entry."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise ConfigError("schedule is not a list of tables; write each entry under [[schedule]]")
    return tuple(_parse_entry(number, value) for number, value in enumerate(values, 1))


# This is the type of a settings field. Its errors name the entry, unlike pydantic's errors.
Schedule = Annotated[tuple[ScheduleEntry, ...], BeforeValidator(entries)]


def entry_name(number: int, target: str | None) -> str:
    """Return an entry's name for messages: its number from 1, and its target."""
    return f"schedule entry {number} ({target})" if target else f"schedule entry {number}"


def _parse_entry(number: int, value: object) -> ScheduleEntry:
    if isinstance(value, ScheduleEntry):
        return value
    if not isinstance(value, dict):
        raise ConfigError(f"{entry_name(number, None)} is not a table; write it under [[schedule]]")
    graph = value.get("graph")
    name = entry_name(number, f"graph {graph}" if isinstance(graph, str) and graph else None)
    try:
        entry = ScheduleEntry.model_validate(value)
    except ValidationError as error:
        raise ConfigError(f"{name}: {_describe_error(error.errors()[0])}") from None
    _check_kind(entry, name, value)
    if (entry.graph is None) != entry.all_graphs:
        which = "both graph and all" if entry.all_graphs else "neither graph nor all = true"
        raise ConfigError(f"{name} has {which}; give one of the two")
    if entry.max_drift is not None and not entry.if_changed:
        raise ConfigError(f"{name} has a max_drift and if_changed = false; leave one of them out")
    if len(entry.cron.split()) != CRON_FIELDS:
        raise ConfigError(
            f"{name}: cron has {len(entry.cron.split())} fields instead of {CRON_FIELDS}: minute, "
            "hour, day of month, month, day of week"
        )
    return entry


def _check_kind(entry: ScheduleEntry, name: str, given: Mapping[str, Any]) -> None:
    """Raise ConfigError for keys that belong to the other kind, and for missing paths."""
    foreign = REPARTITIONING if entry.kind == "ingest" else INGESTING
    other = "repartition" if entry.kind == "ingest" else "ingest"
    for key in foreign:
        if key in given:
            raise ConfigError(
                f"{name} has kind = {entry.kind!r} and {key}, which is a key of {other!r}; leave "
                "one of them out"
            )
    if entry.kind != "ingest":
        return
    if entry.graph is None:
        raise ConfigError(f"{name} has no graph; name the graph to ingest into")
    if not entry.paths:
        raise ConfigError(f'{name} has no paths; add some, such as paths = ["/home/me/notes"]')
    if entry.forget and not entry.sync:
        raise ConfigError(f"{name} has forget without sync; add sync = true or leave it out")


def _describe_error(detail: Any) -> str:
    where = name_place(detail["loc"])
    if detail["type"] == "missing":
        return f"{where} is missing; it sets the time, as in cron = '17 3 * * *'"
    keys = [field.alias or name for name, field in ScheduleEntry.model_fields.items()]
    return describe_invalid(where, detail, keys)
