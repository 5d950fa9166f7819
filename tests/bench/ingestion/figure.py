"""A figure beside its bar, and what every measure is given."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.protocol import LLM
from tests.bench import place
from tests.bench.store import Server

GRAPH = "docs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What was measured; ``value`` is None where it could not be, which ``note`` explains."""

    name: str
    value: float | None
    sign: Literal["≥", "≤", "="] = "≥"
    bar: float | None = None
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the bar is reached; None without a bar or a value."""
        if self.bar is None or self.value is None:
            return None
        if self.sign == "=":
            return self.value == self.bar
        return self.value >= self.bar if self.sign == "≥" else self.value <= self.bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """An empty database, an empty folder, and how much to do."""

    server: Server
    database: Database
    folder: Path
    documents: int
    moments: int
    megabytes: int
    collection: Path | None

    @asynccontextmanager
    async def engine(self, llm: LLM | None = None, **settings: Any) -> AsyncIterator[PGS]:
        """An engine with a model, or without any."""
        access = place.connection(self.server)
        if llm is None:
            async with PGS.connect_without_models(embedder="none", **access, **settings) as pgs:
                yield pgs
            return
        async with PGS.connect(
            sweep_llm=llm, synthesis_llm=llm, embedder="none", **access, **settings
        ) as pgs:
            yield pgs
