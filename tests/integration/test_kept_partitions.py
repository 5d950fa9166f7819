"""Partitions stay with the settings that they were made with, until a person changes these."""

from mcp.client import Client

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.events import Warned
from pgs_neo4j.mcp_server.server import create_server
from pgs_neo4j.mcp_server.service import McpBounds, McpService
from pgs_neo4j.pgs.partitioning.result import read_current
from pgs_neo4j.web.access.callers import Caller
from tests.database import alter
from tests.engines import engine_on, without_models
from tests.graphs import papers
from tests.in_process import in_process, serving_of

SMALL = {"min_community_size": 10, "target_partition_max": 30}


async def generation(pgs):
    return (await pgs.partitions.generation("papers")).id


async def made(endpoint, db, **knobs):
    """A graph whose partitions one command made with settings of its own."""
    mapping = await papers(db)
    async with without_models(endpoint, embedder="none") as pgs:
        await pgs.graphs.add("papers", mapping)
        return (await pgs.partitions.build("papers", force=True, **(knobs or SMALL))).generation


async def test_no_later_command_replaces_what_a_flag_made(endpoint, db):
    first = await made(endpoint, db)
    assert first.partition_count > 4, "more than the default makes"
    async with engine_on(endpoint, embedder="none") as pgs:
        plan = await pgs.plan("Why?", graph="papers")
        assert (plan.generation, plan.partitions_note) == (first.id, "")
        assert (await pgs.partitions.build("papers")).reused
        assert (await pgs.execute("Why?", graph="papers")).generation == first.id
        await pgs.search("Why?", graph="papers", mode="global")
        assert await generation(pgs) == first.id
        again = await pgs.partitions.build("papers", force=True)
        assert again.generation.id != first.id
        assert again.generation.knobs == first.knobs, "a forced one keeps them as well"
        assert not (await pgs.partitions.check("papers")).settings_changed


async def test_a_flag_makes_new_partitions_and_says_so(endpoint, db):
    first = await made(endpoint, db)
    async with engine_on(endpoint, embedder="none") as pgs:
        told = []
        plan = await pgs.plan("Why?", graph="papers", target_partition_max=60)
        assert plan.generation == first.id == await generation(pgs)
        assert "makes others first" in plan.partitions_note
        changed = await pgs.partitions.build(
            "papers", target_partition_max=60, on_event=told.append
        )
        assert not changed.reused
        warnings = [one.message for one in told if isinstance(one, Warned)]
        assert any("target_partition_max is 60 and was 30" in text for text in warnings)
        assert changed.generation.knobs["min_community_size"] == 10, "the other one stays"


async def test_settings_that_a_program_assigns_count_as_passed(endpoint, db):
    first = await made(endpoint, db)
    async with without_models(endpoint, embedder="none") as pgs:
        pgs.config = PGSConfig(target_partition_max=60)
        changed = (await pgs.partitions.build("papers")).generation
        assert changed.id != first.id
        assert changed.knobs["target_partition_max"] == 60


async def test_a_configured_setting_counts_once_it_changes(endpoint, db, monkeypatch):
    monkeypatch.setenv("PGS_TARGET_PARTITION_MAX", "60")
    first = await made(endpoint, db)
    async with without_models(endpoint, embedder="none") as pgs:
        kept = await pgs.partitions.build("papers")
        assert kept.generation.id == first.id, "configured before the flag was given"
    monkeypatch.setenv("PGS_TARGET_PARTITION_MAX", "50")
    async with without_models(endpoint, embedder="none") as pgs:
        changed = (await pgs.partitions.build("papers")).generation
        assert changed.knobs["target_partition_max"] == 50
    monkeypatch.delenv("PGS_TARGET_PARTITION_MAX")
    async with without_models(endpoint, embedder="none") as pgs:
        assert (await pgs.partitions.build("papers")).generation.id == changed.id


