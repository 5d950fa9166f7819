"""Graphs as models: a graph's name, or a graph and a mode such as ``papers:continue``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.model import Mode, SearchMode
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.shared import Serving, visible_graph

LISTED = ("", "continue", "auto")
"""Modes that every graph is listed with; the others are answered as well."""
SWEEPS: tuple[Mode, ...] = get_args(Mode)
SEARCHES: tuple[SearchMode, ...] = get_args(SearchMode)


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A graph and how it is asked: by sweeps, or by a search if there is one."""

    graph: str
    mode: Mode = "full"
    search: SearchMode | None = None


async def chosen_model(serving: Serving, caller: Caller, name: str) -> ChatModel:
    """Return what the name of a model stands for. Raises UnknownGraphError."""
    graph, _, mode = name.partition(":")
    if not graph:
        raise _unknown(name)
    try:
        visible = await visible_graph(serving, caller, graph)
    except UnknownGraphError:
        raise _unknown(name) from None
    if mode in SEARCHES:
        return ChatModel(visible, search=mode)
    if mode and mode not in SWEEPS:
        raise _unknown(name)
    return ChatModel(visible, mode or "full")


async def listed_models(serving: Serving, caller: Caller) -> list[Json]:
    """Return the models that the caller may ask."""
    names = caller.visible([graph.name for graph in await serving.pgs.graphs()])
    return [described(":".join(filter(None, (name, mode)))) for name in names for mode in LISTED]


def described(name: str) -> Json:
    """Return a model in the form of OpenAI's API, which wants a time that graphs do not have."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "pgs_neo4j"}


def _unknown(name: str) -> UnknownGraphError:
    return UnknownGraphError(
        f"there is no model {name[:100]}; 'GET /v1/models' lists those you see"
    )
