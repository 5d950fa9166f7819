"""Measures how long routing takes on a large graph with generated texts."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UsageError
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import GraphMapping
from tests.bench import place, program, store
from tests.bench.graphs import named
from tests.bench.zipf import ZipfTexts

GRAPH = "scale"
QUESTIONS = 100
SEED = 1
HOMES = f"""
MATCH (:PgsGeneration {{id: $generation}})<-[:PGS_PART_OF]-(p:PgsPartition {{level: 0}})
MATCH (p)<-[:PGS_IN]-(n:{store.LABEL}) WHERE n.id IN $ids
RETURN n.id AS id, p.id AS partition
"""


async def measure_scale(name: str, uri: str | None, knobs: dict[str, Any]) -> dict[str, Any]:
    """Load a graph of the shared folder with texts, partition it, and route questions.

    Raises UsageError if its communities are not known.
    """
    graph = named(name)
    if graph.truth is None:
        raise UsageError(f"{name} has no planted communities; choose an sbm or lfr graph")
    texts = ZipfTexts(graph.truth, SEED)
    asked = texts.questions(QUESTIONS)
    with tempfile.TemporaryDirectory(prefix="pgs-bench-") as folder:
        program.say(f"load {name} with texts")
        whole = replace(graph, texts=texts.chunks())
        async with (
            store.opened(whole, Path(folder), uri) as (server, database),
            PGS.connect(
                sweep_llm=ScriptedLLM(),
                synthesis_llm=ScriptedLLM(),
                **place.connection(server),
                **knobs,
            ) as pgs,
        ):
            figures = await _measure(pgs, database, asked)
    return {"graph": name, "nodes": graph.node_count, "questions": len(asked), **figures}


async def _measure(pgs: PGS, database: Database, asked: list[tuple[int, str]]) -> dict[str, Any]:
    mapping = GraphMapping(labels=(store.LABEL,), text=("text",))
    await pgs.graphs.add(GRAPH, mapping)
    program.say("partition it")
    partitioning = await pgs.partitions.build(GRAPH)
    values = {"generation": partitioning.generation.id, "ids": [node for node, _ in asked]}
    _, rows = await database.call(HOMES, values, "read")
    homes = {row["id"]: row["partition"] for row in rows}
    program.say(f"route {len(asked)} questions")
    seconds, hits = [], 0
    for node, question in asked:
        began = perf_counter()
        routing = await pgs.route(question, graph=GRAPH)
        seconds.append(perf_counter() - began)
        hits += homes[node] in [route.partition for route in routing.routes]
    return {
        "partitions": len(partitioning.partitions),
        "enrich_s": partitioning.steps.get("enrich", 0.0),
        "routed": hits / len(asked),
        "first_s": seconds[0],
        "route_s": median(seconds[1:]),
        "slow_s": float(np.quantile(seconds[1:], 0.95)),
    }


def scale_table(runs: list[dict[str, Any]]) -> str:
    """The figures as a table."""
    head = ("", "nodes", "partitions", "described, s", "own routed", "ms", "95 %", "first")
    rows = [
        (
            run["graph"],
            f"{run['nodes']:,}",
            f"{run['partitions']:,}",
            f"{run['enrich_s']:.1f}",
            f"{run['routed']:.0%}",
            *(f"{1000 * run[name]:.0f}" for name in ("route_s", "slow_s", "first_s")),
        )
        for run in runs
    ]
    return program.aligned([head, *rows])
