"""``pgs.analogies``: texts of a graph that use other words for the same mechanism."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

from pgs_neo4j.config import Knobs
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.viewing import of_graph
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.calls.spending import Account, record_spending
from pgs_neo4j.model import Analogies, AnalogyPlan
from pgs_neo4j.pgs.analogies.buying import plan_analogies
from pgs_neo4j.pgs.analogies.making import make_analogies
from pgs_neo4j.pgs.analogies.texts import AnalogyOrder, AnalogyTools


@dataclass(frozen=True, slots=True)
class AnalogyFinder:
    """Analogies of a graph. Called, it makes them: ``await pgs.analogies(graph="papers")``."""

    _core: Core

    @of_graph
    async def __call__(
        self,
        graph: str | None = None,
        *,
        on_event: OnEvent | None = None,
        **knobs: Unpack[Knobs],
    ) -> Analogies:
        """Link the analogous texts of a graph, and replace its earlier links.

        The sweep model restates each text once. The restatements are stored, so that another call
        continues after a crash or a limit. Searches in the mode ``structural`` and later runs use
        the links. Raises ConfigError without a language model, NoTextError, ModelError,
        DatabaseError, and BusyError while another job works on the graph.
        """
        order, tools = await self._prepare(graph, on_event, knobs)
        await ensure_schema(self._core.db)
        account = Account(task="analogies", graph=order.graph, model=tools.llm.name)
        async with record_spending(tools.db, tools.calls, account):
            return await make_analogies(order, replace(tools, db=await tools.db.fenced()))

    @of_graph
    async def plan(self, graph: str | None = None, **knobs: Unpack[Knobs]) -> AnalogyPlan:
        """Predict what a call with the same arguments would cost. No model is called."""
        order, tools = await self._prepare(graph, None, knobs)
        await ensure_schema(self._core.db)
        return await plan_analogies(order, tools)

    async def _prepare(
        self, graph: str | None, on_event: OnEvent | None, knobs: Knobs
    ) -> tuple[AnalogyOrder, AnalogyTools]:
        core = self._core
        stored = await core.graph(graph)
        config = core.knobs(knobs)
        tools = AnalogyTools(
            db=core.db,
            llm=core.sweep_llm,
            embedder=core.text_embedder(stored.mapping),
            calls=core.calls(config, on_event),
            on_event=on_event or core.on_event,
        )
        return AnalogyOrder(stored.name, stored.mapping, config), tools
