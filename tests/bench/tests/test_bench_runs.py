"""The parts of the four programs that need no database: clocks, policies, readers, tables."""

import asyncio
import json
import time

import numpy as np
import pytest
import stamina
from pydantic import SecretStr

from pgs_neo4j.documents.loading.graph_file import FileNode, FileRelationship, GraphFile
from pgs_neo4j.errors import ModelRateLimitError, ModelUnavailableError
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.model import GraphMapping, Prompt, PromptNode
from pgs_neo4j.pgs.sweeping.pieces import render_node
from tests.bench import overhead, program, recall, schedule, soak, trial
from tests.bench.clock import HurriedLoop, JumpingLoop
from tests.bench.contenders import Found
from tests.bench.endpoint import Told, served
from tests.bench.groups import CAP, MAX_CHARACTERS, GraphNode, Group, routed
from tests.bench.instant import InstantEmbedder, InstantLLM
from tests.bench.latencies import STRAGGLER_S, TRIES, drawn
from tests.bench.loaded import copied
from tests.bench.planted_reader import BEGIN, END, Faults, PlantedReader, shown
from tests.bench.policies import BATCHES, HEDGED, OURS, SEMAPHORE
from tests.bench.published import louvain, partitions
from tests.bench.soak import Look
from tests.bench.trial import Outcome, Scenario

EVERY = (BATCHES, SEMAPHORE, OURS, HEDGED)


def prompt_of(*nodes, task="sweep", partition=1):
    listed = "\n".join(render_node(node) for node in nodes)
    return Prompt(
        task=task, system="", user=f"{BEGIN}\n{listed}\n{END}\nQ", question="Q", partition=partition
    )


def fact(number, alias, title="A node", more=""):
    return PromptNode(alias, title, f"It says planted-fact-{number}-end.{more}")


def run_on(loop, work):
    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(work())


def test_a_jumping_clock_lets_nobody_wait():
    async def work():
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(asyncio.sleep(hours * 3600) for hours in (1, 3, 2)))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 100.0)
        return loop.time()

    began = time.perf_counter()
    assert run_on(JumpingLoop, work) == pytest.approx(3 * 3600 + 100)
    assert time.perf_counter() - began < 60.0


def test_no_clock_jumps_while_a_thread_works():
    async def work():
        async with asyncio.timeout(600.0):
            await asyncio.to_thread(time.sleep, 0.1)
        return "done"

    assert run_on(lambda: JumpingLoop(grace_s=0.01), work) == "done"


def test_a_hurried_clock_waits_a_fraction_of_the_time():
    async def work():
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.sleep(20.0)
        return loop.time() - began

    began = time.perf_counter()
    assert run_on(lambda: HurriedLoop(200.0), work) >= 20.0
    assert 0.09 < time.perf_counter() - began < 20.0


def test_draws_repeat_for_a_seed():
    one, two, other = drawn(3, 15), drawn(3, 15), drawn(4, 15)
    assert one.count == 15
    assert one.seconds.shape == (15, TRIES)
    assert np.array_equal(one.seconds, two.seconds)
    assert not np.array_equal(one.seconds, other.seconds)


def test_stragglers_take_two_minutes_and_change_nobody_else():
    few, none = drawn(1, 500, stragglers=0.1), drawn(1, 500)
    late = few.seconds != none.seconds
    assert 0.05 < late.mean() < 0.15
    assert (few.seconds[late] == STRAGGLER_S).all()


def test_no_schedule_stays_under_the_bound():
    draw = drawn(1, 6)
    once = draw.seconds[:, 0]
    assert draw.bound(1) == pytest.approx(once.sum())
    assert draw.bound(100) == pytest.approx(once.max())


