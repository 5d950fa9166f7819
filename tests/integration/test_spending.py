"""What is spent counts on its day and for its payer, against the books of the endpoint."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS, runs
from pgs_neo4j.engine.live_work import is_active
from pgs_neo4j.errors import BudgetError, UsageError
from pgs_neo4j.llm.calls import ledger
from pgs_neo4j.pgs.runs.runs import run_lost_error
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.guard import Guard
from pgs_neo4j.web.shared import Serving
from tests.conftest import Endpoint
from tests.engines import KNOBS, with_model
from tests.fakes.openai_server import Answer, FakeOpenAI, Vectors, contract_answer
from tests.graphs import papers
from tests.in_process import client_of, guarded, serving_of
from tests.thorough import histories

PRICE, WRITTEN = 2.0, 8.0
"""Of a million tokens read, and written."""
PRICES = {"input_price": PRICE, "output_price": WRITTEN}
EMBEDDER = "text-embedding-3-small"
MODELS = {"reader": PRICES, "writer": PRICES, EMBEDDER: {"input_price": PRICE, "output_price": 0.0}}
LOST = str(run_lost_error())
VECTORS = "MATCH (n:Paper) SET n.vector = [x IN range(1, 7) | rand() - 0.5]"


class Clock:
    """The time of day of the engine, which a test moves; it stands in for ``datetime``."""

    ahead = timedelta(0)

    @classmethod
    def now(cls, zone: Any = UTC) -> datetime:
        return datetime.now(zone) + cls.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    monkeypatch.setattr(Clock, "ahead", timedelta(0))
    monkeypatch.setattr(ledger, "datetime", Clock)
    monkeypatch.setattr(runs, "datetime", Clock)
    return Clock


@dataclass
class Books:
    """What the endpoint bills, by day and kind of call. Each call is billed as it arrives."""

    cost: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    calls: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    _lock: Any = field(default_factory=threading.Lock)

    def chat(self, body: Any, text: str) -> Any:
        """Bill a chat, and return what its endpoint reports."""
        said = sum(len(str(message["content"])) for message in body["messages"])
        read, written = said // 4 + 1, len(text) // 4 + 1
        self._bill("chat", (read * PRICE + written * WRITTEN) / 1e6)
        return {"prompt_tokens": read, "completion_tokens": written}

    def embedding(self, body: Any) -> int:
        """Bill an embedding, and return the tokens that its endpoint reports."""
        inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
        read = sum(len(text.encode()) // 4 + 2 for text in inputs)
        self._bill("embedding", read * PRICE / 1e6)
        return read

    def on(self, day: str) -> float:
        """What was billed on a day."""
        return sum(cost for (one, _), cost in self.cost.items() if one == day)

    def _bill(self, kind: str, cost: float) -> None:
        with self._lock:
            self.cost[ledger.current_day(), kind] += cost
            self.calls[kind] += 1


def tenant(name: str, day: float | None) -> Caller:
    return Caller(name, "asker", True, frozenset({"papers"}), None, day)


@dataclass
class Place:
    """A server on an engine, its endpoint, and the endpoint's books."""

    engine: PGS
    fake: FakeOpenAI
    books: Books
    serving: Serving
    app: Guard
    canceled: bool = False
    found: int = 0
    """How many searches and plans were answered; the first of a day embeds its question."""

    @asynccontextmanager
    async def client(self, name: str) -> AsyncIterator[httpx2.AsyncClient]:
        async with client_of(self.app, name) as client:
            yield client

    async def restart(self, *callers: Caller) -> None:
        """Stop the server, and start another one on the same engine."""
        await self.serving.stop()
        self.serving = serving_of(self.engine, *callers)
        self.app = guarded(self.serving)

    async def billed(self, payer: str = "") -> dict[str, float]:
        """What the record says that was spent by day, by all or by one payer."""
        days: defaultdict[str, float] = defaultdict(float)
        for one in await self.engine.runs.costs(days=5):
            if not payer or one.session.startswith(f"{payer} / "):
                days[one.day] += one.cost
        return days


