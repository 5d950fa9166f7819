"""Analogies on a real database: how they are made and removed, and what follows from them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import (
    ConfigError,
    ModelAuthError,
    ModelOutputError,
    NoTextError,
    PromptTooLongError,
)
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import GraphMapping, Prompt
from tests.analogies import SMALL, VIEW, linked, planted, skeleton_of, skeletons, true_pairs
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import KNOBS, engine_on
from tests.graphs import checksum, count

TEXTS = 44
PRICES = {"scripted": {"input_price": 1.0, "output_price": 10.0}}


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    mapping = await planted(db)
    async with engine_on(endpoint, **KNOBS | SMALL, models=PRICES) as opened:
        opened.sweep_llm = ScriptedLLM(skeletons)
        await opened.graphs.add("notes", mapping)
        yield opened


def reader(pgs: PGS) -> ScriptedLLM:
    assert isinstance(pgs.sweep_llm, ScriptedLLM)
    return pgs.sweep_llm


def answering(pgs: PGS, answer: Callable[[Prompt], object]) -> ScriptedLLM:
    pgs.sweep_llm = ScriptedLLM(answer)  # type: ignore[arg-type]
    return pgs.sweep_llm


def asked(*models: ScriptedLLM) -> Counter[str]:
    """How often each text was shown."""
    return Counter(node.title for model in models for p in model.prompts for node in p.nodes)


async def ours(db: Database) -> int:
    return await count(db, "()-[x:PGS_ISOMORPHIC]->()") + await count(
        db, "(x:PgsSkeleton|PgsAnalogies)"
    )


async def test_planted_pairs_are_found_as_planned_and_bought_once(pgs: PGS, db: Database) -> None:
    before = await checksum(db)
    plan = await pgs.analogies.plan("notes")
    assert not reader(pgs).prompts
    assert not await ours(db)
    made = await pgs.analogies("notes")
    assert await linked(db) == true_pairs()
    assert (made.texts, made.plain, made.missing, made.links) == (TEXTS, 20, 0, 36)
    assert (made.usage.calls, made.kept, made.commonplace) == (3, 0, 0)
    # The calls are made at once, so that any of them may come first.
    assert sorted(len(prompt.nodes) for prompt in reader(pgs).prompts) == [4, 20, 20]
    assert len(made.best) == 10
    assert all(one.skeleton >= 0.45 and one.delta >= 0.08 for one in made.best)
    assert (plan.texts, plan.kept, plan.calls) == (TEXTS, 0, made.usage.calls)
    assert plan.input_tokens == made.usage.input_tokens
    assert plan.output_tokens <= plan.output_most
    # The skeletons stay without the cache of replies, and the links are replaced.
    await pgs.clear_cache()
    later = await pgs.analogies.plan("notes")
    assert (later.kept, later.calls, later.input_tokens, later.high) == (TEXTS, 0, 0, 0.0)
    again = await pgs.analogies("notes")
    assert (again.usage.calls, again.kept) == (0, TEXTS)
    assert await linked(db) == true_pairs()
    assert await count(db, "(x:PgsAnalogies)") == 1
    assert await checksum(db) == before


@pytest.mark.parametrize("moment", [1, 2, 3])
async def test_a_killed_command_resumes_and_buys_nothing_twice(
    pgs: PGS, db: Database, moment: int
) -> None:
    calls = 0

    async def dying(prompt: Prompt) -> str:
        nonlocal calls
        calls += 1
        if calls == moment:
            task.cancel()
            await asyncio.sleep(30)
        return skeletons(prompt)

    first = answering(pgs, dying)
    task = asyncio.create_task(
        pgs.analogies("notes", max_concurrent_sweeps=1, max_concurrent_calls=1)
    )
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = await count(db, "(x:PgsSkeleton)")
    assert kept == sum(len(prompt.nodes) for prompt in first.prompts[: moment - 1])
    second = answering(pgs, skeletons)
    made = await pgs.analogies("notes")
    assert made.kept == kept
    assert sum(asked(second).values()) == TEXTS - kept
    assert await linked(db) == true_pairs()


async def test_a_limit_on_calls_is_kept_and_what_was_bought_counts(pgs: PGS, db: Database) -> None:
    made = await pgs.analogies("notes", max_calls=2)
    assert (made.usage.calls, len(reader(pgs).prompts)) == (2, 2)
    assert "max_calls" in made.stopped
    assert made.missing == TEXTS - 40
    assert await linked(db) < true_pairs()
    rest = await pgs.analogies("notes", max_calls=1)
    assert (rest.usage.calls, rest.stopped, rest.missing) == (1, "", 0)
    assert max(asked(reader(pgs)).values()) == 1
    assert await linked(db) == true_pairs()


@pytest.mark.parametrize(
    ("knob", "limits"),
    [
        ("max_tokens", (1, 3_000, 6_000, 9_000, 40_000)),
        ("max_cost", (0.0001, 0.02, 0.05, 0.1, 1.0)),
    ],
)
async def test_a_limit_on_tokens_or_cost_is_never_exceeded(
    pgs: PGS, db: Database, knob: str, limits: tuple[float, ...]
) -> None:
    missing = []
    for limit in limits:
        await alter(db, "MATCH (s:PgsSkeleton) DETACH DELETE s")
        bounds: dict[str, Any] = {knob: limit, "sweep_max_tokens": 600}
        plan = await pgs.analogies.plan("notes", **bounds)
        made = await pgs.analogies("notes", **bounds)
        assert made.cost is not None
        assert plan.high is not None
        assert (made.usage.tokens if knob == "max_tokens" else made.cost) <= limit
        assert bool(made.stopped) == bool(made.missing)
        assert made.missing or made.cost <= plan.high
        missing.append(made.missing)
    assert (missing[0], missing[-1]) == (TEXTS, 0)


async def test_a_short_reply_is_completed_by_asking_for_the_rest(pgs: PGS, db: Database) -> None:
    def short(prompt: Prompt) -> str:
        return "\n".join(skeletons(prompt).splitlines()[:12])

    model = answering(pgs, short)
    made = await pgs.analogies("notes")
    assert made.missing == 0
    assert sorted(len(prompt.nodes) for prompt in model.prompts) == [4, 8, 8, 20, 20]
    assert await linked(db) == true_pairs()


@pytest.mark.parametrize("reply", ["I cannot do that.", ModelOutputError("garbled"), ""])
async def test_a_malformed_reply_is_asked_for_three_times(
    pgs: PGS, db: Database, reply: str | Exception
) -> None:
    model = answering(pgs, lambda _: reply)
    made = await pgs.analogies("notes")
    assert set(asked(model).values()) == {3}
    assert (made.missing, made.links, made.stopped) == (TEXTS, 0, "")
    assert "44 texts got no skeleton" in made.warnings[0]
    assert not await count(db, "(x:PgsSkeleton)")


async def test_a_prompt_that_is_too_long_is_divided(pgs: PGS, db: Database) -> None:
    def narrow(prompt: Prompt) -> str | Exception:
        return skeletons(prompt) if len(prompt.nodes) <= 5 else PromptTooLongError("too long")

    answering(pgs, narrow)
    assert (await pgs.analogies("notes")).missing == 0
    assert await linked(db) == true_pairs()


async def test_a_refused_key_ends_it_and_what_was_bought_stays(pgs: PGS, db: Database) -> None:
    calls = iter([False, True])

    def refusing(prompt: Prompt) -> str | Exception:
        return ModelAuthError("refused") if next(calls) else skeletons(prompt)

    answering(pgs, refusing)
    with pytest.raises(ModelAuthError):
        await pgs.analogies("notes", max_concurrent_sweeps=1, max_concurrent_calls=1)
    assert await count(db, "(x:PgsSkeleton)") == 20
    assert not await linked(db)


async def test_a_skeleton_that_many_texts_have_is_never_linked(pgs: PGS, db: Database) -> None:
    def empty_phrases(prompt: Prompt) -> str:
        lines = skeletons(prompt).splitlines()
        return "\n".join(line.replace("none", "a list enumerates entries") for line in lines)

    answering(pgs, empty_phrases)
    made = await pgs.analogies("notes")
    assert (made.commonplace, made.plain) == (20, 0)
    assert await linked(db) == true_pairs()


async def test_a_text_is_bought_once_in_part_if_it_is_long_and_again_when_it_changes(
    pgs: PGS, db: Database
) -> None:
    copy = "MATCH (n:Note {name: 'market 1'}) CREATE (m:Note) SET m = properties(n)"
    await alter(db, copy)
    lengthen = "MATCH (n:Note {name: $name}) SET n.body = n.body + $tail"
    long = {"name": "market 2", "tail": " more and more" * 1_000}
    await alter(db, lengthen, **long)
    plan, made = await pgs.analogies.plan("notes"), await pgs.analogies("notes")
    assert (made.texts, made.missing, plan.shortened) == (TEXTS + 1, 0, 1)
    assert "only the beginning of 1 text" in made.warnings[0]
    assert all(len(prompt.user) < 20 * 2_100 for prompt in reader(pgs).prompts)
    assert asked(reader(pgs))["market 1"] == 1
    equal = "MATCH (a)-[r:PGS_ISOMORPHIC]-(b) WHERE a.body = b.body RETURN r"
    assert await fetch(db, equal) == []

    await alter(db, lengthen, name="market 3", tail="!")
    model = answering(pgs, skeletons)
    assert (await pgs.analogies("notes")).kept == TEXTS
    assert asked(model) == {"market 3": 1}


async def test_only_nodes_of_the_view_are_linked(pgs: PGS, db: Database) -> None:
    await alter(db, "MATCH (n:Note {topic: 'market'}) REMOVE n:Note SET n:Other")
    made = await pgs.analogies("notes")
    assert made.texts == TEXTS - 6
    assert await linked(db) == {pair for pair in true_pairs() if "market" not in " ".join(pair)}
    assert not await count(db, "(:Other)-[x:PGS_ISOMORPHIC]-()")


@pytest.mark.schema
@pytest.mark.thorough
async def test_two_graphs_keep_their_own_links_and_share_skeletons(pgs: PGS, db: Database) -> None:
    before = await checksum(db)
    await pgs.analogies("notes")
    await pgs.graphs.add("copy", replace(VIEW, relationship_types=("NEAR",)))
    made = await pgs.analogies("copy")
    assert (made.usage.calls, made.links) == (0, 36)
    assert await count(db, "()-[x:PGS_ISOMORPHIC]->()") == 72
    await pgs.graphs.remove("notes")
    assert await count(db, "()-[x:PGS_ISOMORPHIC {graph: 'copy'}]->()") == 36
    assert await count(db, "()-[x:PGS_ISOMORPHIC]->()") == 36
    assert await count(db, "(x:PgsSkeleton)") == TEXTS
    await pgs.graphs.remove("copy")
    assert not await ours(db)
    await pgs.graphs.add("again", VIEW)
    await pgs.analogies("again")
    assert await ours(db)
    await pgs.purge()
    assert not await ours(db)
    assert await checksum(db) == before


async def test_without_text_or_a_model_they_are_refused_with_what_to_do(
    pgs: PGS, db: Database
) -> None:
    await pgs.graphs.add("bare", GraphMapping(labels=("Note",)))
    with pytest.raises(NoTextError, match="has no text property"):
        await pgs.analogies("bare")
    await pgs.graphs.add("nothing", GraphMapping(labels=("Missing",), text=("body",)))
    made = await pgs.analogies("nothing")
    assert (made.texts, made.links, made.usage.calls) == (0, 0, 0)
    assert made.warnings == ("no node of the graph has text",)
    pgs.sweep_llm = ExtractiveLLM()
    for call in (pgs.analogies, pgs.analogies.plan):
        with pytest.raises(ConfigError, match="need a language model"):
            await call("notes")
    assert not await count(db, "(x:PgsSkeleton)")


async def test_two_at_once_leave_one_set_of_links(pgs: PGS, db: Database) -> None:
    await asyncio.gather(*(pgs.analogies("notes") for _ in range(3)))
    assert await linked(db) == true_pairs()
    assert await count(db, "(x:PgsSkeleton)") == TEXTS


async def test_a_skeleton_that_gives_its_domain_away_makes_no_pair(pgs: PGS, db: Database) -> None:
    """A line of the text's own words is as unlike the others as the text itself."""
    answering(
        pgs, lambda p: "\n".join(f"{n.alias}: {' '.join(n.text.split()[:9])}" for n in p.nodes)
    )
    assert (await pgs.analogies("notes")).links == 0
    assert skeleton_of("list 3") == "none"