def test_policies_rank_as_they_were_measured_when_the_engine_was_designed():
    result = trial.simulated(Scenario(name="", policies=EVERY), range(60))
    mean = {name: trial.summed(outcomes)["mean"] for name, outcomes in result.items()}
    assert mean[BATCHES.name] == pytest.approx(1.65, abs=0.06)
    assert mean[SEMAPHORE.name] == pytest.approx(1.22, abs=0.04)
    assert mean[OURS.name] == pytest.approx(1.11, abs=0.03)
    assert mean[HEDGED.name] <= mean[OURS.name] + 0.01


def test_hedging_beats_stragglers():
    result = trial.simulated(Scenario(name="", policies=EVERY, stragglers=0.02), range(60))
    mean = {name: trial.summed(outcomes)["mean"] for name, outcomes in result.items()}
    assert mean[HEDGED.name] < mean[OURS.name] - 0.04
    assert trial.summed(result[HEDGED.name])["hedged"] > 0.2


@pytest.fixture
def quiet():
    stamina.instrumentation.set_on_retry_hooks([])
    yield
    stamina.instrumentation.set_on_retry_hooks(None)


def test_an_endpoint_that_refuses_is_asked_less_often_by_ours(quiet):
    result = trial.simulated(Scenario(name="", policies=EVERY, takes=3, slots=3), range(10))
    refused = {name: trial.summed(outcomes)["refused"] for name, outcomes in result.items()}
    assert 0 < refused[OURS.name] < refused[BATCHES.name] / 2
    assert all(outcome.limit < 5 for outcome in result[OURS.name])


def test_over_http_the_same_calls_take_as_long(quiet, monkeypatch):
    monkeypatch.setattr(trial, "HurriedLoop", lambda speed: JumpingLoop(grace_s=0.01))
    scenario = Scenario(name="", policies=(BATCHES, OURS), calls=6, takes=4, slots=4)
    seeds = range(2)
    real, jumped = trial.over_http(scenario, seeds, speed=1.0), trial.simulated(scenario, seeds)
    for name in (BATCHES.name, OURS.name):
        assert len(real[name]) == 2
        for one, other in zip(real[name], jumped[name], strict=True):
            assert one.ratio == pytest.approx(other.ratio, rel=0.05)
            assert one.refused > 0


def test_outcomes_are_summed():
    samples = [Outcome(ratio, 1, 2, 5) for ratio in (1.0, 1.2, 1.4)]
    summed = trial.summed(samples)
    assert summed["mean"] == pytest.approx(1.2)
    assert summed["spread"] == pytest.approx(0.1633, abs=1e-4)
    assert (summed["p90"], summed["hedged"], summed["refused"]) == (1.4, 1, 2)


async def test_the_endpoint_answers_whole_and_in_pieces_and_refuses():
    asked = []

    async def answer(request):
        asked.append(request)
        if len(asked) == 3:
            return Told("no", 429, {"Retry-After": "7"})
        return Told("one two three four five six")

    async with served(answer) as address:
        llm = OpenAILLM("bench", Endpoint(f"{address}/here/v1", SecretStr("k")))
        prompt = Prompt(task="sweep", system="s", user="u", question="q")
        whole = await llm.complete(prompt, max_tokens=16)
        pieces = [piece async for piece in llm.stream(prompt, max_tokens=16)]
        with pytest.raises(ModelRateLimitError) as refused:
            await llm.complete(prompt, max_tokens=16)
        await llm.close()
    assert whole.text == pieces[-1].text == "".join(pieces[:-1]) == "one two three four five six"
    assert whole.usage.calls == 1
    assert not whole.truncated
    assert not pieces[-1].truncated
    assert refused.value.retry.wait_s == 7
    assert {request.path for request in asked} == {"/here/v1/chat/completions"}


async def test_the_endpoint_stops_working_for_those_who_left():
    began, ended = asyncio.Event(), asyncio.Event()

    async def answer(request):
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return Told()

    async with served(answer) as address:
        llm = OpenAILLM("bench", Endpoint(f"{address}/v1", SecretStr("k")))
        prompt = Prompt(task="sweep", system="", user="u", question="q")
        call = asyncio.create_task(llm.complete(prompt, max_tokens=16))
        await asyncio.wait_for(began.wait(), 30)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert await asyncio.wait_for(ended.wait(), 30)
        await llm.close()


