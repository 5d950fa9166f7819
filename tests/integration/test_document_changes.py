"""Any history of changes leaves the graph that the live documents make at once."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from random import Random

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.holder import Holder
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.database.tasks import together
from pgs_neo4j.documents.enrich.embed import embed_waiting
from pgs_neo4j.documents.enrich.judging import judge_names
from pgs_neo4j.documents.entities import (
    list_entities,
    merge_entities,
    read_entity,
    split_entity,
)
from pgs_neo4j.documents.fold.resolution import Resolution
from pgs_neo4j.documents.fold.rulings import Judgment, Ruled, group_judged_names, rulings_in_force
from pgs_neo4j.documents.names.renewal import hold_with_resolved_names, read_judgments, read_rulings
from pgs_neo4j.documents.order import Embedding
from pgs_neo4j.documents.publish.publication import NewDocument, assemble, prepare, publish
from pgs_neo4j.documents.publish.writer import Writer, hold_documents
from pgs_neo4j.documents.stored import read_documents
from pgs_neo4j.errors import BusyError, DatabaseUnavailableError, LeaseLostError
from pgs_neo4j.events import ignore
from pgs_neo4j.model.browsing import EntityPage
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from tests.database import alter, fetch
from tests.documents import (
    name_rows,
    new_document,
    random_extraction,
    stored_graph,
    stored_names,
    sure,
    write_documents,
)
from tests.fakes.arbiters import RuledArbiter
from tests.fakes.embedders import ScriptedEmbedder
from tests.fakes.extractors import WordExtractor
from tests.fakes.ingestion import Documents, ingestion

HISTORIES = 10
AT_ONCE = 30
STEPS = 6
KINDS = ("add", "edit", "rename", "delete", "merge", "split", "kill")


@pytest.fixture
async def writer(db: Database) -> Writer:
    await prepare(db)
    async with hold_documents(db, "docs", "Docs") as held:
        return held


async def embed(db: Database, writer: Writer, embedder: ScriptedEmbedder) -> None:
    """Make the vectors that are missing."""

    async def begin() -> None:
        return

    _, tools = ingestion(Documents(), WordExtractor(), Path())
    tools = replace(tools, db=db, embedding=Embedding(embedder, begin))
    async with hold_with_resolved_names(db, writer.graph, writer.label) as held:
        done = await embed_waiting(tools, held, stopped="")
    assert not done.ended


async def rule(db: Database, writer: Writer, random: Random) -> str:
    """Merge two entities or split one, if there are such; tell which."""
    there = sorted(entity.id for entity in await list_entities(db, writer.graph))
    async with hold_with_resolved_names(db, writer.graph, writer.label) as held:
        if len(there) > 1 and random.random() < 0.5:
            one, into = random.sample(there, 2)
            await merge_entities(db, held, [one], into)
            return "merge"
        for id_ in random.sample(there, len(there)):
            if names := parting_names(await read_entity(db, writer.graph, id_)):
                await split_entity(db, held, id_, [random.choice(names)])
                return "split"
    return ""


def parting_names(page: EntityPage) -> list[str]:
    """The names of an entity that can part with it: not the leading one, unless it was merged."""
    return [
        name.id
        for name in page.names
        if name.joined != "leads" and (name.joined, name.id) != ("apart", page.entity.id)
    ]


async def judge(db: Database, writer: Writer) -> None:
    """Have close names judged."""
    async with hold_with_resolved_names(db, writer.graph, writer.label) as held:
        await judge_names(db, held, RuledArbiter(), 1, ignore)


def document_of(name: str, person: str) -> NewDocument:
    """A document that mentions a person; a model says so."""
    said = GroundedExtraction((GroundedEntity(name=person, type="Person"),))
    return sure(new_document(name, {name: said}))


async def publish_rulings(
    db: Database, writer: Writer, ruled: Ruled, judged: list[Judgment]
) -> None:
    """Store rulings before there is anything to rule on."""
    async with hold_with_resolved_names(db, writer.graph, writer.label) as held:
        nothing = await assemble(db, held.graph, [], {}, held.resolution)
        await publish(db, held, replace(nothing, ruled=ruled, judged=judged))


def changed(random: Random, document: NewDocument | None, name: str) -> NewDocument:
    """A document of which some chunks stay, some say something else, and some are new."""
    texts = {} if document is None else {new.chunk.text: new.extraction for new in document.chunks}
    kept = {text: one for text, one in texts.items() if random.random() < 0.6}
    for text in kept:
        if random.random() < 0.3:
            kept[text] = random_extraction(random)
    for number in range(random.randint(0, 3)):
        kept[f"text {random.randint(0, 9)}{number}"] = random_extraction(random)
    order = [*kept]
    random.shuffle(order)
    return new_document(name, {text: kept[text] for text in order})


def renamed(document: NewDocument, name: str) -> NewDocument:
    """The same document under another name."""
    return new_document(name, {new.chunk.text: new.extraction for new in document.chunks})


@dataclass(slots=True)
class DyingDatabase(Database):
    """A database whose client is killed at a write: before it, or before it is acknowledged."""

    writes_left: int = -1
    done: bool = False

    @classmethod
    def of(cls, db: Database) -> DyingDatabase:
        return cls(**{one.name: getattr(db, one.name) for one in fields(Database)})

    async def write(self, query: Query, **params: object) -> list[Row]:
        self.writes_left -= self.writes_left > 0
        if self.writes_left:
            return await Database.write(self, query, **params)
        if self.done:
            await Database.write(self, query, **params)
            self.done = False
        raise DatabaseUnavailableError("killed")


@dataclass(slots=True)
class History:
    """Some changes of a graph, and the documents that it is to have after them."""

    db: DyingDatabase
    writer: Writer
    random: Random
    live: dict[str, NewDocument] = field(default_factory=dict)
    happened: Counter[str] = field(default_factory=Counter)
    embedder: ScriptedEmbedder = field(default_factory=ScriptedEmbedder)

    async def run(self) -> None:
        random, db, writer = self.random, self.db, self.writer
        for _ in range(STEPS):
            if random.random() < 0.3:
                await self.survive(lambda: embed(db, writer, self.embedder))
            if random.random() < 0.3:
                await self.survive(self.rule)
            if random.random() < 0.2:
                await self.survive(lambda: judge(db, writer))
            kind, documents, gone = self.changed()
            times = random.choice((1, 1, 2))
            change = partial(write_documents, db, *documents, gone=gone, graph=writer.graph)
            if await self.survive(partial(change, times=times)):
                await change()
            self.happened[kind] += 1

    async def rule(self) -> None:
        self.happened[await rule(self.db, self.writer, self.random)] += 1

    async def survive(self, step: Callable[[], Awaitable[None]]) -> bool:
        """Run a step, which may be killed, and return whether it was."""
        if self.random.random() < 0.2:
            self.db.writes_left, self.db.done = (
                self.random.randint(1, 6),
                self.random.random() < 0.5,
            )
        try:
            await step()
        except DatabaseUnavailableError:
            self.happened["kill"] += 1
            return True
        finally:
            self.db.writes_left = -1
        return False

    def changed(self) -> tuple[str, list[NewDocument], str]:
        """Change a document; return how, what is to be written of it, and what goes."""
        random, live = self.random, self.live
        name = random.choice(("a", "b", "c", "d"))
        free = sorted({"a", "b", "c", "d"} - live.keys())
        if name in live and random.random() < 0.3:
            del live[name]
            return "delete", [], name
        if name in live and free and random.random() < 0.3:
            other = random.choice(free)
            live[other] = renamed(live.pop(name), other)
            return "rename", [live[other]], name
        kind = "edit" if name in live else "add"
        live[name] = changed(random, live.get(name), name)
        return kind, [live[name]], ""


@pytest.mark.nightly
async def test_any_history_ends_at_what_its_end_makes_at_once(db: Database, writer: Writer) -> None:
    """Some histories side by side, since most of their time is the server's."""
    happened: Counter[str] = Counter()
    for first in range(0, HISTORIES, AT_ONCE):
        histories = {
            seed: History(DyingDatabase.of(db), replace(writer, graph=f"docs {seed}"), Random(seed))
            for seed in range(first, min(first + AT_ONCE, HISTORIES))
        }
        ended = await together(*(is_as_at_once(db, one) for one in histories.values()))
        assert [seed for seed, same in zip(histories, ended, strict=True) if not same] == []
        happened.update(sum((one.happened for one in histories.values()), Counter()))
    assert min(happened[kind] for kind in KINDS) > HISTORIES / 10, happened