@pytest.mark.thorough
async def test_the_graph_does_not_drift_by_its_analogies(pgs: PGS, db: Database) -> None:
    open_view = GraphMapping(text=("body",), title="name", key="name")
    await pgs.graphs.add("open", open_view)
    for graph in ("notes", "open"):
        partitioning = await pgs.partitions.build(graph)
        await pgs.analogies("notes")
        drift = await pgs.partitions.check(graph)
        assert drift is not None
        assert not drift.changed
        again = await pgs.partitions.build(graph, force=False)
        assert again.generation.id == partitioning.generation.id
        await pgs.partitions.build(graph, force=True)
    assert (await pgs.partitions.generation("open")).relationship_count == await count(
        db, "()-[x:NEAR]->()"
    )


@pytest.mark.thorough
async def test_sweeps_are_told_and_may_flag(pgs: PGS, db: Database) -> None:
    def flagging(prompt: Prompt) -> str:
        if prompt.task == "skeletons":
            return skeletons(prompt)
        alike = re.search(r'(n\d+) may work like (P\d+) "([^"]+)"', prompt.user)
        flag = f"## Outbound Flags\n- {alike[2]}: compare [{alike[1]}]" if alike else ""
        return contract_reply(prompt).replace("## Outbound Flags", flag or "## Outbound Flags")

    model = pgs.sweep_llm = ScriptedLLM(flagging)
    await pgs.partitions.build("notes")
    silent = await pgs.execute("What fails?", graph="notes", full_sweep=True)
    before = {prompt.partition: prompt for prompt in model.prompts}
    assert not [prompt for prompt in before.values() if "analog" in prompt.user + prompt.system]
    await pgs.analogies("notes")
    model.prompts.clear()
    told = await pgs.execute("What fails?", graph="notes", full_sweep=True, session_id="told")
    named = {prompt.partition: prompt for prompt in model.prompts}
    assert named, "prompts with analogies are asked again"
    for prompt in named.values():
        block = re.search(r"<analogies>\n.*\n</analogies>\n\n", prompt.user, re.DOTALL)
        assert block is not None
        assert prompt.user.replace(block[0], "") == before[prompt.partition].user
        assert 1 <= len(re.findall(r"^n\d+ may work like P", block[0], re.MULTILINE)) <= 10
    assert silent.generation == told.generation
    unlike = {f.text for s in silent.sweeps if s.report for f in s.report.flags}
    flags = [f for s in told.sweeps if s.report for f in s.report.flags if f.text not in unlike]
    assert flags
    assert all(flag.target is not None for flag in flags)


