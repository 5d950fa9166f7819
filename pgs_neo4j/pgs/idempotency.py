"""The same request again: by an idempotency key, or of a run that goes on."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.config import SHAPING, PGSConfig
from pgs_neo4j.errors import IdempotencyError, UsageError
from pgs_neo4j.model import Answer, GraphMapping
from pgs_neo4j.pgs import pipeline
from pgs_neo4j.pgs.run import Request, Work, idempotency
from pgs_neo4j.runs import answers, runs
from pgs_neo4j.runs.runs import StoredRun


def asked(request: Request, models: list[str], config: PGSConfig) -> dict[str, Any]:
    """What makes a request this one: what is asked, of whom, and the knobs that shape it."""
    return {
        "question": request.question,
        "mode": request.mode,
        "full_sweep": request.full_sweep,
        "models": models,
        "knobs": config.model_dump(mode="json", include=set(SHAPING)),
    }


async def answered(work: Work, request: Request) -> Answer:
    """The answer to a request; under an idempotency key the first one to it.

    A run under the key that has no answer yet goes on. Raises IdempotencyError when the key
    belongs to another request, BusyError while that run is still going on, and what ``execute``
    raises.
    """
    key = idempotency(request)
    former = await runs.by_key(work.db, key) if key else None
    if former is None:
        return await pipeline.execute(work, request)
    stored = await runs.read(work.db, former)
    if stored.request != request.asked:
        raise IdempotencyError(
            f"the idempotency key was given to run {former} with another request; choose another "
            "key, or ask as before"
        )
    if stored.properties.get("details"):
        return await answers.load(work.db, stored, request.mapping)
    return await pipeline.execute(work, request, stored)


def stored_request(stored: StoredRun, mapping: GraphMapping) -> Request:
    """What a run was asked. Raises UsageError when it cannot go on."""
    asked, kept = stored.request, stored.properties
    if not asked or not kept.get("config"):
        raise UsageError(
            f"run {stored.id} was made by an older release and cannot go on; ask again in mode "
            "'continue'"
        )
    return Request(
        question=kept["question"],
        graph=stored.graph,
        mapping=mapping,
        mode=kept["mode"],
        session=stored.session,
        full_sweep=bool(asked.get("full_sweep")),
        known=kept.get("known"),
        asked=asked,
    )
