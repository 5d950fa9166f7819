"""Measures whether partitions can be told apart by what names them.

    python -m tests.bench.naming
    python -m tests.bench.naming --graph demo --collection rfc.json.gz --json

No model takes part. As published, a partition is named by its keywords, and a neighbor's digest
consists of its keywords and summary. A table compares these with labels and today's digests.

Labels: each is asked as a question, and should lead to its partition first. No word should stand in
more than a tenth of the labels. As published, the first three keywords are the label.

Digests: relationships between partitions are drawn by lot. Each target's title is matched with the
digests that the source's partition sees: BM25 of every entry of a digest (its words, its sentences,
each title), of which the best counts. The target's partition should be first, and alone. A target
whose partition has no digest there is missed. In a second draw, each target comes once: otherwise
a hub that thousands of nodes lead to decides alone.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.sweeping.neighbors import Reached, digest_neighbors, read_reached
from pgs_neo4j.text.node_text import title_of
from pgs_neo4j.text.ranking import K1, rarity
from pgs_neo4j.text.words import stems, words
from tests.bench import place, program
from tests.bench.judged import JUDGED, Load, add_judged, measure_judged
from tests.bench.routing import GRAPH

DRAWN, SEED = 500, 3
PUBLISHED_NEIGHBORS, PUBLISHED_LABEL = 5, 3
MOST_LABELS = 0.1  # that may share a word
LENGTH_SHARE = 0.75  # of an entry's length that counts, BM25's b
CROSSING = """
MATCH (g:PgsGeneration {id: $generation})
MATCH (g)<-[:PGS_PART_OF]-(p:PgsPartition {level: 0})<-[x:PGS_IN]-(a)-[r]->(b)-[y:PGS_IN]->(q)
WHERE p <> q AND NOT type(r) STARTS WITH 'PGS_' AND q.level = 0 AND (q)-[:PGS_PART_OF]->(g)
RETURN p.id AS source, q.id AS target, y.rank AS rank, elementId(b) AS node
ORDER BY source, x.rank, target, rank
"""
NAMES = """
UNWIND $nodes AS node
MATCH (n) WHERE elementId(n) = node
RETURN node, n[$title] AS title, n[$key] AS key,
       [property IN $text | CASE WHEN n[property] IS :: STRING NOT NULL
        THEN left(n[property], 2000) ELSE n[property] END] AS text
