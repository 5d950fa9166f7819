"""Partitions stay with the settings that they were made with, until a person changes these."""

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.events import Warned
from tests.database import alter
from tests.engines import engine_on, without_models
from tests.graphs import papers

SMALL = {"min_community_size": 10, "target_partition_max": 30}


async def generation(pgs):
    return (await pgs.generation("papers")).id


async def made(endpoint, db, **knobs):
    """A graph whose partitions one command made with settings of its own."""
    mapping = await papers(db)
    async with without_models(endpoint, embedder="none") as pgs:
        await pgs.add_graph("papers", mapping)
        return (await pgs.partition("papers", force=True, **(knobs or SMALL))).generation


async def test_no_later_command_replaces_what_a_flag_made(endpoint, db):
    first = await made(endpoint, db)
    assert first.partition_count > 4, "more than the default makes"
    async with engine_on(endpoint, embedder="none") as pgs:
        plan = await pgs.plan("Why?", graph="papers")
        assert (plan.generation, plan.partitions_note) == (first.id, "")
        assert (await pgs.partition("papers")).reused
        assert (await pgs.execute("Why?", graph="papers")).generation == first.id
        await pgs.search("Why?", graph="papers", mode="global")
        assert await generation(pgs) == first.id
        again = await pgs.partition("papers", force=True)
        assert again.generation.id != first.id
        assert again.generation.knobs == first.knobs, "a forced one keeps them as well"
        assert not (await pgs.check("papers")).settings_changed


async def test_a_flag_makes_new_partitions_and_says_so(endpoint, db):
    first = await made(endpoint, db)
    async with engine_on(endpoint, embedder="none") as pgs:
        told = []
        plan = await pgs.plan("Why?", graph="papers", target_partition_max=60)
        assert plan.generation == first.id == await generation(pgs)
        assert "makes others first" in plan.partitions_note
        changed = await pgs.partition("papers", target_partition_max=60, on_event=told.append)
        assert not changed.reused
        warnings = [one.message for one in told if isinstance(one, Warned)]
        assert any("target_partition_max is 60 and was 30" in text for text in warnings)
        assert changed.generation.knobs["min_community_size"] == 10, "the other one stays"


async def test_settings_that_a_program_assigns_count_as_passed(endpoint, db):
    first = await made(endpoint, db)
    async with without_models(endpoint, embedder="none") as pgs:
        pgs.config = PGSConfig(target_partition_max=60)
        changed = (await pgs.partition("papers")).generation
        assert changed.id != first.id
        assert changed.knobs["target_partition_max"] == 60


async def test_a_configured_setting_counts_once_it_changes(endpoint, db, monkeypatch):
    monkeypatch.setenv("PGS_TARGET_PARTITION_MAX", "60")
    first = await made(endpoint, db)
    async with without_models(endpoint, embedder="none") as pgs:
        kept = await pgs.partition("papers")
        assert kept.generation.id == first.id, "configured before the flag was given"
    monkeypatch.setenv("PGS_TARGET_PARTITION_MAX", "50")
    async with without_models(endpoint, embedder="none") as pgs:
        changed = (await pgs.partition("papers")).generation
        assert changed.knobs["target_partition_max"] == 50
    monkeypatch.delenv("PGS_TARGET_PARTITION_MAX")
    async with without_models(endpoint, embedder="none") as pgs:
        assert (await pgs.partition("papers")).generation.id == changed.id


async def test_a_plan_makes_first_partitions_only_and_says_so(endpoint, db):
    mapping = await papers(db)
    async with engine_on(endpoint, embedder="none", **SMALL) as pgs:
        await pgs.add_graph("papers", mapping)
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


async def test_advice_to_make_smaller_partitions_is_not_repeated_once_it_was_followed(endpoint, db):
    mapping = await papers(db)
    await alter(
        db, "MATCH (p:Paper) SET p.abstract = reduce(t = '', i IN range(1, 40) | t + ' so')"
    )
    async with without_models(endpoint, embedder="none") as pgs:
        await pgs.add_graph("papers", mapping)
        await pgs.partition("papers", min_community_size=160, target_partition_max=200)
    async with engine_on(endpoint, embedder="none", max_pass_characters=17_000) as pgs:
        advice = (await pgs.plan("Why?", graph="papers")).advice
        command = "pgs partition --graph papers --force --max-partition-tokens "
        assert command in advice
        tokens = int(advice.split(command)[1].split("'")[0])
        await pgs.partition("papers", force=True, max_partition_tokens=tokens)
        plan = await pgs.plan("Why?", graph="papers", full_sweep=True)
        assert (plan.advice, {sweep.passes for sweep in plan.sweeps}) == ("", {1})
