"""Metrics on a real database: totals are those of the answers, and nothing else gets out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import hold_lease
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine import metrics as graph_metrics
from pgs_neo4j.model import GraphMapping
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers
from tests.serving import Held, Served, entry, events
from tests.waiting import until

PRICES = {"scripted": {"input_price": 3.0, "output_price": 7.0}}
CANARIES = ("canary-question", "canary-session", "ann", "pgs_ann", "pgs_scraper")


@pytest.fixture
async def pgs(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PGS]:
    monkeypatch.setattr(graph_metrics, "FRESH_S", 0.0)
    tokens = [
        entry("ann", "papers"),
        entry("chief", role="operator"),
        entry("scraper", role="metrics"),
        entry("narrow", "other", role="metrics"),
    ]
    async with engine_on_papers(endpoint, db, token=tokens, models=PRICES) as opened:
        await opened.graphs.add("other", GraphMapping(labels=("Paper",), text=("abstract",)))
        yield opened


async def scrape(server: Served, name: str = "scraper") -> tuple[dict[Any, float], str]:
    """The samples that a scrape reads, by name and labels, and the text."""
    async with server.client(f"pgs_{name}") as client:
        answer = await client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    return samples, answer.text


async def ask(client: httpx2.AsyncClient, **more: Any) -> dict[str, Any]:
    body = {"question": "Why canary-question?", "session": "canary-session", "graph": "papers"}
    answer = await client.post("/api/runs", json=body | {"full_sweep": True} | more)
    assert answer.status_code == 202, answer.text
    await events(client, answer.json()["events"])
    return dict(answer.json())


def of(name: str, **labels: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    return name, tuple(sorted(labels.items()))


@pytest.mark.thorough
async def test_totals_are_those_of_the_answers(server: Served, pgs: PGS) -> None:
    async with server.client("pgs_ann") as client:
        runs = [await ask(client, session=f"canary-session-{number}") for number in range(2)]
        await ask(client, mode="continue", session="never")
    answers = [await pgs.runs.answer(run["run"]) for run in runs]
    samples, text = await scrape(server)
    model = {"graph": "papers", "model": "scripted"}
    for name, total in (
        (of("pgs_model_calls_total", **model), sum(one.usage.calls for one in answers)),
        (
            of("pgs_model_tokens_total", **model, direction="input"),
            sum(one.usage.input_tokens for one in answers),
        ),
        (
            of("pgs_model_tokens_total", **model, direction="output"),
            sum(one.usage.output_tokens for one in answers),
        ),
        (of("pgs_cached_replies_total", graph="papers"), sum(one.usage.cached for one in answers)),
        (of("pgs_sweeps_total", graph="papers", status="accepted"), 8),
        (of("pgs_runs_total", graph="papers", state="answered"), 2),
        (of("pgs_runs_total", graph="papers", state="failed"), 1),
        (of("pgs_run_seconds_count", graph="papers"), 3),
        (of("pgs_runs_running"), 0),
        (of("pgs_runs_waiting"), 0),
        (of("pgs_database_up"), 1),
    ):
        assert samples[name] == total, name
    cost = sum(one.cost or 0.0 for one in answers)
    assert cost > 0
    assert samples[of("pgs_model_cost_total", **model)] == pytest.approx(cost)
    assert sum(one.usage.cached for one in answers) > 0
    assert not [canary for canary in CANARIES if canary in text]
    samples, text = await scrape(server, "narrow")
    assert "papers" not in text
    assert samples[of("pgs_graph_lease_held", graph="other")] == 0


@pytest.mark.thorough
async def test_how_graphs_stand(server: Served, pgs: PGS, db: Database) -> None:
    samples, _ = await scrape(server)
    assert samples[of("pgs_graph_lease_held", graph="papers")] == 0
    assert of("pgs_graph_nodes", graph="papers") not in samples
    job = await pgs.jobs.run("papers")
    async with hold_lease(db, "papers", seconds=60):
        samples, _ = await scrape(server)
    assert samples[of("pgs_graph_lease_held", graph="papers")] == 1
    assert samples[of("pgs_graph_lease_held", graph="other")] == 0
    assert samples[of("pgs_graph_nodes", graph="papers")] == job.figures["nodes"]
    assert samples[of("pgs_graph_partitions", graph="papers")] == 4
    assert samples[of("pgs_graph_database_changed", graph="papers")] == 0
    assert 0 <= samples[of("pgs_graph_generation_age_seconds", graph="papers")] < 600
    await alter(db, "MATCH (p:Paper) WHERE p.topic = 1 SET p.abstract = 'new'")
    samples, _ = await scrape(server)
    assert samples[of("pgs_graph_database_changed", graph="papers")] == 1
    assert of("pgs_graph_drift_ratio", graph="papers") not in samples
    left = await pgs.jobs.run("papers", max_drift=1.0)
    samples, _ = await scrape(server)
    assert samples[of("pgs_graph_drift_ratio", graph="papers")] == left.drift == 0.25


async def no_stream(server: Served) -> bool:
    return (await scrape(server))[0][of("pgs_streams")] == 0


@pytest.mark.thorough
async def test_open_streams_and_chats_are_counted_until_they_are_cut(
    server: Served, pgs: PGS
) -> None:
    async with server.client("pgs_ann") as client:
        await ask(client)
        assert (await scrape(server))[0][of("pgs_streams")] == 0
        model = Held(pgs)
        asked = await client.post("/api/runs", json={"question": "Why not?", "graph": "papers"})
        async with client.stream("GET", asked.json()["events"]) as stream:
            assert stream.status_code == 200
            await model.asked.wait()
            samples, _ = await scrape(server)
            assert samples[of("pgs_streams")] == samples[of("pgs_runs_running")] == 1
            others, _ = await scrape(server, "narrow")
            assert others[of("pgs_streams")] == others[of("pgs_runs_running")] == 0
        model.go.set()
        await events(client, asked.json()["events"], until=lambda told: told.id == 1)
        await until(lambda: no_stream(server), 60)

        model = Held(pgs)
        said = [{"role": "user", "content": "Why ever not?"}]
        body = {"model": "papers", "messages": said, "stream": True}
        async with client.stream("POST", "/v1/chat/completions", json=body) as stream:
            assert stream.status_code == 200
            await model.asked.wait()
            assert (await scrape(server))[0][of("pgs_streams")] == 1
        await until(lambda: no_stream(server), 60)
        model.go.set()


async def test_only_the_owner_and_tokens_of_metrics_open_it_and_these_open_nothing_else(
    server: Served,
) -> None:
    for name, code in (("ann", 403), ("chief", 403), ("stranger", 401)):
        async with server.client(f"pgs_{name}") as client:
            refused = await client.get("/metrics")
        assert refused.status_code == code, name
        assert "pgs_runs" not in refused.text
    async with server.client() as nobody:
        assert (await nobody.get("/metrics")).status_code == 401
    async with server.owner() as owner:
        assert (await owner.get("/metrics")).status_code == 200
        document = (await owner.get("/api/openapi.json")).json()
    async with server.client("pgs_scraper") as scraper:
        for path in document["paths"]:
            answer = await scraper.get(path)
            open_to_all = {"/metrics": 200, "/api/health": 200, "/api/login": 405}
            assert answer.status_code == open_to_all.get(path, 403), path
        asked = await scraper.post("/api/runs", json={"question": "Why?"})
        assert asked.status_code == 403
