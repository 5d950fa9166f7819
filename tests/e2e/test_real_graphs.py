"""All of it on notes as the original engine keeps them, and on questions as their users load them.

They are the ones that others made where the shared data is, and generated elsewhere.
"""

import random
import re

import pytest

from pgs_neo4j.documents.loading.brain import read_brain
from pgs_neo4j.documents.loading.load import load
from pgs_neo4j.engine.survey import propose, survey, validate
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import GraphMapping
from tests.conftest import SHARED
from tests.engines import engine_on
from tests.graphs import checksum, count
from tests.stackoverflow import load_tables

FACTS = 200
OTHERS = (SHARED / "data").is_dir()


async def plant(db, label, text_property):
    """Facts in random nodes; returns them."""
    _, rows = await db.call(
        f"MATCH (n:{label}) WHERE n.{text_property} IS NOT NULL RETURN elementId(n) AS id "
        "ORDER BY id",
        {},
        "read",
    )
    chosen = random.Random(7).sample([row["id"] for row in rows], FACTS)
    await db.call(
        f"UNWIND range(0, size($ids) - 1) AS i MATCH (n) WHERE elementId(n) = $ids[i] "
        f"SET n.{text_property} = n.{text_property} + ' planted-fact-' + i + '-end'",
        {"ids": chosen},
        "write",
    )
    return {f"planted-fact-{i}-end" for i in range(FACTS)}


def report_planted(prompt):
    """A reader that reports exactly the facts that it is shown."""
    if prompt.task != "sweep":
        return contract_reply(prompt)
    found = [
        f"- {fact} [{node.alias}]"
        for node in prompt.nodes
        for fact in re.findall(r"planted-fact-\d+-end", node.text)
    ]
    return "\n".join(["## Domain State", "x", "## Findings", *(found or ["None."]), "## Absences"])


def found_facts(answer):
    return {
        fact
        for sweep in answer.sweeps
        for finding in sweep.report.findings
        for fact in re.findall(r"planted-fact-\d+-end", finding.text)
        if all(citation.valid for citation in finding.citations)
    }


async def shown_nodes(engine):
    """How many distinct nodes stood in sweep prompts, by partition and alias."""
    return len(
        {
            (prompt.partition, node.alias)
            for prompt in engine.sweep_llm.prompts
            if prompt.task == "sweep"
            for node in prompt.nodes
        }
    )


@pytest.mark.nightly
@pytest.mark.parametrize("brain", ["physics2" if OTHERS else "generated"], indirect=True)
async def test_notes_from_file_to_a_complete_reading(endpoint, db, brain):
    loaded = await load(db, read_brain(brain.path), "physics2")
    proposal = propose(await survey(db))
    assert proposal.mapping == GraphMapping(
        text=("concept",), key="id", relationship_weight="weight", embedding="embedding"
    )
    constant = "weight is not proposed as weight, because it is the same everywhere (1)"
    assert constant in proposal.notes
    assert any("embedding, 512 dimensions, on 100 %" in note for note in proposal.notes)
    assert await validate(db, proposal.mapping) == []
    facts = await plant(db, loaded.label, "concept")
    before = await checksum(db)
    async with engine_on(endpoint, report_planted) as engine:
        await engine.graphs.add("physics2", loaded.mapping)
        answer = await engine.execute("What is planted?", full_sweep=True)
        assert found_facts(answer) == facts
        assert await shown_nodes(engine) == answer.coverage.nodes_read == brain.nodes
        assert answer.coverage.exhausted
        assert not answer.partial
        focused = await engine.execute(
            "How does the central charge constrain the spectrum?", max_sweep_partitions=3
        )
        assert 1 <= len(focused.sweeps) <= 3
        assert all("match" in route.reason for route in focused.routing.routes)
        await engine.purge()
    assert await checksum(db) == before


@pytest.mark.nightly
@pytest.mark.parametrize("archive", ["Stack Overflow" if OTHERS else "generated"], indirect=True)
async def test_questions_as_an_existing_heterogeneous_database(endpoint, db, archive):
    stored = await load_tables(db, archive)
    facts = await plant(db, "Answer|Question", "body_markdown")
    before = await checksum(db)
    found = await survey(db)
    assert (found.nodes, found.relationships) == stored
    proposal = propose(found)
    mapping = proposal.mapping
    assert mapping == GraphMapping(
        text=("name", "display_name", "title", "body_markdown"),
        title="title",
        titles=("User.display_name", "Tag.name"),
        key="question_id",
        keys=("Comment.comment_id", "Answer.answer_id", "User.user_id", "Tag.tag_id"),
    )
    assert "no text on Comment; these nodes count for structure only" in proposal.notes
    assert await validate(db, mapping) == []
    async with engine_on(endpoint, report_planted) as engine:
        await engine.graphs.add("questions", mapping)
        partitioning = await engine.partitions.build("questions")
        assert partitioning.generation.node_count == await count(
            db, "(x) WHERE NOT any(l IN labels(x) WHERE l STARTS WITH 'Pgs')"
        )
        assert all(p.pool or 30 <= p.size <= 1800 for p in partitioning.partitions)
        answer = await engine.execute("What is planted?", full_sweep=True)
        assert found_facts(answer) == facts
        assert await shown_nodes(engine) == answer.coverage.nodes_read
        assert answer.coverage.exhausted
        assert await checksum(db) == before
        assert (await engine.purge()).nodes > 0
    assert await checksum(db) == before