async def test_a_structural_search_shows_analogies(pgs: PGS, db: Database) -> None:
    unfinished = (
        "MATCH (a:Note {name: 'list 1'}), (b:Note {name: 'market 3'}) CREATE (a)-[:PGS_ISOMORPHIC "
        "{delta: 0.9, skeleton: 0.9, raw: 0.0, graph: 'notes', making: 'dead'}]->(b)"
    )
    await alter(db, unfinished)
    plain = await pgs.search("market3word5", graph="notes", mode="structural", top_k=50)
    (path,) = [path for path in plain.paths if path.name == "analogies"]
    assert path.count == 0
    assert path.method == "no analogies were made; 'pgs analogies --graph notes' makes them"
    await pgs.analogies("notes")
    assert await linked(db) == true_pairs()
    found = await pgs.search("market3word5", graph="notes", mode="structural", top_k=50)
    by_key = {item.key: item for item in found.items}
    assert found.items[0].key == "market 3"
    for domain in ("fishery", "immune", "railway"):
        item = by_key[f"{domain} 3"]
        assert item.scores["analogies"] > 0
        assert re.fullmatch(rf"market 3 ~~\[analogy, delta 0\.\d\d\]~~ {domain} 3", item.way)
    mapped = await pgs.search("market3word5", graph=VIEW, mode="structural")
    assert [path.count for path in mapped.paths if path.name == "analogies"] == [0]
    local = await pgs.search("market3word5", graph="notes", mode="local", top_k=50)
    assert "railway 3" not in {item.key for item in local.items}
