"""Measures one graph from beginning to end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import installed_version
from pgs_neo4j.graph.csr import Edges
from pgs_neo4j.graph.limits import Limits
from tests.bench import bare, changes, engine, store
from tests.bench.bare import Bare
from tests.bench.engine import Members
from tests.bench.graphs import BenchGraph
from tests.bench.measure import Peak, digest, figures, watched
from tests.bench.peer import Peer
from tests.bench.store import Server

Say = Callable[[str], None]
LIMITS = Limits(
    min_nodes=PGSConfig.model_fields["min_community_size"].default,
    max_nodes=PGSConfig.model_fields["target_partition_max"].default,
    max_tokens=PGSConfig.model_fields["max_partition_tokens"].default,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done with each graph."""

    seed: int
    repeat: int = 1
    changes: float | None = None
    uri: str | None = None
    heap_mb: int | None = None


@dataclass(slots=True)
class Bench:
    """A graph in a database, and what has been measured of it so far."""

    graph: BenchGraph
    plan: Plan
    server: Server
    database: Database
    folder: Path
    say: Say
    memory: Peak

    async def ours(self, what: str, *do: str) -> dict[str, Any]:
        """The answer of a fresh process of the engine."""
        self.say(what)
        async with watched(self.server.pid, self.memory):
            return await engine.run(self.server, self.folder, self.plan.seed, *do)

    async def bare(self) -> Bare:
        """The calls of GDS alone."""
        self.say("bare GDS")
        return await bare.measured(self.database, self.plan.seed)

    async def members(self, generation: str) -> Members:
        """The partitions as they stand in the database."""
        return await engine.members(self.database, generation, self.graph.node_count)


async def measured(
    graph: BenchGraph, edges: Edges, peer: Peer | None, plan: Plan, say: Say
) -> dict[str, Any]:
    """Every figure of one graph, ready for JSON."""
    with tempfile.TemporaryDirectory(prefix="pgs-bench-") as name:
        folder = Path(name)
        say(f"load {graph.name}")
        async with store.opened(graph, folder, plan.uri, plan.heap_mb) as (server, database):
            bench = Bench(graph, plan, server, database, folder, say, Peak())
            figures = await _rounds(bench, edges, peer)
            figures["changes"] = await _changes(bench) if plan.changes else None
            figures["server"] = {
                "neo4j": database.version,
                "gds": await installed_version(database),
            }
    return {"graph": _described(graph), "date": datetime.now(UTC).date().isoformat(), **figures}


async def _rounds(bench: Bench, edges: Edges, peer: Peer | None) -> dict[str, Any]:
    """Bare, engine, bare, engine, …, bare: each run of the engine has two bare neighbors."""
    alone, engine_runs, hashes = [await bench.bare()], [], []
    last: Members | None = None
    for turn in range(bench.plan.repeat):
        first = ("add",) if not turn else ()
        engine_runs.append(await bench.ours(f"ours ({turn + 1})", *first, "cold", "check"))
        last = await bench.members(engine_runs[-1]["results"][-2]["generation"])
        hashes.append(digest(last.labels))
        alone.append(await bench.bare())
    assert last is not None
    partitionings = [each["results"][-2] for each in engine_runs]
    reached = figures(edges, last.labels, last.pool, bench.graph.truth, LIMITS)
    raw = partitionings[-1]["raw_modularity"]
    return {
        "bare": _bare(alone),
        "ours": _ours(partitionings, alone),
        "check": engine_runs[0]["results"][-1],
        "igraph": None if peer is None else _peer(peer),
        "quality": {
            **asdict(reached),
            "raw_modularity": raw,
            "raw_to_igraph": _over(raw, peer),
            "to_igraph": _over(reached.modularity, peer),
            "conductance": partitionings[-1]["conductance"],
            "min_nodes": LIMITS.min_nodes,
            "max_nodes": LIMITS.max_nodes,
        },
        "memory": {
            "python_mib": max(each["peak_mib"] for each in engine_runs),
            "python_idle_mib": max(each["idle_mib"] for each in engine_runs),
            "server_mib": bench.memory.mib,
        },
        "repeat": {"runs": bench.plan.repeat, "hashes": hashes, "identical": _same(hashes)},
    }


