"""What is found of what documents state, and where: with a faithful model, and without any."""

from __future__ import annotations

from random import Random
from statistics import fmean
from typing import Any

from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Answer
from pgs_neo4j.model.documents import Chunk, DocumentText
from pgs_neo4j.text.chunking import chunk_document
from pgs_neo4j.text.extraction.names import normalize_name
from tests.bench.ingestion.corpus import filler, make_world, type_of, write_files, write_texts
from tests.bench.ingestion.figure import GRAPH, Bench, Figure
from tests.bench.ingestion.replies import FaithfulLLM
from tests.bench.loaded import FACT
from tests.bench.planted_reader import PlantedReader
from tests.bench.terms import DATA, measure, questions
from tests.stackoverflow import ARCHIVE

ENTITIES, RELATIONS = 2000, 5000
SECRETS = 100
SECRET = "A careful reader noted planted-fact-{}-end in the margin."
TERMS = 80
INSERTED = 30
"""Insertions, each into a document of about 300 chunks."""

LONG_CHARACTERS = 720_000
ENTITY_ROWS = "MATCH (e:`__Entity__` {graph: $graph}) RETURN e.key AS key, e.type AS type"
RELATION_ROWS = """
MATCH (s:`__Entity__` {graph: $graph})-[r:RELATES]->(t:`__Entity__`)
RETURN s.key AS source, r.rel_type AS type, t.key AS target
"""
SPAN_ROWS = """
MATCH (e:`__Entity__` {graph: $graph})-[m:MENTIONED_IN]->(c:Chunk)
UNWIND range(0, size(m.spans) - 1, 2) AS i
RETURN e.key AS key, substring(c.text, m.spans[i], m.spans[i + 1] - m.spans[i]) AS name
"""


async def measure_planted(bench: Bench) -> list[Figure]:
    """Planted entities and relations that a faithful model leads to, and the places of names."""
    world = make_world(ENTITIES, RELATIONS)
    write_files(bench.folder / "docs", write_texts(world.facts, 20, 9000, aliases=True))
    async with bench.engine(FaithfulLLM()) as pgs:
        done = await pgs.ingest(bench.folder / "docs", GRAPH)
    assert done.complete, done.outcomes
    entities = {(row["key"], row["type"]) for row in await _rows(bench, ENTITY_ROWS)}
    relations = {
        (row["source"], row["type"], row["target"]) for row in await _rows(bench, RELATION_ROWS)
    }
    named = {(normalize_name(name), type_of(name)) for name in world.names}
    placed = {fact.place for fact in world.facts}
    found = len(named & entities) + len(placed & relations)
    spans = await _rows(bench, SPAN_ROWS)
    exact = sum(normalize_name(row["name"]) == row["key"] for row in spans)
    extra = len(entities - named) + len(relations - placed)
    return [
        Figure(
            name="planted entities and relations found, %",
            value=100 * found / (len(named) + len(placed)),
            sign="=",
            bar=100.0,
            note=f"{len(named):,} entities, {len(placed):,} relations; {extra} others",
        ),
        Figure(
            name="spans that are a name of their entity, %",
            value=100 * exact / max(1, len(spans)),
            sign="=",
            bar=100.0,
            note=f"{len(spans):,} spans",
        ),
    ]


async def measure_sweep(bench: Bench) -> list[Figure]:
    """Facts planted in documents that a full sweep of the ingested graph reports."""
    random = Random(1)
    texts = list(write_texts(make_world(400, 1600).facts, 8, 6000))
    for number in range(SECRETS):
        place = random.randrange(len(texts))
        paragraphs = texts[place].split("\n\n")
        paragraphs.insert(random.randrange(len(paragraphs)), SECRET.format(number))
        texts[place] = "\n\n".join(paragraphs)
    write_files(bench.folder / "docs", texts)
    async with bench.engine(FaithfulLLM()) as pgs:
        await pgs.ingest(bench.folder / "docs", GRAPH)
    reader = PlantedReader()
    async with bench.engine(ScriptedLLM(reader), cache=False) as pgs:
        answer = await pgs.execute("Which facts are planted?", graph=GRAPH, full_sweep=True)
    wanted = {fact for text in texts for fact in FACT.findall(text)}
    coverage = answer.coverage
    return [
        Figure(
            name="planted facts that a full sweep reports, %",
            value=100 * len(_told(answer) & wanted) / SECRETS,
            sign="=",
            bar=100.0,
        ),
        Figure(
            name="coverage reported - recomputed, nodes",
            value=float(coverage.nodes_read - reader.read),
            sign="=",
            bar=0.0,
            note=f"{coverage.nodes_read:,} of {coverage.nodes_total:,} nodes",
        ),
    ]


async def measure_insertion(bench: Bench) -> list[Figure]:
    """Chunks of a long document that are extracted again after a sentence comes in early."""
    fresh: list[int] = []
    chunks = 0
    for seed in range(INSERTED):
        random = Random(seed)
        sentences = filler(random, LONG_CHARACTERS).split(". ")
        before = _bases(". ".join(sentences))
        place = random.randrange(len(sentences) // 10)
        sentences.insert(place, f"Someone added remark number {seed} about the harbor")
        after = _bases(". ".join(sentences))
        chunks = len(after)
        fresh.append(len(after - before))
    note = f"{INSERTED} documents of about {chunks} chunks"
    return [
        Figure(name="extracted again, mean", value=fmean(fresh), sign="≤", bar=1.3, note=note),
        Figure(name="extracted again, at most", value=float(max(fresh)), sign="≤", bar=4.0),
    ]


async def measure_tags(bench: Bench) -> list[Figure]:
    """Tags that stand in their question and are among its terms, without a model."""
    name = f"Stack Overflow tags found, at most {TERMS} terms, %"
    if not (DATA / ARCHIVE).exists():
        return [Figure(name=name, value=None, bar=85.0, note=f"{ARCHIVE} is not there")]
    recall, terms = measure(list(questions(DATA / ARCHIVE)), TERMS, misses=False)
    return [Figure(name=name, value=100 * recall, bar=85.0, note=f"{terms:.0f} terms a chunk")]


def _bases(text: str) -> set[tuple[object, ...]]:
    """Return what the extraction of each chunk rests on."""

    def basis(chunk: Chunk) -> tuple[object, ...]:
        return (chunk.text, chunk.context, chunk.path)

    return set(map(basis, chunk_document(DocumentText(text=text))))


async def _rows(bench: Bench, statement: str) -> list[dict[str, Any]]:
    return (await bench.database.call(statement, {"graph": GRAPH}, "read"))[1]


def _told(answer: Answer) -> set[str]:
    """Return the facts of findings that cite a node validly."""
    return {
        fact
        for sweep in answer.sweeps
        if sweep.report is not None
        for finding in sweep.report.findings
        if any(citation.valid for citation in finding.citations)
        for fact in FACT.findall(finding.text)
    }