async def test_two_processes_that_are_configured_differently_do_not_take_turns(
    endpoint, db, monkeypatch
):
    mapping = await papers(db)

    async def ask(tokens, **passed):
        """A question of a process that has this setting, and what it was warned of."""
        told = []
        monkeypatch.setenv("PGS_TARGET_PARTITION_MAX", tokens)
        async with engine_on(endpoint, embedder="none", min_community_size=10) as pgs:
            answer = await pgs.execute("Why?", graph="papers", on_event=told.append, **passed)
            plan = await pgs.plan("Why?", graph="papers")
            assert plan.generation == answer.generation == await generation(pgs)
        warned = [one.message for one in told if isinstance(one, Warned)]
        return answer.generation, warned, plan.partitions_note

    async with without_models(endpoint, embedder="none", **SMALL) as pgs:
        await pgs.graphs.add("papers", mapping)
        await pgs.partitions.build("papers")
    first, *_ = await ask("60")
    second, *_ = await ask("50")
    assert second != first, "a newly configured value counts"
    kept, warned, note = await ask("60")
    assert kept == second
    command = "'pgs partition --graph papers --target-partition-max 60'"
    assert any(command in text for text in warned)
    assert command in note
    assert (await ask("50"))[0] == second
    monkeypatch.setenv("PGS_TARGET_PARTITION_MAX", "60")
    async with without_models(endpoint, embedder="none", min_community_size=10) as pgs:
        set_back = (await pgs.partitions.build("papers")).generation
        assert set_back.knobs["target_partition_max"] == 60, "a person partitions with it"
    assert (await ask("60"))[0] == set_back.id


async def test_a_refresh_by_a_process_without_a_setting_forgets_nothing(endpoint, db, monkeypatch):
    monkeypatch.setenv("PGS_TARGET_PARTITION_MAX", "60")
    first = await made(endpoint, db)
    monkeypatch.delenv("PGS_TARGET_PARTITION_MAX")
    await alter(db, "MATCH (p:Paper {doi: 'doi/3'}) SET p.abstract = 'Rewritten.'")
    async with without_models(endpoint, embedder="none") as pgs:
        refreshed = (await pgs.partitions.build("papers")).generation
        assert (refreshed.origin, refreshed.knobs) == ("refreshed", first.knobs)
        assert refreshed.standing == {"target_partition_max": [60]}
    await alter(db, "MATCH (p:Paper {doi: 'doi/4'}) DETACH DELETE p")
    async with without_models(endpoint, embedder="none") as pgs:
        assert pgs.partitions.outlook(await pgs.partitions.check("papers")) == "seeded"
        grown = (await pgs.partitions.build("papers")).generation
        assert (grown.origin, grown.knobs) == ("seeded", first.knobs)
    monkeypatch.setenv("PGS_TARGET_PARTITION_MAX", "60")
    async with without_models(endpoint, embedder="none") as pgs:
        assert (await pgs.partitions.build("papers")).generation.id == grown.id


async def test_the_outlook_is_that_of_the_algorithm_that_is_kept(endpoint, db):
    await made(endpoint, db, **SMALL, algorithm="leiden")
    await alter(db, "MATCH (p:Paper {doi: 'doi/4'}) DETACH DELETE p")
    async with without_models(endpoint, embedder="none") as pgs:
        drift = await pgs.partitions.check("papers")
        assert (drift.algorithm, drift.settings_changed) == ("leiden", False)
        assert pgs.partitions.outlook(drift) == "cold"
        assert pgs.partitions.outlook(drift, algorithm="louvain") == "seeded"
        assert (await pgs.partitions.build("papers")).generation.origin == "cold"


async def test_an_edited_file_counts_for_the_graphs_that_were_not_made_with_it(
    endpoint, db, tmp_path, monkeypatch
):
    """Each of several graphs keeps its own settings."""
    monkeypatch.chdir(tmp_path)
    mapping = await papers(db)
    async with without_models(endpoint, embedder="none", **SMALL) as pgs:
        for name in ("papers", "other"):
            await pgs.graphs.add(name, mapping)
        papers_first = (await pgs.partitions.build("papers")).generation
        other_first = (await pgs.partitions.build("other", target_partition_max=60)).generation
    (tmp_path / "pgs.toml").write_text("target_partition_max = 60\n", encoding="utf-8")
    told = []
    async with without_models(endpoint, embedder="none", on_event=told.append) as pgs:
        other = (await pgs.partitions.build("other")).generation
        assert (other.id, other.knobs["target_partition_max"]) == (other_first.id, 60)
        changed = (await pgs.partitions.build("papers")).generation
        assert changed.id != papers_first.id
        assert changed.knobs == papers_first.knobs | {"target_partition_max": 60}
        assert changed.standing == {"target_partition_max": [60]}
    warned = [one.message for one in told if isinstance(one, Warned)]
    assert any("target_partition_max is 60 and was 30" in text for text in warned)