def test_the_schedule_program_prints_its_targets(capsys):
    assert schedule.main(["--draws", "0", "--simulate", "2"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Makespan ÷ lower bound")
    assert text.count("plain semaphore") == 3
    assert schedule.main(["--draws", "0", "--simulate", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    targets = [p["target"] for s in document["scenarios"] for p in s["policies"] if p["target"]]
    assert targets == [1.12, 1.06]
    assert document["latencies"]["median_s"] == 20.0


TRIANGLES = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0), (3, 5, 1.0)]


def adjacent(count, edges):
    near = [{} for _ in range(count)]
    for a, b, weight in edges:
        near[a][b] = near[b][a] = weight
    return near


def test_one_level_of_louvain_finds_two_triangles():
    labels = louvain(adjacent(6, [*TRIANGLES, (2, 3, 0.1)]), seed=1)
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1
    assert labels[0] != labels[3]


def test_small_communities_join_their_nearest_until_none_has_one():
    # Both triangles are too small, and the two nodes alone have no partition to join.
    assert partitions(8, [*TRIANGLES, (2, 3, 0.1)]) == [[0, 1, 2, 3, 4, 5], [6], [7]]


def test_a_large_community_is_bisected_once():
    star = [(0, leaf, 1.0) for leaf in range(1, 4000)]
    sizes = [len(part) for part in partitions(4000, star)]
    assert sum(sizes) == 4000
    assert len(sizes) == 2
    assert max(sizes) > 1800


def graph_node(name, text, weight=1.0, vector=None):
    return GraphNode(id=name, text=text, labels=(), weight=weight, vector=vector)


def test_a_published_prompt_is_cut_and_the_light_ones_are_dropped():
    nodes = [graph_node(f"id{n}", "x" * 200_000, weight=n) for n in range(4)]
    group = Group(1, nodes)
    assert len(group.within()) == 2
    assert sum(map(len, group.within())) < MAX_CHARACTERS
    assert group.by_alias() == {"n1": "id3", "n2": "id2", "n3": "id1", "n4": "id0"}


def test_published_routing_by_threshold_and_cap():
    east, north = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    near = Group(1, [graph_node("a", "", vector=east)])
    far = Group(2, [graph_node("b", "", vector=north)])
    unknown = Group(3, [graph_node("c", "")])
    assert routed([far, near, unknown], east.astype(np.float32)) == [near]
    assert len(routed([unknown] * 40, None)) == CAP


def test_the_reader_reads_the_prompt_as_it_is_sent():
    multiline = PromptNode("n2", "Two lines", "first\n[n9] no head\n\nplanted-fact-5-end")
    result = list(shown(prompt_of(fact(4, "n1"), multiline).user))
    assert [(node.alias, node.part, node.parts) for node in result] == [("n1", 1, 1), ("n2", 1, 1)]
    assert result[0].text == "It says planted-fact-4-end."
    assert result[1].text.endswith("planted-fact-5-end")
    assert list(shown(prompt_of().user)) == []


def test_the_reader_tells_what_it_is_shown_and_nothing_else():
    reader = PlantedReader()
    reply = reader(prompt_of(fact(4, "n1"), PromptNode("n2", "T", "nothing"), fact(6, "n3")))
    facts = [line for line in reply.text.splitlines() if line.startswith("- ")]
    assert facts == ["- planted-fact-4-end [n1]", "- planted-fact-6-end [n3]"]
    assert reader.read == 3
    assert reader.usage.calls == 1


def test_a_node_in_parts_is_read_when_all_of_them_were():
    reader = PlantedReader()
    reader(prompt_of(fact(1, "n1", title="Long (part 1 of 2)")))
    assert reader.read == 0
    reader(prompt_of(fact(2, "n1", title="Long (part 2 of 2)")))
    assert reader.read == 1


def test_what_fails_or_is_cut_off_is_not_read():
    cut, failing = PlantedReader(Faults(cut=1.0)), PlantedReader(Faults(failing=1.0))
    reply = cut(prompt_of(fact(1, "n1")))
    assert reply.truncated
    assert isinstance(failing(prompt_of(fact(1, "n1"))), ModelUnavailableError)
    assert cut.read == failing.read == 0
    assert (cut.usage.calls, failing.usage.calls) == (1, 0)
    some = [Faults(failing=0.5, seed=1).fails(number) for number in range(100)]
    assert 30 < sum(some) < 70
    assert some == [Faults(failing=0.5, seed=1).fails(number) for number in range(100)]


def test_copies_have_keys_and_relationships_of_their_own():
    nodes = tuple(FileNode(id=name, properties={}) for name in "ab")
    file = GraphFile(
        nodes=nodes, relationships=(FileRelationship(0, 1, "R"),), mapping=GraphMapping()
    )
    three = copied(file, 3)
    assert len({node.id for node in three.nodes}) == 6
    assert [(link.source, link.target) for link in three.relationships] == [(0, 1), (2, 3), (4, 5)]


async def test_instant_models_know_their_time():
    llm = InstantLLM()
    prompt = prompt_of(fact(1, "n1"))
    reply = await llm.complete(prompt, max_tokens=64)
    pieces = [piece async for piece in llm.stream(prompt, max_tokens=64)]
    assert pieces[-1].text == reply.text == "".join(pieces[:-1])
    assert llm.calls == 2
    assert 0 < llm.seconds < 1
    assert llm.swept_at <= time.perf_counter()
    rows = await InstantEmbedder(np.array([3.0, 4.0])).embed(["a", "b"])
    assert np.allclose(rows, [[0.6, 0.8], [0.6, 0.8]])


def asked(own_s, model_s=0.5, phases=None):
    return overhead.Asked(
        wall_s=own_s + model_s,
        model_s=model_s,
        cpu_s=own_s / 2,
        first_s=0.05,
        calls=16,
        nodes=100,
        phases=phases or {"route": 0.1, "sweep": own_s},
        routed=(1, 2),
    )


def bare(plain_s, same_s):
    return overhead.Bare(2 * plain_s, plain_s, plain_s / 2, same_s, same_s / 2, 123)


def test_overhead_is_compared_with_the_faster_read_beside_it():
    beside = [(bare(1.0, 0.5), bare(2.0, 0.4)), (bare(2.0, 0.5), bare(4.0, 1.0))]
    figures = overhead._figures([asked(2.0), asked(3.0)], beside)
    assert figures["own_s"] == pytest.approx(2.5)
    assert figures["to_plain"] == pytest.approx((2.0 / 1.0 + 3.0 / 2.0) / 2)
    assert figures["to_single"] == pytest.approx(figures["to_plain"] / 2)
    assert figures["to_same"] == pytest.approx((2.0 / 0.4 + 3.0 / 0.5) / 2)
    assert figures["between_s"] == pytest.approx(0.5 - 0.1)
    document = {
        "nodes": 1172,
        "partitions": 21,
        "repeat": 2,
        "found": 123,
        **{"single_s": 2.0, "first_s": 0.077},
        **{"plain_s": 1.0, "plain_cpu_s": 0.5, "same_s": 0.5, "same_cpu_s": 0.2},
        **{"embedder": figures, "borrowed": figures},
    }
    text = overhead.table(document)
    assert "1,172 nodes in 21 partitions; a question reads 100 of them in 16 calls" in text
    assert "÷ driver, a row each" in text
    assert "1.75" in text
    assert "0.077" in text
    assert "÷ before" not in text


@pytest.mark.parametrize(("own_s", "false"), [(1.03, 0), (1.04, 1), (0.5, 0)])
def test_overhead_is_compared_with_another_commit(tmp_path, own_s, false):
    beside = [(bare(1.0, 0.5), bare(2.0, 0.4))]
    figures = overhead._figures([asked(2.0)], beside)
    now = {"embedder": figures | {"own_s": own_s, "cpu_s": 3.0}, "borrowed": figures}
    before = {"embedder": figures | {"own_s": 1.0, "cpu_s": 2.0}, "borrowed": figures}
    (tmp_path / "before.json").write_text(json.dumps(before))
    options = overhead._parser().parse_args(["--before", str(tmp_path / "before.json")])
    compared = overhead.compare_with_before(now, options.before)
    assert compared["to_before"]["embedder"] == {"own_s": own_s, "cpu_s": 1.5}
    assert compared["to_before"]["borrowed"]["own_s"] == 1.0
    assert len(compared["false"]) == false
    figure = dict.fromkeys(("nodes", "partitions", "repeat", "found"), 1)
    driver = dict.fromkeys(
        ("single_s", "first_s", "plain_s", "plain_cpu_s", "same_s", "same_cpu_s"), 1.0
    )
    text = overhead.table({**figure, **driver, **now, **compared})
    assert f"{own_s:.2f}" in next(line for line in text.splitlines() if "  ÷ before" in line)


def test_memory_is_compared_within_the_steady_state():
    looks = [
        Look(at_s=at, mib=200.0 + at, sockets=5, tasks=7, connections=9) for at in range(0, 101, 10)
    ]
    result = soak.growth(looks)
    assert result["steady"]["mib"] == 220.0
    assert result["end"]["mib"] == 300.0
    assert result["growth"] == pytest.approx(80 / 220)


def test_the_soak_table_tells_errors_and_growth():
    part = {"mib": 210.0, "sockets": 12, "tasks": 30, "connections": 20}
    document = {
        **{"done": 1234, "questions": 50, "minutes": 3.0, "errors": {"BusyError: x": 2}},
        **{"median_s": 8.0, "median_first_s": 7.0, "median_last_s": 9.0, "growth": 0.034},
        **dict.fromkeys(("steady", "end", "quiet", "left"), part),
        "lag": {"median_s": 0.0012, "p99_s": 0.034, "max_s": 0.15},
    }
    text = soak.table(document)
    assert "1,234 questions answered, 50 at a time" in text
    assert "2 errors (must be 0)" in text
    assert "2 times BusyError: x" in text
    assert "grew by 3.4%" in text
    assert "late by 1.2 ms, 99 %: 34 ms (target: at most 100), at most 150 ms" in text


def test_the_recall_table_shows_what_is_claimed_and_was_not_read():
    row = Found(name="published", calls=13, facts=151, real=448, claimed=586, tokens=164_928)
    assert row.as_row()["false"] == 138
    run = {"graph": "toy", "nodes": 586, "partitions": 14, "facts": 200, "found": [row.as_row()]}
    line = recall.table({"runs": [run]}).splitlines()[1]
    assert line.split() == ["published", "13", "151", "448", "586", "138", "164,928"]


def test_rows_are_aligned():
    assert program.aligned([("a", "1"), ("bbb", "22")]) == "a     1\nbbb  22\n"


@pytest.mark.parametrize(
    ("main", "arguments", "words"),
    [
        (schedule.main, ["--speed", "0"], "'0' is not a number above 0"),
        (schedule.main, ["--draws", "-1"], "'-1' is not a whole number from 0 up"),
        (recall.main, ["--graph", "enwiki"], "invalid choice: 'enwiki'"),
        (recall.main, ["--facts", "none"], "'none' is not a whole number from 1 up"),
        (overhead.main, ["--knob", "hedge"], "'hedge' is not of the form NAME=NUMBER"),
        (soak.main, ["--minutes", "inf"], "'inf' is not a number above 0"),
    ],
)
def test_arguments_that_make_no_sense(capsys, main, arguments, words):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert words in capsys.readouterr().err
