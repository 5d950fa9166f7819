"""Measures what limits of tokens cost in modularity, and what refining regains of it.

No server takes part: the communities are those of igraph's Leiden, as in ``peer``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.graph.bounds import sizes_of
from pgs_neo4j.graph.csr import Edges, undirected
from pgs_neo4j.graph.limits import Limits, apply_limits
from pgs_neo4j.graph.quality import modularity
from pgs_neo4j.text.tokens import estimate
from tests.bench import peer, program
from tests.bench.graphs import DATA, BenchGraph, IntArray
from tests.bench.planted import planted
from tests.stackoverflow import ARCHIVE, MAPPING, read_archive

GENERATED = 20_000, 100_000
"""Nodes and relationships of the generated graph."""

MEDIAN, SPREAD = 1_800.0, 1.0
"""Tokens of a generated text: a log-normal distribution, 3,000 on average."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """A graph, the tokens ``(n,)`` of each node's text, and the most tokens of a partition."""

    graph: BenchGraph
    tokens: IntArray
    max_tokens: int


def measured(seed: int, limit: int) -> dict[str, Any]:
    """The figures of all graphs; ``limit`` is the default maximum of tokens.

    Raises UsageError without igraph.
    """
    runs = []
    for texts in _graphs(seed, limit):
        program.say(f"igraph and limits on {texts.graph.name}")
        runs.append(_figures(texts, seed))
    return {"runs": runs}


def table(document: dict[str, Any]) -> str:
    """The figures, one graph a line."""
    head = ("", "nodes", "limit", "igraph", "limits alone", "refined", "÷ alone", "s", "s alone")
    rows: list[Sequence[str]] = [head]
    for run in document["runs"]:
        alone, refined = run["alone"], run["refined"]
        rows.append(
            (
                run["graph"],
                f"{run['nodes']:,}",
                f"{run['max_tokens']:,}",
                f"{run['modularity']:.4f}",
                f"{alone['modularity']:.4f}",
                f"{refined['modularity']:.4f}",
                f"{refined['modularity'] / alone['modularity']:.3f}",
                f"{refined['seconds']:.2f}",
                f"{alone['seconds']:.2f}",
            )
        )
    return program.aligned(rows)


def generated_texts(node_count: int, edge_count: int, seed: int, max_tokens: int) -> Texts:
    """A generated graph with long texts."""
    drawn = np.random.default_rng(seed).lognormal(np.log(MEDIAN), SPREAD, node_count)
    tokens = np.rint(drawn).astype(np.int64)
    return Texts(planted(node_count, edge_count, seed), tokens, max_tokens)


def figures(texts: Texts, labels: IntArray) -> dict[str, Any]:
    """Modularity within the limits, with moves and without, of communities ``(n,)``."""
    graph = texts.graph
    edges = undirected(graph.node_count, graph.source, graph.target, graph.weight)
    limits = Limits(max_tokens=texts.max_tokens)
    return {
        "graph": graph.name,
        "nodes": graph.node_count,
        "tokens": int(texts.tokens.sum()),
        "max_tokens": texts.max_tokens,
        "modularity": modularity(edges, labels),
        "alone": _limited(edges, labels, texts.tokens, limits, refined=False),
        "refined": _limited(edges, labels, texts.tokens, limits, refined=True),
    }


def _figures(texts: Texts, seed: int) -> dict[str, Any]:
    labels = peer.communities(texts.graph, seed)
    if labels is None:
        raise UsageError("igraph is not installed; install pgs-neo4j[bench]")
    return figures(texts, labels)


def _limited(
    edges: Edges, labels: IntArray, tokens: IntArray, limits: Limits, *, refined: bool
) -> dict[str, Any]:
    began = perf_counter()
    limited = apply_limits(edges, labels, tokens, limits, refined=refined)
    seconds = perf_counter() - began
    sizes = sizes_of(limited.labels, tokens)
    return {
        "modularity": modularity(edges, limited.labels),
        "seconds": seconds,
        "partitions": limited.partition_count,
        "pools": int(np.count_nonzero(limited.pool)),
        "above": int(np.count_nonzero(~limits.stands(sizes.nodes, sizes.tokens))),
    }


def _graphs(seed: int, limit: int) -> Iterator[Texts]:
    try:
        yield _stack_overflow(20_000)
    except InputFileError as error:
        program.say(f"Stack Overflow is left out: {error}")
    for max_tokens in (limit, limit // 5):
        yield generated_texts(*GENERATED, seed, max_tokens)


def _stack_overflow(max_tokens: int) -> Texts:
    """Neo4j's example with the tokens of its texts."""
    if not (DATA / ARCHIVE).is_file():
        raise InputFileError(f"{DATA / ARCHIVE} is not there")
    tables, links = read_archive(DATA / ARCHIVE)
    place: dict[tuple[str, Any], int] = {}
    tokens = []
    for nodes in tables:
        for row in nodes.rows:
            place[nodes.label, row[nodes.key]] = len(tokens)
            tokens.append(estimate("\n".join(str(row[p]) for p in MAPPING.text if row.get(p))))
    pairs = np.array(
        [
            (place[link.source.label, row["source"]], place[link.target.label, row["target"]])
            for link in links
            for row in link.rows
        ]
    )
    graph = BenchGraph("stackoverflow", len(tokens), pairs[:, 0], pairs[:, 1], np.ones(len(pairs)))
    return Texts(graph, np.array(tokens, dtype=np.int64), max_tokens)
