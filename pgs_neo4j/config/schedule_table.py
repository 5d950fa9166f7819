"""One ``[[schedule]]`` table of ``pgs.toml``: which graph is repartitioned when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pgs_neo4j.errors import ConfigError

CRON_FIELDS = 5


class ScheduleEntry(BaseModel):
    """One graph, or all of them, and the times at which a repartition begins.

    ``cron`` has the five fields of crontab: minute, hour, day of month, month, day of week.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, hide_input_in_errors=True
    )

    cron: str
    graph: Annotated[str | None, Field(min_length=1)] = None
    all_graphs: Annotated[bool, Field(alias="all")] = False
    if_changed: bool = True
    max_drift: Annotated[float | None, Field(ge=0.0, le=1.0)] = None
    keep: Annotated[int | None, Field(ge=1)] = None
    timezone: Annotated[str | None, Field(min_length=1)] = None

    @property
    def target(self) -> str:
        """What it repartitions, in words."""
        return "all graphs" if self.all_graphs else f"graph {self.graph}"


def entries(values: object) -> tuple[ScheduleEntry, ...]:
    """The entries in their order. Raises ConfigError with a sentence that names the entry."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise ConfigError("schedule is no list of tables; write each entry under [[schedule]]")
    return tuple(_entry(number, value) for number, value in enumerate(values, 1))


# What a settings class puts on its field: its own error names the entry, pydantic's would not.
Schedule = Annotated[tuple[ScheduleEntry, ...], BeforeValidator(entries)]


def named(number: int, target: str | None) -> str:
    """How a sentence names an entry: by its place in the file, from 1, and its graph."""
    return f"schedule entry {number} ({target})" if target else f"schedule entry {number}"


def _entry(number: int, value: object) -> ScheduleEntry:
    if isinstance(value, ScheduleEntry):
        return value
    if not isinstance(value, dict):
        raise ConfigError(f"{named(number, None)} is no table; write it under [[schedule]]")
    graph = value.get("graph")
    name = named(number, f"graph {graph}" if isinstance(graph, str) and graph else None)
    try:
        entry = ScheduleEntry.model_validate(value)
    except ValidationError as error:
        raise ConfigError(f"{name}: {_sentence(error.errors()[0])}") from None
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


def _sentence(detail: Any) -> str:
    key = str(detail["loc"][0])
    if detail["type"] == "missing":
        return f"{key} is missing; it says when, as in cron = '17 3 * * *'"
    if detail["type"] == "extra_forbidden":
        known = ", ".join(field.alias or name for name, field in ScheduleEntry.model_fields.items())
        return f"{key} is not a key of it; the keys are {known}"
    return f"{key} is out of range: {detail['msg'].lower()}"
