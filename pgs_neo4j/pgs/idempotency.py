"""Recognizes repeated requests by their idempotency keys, and restores orders of stored runs."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.config import SHAPING, PGSConfig
from pgs_neo4j.model import Answer, GraphMapping
from pgs_neo4j.pgs import pipeline
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.kept_settings import ChosenSettings
from pgs_neo4j.pgs.request import Request
from pgs_neo4j.pgs.runs import answers
from pgs_neo4j.pgs.runs.runs import StoredRun, find_run_by_key


def describe_request(order: RunOrder, models: list[str]) -> dict[str, Any]:
    """Return the data by which a repeated request is recognized.

    Two requests are the same if question, mode, options, models, and shaping knobs are the same.
    """
    return {
        "question": order.request.question,
        "mode": order.request.mode,
        "full_sweep": order.request.full_sweep,
        "structure_only": order.request.structure_only,
        "models": models,
        "knobs": order.config.model_dump(mode="json", include=set(SHAPING)),
    }


async def answer_request(order: RunOrder, tools: RunTools) -> Answer:
    """Answer a request, or return the stored answer of the run with its idempotency key.

    A run with that key but without an answer is resumed. Raises IdempotencyError when the key
    belongs to another request, BusyError while that run is still running, and the errors of
    ``execute``.
    """
    request = order.request
    stored = await find_run_by_key(
        tools.db, order.graph, request.session, request.idempotency_key, order.identity
    )
    if stored is not None and stored.properties.get("details"):
        return await answers.load(tools.db, stored)
    return await pipeline.execute(order, tools, stored)


def restore_order(stored: StoredRun, mapping: GraphMapping, config: PGSConfig) -> RunOrder:
    """Return the order of a stored run, with the settings of ``config``."""
    properties = stored.properties
    request = Request(
        question=properties["question"],
        graph=stored.graph,
        mode=properties["mode"],
        session=stored.session,
        full_sweep=stored.request["full_sweep"],
        structure_only=stored.request["structure_only"],
    )
    return RunOrder(
        request=request,
        graph=stored.graph,
        mapping=mapping,
        config=config,
        search_answer=properties.get("known"),
        identity=stored.request,
        chosen=ChosenSettings(),
    )
