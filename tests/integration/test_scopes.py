"""Engines with a scope see their own nodes only, as if no other nodes existed."""

from __future__ import annotations

import re
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import (
    GraphExistsError,
    ScopeError,
    UnknownGenerationError,
    UnknownGraphError,
    UnknownNodeError,
    UnknownRunError,
    UsageError,
)
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import GraphMapping, Prompt, SearchMode
from pgs_neo4j.model.scope import make_scope
from pgs_neo4j.search.indexes import make_indexes, want_vectors
from pgs_neo4j.search.known_indexes import KnownIndexes
from pgs_neo4j.search.paths.vector import find_by_vector
from tests.conftest import Endpoint
from tests.engines import engine_on, without_models
from tests.scopes import CANARIES, MAPPING, TENANTS, create_tenants, delete_others

KNOBS: dict[str, Any] = {"min_community_size": 10, "target_partition_max": 60, "graph": "notes"}
QUESTION = "What do the notes report on sleep and memory?"
MODES: tuple[SearchMode, ...] = (
    *("naive", "local", "global", "hybrid", "mix", "multipath", "triplets", "structural"),
)
SEARCHED = (" ".join(CANARIES.values()), *(f"{name}Label" for name in TENANTS))
"""Questions that would find nodes of other tenants."""
CHANGING = re.compile(
    r"\b[gr]?[0-9a-f]{12,}\b|\d{4}-\d\d-\d\dT[\d:.+Z]+|seconds=[\d.e-]+|\b[0-9a-f]{8}-[0-9a-f-]{27,}"
    r"|seconds=\{[^}]*\}|token='[^']*'"
)
"""Ids and times, which no two runs share."""


