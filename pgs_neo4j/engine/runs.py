"""``pgs.runs``: recorded runs and their answers."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.engine.core import Core
from pgs_neo4j.export import Document
from pgs_neo4j.model import Answer
from pgs_neo4j.runs import answers, documents
from pgs_neo4j.runs import runs as stored_runs
from pgs_neo4j.runs.runs import StoredRun


@dataclass(frozen=True, slots=True)
class Runs:
    """Recorded runs, by their ids."""

    _core: Core

    async def get(self, run: str) -> StoredRun:
        """Return a stored run, with or without an answer. Raises UnknownRunError."""
        return await stored_runs.read(self._core.db, run)

    async def answer(self, run: str) -> Answer:
        """Return the stored answer of a run.

        Raises UnknownRunError, and UsageError when the run has no answer.
        """
        stored = await stored_runs.read(self._core.db, run)
        graph = await self._core.graph(stored.graph)
        return await answers.load(self._core.db, stored, graph.mapping)

    async def document(self, run: str) -> Document:
        """Return the answer of a run with its partitions and cited nodes.

        ``pgs_neo4j.export`` writes it as a file. Raises as ``answer`` does.
        """
        stored = await stored_runs.read(self._core.db, run)
        graph = await self._core.graph(stored.graph)
        answer = await answers.load(self._core.db, stored, graph.mapping)
        return await documents.document(self._core.db, stored, answer, graph.mapping)