@asynccontextmanager
async def place(
    endpoint: Endpoint, db: Database, *callers: Caller, vectors: bool = True, **settings: Any
) -> AsyncIterator[Place]:
    """A server on papers whose vectors the endpoint's embedder made."""
    mapping = await papers(db, 4, 20)
    books = Books()
    with FakeOpenAI(default=Answer(contract_answer, usage=books.chat)) as fake:
        by_path = Vectors(dimensions=6, usage=books.embedding)
        fake.refuse = lambda one: by_path if one.path.endswith("/embeddings") else None
        if vectors:
            await db.call(VECTORS, {}, "write")
            made = f"openai/{EMBEDDER}"
            mapping = replace(mapping, embedding="vector", embedding_model=made)
        own = {"embedder": "openai", "embedding_model": EMBEDDER, "models": MODELS, "cache": False}
        async with with_model(endpoint, fake, **KNOBS | own | settings) as engine:
            await engine.graphs.add("papers", mapping)
            await engine.partitions.build("papers")
            fake.requests.clear()
            books.cost.clear()
            books.calls.clear()
            await db.call("MATCH (d:PgsSpending) DELETE d", {}, "write")
            serving = serving_of(engine, *callers)
            # Made once, as a server does: the routes take longer than most requests.
            yield Place(engine, fake, books, serving, guarded(serving))


async def test_searches_and_plans_cost_what_the_endpoint_bills(
    endpoint: Endpoint, db: Database
) -> None:
    async with place(endpoint, db) as at:
        day = ledger.current_day()
        for number in range(5):
            question = f"What do the papers say about sleep {number}?"
            await at.engine.search(question, graph="papers", mode="naive")
            await at.engine.plan(question, graph="papers")
            await at.engine.search.plan(question, graph="papers")
            await at.engine.route(question, graph="papers")
        assert at.books.calls["embedding"] >= 15
        assert at.books.calls["chat"] == 0
        assert (await at.billed())[day] == pytest.approx(at.books.on(day), rel=1e-9)
        listed = await at.engine.runs.costs(days=1)
        assert {(one.task, one.graph, one.runs) for one in listed} == {
            ("search", "papers", 0),
            ("plan", "papers", 0),
        }
        assert sum(one.calls for one in listed) == at.books.calls["embedding"]


async def test_a_run_costs_its_embeddings_as_well_and_no_more_than_its_plan(
    endpoint: Endpoint, db: Database
) -> None:
    async with place(endpoint, db) as at:
        question = "What do the papers say about sleep, and what is missing?"
        planned = await at.engine.plan(question, graph="papers", max_flag_sweeps=0)
        before = at.books.on(ledger.current_day())
        answer = await at.engine.execute(question, graph="papers", max_flag_sweeps=0)
        spent = at.books.on(ledger.current_day()) - before
        assert at.books.calls["embedding"] > 0
        assert answer.cost == pytest.approx(spent, rel=1e-9)
        assert planned.high is not None
        assert answer.cost is not None
        assert answer.cost <= planned.high
        assert answer.usage.calls <= planned.calls
        (run,) = [one for one in await at.engine.runs.costs(days=1) if one.task == "run"]
        assert run.cost == pytest.approx(spent, rel=1e-9)
        assert run.runs == 1