class Ear:
    """A model that hears every prompt."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __call__(self, prompt: Prompt) -> str:
        self.heard.append(f"{prompt.system}\n{prompt.user}")
        return contract_reply(prompt)


def open_tenant(
    endpoint: Endpoint, tenant: str, ear: Ear | None = None, **settings: Any
) -> AbstractAsyncContextManager[PGS]:
    return engine_on(endpoint, ear or Ear(), scope={"tenant": tenant}, **KNOBS, **settings)


@pytest.fixture
async def tenants(endpoint: Endpoint, db: Database) -> None:
    """Three tenants, whose shared graph is stored."""
    await create_tenants(db)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.add("notes", MAPPING)


async def look(pgs: PGS) -> list[object]:
    """Return what an engine shows of its graph in every way that needs no model."""
    shown: list[object] = [await pgs.graphs(), await pgs.partitions(), await pgs.partitions.units()]
    shown += [await pgs.search(QUESTION, mode=mode, top_k=50) for mode in MODES]
    shown += [await pgs.search(asked, mode="hybrid", top_k=50) for asked in SEARCHED]
    for node in (await pgs.browse.members("notes", 1)).members[:5]:
        shown.append(await pgs.browse.node("notes", node.element_id))
        shown.append(await pgs.browse.neighbors("notes", node.element_id))
        shown.append(await pgs.browse.findings_on_node("notes", node.element_id))
    shown += [await pgs.browse.map("notes"), await pgs.partitions.check()]
    shown += [await pgs.sessions(), await pgs.runs(), await pgs.jobs()]
    for run in await pgs.runs():
        shown += [await pgs.runs.answer(run.id), await pgs.runs.document(run.id)]
    return shown


@pytest.mark.usefixtures("tenants")
@pytest.mark.parametrize("tenant", list(TENANTS))
async def test_a_tenant_never_sees_a_word_of_another(endpoint: Endpoint, tenant: str) -> None:
    for other in TENANTS:
        if other != tenant:
            async with open_tenant(endpoint, other) as pgs:
                await pgs.execute(QUESTION)
    ear = Ear()
    async with open_tenant(endpoint, tenant, ear) as pgs:
        answer = await pgs.execute(QUESTION, full_sweep=True)
        shown = await look(pgs)
    assert answer.coverage.nodes_total == answer.coverage.nodes_read == TENANTS[tenant]
    text = "\n".join([*ear.heard, repr(answer), repr(shown)])
    for asked in SEARCHED:
        text = text.replace(asked, "")
    assert CANARIES[tenant] in text
    others = set(TENANTS) - {tenant}
    assert not [name for name in others if CANARIES[name] in text or f"{name}Label" in text]


@pytest.mark.usefixtures("tenants")
@pytest.mark.parametrize("tenant", ["middle", "small"])
async def test_a_tenant_sees_the_same_as_if_the_others_had_never_been(
    endpoint: Endpoint, db: Database, tenant: str
) -> None:
    seen = []
    for other in set(TENANTS) - {tenant}:
        async with open_tenant(endpoint, other) as pgs:
            await pgs.execute(QUESTION, full_sweep=True)
    for alone in (False, True):
        if alone:
            async with engine_on(endpoint, **KNOBS) as pgs:
                await pgs.purge()
                await delete_others(db, tenant)
                await pgs.graphs.add("notes", MAPPING)
        ear = Ear()
        async with open_tenant(endpoint, tenant, ear) as pgs:
            plan = await pgs.plan(QUESTION)
            answer = await pgs.execute(QUESTION, full_sweep=True)
            shown = [plan, answer, *await look(pgs), await pgs.kept_replies()]
        seen.append((sorted(ear.heard), [CHANGING.sub("*", repr(one)) for one in shown]))
    assert seen[0][0] == seen[1][0]
    for among_others, by_itself in zip(seen[0][1], seen[1][1], strict=True):
        assert among_others == by_itself


@pytest.mark.schema
@pytest.mark.usefixtures("tenants")
@pytest.mark.parametrize("tenant", list(TENANTS))
async def test_a_search_finds_the_nearest_nodes_of_the_scope_exactly(
    endpoint: Endpoint, db: Database, tenant: str
) -> None:
    vector = [0.2, 0.9, 0.1, 0.4]
    exact = await db.call(
        "MATCH (n:Note {tenant: $tenant}) "
        "WITH n, vector.similarity.cosine(n.embedding, $vector) AS score "
        "RETURN elementId(n) AS id ORDER BY score DESC, id LIMIT 10",
        {"tenant": tenant, "vector": vector},
        "read",
    )
    await make_indexes(db, want_vectors(MAPPING, len(vector)), 60.0)
    scoped = db.scoped(make_scope({"tenant": tenant}))
    indexes = await KnownIndexes().get(scoped)
    found = await find_by_vector(scoped, indexes, MAPPING, np.asarray(vector, np.float32), 10)
    assert list(found.scores) == [row["id"] for row in exact[1]]


@pytest.mark.usefixtures("tenants")
async def test_what_a_scope_stores_does_not_exist_for_others(endpoint: Endpoint) -> None:
    async with open_tenant(endpoint, "large") as pgs:
        answer = await pgs.execute(QUESTION, session_id="theirs")
        generation = (await pgs.partitions.generation()).id
        (member, *_) = (await pgs.browse.members("notes", 1)).members
    async with open_tenant(endpoint, "middle") as pgs:
        await pgs.execute(QUESTION, session_id="theirs")
        (run,) = await pgs.runs()
        assert run.id != answer.run
        for look_up in (pgs.runs.get, pgs.runs.answer, pgs.runs.document, pgs.runs.replies):
            with pytest.raises(UnknownRunError):
                await look_up(answer.run)
        with pytest.raises(UnknownRunError):
            await pgs.runs.find(answer.run[:8])
        with pytest.raises(UnknownRunError):
            await pgs.resume(answer.run)
        with pytest.raises(UnknownGenerationError):
            await pgs.partitions.compare(generation, generation)
        with pytest.raises(UnknownNodeError):
            await pgs.browse.node("notes", member.element_id)
    async with engine_on(endpoint, **KNOBS) as pgs:
        assert await pgs.runs() == [] == await pgs.sessions()
        with pytest.raises(UnknownRunError):
            await pgs.runs.get(answer.run)


@pytest.mark.usefixtures("tenants")
async def test_a_divided_graph_opens_only_with_a_value_for_each_property(
    endpoint: Endpoint,
) -> None:
    async with engine_on(endpoint, **KNOBS) as pgs:
        assert [graph.name for graph in await pgs.graphs()] == ["notes"]
        with pytest.raises(ScopeError, match=r"divided by tenant.*--scope tenant=VALUE"):
            await pgs.execute(QUESTION)
    async with engine_on(endpoint, scope={"place": 3}, **KNOBS) as pgs:
        with pytest.raises(ScopeError, match="tenant"):
            await pgs.search(QUESTION)
    async with engine_on(endpoint, scope={"tenant": "middle", "place": 3}, **KNOBS) as pgs:
        (item,) = (await pgs.search(QUESTION)).items
        assert item.key == "note 3"


@pytest.mark.usefixtures("tenants")
async def test_what_reads_the_whole_database_is_refused_within_a_scope(endpoint: Endpoint) -> None:
    async with open_tenant(endpoint, "small") as pgs:
        for refused in (
            lambda: pgs.gate("MATCH (n:Note) RETURN n.title"),
            lambda: pgs.gate.check("MATCH (n:Note) RETURN n.title"),
            lambda: pgs.search("How many notes are there?", mode="cypher"),
            pgs.survey,
            pgs.purge,
            pgs.clear_cache,
            pgs.indexes.create,
            pgs.indexes.drop,
        ):
            with pytest.raises(ScopeError, match="not possible within a scope"):
                await refused()
        with pytest.raises(ScopeError, match="shared with other scopes"):
            await pgs.graphs.remove("notes")


async def test_graphs_of_the_same_name_are_separate(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    for tenant, word in CANARIES.items():
        folder = tmp_path / tenant
        folder.mkdir()
        (folder / "note.md").write_text(f"# Report\n\nAda Lovelace of {word} wrote on {word}.\n")
    for tenant in CANARIES:
        async with without_models(endpoint, scope={"tenant": tenant}) as pgs:
            await pgs.ingest([tmp_path / tenant], graph="own")
    for tenant, word in CANARIES.items():
        ear = Ear()
        async with open_tenant(endpoint, tenant, ear) as pgs:
            assert "own" in [graph.name for graph in await pgs.graphs()]
            answer = await pgs.execute("Who wrote?", graph="own", full_sweep=True)
            found = await pgs.search("Who wrote?", graph="own", mode="hybrid")
        text = "\n".join([*ear.heard, repr(answer), repr(found)])
        assert word in text
        assert not [other for other in CANARIES.values() if other != word and other in text]
    stamped = await db.call(
        "MATCH (n:LoadedNode) RETURN n.tenant AS tenant, count(DISTINCT n.graph) AS graphs "
        "ORDER BY tenant",
        {},
        "read",
    )
    assert [tuple(row.values()) for row in stamped[1]] == [(name, 1) for name in sorted(CANARIES)]
    async with engine_on(endpoint, **KNOBS) as pgs:
        with pytest.raises(UnknownGraphError):
            await pgs.graphs.get("own")


async def test_a_deletion_reports_and_removes_only_text_of_its_scope(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    text = "The harbor of Genoa traded spices with the merchants of Damascus for many years."
    (tmp_path / "note.md").write_text(f"# Report\n\n{text}\n")
    for tenant in ("small", "middle"):
        async with without_models(endpoint, scope={"tenant": tenant}) as pgs:
            await pgs.ingest([tmp_path / "note.md"], graph="own")
            await pgs.execute("What did Genoa trade?", graph="own", full_sweep=True)
    await db.call("CREATE (:Copy {tenant: 'small', text: $text})", {"text": text}, "write")
    await db.call("CREATE (:Copy {tenant: 'middle', text: $text})", {"text": text}, "write")
    async with without_models(endpoint, scope={"tenant": "small"}) as pgs:
        deleted = await pgs.ingest.delete("own", ["note.md"], forget=True)
    assert [holder.kind for holder in deleted.holders] == ["Copy"]
    left = await db.call(
        "MATCH (n) WHERE any(k IN keys(n) WHERE toStringOrNull(n[k]) CONTAINS 'Damascus') "
        "RETURN DISTINCT coalesce(n.tenant, 'pgs') AS whose ORDER BY whose",
        {},
        "read",
    )
    assert [row["whose"] for row in left[1]] == ["middle", "pgs", "small"]
    async with without_models(endpoint, scope={"tenant": "middle"}) as pgs:
        (run,) = await pgs.runs()
        assert "Damascus" in repr(await pgs.runs.document(run.id))
        found = await pgs.search("Damascus", graph="own", mode="hybrid")
        assert found.items
    async with without_models(endpoint, scope={"tenant": "small"}) as pgs:
        (run,) = await pgs.runs()
        assert "Damascus" not in repr(await pgs.runs.answer(run.id))


@pytest.mark.usefixtures("tenants")
async def test_a_graph_of_a_scope_hides_a_shared_one_of_the_same_name(endpoint: Endpoint) -> None:
    own = GraphMapping(labels=("Note",), text=("title",))
    async with open_tenant(endpoint, "small") as pgs:
        await pgs.graphs.add("notes", own)
        assert (await pgs.graphs.get("notes")).mapping == own
        with pytest.raises(GraphExistsError):
            await pgs.graphs.add("notes", MAPPING)
        await pgs.graphs.remove("notes")
        assert (await pgs.graphs.get("notes")).mapping == MAPPING


@pytest.mark.usefixtures("tenants")
async def test_removing_a_shared_graph_removes_what_scopes_made_of_it(
    endpoint: Endpoint, db: Database
) -> None:
    for tenant in ("middle", "small"):
        async with open_tenant(endpoint, tenant) as pgs:
            await pgs.execute(QUESTION)
    async with engine_on(endpoint, **KNOBS) as pgs:
        await pgs.graphs.remove("notes")
    left = await db.call(
        "MATCH (n:PgsGraph|PgsGeneration|PgsPartition|PgsSession|PgsRun|PgsSweep) "
        "RETURN count(n) AS n",
        {},
        "read",
    )
    assert left[1] == [{"n": 0}]


@pytest.mark.usefixtures("tenants")
async def test_a_node_that_leaves_the_scope_is_gone_at_the_next_call(
    endpoint: Endpoint, db: Database
) -> None:
    ear = Ear()
    async with open_tenant(endpoint, "middle", ear) as pgs:
        await pgs.execute(QUESTION, full_sweep=True)
        await db.call(
            "MATCH (n:Note {tenant: 'middle', place: 7}) SET n.tenant = 'large'", {}, "write"
        )
        ear.heard.clear()
        found = await pgs.search("fact7", mode="hybrid", top_k=50)
        answer = await pgs.execute(QUESTION, full_sweep=True, session_id="second")
    assert "note 7" not in {item.key for item in found.items}
    assert answer.coverage.nodes_total == TENANTS["middle"] - 1
    assert not [prompt for prompt in ear.heard if "Note 7 reports" in prompt]


@pytest.mark.usefixtures("tenants")
async def test_scopes_share_no_replies(endpoint: Endpoint) -> None:
    prompt = Prompt(task="sweep", system="s", user="u", question="q")
    llm = ScriptedLLM(contract_reply)
    async with engine_on(endpoint, **KNOBS) as pgs:
        keys = [Replies(pgs.db, "r1").key(llm, prompt, 10, None)]
        for tenant in TENANTS:
            within = pgs.within({"tenant": tenant})
            keys.append(Replies(within.db, "r1").key(llm, prompt, 10, None))
            keys.append(Replies(within.db, "r2").key(llm, prompt, 10, None))
    assert len(set(keys)) == 1 + len(TENANTS)


@pytest.mark.parametrize(
    ("scope", "reason"),
    [
        ({"tenant": None}, "null"),
        ({"tenant": ["a", "b"]}, "type list"),
        ({"tenant": {"a": 1}}, "type dict"),
        ({"tenant": ""}, "empty text"),
        ({"tenant": float("nan")}, "finite"),
        ({"tenant": 2**70}, "64 bits"),
        ({"tenant": "\ud800"}, "Unicode"),
        ({"": 1}, "without a name"),
    ],
)
async def test_malformed_scopes_are_refused_before_anything_is_opened(
    endpoint: Endpoint, scope: dict[str, object], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        async with engine_on(endpoint, scope=scope):
            pytest.fail("it was opened")


async def test_a_statement_that_sees_everything_never_runs_within_a_scope(db: Database) -> None:
    scoped = db.scoped(make_scope({"tenant": "small"}))
    refused = 0
    for name in queries.names():
        query = queries.get(name)
        if query.sees == "everything":
            with pytest.raises(ScopeError):
                scoped.bind(query, {})
            refused += 1
    assert refused > 40
