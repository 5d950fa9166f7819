"""Close names that a model judged are one entity, until their chunks go or people rule."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.enrich.arbiter import ShownName
from pgs_neo4j.documents.enrich.judging import NamesJudged, judge_names
from pgs_neo4j.documents.entities import list_entities, read_entity, split_entity
from pgs_neo4j.documents.names.renewal import hold_with_resolved_names, read_judgments, read_rulings
from pgs_neo4j.documents.publish.publication import prepare
from pgs_neo4j.errors import ModelUnavailableError, PromptTooLongError, StoppedError
from pgs_neo4j.events import ignore
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from tests.documents import new_document, sure, write_documents
from tests.fakes.arbiters import RuledArbiter

# Chunks of these texts are sure: see ``new_document``.
NAMES = {"text 1": "Bill Gates", "text 3": "William Gates", "text 4": "Melinda Gates"}


@pytest.fixture
async def graph(db: Database) -> str:
    await prepare(db)
    return "docs"


async def write(db: Database, graph: str, *texts: str) -> None:
    said = {
        text: GroundedExtraction(
            (GroundedEntity(name=NAMES[text], type="Person", description=f"{text}."),)
        )
        for text in texts
    }
    await write_documents(db, sure(new_document("a", said)), graph=graph)


async def judge(db: Database, graph: str, arbiter: RuledArbiter) -> NamesJudged:
    async with hold_with_resolved_names(db, graph, "Docs") as held:
        return await judge_names(db, held, arbiter, 1, ignore)


async def names(db: Database, graph: str) -> set[str]:
    return {one.name for one in await list_entities(db, graph)}


def same_bill(one: ShownName, other: ShownName) -> bool:
    return {one.name, other.name} == {"Bill Gates", "William Gates"}


@pytest.mark.thorough
async def test_a_judgment_joins_outlasts_its_chunks_and_is_not_asked_for_again(
    db: Database, graph: str
) -> None:
    await write(db, graph, *NAMES)
    arbiter = RuledArbiter(same_bill)
    done = await judge(db, graph, arbiter)
    assert (done.pairs, done.same, done.waiting, arbiter.calls) == (1, 1, 0, 1)
    assert await names(db, graph) == {"Bill Gates", "Melinda Gates"}
    page = await read_entity(db, graph, "Bill Gates")
    assert {(one.spellings[0], one.joined) for one in page.names} == {
        ("William Gates", "leads"), ("Bill Gates", "judgment"),
    }  # fmt: skip
    assert await judge(db, graph, arbiter) == NamesJudged()
    await write(db, graph, "text 1", "text 4")
    assert await names(db, graph) == {"Bill Gates", "Melinda Gates"}
    await write(db, graph, *NAMES)
    assert await names(db, graph) == {"Bill Gates", "Melinda Gates"}
    assert arbiter.calls == 1
    assert await read_rulings(db, graph) == {}
    assert len(await read_judgments(db, graph)) == 1


@pytest.mark.thorough
async def test_people_have_the_last_word(db: Database, graph: str) -> None:
    await write(db, graph, *NAMES)
    arbiter = RuledArbiter(same_bill)
    await judge(db, graph, arbiter)
    async with hold_with_resolved_names(db, graph, "Docs") as held:
        await split_entity(db, held, "William Gates", ["Bill Gates"])
    assert await names(db, graph) == set(NAMES.values())
    await judge(db, graph, arbiter)
    assert await names(db, graph) == set(NAMES.values())
    assert arbiter.calls == 1


async def test_a_limit_or_a_failure_leaves_pairs_for_the_next_ingestion(
    db: Database, graph: str
) -> None:
    await write(db, graph, *NAMES)
    for error in (StoppedError("max_calls reached"), ModelUnavailableError("it is away")):
        done = await judge(db, graph, RuledArbiter(errors={"Bill Gates": error}))
        assert (done.pairs, done.waiting) == (0, 1)
        assert str(error) in (done.stopped, done.error)
    done = await judge(db, graph, RuledArbiter(errors={"Bill Gates": PromptTooLongError("long")}))
    assert (done.pairs, done.waiting, done.ended, done.why) == (0, 1, False, "long")
    assert done.refused == ("Bill Gates and William Gates (Person)",)
    done = await judge(db, graph, RuledArbiter(lambda one, other: None))
    assert (done.pairs, done.waiting, done.ended) == (0, 1, False)
    assert await read_judgments(db, graph) == []
    assert (await judge(db, graph, RuledArbiter(same_bill))).pairs == 1
