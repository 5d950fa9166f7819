"""Measures what a search finds of the nodes that people judged relevant.

    python -m tests.bench.retrieval
    python -m tests.bench.retrieval --graph cacm_vectors --collection cf.json.gz --json

No language model takes part. A table tells nDCG at 10, recall at 50, and the median time of each
path alone, of each mode, and of neo4j-graphrag's retriever where that is installed. The graph has a
full-text index with the analyzer ``english`` and a vector index on its stored embeddings. Below the
table stand ratios of times, what feedback moves, planted ways through nodes without text, and
planted analogies.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import SearchMode
from pgs_neo4j.pgs.answering.modes import PATH_HITS
from pgs_neo4j.pgs.answering.search import SearchOrder, SearchTools, search
from pgs_neo4j.search.known_indexes import KnownIndexes
from pgs_neo4j.search.paths.text import find_by_text
from pgs_neo4j.search.paths.vector import find_by_vector
from pgs_neo4j.search.space import Space, choose
from tests.bench import place, program
from tests.bench.judged import Judged, Load, add_judged, measure_judged
from tests.bench.lightrag_rival import lightrag
from tests.bench.outcomes import measure_outcomes
from tests.bench.planted_links import measure_hubs, measure_pairs
from tests.bench.rivals import Ranked, graphrag

TOP, DEEP = 10, 50
GRAPHS = ("cacm_vectors", "cacm_dense")
MODES: tuple[SearchMode, ...] = (
    "naive",
    "local",
    "global",
    "hybrid",
    "mix",
    "multipath",
    "triplets",
    "structural",
    "auto",
)
INDEXES = (
    "CREATE FULLTEXT INDEX bench_text FOR (n:LoadedNode) ON EACH [n.title, n.text] "
    "OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}",
    "CALL db.index.vector.createNodeIndex('bench_vector', 'LoadedNode', 'vector', 200, 'cosine')",
    "CALL db.awaitIndexes(300)",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(
        lambda: program.run(lambda: measure_judged(options.graph or GRAPHS, options, _graph)),
        table,
        options.json,
    )


async def _graph(name: str, load: Load, options: argparse.Namespace) -> dict[str, Any]:
    async with place.opened(options.uri) as (server, database):
        program.say(f"load {name}")
        graph = await load(database)
        for statement in INDEXES:
            await database.call(statement, {}, "schema")
        embedder = graph.embedder  # LightRAG embeds keywords as well
        graph = await _embedded(graph)
        ways = {}
        embed = graph.embedder.embed_now if isinstance(graph.embedder, _Prepared) else _no_vector
        with graphrag(server, "bench_vector", "bench_text", embed, DEEP) as rivals:
            async with lightrag(database, embedder, DEEP) as others:
                for way, ranked in {**_ways(database, graph), **rivals, **others}.items():
                    program.say(f"{way}: {len(graph.questions)} questions")
                    ways[way] = await _measure(graph, ranked)
        program.say("outcomes, planted hubs and analogies")
        planted = {
            **ratios(ways),
            **await measure_outcomes(database, graph),
            **await measure_hubs(database),
            **measure_pairs(),
        }
    return {"graph": name, "questions": len(graph.questions), "ways": ways, "planted": planted}


def ratios(ways: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Median times beside those of other packages, where they were measured."""
    pairs = (("local", "graphrag linear"), ("hybrid", "lightrag mix"))
    return {
        f"p50 {own} ÷ {other}": ways[own]["p50_s"] / ways[other]["p50_s"]
        for own, other in pairs
        if own in ways and other in ways
    }


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Vectors of all questions, made before: no time of an embedder is measured."""

    name: str
    dimensions: int | None
    rows: Mapping[str, NDArray[np.float32]]
    threshold: float | None = None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.rows[text] for text in texts], np.float32)

    def embed_now(self, question: str) -> list[float]:
        """Return a vector for a retriever of others, which does not wait."""
        vector: list[float] = self.rows[question].tolist()
        return vector


def _no_vector(question: str) -> list[float]:
    raise LookupError(f"no embedder for {question!r}")


async def _embedded(graph: Judged) -> Judged:
    if graph.embedder is None:
        return graph
    texts = [question.text for question in graph.questions]
    rows = dict(zip(texts, await graph.embedder.embed(texts), strict=True))
    prepared = _Prepared(graph.embedder.name, graph.embedder.dimensions, rows)
    return replace(graph, embedder=prepared)


def _ways(database: Database, graph: Judged) -> dict[str, Ranked]:
    mapping = replace(graph.mapping, labels=("LoadedNode",))
    space = choose("stored", graph.embedder, mapping) if graph.embedder else Space("none")

    known = KnownIndexes()

    async def by_text(question: str) -> list[str]:
        indexes = await known.get(database)
        return [*(await find_by_text(database, indexes, None, mapping, question, PATH_HITS)).scores]

    async def by_vector(question: str) -> list[str]:
        vector = (await graph.embedder.embed([question]))[0] if graph.embedder else None
        indexes = await known.get(database)
        return [*(await find_by_vector(database, indexes, mapping, vector, PATH_HITS)).scores]

    def by_mode(mode: SearchMode) -> Ranked:
        async def ranked(question: str) -> list[str]:
            order = SearchOrder(question=question, mapping=mapping, mode=mode, top_k=DEEP)
            return [
                item.id for item in (await search(order, SearchTools(database, space, known))).items
            ]

        return ranked

    return {"text": by_text, "vector": by_vector, **{mode: by_mode(mode) for mode in MODES}}


async def _measure(graph: Judged, ranked: Ranked) -> dict[str, float]:
    gains, recalls, seconds, failed = [], [], [], 0
    await ranked(graph.questions[0].text)  # plans are made once
    for question in graph.questions:
        began = perf_counter()
        try:
            order = await ranked(question.text)
        except Exception as error:  # noqa: BLE001 (a retriever of others raises its own)
            program.say(f"failed: {error}")
            order, failed = [], failed + 1
        seconds.append(perf_counter() - began)
        grades = dict.fromkeys(question.nodes, 1.0)
        gains.append(ndcg(order, grades, TOP))
        recalls.append(len({*order[:DEEP]} & set(grades)) / len(grades))
    return {
        "ndcg": fmean(gains),
        "recall": fmean(recalls),
        "failed": failed,
        "p50_s": median(seconds),
    }


def ndcg(order: Sequence[str], grades: Mapping[str, float], top: int) -> float:
    """Normalized discounted cumulative gain at ``top`` (Järvelin and Kekäläinen 2002)."""
    gain = sum(
        grades.get(node, 0.0) / math.log2(place + 2) for place, node in enumerate(order[:top])
    )
    best = sorted(grades.values(), reverse=True)[:top]
    ideal = sum(grade / math.log2(place + 2) for place, grade in enumerate(best))
    return gain / ideal if ideal else 0.0


def table(document: dict[str, Any]) -> str:
    """The figures as tables."""
    return "\n\n".join(map(_table, document["runs"]))


def _table(run: dict[str, Any]) -> str:
    head = f"{run['graph']}: {run['questions']} questions\n"
    columns = f"{'way':<16}{f'nDCG@{TOP}':>10}{f'recall@{DEEP}':>12}{'failed':>8}{'p50 ms':>9}\n"
    return (
        head
        + columns
        + "\n".join(
            f"{way:<16}{one['ndcg']:>10.3f}{one['recall']:>12.3f}{one['failed']:>8}"
            f"{one['p50_s'] * 1000:>9.1f}"
            for way, one in run["ways"].items()
        )
        + "\n\n"
        + "\n".join(f"{name:<44}{value:>8.3f}" for name, value in run["planted"].items())
    )


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("retrieval", __doc__)
    add_judged(parser)
    parser.add_argument("--uri", metavar="URI", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
