"""Answers from a search alone, about the nodes that were found."""

from __future__ import annotations

from typing import Unpack

from pgs_neo4j.config import Knobs
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import ModelError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.model import Answer, SearchMode
from pgs_neo4j.web.runs.board import LiveRun


async def answer_from_search(
    pgs: PGS,
    run: LiveRun,
    mode: SearchMode | None,
    top_k: int | None,
    hear: OnEvent,
    **knobs: Unpack[Knobs],
) -> Answer:
    """Answer a run from what a search finds; None is as configured. Raises what ``search`` does."""
    found = await pgs.search(
        run.question,
        graph=run.graph,
        mode=mode,
        top_k=top_k,
        answer=True,
        session_id=run.session,
        idempotency_key=run.key,
        run=run.id,
        sessions_of=run.caller.own_prefix,
        on_event=hear,
        **knobs,
    )
    if found.answer is None:
        raise ModelError("the search gave no answer; ask again")
    return found.answer
