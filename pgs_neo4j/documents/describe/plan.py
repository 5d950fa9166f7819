"""Predicts what describing entities would cost after an ingestion. It calls no model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.describe.model import ModelDescriber, description_prompt, planned_call
from pgs_neo4j.documents.describe.waiting import read_waiting
from pgs_neo4j.documents.fold.rows import JOINED_FRAGMENTS
from pgs_neo4j.documents.fold.tallies import MOST_FRAGMENTS
from pgs_neo4j.documents.order import IngestOrder, IngestTools
from pgs_neo4j.documents.wanted import WantedDocument
from pgs_neo4j.model import PlannedCalls
from pgs_neo4j.model.ingest import DescriptionForecast
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.local_extraction.capitals import capital_runs

USUAL_FRAGMENT = "It is one of the sentences that a chunk of a document says of an entity in it."
"""A description of usual length."""
MOST_NAMES = 500_000
"""Names that are counted. Beyond it, those of one chunk are forgotten."""
KEYS = 1_000
"""Names of one statement."""


@dataclass(slots=True)
class NameTally:
    """The proper names in chunks that are to be extracted, by how many of these have them.

    Scripts without capitals have no such names, so nothing is predicted for these.
    """

    names: Counter[str] = field(default_factory=Counter)

    def add(self, documents: Iterable[WantedDocument], missing: Container[str]) -> None:
        """Add the chunks of documents whose extractions, by key, are ``missing``."""
        chunks = {
            one.extraction_key: one.chunk
            for document in documents
            for one in document.chunks
            if one.extraction_key in missing
        }
        for chunk in chunks.values():
            self.names.update({normalize_name(run) for run in capital_runs(chunk)})
        if len(self.names) > MOST_NAMES:
            self.names = Counter({name: n for name, n in self.names.items() if n > 1})

    async def forecast(self, order: IngestOrder, tools: IngestTools) -> DescriptionForecast | None:
        """Return the calls to describe entities; None if no model that is known describes any.

        Raises DatabaseError.
        """
        describer = tools.describer
        if not isinstance(describer, ModelDescriber):
            return None
        waiting, ids = PlannedCalls(), set[str]()
        async with aclosing(read_waiting(tools.db, order.graph)) as pages:
            async for page in pages:
                for row in page:
                    waiting += await describer.forecast(row["name"], row["type"], row["fragments"])
                    ids.add(row["id"])
        more = PlannedCalls()
        for name, mentions in await self._described(tools.db, order.graph, ids):
            fragments = [USUAL_FRAGMENT] * min(mentions, MOST_FRAGMENTS)
            more += planned_call(description_prompt(name, "", fragments))
        return DescriptionForecast(calls=waiting, more=more)

    async def _described(
        self, db: Database, graph: str, waiting: Container[str]
    ) -> list[tuple[str, int]]:
        """Return names that stand for entities with too many mentions to join, and these."""
        stored: Counter[str] = Counter()
        new: Counter[str] = Counter()
        query, names = queries.get("documents/descriptions/count_mentions"), [*self.names]
        for first in range(0, len(names), KEYS):
            some = names[first : first + KEYS]
            rows = await db.read(query, graph=graph, keys=some)
            known = {row["key"]: row for whole in rows for row in whole["names"]}
            for name in some:
                entity = known[name]["entity"] if name in known else name
                new[entity] += self.names[name]
                stored[entity] = known[name]["mentions"] if name in known else 0
        totals = ((entity, new[entity] + stored[entity]) for entity in new)
        return [
            (entity, mentions)
            for entity, mentions in totals
            if mentions >= JOINED_FRAGMENTS and entity not in waiting
        ]