async def test_what_is_spent_counts_on_the_day_when_it_is_spent(
    endpoint: Endpoint, db: Database, clock: type[Clock]
) -> None:
    async with place(endpoint, db, tenant("ann", 10.0)) as at:
        yesterday = ledger.current_day()
        stopped = await at.engine.execute(
            "What is said of sleep?", graph="papers", max_calls=3, full_sweep=True,
            session_id="ann / default",
        )  # fmt: skip
        assert stopped.stopped
        first = at.books.on(yesterday)
        assert (await at.billed("ann")) == {yesterday: pytest.approx(first, rel=1e-9)}
        clock.ahead = timedelta(days=1)
        today = ledger.current_day()
        assert yesterday < today
        done = await at.engine.resume(stopped.run, max_calls=50)
        assert done.cost == pytest.approx(first + at.books.on(today), rel=1e-9)
        told = {day: pytest.approx(at.books.on(day), rel=1e-9) for day in (yesterday, today)}
        assert await at.billed("ann") == told
        left = await at.serving.remaining_cost(tenant("ann", 10.0))
        assert left == pytest.approx(10.0 - at.books.on(today), rel=1e-9)
        # What was spent stays spent when its session is deleted.
        await at.engine.sessions.delete("ann / default", "papers")
        assert await at.billed("ann") == told


async def test_midnight_divides_a_run_by_when_its_calls_were_sent(
    endpoint: Endpoint, db: Database, clock: type[Clock]
) -> None:
    async with place(endpoint, db) as at:
        yesterday = ledger.current_day()

        def pass_midnight(body: Any, text: str) -> Any:
            """Bill a call as it was sent, and let midnight pass while it is in flight."""
            usage = at.books.chat(body, text)
            if at.books.calls["chat"] == 3:
                clock.ahead = timedelta(days=1)
            return usage

        at.fake.default = Answer(contract_answer, usage=pass_midnight)
        answer = await at.engine.execute(
            "What is said of sleep?", graph="papers", full_sweep=True, max_concurrent_calls=1,
            max_concurrent_sweeps=1,
        )  # fmt: skip
        today = ledger.current_day()
        assert yesterday < today
        days = await at.billed()
        assert days.keys() == {yesterday, today}
        assert sum(days.values()) == pytest.approx(answer.cost, rel=1e-9)
        assert all(at.books.on(day) > 0 for day in days)
        assert days == {day: pytest.approx(at.books.on(day), rel=1e-9) for day in days}


async def test_no_embedder_is_asked_for_who_has_nothing_left(
    endpoint: Endpoint, db: Database
) -> None:
    async with place(endpoint, db, tenant("poor", 1e-12), tenant("rich", 9.0)) as at:
        body = {"question": "What is said of sleep?", "graph": "papers"}
        bodies = {"/api/search": body | {"mode": "naive"}, "/api/plan": body,
                  "/api/search/plan": body}  # fmt: skip
        async with at.client("poor") as poor, at.client("rich") as rich:
            # What is held is no more than what is left, so the first one is within the limit.
            for path, sent in bodies.items():
                answer = await poor.post(path, json=sent)
                assert answer.status_code in (200, 402), answer.text
            assert at.books.calls["embedding"] == 0
            assert await at.billed("poor") == {}
            for path, sent in bodies.items():
                assert (await rich.post(path, json=sent)).status_code == 200
            assert at.books.calls["embedding"] >= 3
        day = ledger.current_day()
        assert (await at.billed("rich"))[day] == pytest.approx(at.books.on(day), rel=1e-9)


@pytest.mark.parametrize("seed", histories(3, thorough=12))
async def test_no_day_of_a_tenant_costs_more_than_its_limit(
    endpoint: Endpoint, db: Database, clock: type[Clock], seed: int
) -> None:
    dice = random.Random(seed)
    limit = 10 ** dice.uniform(-3.5, -1.5)
    async with place(endpoint, db, tenant("ann", limit)) as at:
        days = []
        for number in range(3):
            clock.ahead = timedelta(days=number)
            days.append(ledger.current_day())
            for step in range(dice.randint(2, 5)):
                many = range(dice.randint(1, 3))
                await asyncio.gather(*(act(at, dice, f"{number} {step} {one}") for one in many))
            await all_billed(at)
            await nothing_is_held(at, limit)
            if dice.random() < 0.4:  # the server is started again
                await at.restart(tenant("ann", limit))
        await at.serving.stop()
        told = await at.billed("ann")
        billed = {day: at.books.on(day) for day in days}
        # A history of runs alone may cost nothing: each is canceled at once, or refused as a whole.
        assert sum(billed.values()) > 0 or not at.found
        # A call that was canceled in flight counts at its worst, since its cost is never known.
        assert all(told.get(day, 0.0) >= billed[day] * (1 - 1e-6) for day in days)
        if not at.canceled:
            assert {day: told.get(day, 0.0) for day in days} == pytest.approx(billed, rel=1e-6)
        assert max(billed.values()) <= limit * (1 + 1e-9)


