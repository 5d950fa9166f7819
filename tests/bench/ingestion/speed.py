"""How fast documents become a graph, beside other packages and beside a bare driver."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Literal
from unittest.mock import patch

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.enrich import embed as waiting
from pgs_neo4j.documents.enrich.embed import WaitingText, read_node_texts
from pgs_neo4j.documents.publish.publication import assemble, publish
from pgs_neo4j.documents.publish.writer import Writer
from tests.bench import place, program
from tests.bench.ingestion.bare import write_bare
from tests.bench.ingestion.corpus import HUB, Fact, make_world, write_files, write_texts
from tests.bench.ingestion.embedding import TableEmbedder
from tests.bench.ingestion.figure import GRAPH, Bench, Figure
from tests.bench.ingestion.replies import FaithfulLLM
from tests.bench.ingestion.rivals import spent_by_graphrag, spent_by_lightrag
from tests.bench.ingestion.spent import Spent, Watch

PER_DOCUMENT, CHARACTERS = 8, 4000
"""Planted relations, and characters, of a document. It is one chunk."""

FEW, MANY = 1000, 10_000
SOME = 200
CHANGED = 20
WARM = 20
"""Documents before the first that counts, so that the server has planned its statements."""


async def measure_own_time(bench: Bench) -> list[Figure]:
    """Own time per chunk beside LightRAG and SimpleKGPipeline, in one run.

    Ours makes the vectors that the other one makes: those of chunks, entities, and facts beside
    LightRAG, and those of chunks beside SimpleKGPipeline.
    """
    texts = _texts(bench.documents)

    async def own(number: int) -> Spent:
        program.say(f"ours, {number}")
        await place.emptied(bench.database)
        return await _spent_by_ingesting(bench, texts, bench.folder / f"own{number}", embeds=True)

    # Others use the machine, so each package is compared with what is measured before and after.
    first = await own(1)
    program.say("LightRAG")
    light = await spent_by_lightrag(texts, bench.folder / "lightrag")
    second = await own(2)
    with only_chunks_embedded():
        third = await own(3)
        await place.emptied(bench.database)
        program.say("SimpleKGPipeline")
        why = "not installed"
        try:
            pipeline = await spent_by_graphrag(texts, bench.server, 2 * WARM)
        except Exception as error:  # noqa: BLE001 - without APOC, whatever it raises
            pipeline, why = None, str(error).partition("\n")[0][:120]
        fourth = await own(4)
    fifth = await own(5)

    def ratios(
        name: str, theirs: Spent | None, both: Spent, bar: float | None = 3.0
    ) -> list[Figure]:
        own_time = f"own time: {name} ÷ ours"
        if theirs is None:
            return [Figure(name=own_time, value=None, bar=bar, note=why)]
        scale = 1000 / len(texts)
        told = "ours {:.1f} ms a chunk, theirs {:.1f}"
        wall = told.format(both.wall * scale / 2, theirs.wall * scale)
        cpu = told.format(both.cpu * scale / 2, theirs.cpu * scale)
        return [
            Figure(name=own_time, value=2 * theirs.wall / both.wall, bar=bar, note=wall),
            Figure(name=f"CPU: {name} ÷ ours", value=2 * theirs.cpu / both.cpu, note=cpu),
        ]

    name = "SimpleKGPipeline"
    return [
        *ratios("LightRAG", light, first + second),
        *ratios(name, pipeline, third + fourth),
        *ratios(f"{name}, ours with all vectors,", pipeline, second + fifth, bar=None),
    ]


@contextmanager
def only_chunks_embedded() -> Iterator[None]:
    """Have ingestions inside make vectors of chunks, and of nothing else."""

    async def chunks(db: Database, writer: Writer, model: str) -> AsyncGenerator[list[WaitingText]]:
        async for page in read_node_texts(db, writer, model):
            yield [one for one in page if not one.place["id"].startswith("entity:")]

    async def nothing(*ignored: Any) -> AsyncGenerator[list[WaitingText]]:
        for page in ():
            yield page

    with (
        patch.object(waiting, "read_node_texts", chunks),
        patch.object(waiting, "read_fact_texts", nothing),
    ):
        yield


async def measure_publishing(bench: Bench) -> list[Figure]:
    """Publishing beside a bare driver that writes the same rows in as many transactions."""
    texts = _texts(min(bench.documents, 400))
    ratios: list[tuple[float, ...]] = []
    for _ in range(2):  # the first time, statements are planned and compiled
        await place.emptied(bench.database)
        with published_rows() as (seconds, rows):
            await _ingest_seconds(bench, texts, bench.folder / "published")
        await place.emptied(bench.database)
        bare = await write_bare(bench.server, rows)
        ratios.append((sum(seconds) / bare, sum(seconds[::2]), sum(seconds[1::2]), bare))
    ratio, *parts = ratios[-1]
    reading, writing, bare = (1000 * part / len(texts) for part in parts)
    note = f"ms a document: {reading:.1f} comparing, {writing:.1f} writing; bare {bare:.1f}"
    return [Figure(name="publishing ÷ bare driver", value=ratio, sign="≤", bar=2.0, note=note)]


async def measure_growth(bench: Bench) -> list[Figure]:
    """Time of a chunk with ten times the documents, one entity in all of them; then changes."""
    many = MANY * bench.documents // 500
    few = many // 10
    world = make_world(4 * SOME, (PER_DOCUMENT - 2) * many, seed=3)
    stated = _with_hub(world.facts, many)
    texts = list(write_texts(stated, PER_DOCUMENT, 1500))
    folder = bench.folder / "growth"
    llm = FaithfulLLM()
    async with bench.engine(llm) as pgs:
        write_files(folder / "warm", texts[:WARM])
        await pgs.ingest(folder / "warm", "warm")
        write_files(folder / "docs", texts[:few])
        first = await _timed(pgs, llm, folder / "docs") / few
        program.say(f"{1000 * first:.1f} ms a document up to {few}")
        early = await _change_seconds(pgs, llm, folder / "docs")
        write_files(folder / "docs", texts)
        rest = await _timed(pgs, llm, folder / "docs") / (many - few)
        program.say(f"{1000 * rest:.1f} ms a document up to {many}")
        late = await _change_seconds(pgs, llm, folder / "docs")
    note = f"{1000 * first:.1f} and {1000 * rest:.1f} ms a document"
    name = f"ms per chunk up to {many:,} ÷ up to {few:,} documents"
    changed = f"{CHANGED} documents: {early:.2f} and {late:.2f} s"
    return [
        Figure(name=name, value=rest / first, sign="≤", bar=1.3, note=note),
        Figure(name="changed documents among these, ÷", value=late / early, note=changed),
    ]


async def _change_seconds(pgs: Any, llm: FaithfulLLM, folder: Path) -> float:
    """Return the seconds that it takes to take a fact of the hub from some documents."""
    idle = await _timed(pgs, llm, folder)
    _change_files(folder)
    return max(0.001, await _timed(pgs, llm, folder) - idle)


def _change_files(folder: Path) -> None:
    for file in sorted(folder.rglob("*.txt"))[:CHANGED]:
        head, _, rest = file.read_text(encoding="utf-8").partition("\n\n")
        file.write_text(rest + head.partition(". ")[2], encoding="utf-8")


def _with_hub(facts: Sequence[Fact], documents: int) -> list[Fact]:
    """Return facts in which every document states one from the hub, and one to it."""
    own = PER_DOCUMENT - 2
    return [
        fact
        for number in range(documents)
        for part in [facts[own * number : own * (number + 1)]]
        for fact in (
            Fact(part[0].source, "joined", HUB),
            Fact(HUB, "financed", part[0].target),
            *part,
        )
    ]


def _texts(count: int) -> list[str]:
    world = make_world(4 * count, PER_DOCUMENT * count)
    return list(write_texts(world.facts, PER_DOCUMENT, CHARACTERS))


async def _ingest_seconds(bench: Bench, texts: Sequence[str], folder: Path) -> float:
    """Return the seconds of an ingestion without those of the model."""
    return (await _spent_by_ingesting(bench, texts, folder)).wall


async def _spent_by_ingesting(
    bench: Bench, texts: Sequence[str], folder: Path, *, embeds: bool = False
) -> Spent:
    """Return what an ingestion takes; one that embeds makes vectors of all texts it can."""
    embed = TableEmbedder() if embeds else False
    write_files(folder / "warm", texts[:WARM])
    write_files(folder / "docs", texts)
    llm = FaithfulLLM()
    async with bench.engine(llm) as pgs:
        await pgs.ingest(folder / "warm", "warm", embed=embed)
        # A first ingestion ends with an index, at which the server drops all of its plans.
        write_files(folder / "warm", texts[: 2 * WARM])
        await pgs.ingest(folder / "warm", "warm", embed=embed)
        return await _spent(pgs, llm, folder / "docs", bench.server.pid, embed)


async def _timed(pgs: Any, llm: FaithfulLLM, folder: Path) -> float:
    return (await _spent(pgs, llm, folder)).wall


async def _spent(
    pgs: Any,
    llm: FaithfulLLM,
    folder: Path,
    server: int | None = None,
    embed: TableEmbedder | Literal[False] = False,
) -> Spent:
    watch, model_s = Watch(server), llm.seconds
    done = await pgs.ingest(folder, GRAPH, embed=embed)
    assert done.complete, done.outcomes
    return watch.stop(llm.seconds - model_s)


@contextmanager
def published_rows() -> Iterator[tuple[list[float], list[dict[str, Any]]]]:
    """The seconds of each comparison and publication inside, and the rows of each."""
    seconds: list[float] = []
    rows: list[dict[str, Any]] = []
    write = Database.write

    async def timed_assemble(*given: Any, **more: Any) -> Any:
        began = perf_counter()
        try:
            return await assemble(*given, **more)
        finally:
            seconds.append(perf_counter() - began)

    async def timed_publish(*given: Any, **more: Any) -> Any:
        began = perf_counter()
        try:
            return await publish(*given, **more)
        finally:
            seconds.append(perf_counter() - began)

    async def noted(self: Database, query: Any, **params: Any) -> Any:
        if query.name == "documents/publish/publish":
            rows.append(params)
        return await write(self, query, **params)

    async def in_turn(following: Any, written: Any) -> Any:
        """Let no extraction run at the same time, since it would count as well."""
        done = await written
        return await following, done

    with (
        patch("pgs_neo4j.documents.pipeline.together", in_turn),
        patch("pgs_neo4j.documents.publish.groups.assemble", timed_assemble),
        patch("pgs_neo4j.documents.publish.groups.publish", timed_publish),
        patch.object(Database, "write", noted),
    ):
        yield seconds, rows
