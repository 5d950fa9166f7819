"""Events as plain data for servers, logs, and tools."""

from __future__ import annotations

from dataclasses import fields

from pgs_neo4j.events import ContextsKnown, Event, Routed, SweepFinished
from pgs_neo4j.export.json_text import sweep_data
from pgs_neo4j.text.json_data import Json, plain_data


def event_data(event: Event, run: str | None = None) -> Json:
    """Return an event as JSON data: kind, run, and fields.

    ``run`` is None for events outside a run. Routings and sweeps have the keys of ``pgs export``.
    Text is unchanged from the model or the graph: ``json_text`` makes it safe.
    """
    head: Json = {"kind": event.kind, "run": run}
    match event:
        case Routed(routing):
            return {**head, "routing": plain_data(routing)}
        case ContextsKnown(contexts):
            return {**head, "contexts": dict(contexts)}
        case SweepFinished(sweep):
            return {**head, "sweep": sweep_data(sweep)}
    names = (field.name for field in fields(event))
    return {**head, **{name: plain_data(getattr(event, name)) for name in names}}
