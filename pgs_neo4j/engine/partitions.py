"""``pgs.partitions``: the partitions of a graph, and its drift since partitioning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

from pgs_neo4j.config import Knobs
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.viewing import of_graph
from pgs_neo4j.errors import UnknownGenerationError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.calls.spending import Account
from pgs_neo4j.model import Drift, Generation, LineageChange, Origin, Partition, Unit
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.partitioning.drift import check_drift, choose_origin
from pgs_neo4j.pgs.partitioning.ensure import clean_up, ensure_partitions
from pgs_neo4j.pgs.partitioning.result import Partitioning


@dataclass(frozen=True, slots=True)
class Partitions:
    """Partitions of graphs. Called, it lists current ones: ``await pgs.partitions()``."""

    _core: Core

    @of_graph
    async def __call__(self, graph: str | None = None) -> tuple[Partition, ...]:
        """Return the current partitions, largest first.

        Raises NotPartitionedError.
        """
        current = await self._core.current(await self._core.graph(graph))
        return tuple(sorted(current.partitions, key=lambda part: (-part.size, part.id)))

    @of_graph
    async def build(
        self,
        graph: str | None = None,
        *,
        force: bool = False,
        on_event: OnEvent | None = None,
        **knobs: Unpack[Knobs],
    ) -> Partitioning:
        """Partition a graph, or reuse its generation if the fingerprint still matches.

        ``force`` starts from scratch even when little or nothing changed. Raises BusyError
        while another job partitions the graph.
        """
        core = self._core
        stored = await core.graph(graph)
        await ensure_schema(core.db)
        config = core.knobs(knobs)
        order = core.partition_order(stored, knobs, force=force, partitions=True)
        embedder = core.space(stored.mapping).embedder
        account = Account(
            task="partition", graph=stored.name, model=embedder.name if embedder else ""
        )
        async with core.spending(account, config, on_event) as calls:
            tools = core.partition_tools(stored.mapping, on_event, calls)
            return await ensure_partitions(order, replace(tools, db=await core.db.fenced()))

    @of_graph
    async def check(
        self,
        graph: str | None = None,
        *,
        scan: bool = True,
        on_event: OnEvent | None = None,
        **knobs: Unpack[Knobs],
    ) -> Drift | None:
        """Return how far a graph has changed since it was partitioned; None if it never was.

        First, a cheap check shows whether another program has committed since. If so, and if
        ``scan`` is set, the graph is scanned and compared. Nothing is repartitioned.
        """
        core = self._core
        stored = await core.graph(graph)
        await ensure_schema(core.db)
        order = core.partition_order(stored, knobs)
        tools = core.partition_tools(stored.mapping, on_event)
        return await check_drift(order, tools, scan=scan)

    def outlook(self, drift: Drift, **knobs: Unpack[Knobs]) -> Origin | None:
        """Return how the next partitioning would start; None if it is not needed.

        It assumes the algorithm of the graph's partitions, unless the call passes another one.
        """
        config = self._core.knobs(knobs)
        if drift.algorithm and knobs.get("algorithm") is None:
            config = config.model_copy(update={"algorithm": drift.algorithm})
        return choose_origin(drift, config)

    @of_graph
    async def clean_up(self, graph: str | None = None) -> None:
        """Remove the leftovers of dead jobs on a graph. Raises BusyError."""
        core = self._core
        stored = await core.graph(graph)
        order = core.partition_order(stored, Knobs())
        await clean_up(order, core.partition_tools(stored.mapping, None))

    @of_graph
    async def generation(self, graph: str | None = None) -> Generation:
        """Return the current generation and its figures.

        Raises NotPartitionedError.
        """
        return (await self._core.current(await self._core.graph(graph))).generation

    @of_graph
    async def generations(self, graph: str | None = None) -> list[Generation]:
        """Return the stored generations, the latest first.

        Generations that another program has damaged come last. Their ``damaged`` says why their
        figures cannot be read.
        """
        return await generation.read_all(self._core.db, (await self._core.graph(graph)).name)

    @of_graph
    async def compare(
        self, before: str, after: str, graph: str | None = None
    ) -> tuple[LineageChange, ...]:
        """Return what became of each partition between two generations, the largest first.

        Raises UnknownGenerationError.
        """
        name = (await self._core.graph(graph)).name
        old, new = [await self._read_lineages(name, id_) for id_ in (before, after)]
        changes = (_make_change(line, old.get(line), new.get(line)) for line in {**new, **old})
        largest = sorted(changes, key=lambda change: -max(change.size_after, change.size_before))
        return tuple(largest)

    async def _read_lineages(self, graph: str, id_: str) -> dict[str, Partition]:
        """Return the partitions of a generation by lineage."""
        stored = await generation.read(self._core.db, id_)
        if stored is None or stored.graph != graph:
            raise UnknownGenerationError(
                f"graph {graph} has no generation {id_[:80]}; pgs.partitions.generations() "
                "returns those that are stored"
            )
        parts = await generation.read_partitions(self._core.db, id_, centroids=False)
        return {part.lineage: part for part in parts}

    @of_graph
    async def units(self, graph: str | None = None) -> list[Unit]:
        """Return the hierarchy above the current partitions, level by level."""
        current = await self._core.current(await self._core.graph(graph))
        return await generation.read_units(self._core.db, current.generation.id)


def _make_change(lineage: str, before: Partition | None, after: Partition | None) -> LineageChange:
    latest = after or before
    return LineageChange(
        lineage=lineage,
        label=latest.label if latest else "",
        before=before.id if before else None,
        after=after.id if after else None,
        size_before=before.size if before else 0,
        size_after=after.size if after else 0,
    )