async def all_billed(at: Place) -> None:
    """Wait until the endpoint has billed each call, also those that nobody waits for."""
    async with asyncio.timeout(30):
        while sum(at.books.calls.values()) < len(at.fake.requests):
            await asyncio.sleep(0.01)


async def nothing_is_held(at: Place, limit: float) -> None:
    """What is left is all that was not spent, since nothing is in progress any more."""
    spent = (await at.billed("ann")).get(ledger.current_day(), 0.0)
    if spent < limit:
        left = await at.serving.remaining_cost(tenant("ann", limit))
        assert left == pytest.approx(limit - spent, rel=1e-6)
    else:
        with pytest.raises(BudgetError, match="has spent today's limit"):
            await at.serving.remaining_cost(tenant("ann", limit))


async def act(at: Place, dice: random.Random, what: str) -> None:
    """Do one thing of a day: search, plan, ask, cancel, resume, or delete what was said."""
    body = {"question": f"What is said of sleep {what}?", "graph": "papers"}
    kind = dice.choice(["search", "plan", "search/plan", "ask", "ask", "resume", "delete"])
    async with at.client("ann") as ann:
        if kind == "search":
            found = await allowed(ann.post("/api/search", json=body | {"mode": "naive"}))
            at.found += found is not None
        elif kind in ("plan", "search/plan"):
            at.found += await allowed(ann.post(f"/api/{kind}", json=body)) is not None
        elif kind == "delete":
            with suppress(UsageError):  # there is no session yet, or a run of it is in progress
                await at.engine.sessions.delete("ann / default", "papers")
        elif kind == "ask":
            begun = await allowed(ann.post("/api/runs", json=body | {"full_sweep": True}))
            await wait_or_cancel(at, ann, dice, begun)
        elif stopped := [run for run in await at.engine.runs("papers") if run.status != "complete"]:
            run = dice.choice(stopped).id
            begun = await allowed(ann.post(f"/api/runs/{run}/resume", json={}), 404, 409)
            await wait_or_cancel(at, ann, dice, begun)


async def allowed(asked: Awaitable[httpx2.Response], *others: int) -> Any:
    """Return what a request gives; nothing if the money is spent, or for other reasons."""
    answer = await asked
    assert answer.status_code in (200, 202, 402, *others), answer.text
    assert answer.status_code != 402 or answer.json()["code"] == "budget", answer.text
    return answer.json() if answer.status_code < 400 else None


async def wait_or_cancel(
    at: Place, ann: httpx2.AsyncClient, dice: random.Random, begun: Any
) -> None:
    """Wait until a run ends, or cancel it when some of its calls were made."""
    live = at.serving.board.live.by_id.get(begun["run"]) if begun else None
    if live is None or live.task is None:
        return
    if dice.random() < 0.5:
        made = at.books.calls["chat"] + dice.randint(0, 3)
        while is_active(live) and at.books.calls["chat"] < made:
            await asyncio.sleep(0.01)
        at.canceled = True
        await ann.delete(f"/api/runs/{live.id}")
    await asyncio.wait([live.task])
    # One that loses its record to a deletion or another resumption ends with calls in flight.
    at.canceled |= any(LOST in one.data for one in live.log.entries)