async def is_as_at_once(db: Database, history: History) -> bool:
    await history.run()
    held, live = history.writer, history.live
    other = replace(held, graph=held.graph.replace("docs", "at once"))
    ruled, judged = await read_rulings(db, held.graph), await read_judgments(db, held.graph)
    await publish_rulings(db, other, ruled, judged)
    await write_documents(db, *live.values(), graph=other.graph)
    await together(*(embed(db, one, history.embedder) for one in (held, other)))
    found, wanted = await stored_graph(db, held.graph), await stored_graph(db, other.graph)
    for node in (*found["nodes"], *wanted["nodes"]):
        del node["properties"]["graph"]
    resolution = Resolution(rulings=rulings_in_force(ruled), judged=group_judged_names(judged))
    named = await stored_names(db, held.graph) == name_rows(live.values(), held.graph, resolution)
    return found == wanted and named and {*await read_documents(db, held.graph)} == set(live)


async def test_a_node_keeps_what_users_gave_it_when_its_leading_name_changes(
    db: Database, writer: Writer
) -> None:
    await write_documents(db, document_of("a", "M. Curie"))
    await alter(
        db,
        "MATCH (e:`__Entity__` {key: 'M._CURIE'}) "
        "SET e:Laureate, e.born = 1867 CREATE (:Prize)-[:WON_BY]->(e)",
    )
    await write_documents(db, document_of("b", "Marie Curie"), times=2)
    rows = await fetch(
        db,
        "MATCH (:Prize)-[:WON_BY]->(e:Laureate:Person) "
        "RETURN e.id AS id, e.born AS born, COUNT { (e)-[:MENTIONED_IN]->() } AS mentions",
    )
    assert rows == [{"id": "entity:Person:MARIE_CURIE", "born": 1867, "mentions": 2}]


