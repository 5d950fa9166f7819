"""Describes the entities whose descriptions wait, after all documents are published.

An entity that many documents mention is so described once in an ingestion, and not with each.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import together
from pgs_neo4j.documents.fold.tallies import MOST_FRAGMENTS
from pgs_neo4j.documents.order import Describer
from pgs_neo4j.documents.writer import Writer, lost_right
from pgs_neo4j.errors import ModelOutputError, PromptTooLongError
from pgs_neo4j.events import OnEvent, Progressed, StepStarted
from pgs_neo4j.llm.calls.outcome import noting_end
from pgs_neo4j.llm.own_models import checked_description, said_by

PAGE = 100
"""Entities that are read and written together."""


@dataclass(slots=True)
class EntitiesDescribed:
    """How many entities were described, and how many wait. ``stopped`` is the limit that ended it.

    ``error`` says why a model described no more. ``refusal`` is the last reason why it did not
    describe one of them, whose name it has.
    """

    entities: int = 0
    waiting: int = 0
    stopped: str = ""
    error: str = ""
    refusal: str = ""

    @property
    def why(self) -> str:
        """Why entities wait, other than a limit."""
        return self.error or self.refusal

    @property
    def ended(self) -> bool:
        """Whether no more calls are to be made."""
        return bool(self.stopped or self.error)


async def describe_waiting(
    db: Database, writer: Writer, describer: Describer, limit: int, on_event: OnEvent
) -> EntitiesDescribed:
    """Describe all entities that wait for it, ``limit`` at once.

    One that fails waits for the next ingestion. Raises DatabaseError and LeaseLostError.
    """
    done, room = EntitiesDescribed(), asyncio.Semaphore(limit)
    on_event(StepStarted("ingest", "descriptions"))
    async with aclosing(read_waiting(db, writer.graph)) as pages:
        async for rows in pages:
            texts = await together(*(_describe(describer, row, done, room) for row in rows))
            pairs = zip(rows, texts, strict=True)
            described = [{"id": row["id"], "description": text} for row, text in pairs if text]
            await _write(db, writer, describer, described)
            done.entities += len(described)
            done.waiting += len(rows) - len(described)
            on_event(Progressed("ingest", done.entities, 0, "entities described"))
    return done


async def read_waiting(db: Database, graph: str) -> AsyncGenerator[list[Row]]:
    """Yield the entities that wait, page by page, with what chunks say of them.

    Raises DatabaseError.
    """
    query, after = queries.get("documents/descriptions/read_undescribed"), ""
    most = {"most": PAGE, "fragments": MOST_FRAGMENTS}
    while rows := await db.read(query, graph=graph, after=after, **most):
        yield rows
        after = rows[-1]["id"]


async def _describe(
    describer: Describer, row: Row, done: EntitiesDescribed, room: asyncio.Semaphore
) -> str:
    """Return a description, empty without one."""
    async with room:
        if done.ended:
            return ""
        with noting_end(done):
            try:
                name = type(describer).__name__
                with said_by(name, "describer"):
                    said: object = await describer.describe(
                        row["name"], row["type"], row["fragments"]
                    )
                return checked_description(name, said, row["name"])
            except (ModelOutputError, PromptTooLongError) as error:
                done.refusal = f"{row['name']}: {error}"
    return ""


async def _write(
    db: Database, writer: Writer, describer: Describer, described: Sequence[Row]
) -> None:
    if not described:
        return
    query = queries.get("documents/descriptions/write_descriptions")
    held = {"graph": writer.graph, "holder": writer.holder, "describer": describer.signature}
    if not await db.write(query, **held, rows=[*described]):
        raise lost_right(writer.graph)
