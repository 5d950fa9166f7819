"""Runs the measured part in its own process, through the engine's public calls.

Reads one JSON request from standard input and writes one JSON answer to standard output.
``tests.bench.engine`` starts it, so that the memory of the benchmark itself does not count.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from dataclasses import asdict
from statistics import median
from time import perf_counter
from typing import Any

import pgs_neo4j.database.gds.runner  # noqa: F401 - before time runs: the client takes seconds to load
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Drift, GraphMapping
from tests.bench.memory import own_peak_mib
from tests.bench.store import LABEL, TYPE

GRAPH = "bench"
MAPPING = GraphMapping(
    labels=(LABEL,), relationship_types=(TYPE,), key="id", relationship_weight="weight"
)
CHECKS = 5
"""How often an unchanged graph is checked after the first time."""


async def answered(request: dict[str, Any]) -> dict[str, Any]:
    """Do what is asked, in order, and tell what each took and the memory in all."""
    idle = own_peak_mib()
    async with PGS.connect(
        sweep_llm=ScriptedLLM(),
        synthesis_llm=ScriptedLLM(),
        neo4j_uri=request["uri"],
        neo4j_user=request["user"],
        neo4j_password=request["password"],
        random_seed=request["seed"],
    ) as pgs:
        results = [await _done(pgs, what) for what in request["do"]]
    return {"results": results, "idle_mib": idle, "peak_mib": own_peak_mib()}


async def _done(pgs: PGS, what: str) -> dict[str, Any]:
    match what:
        case "add":
            return {"new": await pgs.graphs.add(GRAPH, MAPPING)}
        case "check":
            return await _checked(pgs)
        case "cold" | "changed":
            return await _partitioned(pgs, force=what == "cold")
        case _:
            raise ValueError(f"nothing is called {what!r}")


async def _partitioned(pgs: PGS, force: bool) -> dict[str, Any]:
    partitioning = await pgs.partitions.build(GRAPH, force=force)
    generation = partitioning.generation
    return {
        "generation": generation.id,
        "origin": generation.origin,
        "reused": partitioning.reused,
        "seconds": partitioning.seconds,
        "steps": partitioning.steps,
        "drift": _drift(partitioning.drift),
        "raw_modularity": generation.raw_modularity,
        "modularity": generation.modularity,
        "conductance": generation.conductance,
        "split": generation.split,
        "merged": generation.merged,
        "pooled_nodes": generation.pooled_nodes,
        "levels": list(generation.levels),
    }


async def _checked(pgs: PGS) -> dict[str, Any]:
    seconds, drift = await _one_check(pgs)
    again = [(await _one_check(pgs))[0] for _ in range(CHECKS)]
    return {"seconds": seconds, "again": median(again), "drift": _drift(drift)}


async def _one_check(pgs: PGS) -> tuple[float, Drift | None]:
    began = perf_counter()
    drift = await pgs.partitions.check(GRAPH)
    return perf_counter() - began, drift


def _drift(drift: Drift | None) -> dict[str, Any] | None:
    return None if drift is None else {**asdict(drift), "fraction": drift.fraction}


async def _until_interrupted(request: dict[str, Any]) -> dict[str, Any]:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await answered(request)


if __name__ == "__main__":
    try:
        sys.stdout.write(json.dumps(asyncio.run(_until_interrupted(json.load(sys.stdin)))))
    except asyncio.CancelledError:
        sys.exit(130)