async def test_a_process_that_was_killed_is_in_nobodys_way(db: Database, writer: Writer) -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await child.wait()
    here = Holder.of_this_process()
    gone = str(replace(here, pid=child.pid, token="0a1b2c3d"))
    for holder, expires in ((gone, "PT1H"), ("elsewhere, pid 1", "-PT1S")):
        await alter(
            db,
            "MATCH (w:PgsIngest {graph: 'docs'}) SET w.holder = $holder, "
            "w.expires_at = datetime() + duration($expires)",
            holder=holder,
            expires=expires,
        )
        async with hold_documents(db, "docs", "Docs") as held:
            await publish(db, held, await assemble(db, "docs", [], {}))
            with pytest.raises(BusyError, match="is writing"):
                async with hold_documents(db, "docs", "Docs"):
                    pass


async def test_one_process_writes_at_a_time(db: Database, writer: Writer) -> None:
    document = new_document("a", {"one": random_extraction(Random(1))})
    async with hold_documents(db, "docs", "Docs") as held:
        with pytest.raises(BusyError, match="is writing the documents of graph docs"):
            async with hold_documents(db, "docs", "Docs"):
                pass
        await alter(db, "MATCH (w:PgsIngest) SET w.holder = 'another'")
        with pytest.raises(LeaseLostError, match="another process"):
            await publish(db, held, await assemble(db, "docs", [document], {}))
    assert (await stored_graph(db, "docs"))["nodes"] == []
