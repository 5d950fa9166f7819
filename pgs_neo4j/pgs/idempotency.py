"""Recognizes requests that were made before, and restores their orders."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.config import SHAPING, PGSConfig
from pgs_neo4j.model import Answer, GraphMapping
from pgs_neo4j.pgs import pipeline
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.kept_settings import ChosenSettings
from pgs_neo4j.pgs.runs import answers
from pgs_neo4j.pgs.runs.runs import StoredRun, find_former


def describe_request(order: RunOrder, models: list[str]) -> dict[str, Any]:
    """Return the data that distinguishes a request from others.

    It holds the question, models, and shaping knobs.
    """
    return {
        "question": order.question,
        "mode": order.mode,
        "full_sweep": order.full_sweep,
        "structure_only": order.structure_only,
        "models": models,
        "knobs": order.config.model_dump(mode="json", include=set(SHAPING)),
    }


async def answer_request(order: RunOrder, tools: RunTools) -> Answer:
    """Answer a request, or repeat the answer under its idempotency key.

    A run under the key without an answer yet is resumed. Raises IdempotencyError when the key
    belongs to another request, BusyError while that run is still running, and the errors of
    ``execute``.
    """
    stored = await find_former(
        tools.db, order.graph, order.session, order.idempotency_key, order.request
    )
    if stored is not None and stored.properties.get("details"):
        return await answers.load(tools.db, stored)
    return await pipeline.execute(order, tools, stored)


def restore_order(stored: StoredRun, mapping: GraphMapping, config: PGSConfig) -> RunOrder:
    """Return the order of a stored run, with ``config`` in force."""
    properties = stored.properties
    return RunOrder(
        question=properties["question"],
        graph=stored.graph,
        mapping=mapping,
        config=config,
        mode=properties["mode"],
        session=stored.session,
        full_sweep=stored.request["full_sweep"],
        structure_only=stored.request["structure_only"],
        search_answer=properties.get("known"),
        request=stored.request,
        chosen=ChosenSettings(),
    )
