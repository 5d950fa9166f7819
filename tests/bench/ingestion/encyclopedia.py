"""What a graph without a model has in common with the links and topics of an encyclopedia.

A collection is gzipped JSON: ``documents`` with ``id``, ``title``, ``text``, and ``subjects``, the
first of which is their topic, and ``links``, pairs of ids.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

from pgs_neo4j.model.documents import DocumentText
from pgs_neo4j.text.chunking import chunk_document
from pgs_neo4j.text.local_extraction import extract_terms
from pgs_neo4j.text.local_extraction.tokens import key_of
from tests.bench.ingestion.figure import GRAPH, Bench, Figure

MOST_DOCUMENTS, CHARACTERS = 1200, 60_000
STRONGEST = 1000
RELATIONS = """
MATCH (s:`__Entity__` {graph: $graph})-[r:RELATES {rel_type: 'OCCURS_WITH'}]->(t:`__Entity__`)
RETURN s.name AS source, t.name AS target, r.weight AS weight, r.mentions AS mentions
ORDER BY weight DESC, mentions DESC, source, target
"""
PARTITIONS = """
MATCH (c:Chunk {graph: $graph})-[:PGS_IN]->(p:PgsPartition) WHERE p.level = 0
MATCH (d:Document)-[:PART_OF]->(c)
RETURN d.name AS document, p.id AS partition, count(*) AS chunks
"""


@dataclass(frozen=True, slots=True)
class Article:
    """A text with its topic, and the titles that it links to and that stand in it."""

    title: str
    text: str
    topic: str
    linked: frozenset[str]


async def measure_encyclopedia(bench: Bench) -> list[Figure]:
    """Linked titles among terms, strong relations that are links, and partitions as topics."""
    names = ("linked titles found, %", "strongest relations that are links, %", "ARI to topics")
    bars = (60.0, 70.0, 0.18)
    if bench.collection is None:
        why = "no --collection"
        return [
            Figure(name=name, value=None, bar=bar, note=why)
            for name, bar in zip(names, bars, strict=True)
        ]
    articles = read_articles(bench.collection)
    recall, terms = linked_recall(articles)
    folder = bench.folder / "docs"
    folder.mkdir()
    for number, one in enumerate(articles):
        (folder / f"{number:05}.txt").write_text(f"{one.title}\n\n{one.text}", encoding="utf-8")
    async with bench.engine() as pgs:
        done = await pgs.ingest(folder, GRAPH)
        assert done.complete, done.outcomes
        await pgs.partitions.build(GRAPH)
    linked, pairs = _links_among(await _rows(bench, RELATIONS), articles)
    index, count = _topics(await _rows(bench, PARTITIONS), articles)
    notes = (f"{terms:.0f} terms a chunk, {len(articles)} articles", f"of {pairs}", f"{count}")
    values = (100 * recall, 100 * linked / pairs if pairs else None, index)
    return [
        Figure(name=name, value=value, bar=bar, note=note)
        for name, value, bar, note in zip(names, values, bars, notes, strict=True)
    ]


def read_articles(file: Path) -> list[Article]:
    """Return the articles of a collection, the first ones if there are many."""
    held = json.loads(gzip.decompress(file.read_bytes()))
    documents = [one for one in held["documents"] if one["text"]][:MOST_DOCUMENTS]
    titles = {one["id"]: one["title"] for one in held["documents"]}
    linked: dict[str, set[str]] = defaultdict(set)
    for source, target, *_ in held["links"]:
        linked[source].add(titles[target])
    return [
        Article(
            title=one["title"],
            text=one["text"][:CHARACTERS],
            topic=next(iter(one["subjects"]), ""),
            linked=frozenset(
                title for title in linked[one["id"]] if _stands(title, one["text"][:CHARACTERS])
            ),
        )
        for one in documents
    ]


def linked_recall(articles: Sequence[Article]) -> tuple[float, float]:
    """Return the share of linked titles that are terms of their article, and terms a chunk."""
    found = total = terms = chunks = 0
    for one in articles:
        keys: set[str] = set()
        for chunk in chunk_document(DocumentText(text=one.text)):
            entities = extract_terms(chunk).entities
            keys |= {_key(entity.name) for entity in entities}
            terms += len(entities)
            chunks += 1
        total += len(one.linked)
        found += sum(_key(title) in keys for title in one.linked)
    return found / max(1, total), terms / max(1, chunks)


def adjusted_rand_index(pairs: Mapping[tuple[str, str], int]) -> float:
    """Return how far two divisions agree: 1 if equal, about 0 by chance.

    ``pairs`` counts the items by their parts in both.
    """
    firsts: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for (first, second), count in pairs.items():
        firsts[first] += count
        seconds[second] += count
    same = sum(comb(count, 2) for count in pairs.values())
    one, other = (sum(comb(count, 2) for count in part.values()) for part in (firsts, seconds))
    expected = one * other / max(1, comb(firsts.total(), 2))
    most = (one + other) / 2
    return (same - expected) / (most - expected) if most != expected else 1.0


def _links_among(rows: Sequence[Mapping[str, Any]], articles: Sequence[Article]) -> tuple[int, int]:
    """Return how many of the strongest relations between two titles are links, and of how many.

    One of the two is that of an article, since the others' links are unknown.
    """
    own = {_key(one.title) for one in articles}
    links = {frozenset((_key(one.title), _key(title))) for one in articles for title in one.linked}
    titles = own.union(*links)
    pairs = [frozenset((_key(row["source"]), _key(row["target"]))) for row in rows]
    strongest = [pair for pair in pairs if len(pair) == 2 and pair <= titles and pair & own]
    strongest = strongest[:STRONGEST]
    return sum(pair in links for pair in strongest), len(strongest)


def _topics(
    rows: Sequence[Mapping[str, Any]], articles: Sequence[Article]
) -> tuple[float | None, str]:
    """Return how far the partitions of documents are topics, each by most of its chunks."""
    parts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        parts[row["document"]][row["partition"]] += row["chunks"]
    pairs: Counter[tuple[str, str]] = Counter()
    for number, one in enumerate(articles):
        counts = parts.get(f"{number:05}.txt")
        if one.topic and counts:
            pairs[max(sorted(counts), key=lambda part: counts[part]), one.topic] += 1
    if not pairs:
        return None, "no topics"
    topics = {topic for _, topic in pairs}
    partitions = {partition for partition, _ in pairs}
    return adjusted_rand_index(pairs), f"{len(partitions)} partitions, {len(topics)} topics"


def _key(name: str) -> str:
    return key_of(re.sub(r"[\s_]+", " ", name).strip())


def _stands(title: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(title)}(?!\w)", text, re.IGNORECASE) is not None


async def _rows(bench: Bench, statement: str) -> list[dict[str, Any]]:
    return (await bench.database.call(statement, {"graph": GRAPH}, "read"))[1]