async def test_jobs_keep_what_a_flag_made(endpoint, db):
    first = await made(endpoint, db)
    async with without_models(endpoint, embedder="none") as pgs:
        job = await pgs.jobs.run("papers", if_changed=True)
        assert (job.outcome, job.generation) == ("unchanged", first.id)
        again = await pgs.jobs.run("papers")
        assert again.outcome == "repartitioned"
        assert (await pgs.partitions.generation("papers")).knobs == first.knobs


async def test_partitions_of_an_earlier_release_are_read_and_kept(endpoint, db):
    mapping = await papers(db)
    async with engine_on(endpoint, embedder="none", **SMALL) as pgs:
        await pgs.graphs.add("papers", mapping)
        first = (await pgs.partitions.build("papers")).generation
        await alter(db, "MATCH (g:PgsGeneration) REMOVE g.knobs, g.standing")
        assert (await pgs.partitions.generation("papers")).knobs == {}
        assert (await pgs.execute("Why?", graph="papers")).generation == first.id
    async with engine_on(endpoint, embedder="none") as pgs:
        plan = await pgs.plan("Why?", graph="papers")
        assert plan.generation == first.id
        assert "makes others first" in plan.partitions_note


async def test_a_plan_makes_first_partitions_only_and_says_so(endpoint, db):
    mapping = await papers(db)
    async with engine_on(endpoint, embedder="none", **SMALL) as pgs:
        await pgs.graphs.add("papers", mapping)
        plan = await pgs.plan("Why?", graph="papers")
        count = len(await pgs.partitions("papers"))
        assert plan.partitions_note.endswith(f"had no partitions, so {count} partitions were made")
        more = "UNWIND range(1, 9) AS i CREATE (:Paper {title: 'New ' + i, abstract: 'n'})"
        await alter(db, more)
        later = await pgs.plan("Why?", graph="papers")
        assert later.generation == plan.generation == await generation(pgs)
        assert "has changed since" in later.partitions_note
        answer = await pgs.execute("Why?", graph="papers")
        assert answer.generation != plan.generation


async def test_a_plan_on_the_page_and_of_an_agent_replaces_no_partitions(endpoint, db):
    first = await made(endpoint, db)
    await alter(db, "CREATE (:Paper {title: 'New', abstract: 'A new one.'})")
    caller = Caller("ada", "asker", True, frozenset({"papers"}), None, None)
    async with engine_on(endpoint, embedder="none") as pgs:
        async with in_process(serving_of(pgs, caller), "ada") as client:
            asked = {"graph": "papers", "question": "Why?"}
            planned = (await client.post("/api/plan", json=asked)).json()
        service = McpService(pgs, bounds=McpBounds())
        async with Client(create_server(service)) as agent:
            told = (await agent.call_tool("plan", {"question": "Why?"})).structured_content
        await service.questions.live.stop()
        assert planned["generation"] == first.id == await generation(pgs)
        for note in (planned["partitions_note"], told["note"]):
            assert "a question updates them first" in note


async def test_a_plan_reads_again_where_partitions_were_just_replaced(endpoint, db, monkeypatch):
    first = await made(endpoint, db)
    reads = []

    async def replaced_once(*given, **options):
        reads.append(given)
        if len(reads) == 1:
            raise DatabaseError("the partitions were deleted while they were read")
        return await read_current(*given, **options)

    monkeypatch.setattr("pgs_neo4j.pgs.record.read_current", replaced_once)
    async with engine_on(endpoint, embedder="none") as pgs:
        assert (await pgs.plan("Why?", graph="papers")).generation == first.id
    assert len(reads) == 2


async def test_advice_to_make_smaller_partitions_is_not_repeated_once_it_was_followed(endpoint, db):
    mapping = await papers(db)
    await alter(
        db, "MATCH (p:Paper) SET p.abstract = reduce(t = '', i IN range(1, 40) | t + ' so')"
    )
    async with without_models(endpoint, embedder="none") as pgs:
        await pgs.graphs.add("papers", mapping)
        await pgs.partitions.build("papers", min_community_size=160, target_partition_max=200)
    async with engine_on(endpoint, embedder="none", max_pass_characters=17_000) as pgs:
        advice = (await pgs.plan("Why?", graph="papers")).advice
        command = "pgs partition --graph papers --force --max-partition-tokens "
        assert command in advice
        tokens = int(advice.split(command)[1].split("'")[0])
        await pgs.partitions.build("papers", force=True, max_partition_tokens=tokens)
        plan = await pgs.plan("Why?", graph="papers", full_sweep=True)
        assert (plan.advice, {sweep.passes for sweep in plan.sweeps}) == ("", {1})