async def _changes(bench: Bench) -> dict[str, Any]:
    """As often as is to be repeated: change relationships, repartition, and again from nothing."""
    share = bench.plan.changes or 0.0
    turns = []
    generation = (await bench.ours("ours, as it is", "changed"))["results"][0]["generation"]
    graph, before = bench.graph, await bench.members(generation)
    for turn in range(bench.plan.repeat):
        change = changes.drawn(graph, share, bench.plan.seed + turn)
        bench.say(f"change {change.removed.edge_count} relationships")
        await store.change(bench.database, change.removed, change.added)
        seeded = (await bench.ours("ours, after the change", "changed"))["results"][0]
        after = await bench.members(seeded["generation"])
        cold = (await bench.ours("ours, from nothing", "cold"))["results"][0]
        turns.append(
            {
                "origin": seeded["origin"],
                "seconds": seeded["seconds"],
                "steps": seeded["steps"],
                "modularity": seeded["modularity"],
                "drift": seeded["drift"],
                "lineage": engine.kept_lineage(before, after),
                "cold_seconds": cold["seconds"],
                "cold_steps": cold["steps"],
                "cold_modularity": cold["modularity"],
                "ratio": seeded["seconds"] / cold["seconds"],
            }
        )
        graph, before = change.after, await bench.members(cold["generation"])
    return {
        "share": share,
        "relationships": 2 * change.removed.edge_count,
        "origins": sorted({turn["origin"] for turn in turns}),
        "ratio": median(turn["ratio"] for turn in turns),
        "lineage": min(turn["lineage"] for turn in turns),
        "turns": turns,
    }


def _described(graph: BenchGraph) -> dict[str, Any]:
    return {
        "name": graph.name,
        "nodes": graph.node_count,
        "relationships": graph.edge_count,
        "planted": None if graph.truth is None else len(set(graph.truth.tolist())),
    }


def _bare(alone: list[Bare]) -> dict[str, Any]:
    fastest = min(alone, key=lambda each: each.seconds)
    return {
        **asdict(fastest),
        "seconds": fastest.seconds,
        "runs": [each.seconds for each in alone],
    }


def _ours(engine_runs: list[dict[str, Any]], alone: list[Bare]) -> dict[str, Any]:
    """Medians over the runs; each run is compared with the faster of the bare ones beside it."""
    ratios = [
        each["seconds"] / min(before.seconds, after.seconds)
        for each, before, after in zip(engine_runs, alone, alone[1:], strict=False)
    ]
    last = engine_runs[-1]
    names = dict.fromkeys(name for each in (last, *engine_runs) for name in each["steps"])
    return {
        "seconds": median(each["seconds"] for each in engine_runs),
        "steps": {
            name: median(each["steps"].get(name, 0.0) for each in engine_runs) for name in names
        },
        "between": median(each["seconds"] - sum(each["steps"].values()) for each in engine_runs),
        "ratio": median(ratios),
        "ratios": ratios,
        "runs": [each["seconds"] for each in engine_runs],
        **{key: last[key] for key in ("origin", "split", "merged", "pooled_nodes", "levels")},
    }


def _peer(peer: Peer) -> dict[str, Any]:
    retained = peer.limited.modularity / peer.modularity if peer.modularity else None
    return {**asdict(peer), "kept": retained}


def _over(modularity: float, peer: Peer | None) -> float | None:
    return modularity / peer.modularity if peer is not None and peer.modularity else None


def _same(hashes: list[str]) -> bool | None:
    return len(set(hashes)) == 1 if len(hashes) > 1 else None
