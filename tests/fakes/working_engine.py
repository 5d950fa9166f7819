"""An engine whose questions do some work, and whose database is away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.engine import PGS, Request
from pgs_neo4j.errors import DatabaseUnavailableError
from pgs_neo4j.events import OnEvent
from tests.fakes.tokens import unchanged

AWAY = DatabaseUnavailableError("the database is away; start it, and resume the run")

Work = Callable[[str, OnEvent], Awaitable[None]]


class WorkingEngine(SimpleNamespace):
    """Stands in for ``PGS``; ``stored`` is what it returns for a recorded run, if anything."""

    def __init__(self, work: Work, stored: Any = None) -> None:
        async def execute(request: Request, *, on_event: OnEvent) -> None:
            await work(request.question, on_event)

        async def graph(name: str | None = None) -> SimpleNamespace:
            return SimpleNamespace(name="papers")

        async def recorded(run: str) -> Any:
            if stored is None:
                raise AWAY
            return stored

        async def runs(session: str, graph: str) -> list[dict[str, Any]]:
            return []

        numbers = count(1)
        super().__init__(
            settings=Settings(), config=PGSConfig(), execute=execute,
            graphs=SimpleNamespace(get=graph), sessions=SimpleNamespace(runs=runs),
            runs=SimpleNamespace(
                new_id=lambda: f"r{next(numbers):012x}", get=recorded, deletion_token=unchanged
            ),
        )  # fmt: skip

    def as_pgs(self) -> PGS:
        """The same, as the type that it stands in for."""
        return cast(PGS, self)