"""
Digest = list[list[str]]
"""The stems of each entry of a digest."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """All graphs, but for those whose files are absent."""
    return await measure_judged(options.graph or JUDGED, options, _graph)


async def _graph(name: str, load: Load, options: argparse.Namespace) -> dict[str, Any]:
    async with place.opened(options.uri) as (server, database):
        program.say(f"load {name}")
        mapping = (await load(database)).mapping
        llm, knobs = ScriptedLLM(), dict(options.knob)
        connection = place.connection(server)
        async with PGS.connect(sweep_llm=llm, synthesis_llm=llm, **connection, **knobs) as pgs:
            await pgs.graphs.add(GRAPH, mapping)
            program.say(f"partition {name}")
            partitioning = await pgs.partitions.build(GRAPH)
            program.say("ask labels, and look for titles in digests")
            parts = partitioning.partitions
            published = {p.id: " ".join(p.keywords[:PUBLISHED_LABEL]) for p in parts}
            labels = {"published": published, "ours": {p.id: p.label for p in parts}}
            named = {way: await _labels(pgs, names) for way, names in labels.items()}
        found = await _digests(database, mapping, partitioning)
    return {
        "graph": name,
        "partitions": len(parts),
        "enrich_s": partitioning.steps.get("enrich", 0.0),
        "ways": {way: {**named[way], **found[way]} for way in named},
    }


async def _labels(pgs: PGS, labels: Mapping[int, str]) -> dict[str, Any]:
    first = 0
    for partition, label in labels.items():
        routing = await pgs.route(label, graph=GRAPH) if label else None
        routes = routing.routes if routing is not None else ()
        first += bool(routes) and routes[0].partition == partition
    return {"label_first": first / len(labels), "shared_words": shared_words(labels)}


def shared_words(labels: Mapping[int, str]) -> list[str]:
    """Words that stand in more than a tenth of the labels, and in more than one."""
    used = Counter(word for label in labels.values() for word in set(words(label)))
    return sorted(w for w, count in used.items() if count > max(1, MOST_LABELS * len(labels)))


async def _digests(
    database: Database, mapping: GraphMapping, partitioning: Partitioning
) -> dict[str, dict[str, Any]]:
    generation, by_id = partitioning.generation.id, {p.id: p for p in partitioning.partitions}
    reached = await read_reached(database, generation, by_id)
    _, rows = await database.call(CROSSING, {"generation": generation}, "read")
    draws = {"drawn": draw(rows, distinct=False), "distinct": draw(rows, distinct=True)}
    nodes = sorted({row["node"] for drawn in draws.values() for row in drawn})
    values = {"nodes": nodes, "title": mapping.title or "", "key": mapping.key or ""}
    _, named = await database.call(NAMES, {**values, "text": list(mapping.text)}, "read")
    titles = {row["node"]: title_of(row["title"], row["text"], row["key"]) for row in named}
    digests = {
        "published": {p: published(part, by_id) for p, part in by_id.items()},
        "ours": {p: ours(part, by_id, reached) for p, part in by_id.items()},
    }
    return {
        way: {name: found_share(drawn, titles, shown) for name, drawn in draws.items()}
        | {"digest_characters": _mean_size(shown)}
        for way, shown in digests.items()
    }


def draw(rows: Sequence[dict[str, Any]], *, distinct: bool) -> list[dict[str, Any]]:
    """Relationships by lot, at most ``DRAWN``; with ``distinct``, no two have the same target."""
    shuffled = random.Random(SEED).sample(list(rows), len(rows))
    if distinct:
        shuffled = list({row["node"]: row for row in reversed(shuffled)}.values())[::-1]
    return shuffled[:DRAWN]


def published(part: Partition, by_id: Mapping[int, Partition]) -> dict[int, list[str]]:
    """The entries of the digests that a partition was shown as published."""
    near = [by_id[link.id] for link in part.adjacent[:PUBLISHED_NEIGHBORS]]
    return {other.id: [", ".join(other.keywords), other.summary] for other in near}


def ours(part: Partition, by_id: Mapping[int, Partition], reached: Reached) -> dict[int, list[str]]:
    """The entries of the digests that a partition is shown."""
    return {
        int(n.name.removeprefix("P")): [", ".join(n.keywords), n.summary, *n.reached, *n.titles]
        for n in digest_neighbors(part, by_id, reached)
    }


def found_share(
    rows: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
    digests: Mapping[int, Mapping[int, Sequence[str]]],
) -> float:
    """The share of targets whose title is matched best by the digest of their partition."""
    stemmed = {
        part: {other: [stems(entry) for entry in entries] for other, entries in shown.items()}
        for part, shown in digests.items()
    }
    hits = (best(stems(titles[r["node"]]), stemmed[r["source"]]) == r["target"] for r in rows)
    return sum(hits) / max(len(rows), 1)


def best(terms: Sequence[str], digests: Mapping[int, Digest]) -> int | None:
    """The partition whose digest has the best entry; None without one or with several."""
    entries = [entry for digest in digests.values() for entry in digest]
    frequency = Counter(term for entry in entries for term in set(entry))
    mean = sum(map(len, entries)) / max(len(entries), 1)
    scores: dict[int, float] = defaultdict(float)
    for part, digest in digests.items():
        for entry in digest:
            counts = Counter(entry)
            norm = K1 * (1 - LENGTH_SHARE + LENGTH_SHARE * len(entry) / max(mean, 1))
            score = sum(
                rarity(len(entries), frequency[term]) * counts[term] / (counts[term] + norm)
                for term in dict.fromkeys(terms)
            )
            scores[part] = max(scores[part], round(score, 9))
    most = max(scores.values(), default=0.0)
    winners = [part for part, score in scores.items() if score == most > 0]
    return winners[0] if len(winners) == 1 else None


def _mean_size(digests: Mapping[int, Mapping[int, Sequence[str]]]) -> float:
    """The mean number of characters of all digests that a partition is shown."""
    sizes = [sum(map(len, e)) for shown in digests.values() for e in shown.values()]
    return sum(sizes) / max(len(digests), 1)


def table(document: dict[str, Any]) -> str:
    """The figures as tables."""
    return "\n".join(map(_table, document["runs"]))


def _table(run: dict[str, Any]) -> str:
    head = ("", "label first", "shared words", "found", "each target once", "characters")
    rows: list[Sequence[str]] = [head]
    for way, found in run["ways"].items():
        shares = (f"{found[name]:.1%}" for name in ("drawn", "distinct"))
        counted = str(len(found["shared_words"]))
        size = f"{found['digest_characters']:,.0f}"
        rows.append((way, f"{found['label_first']:.1%}", counted, *shares, size))
    title = (
        f"{run['graph']}: {run['partitions']} partitions, described in {run['enrich_s']:.1f} s\n"
    )
    return title + program.aligned(rows)


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("naming", __doc__)
    add_judged(parser)
    program.add_knobs(parser)
    parser.add_argument("--uri", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
