"""What a run costs, against the books of its provider: cached, stored, and long prompts."""

import random
from contextlib import asynccontextmanager, suppress

import pytest

from pgs_neo4j.errors import BudgetError
from pgs_neo4j.events import PassFinished
from pgs_neo4j.export.figures import usage_line
from pgs_neo4j.export.json_text import answer_data
from tests.engines import model_on_papers
from tests.fakes.billing import FORMS, PRICES, Books
from tests.fakes.openai_server import Answer, FakeOpenAI, contract_answer

RUN = "MATCH (r:PgsRun {id: $run}) RETURN properties(r) AS stored"


@asynccontextmanager
async def billed(endpoint, db, **settings):
    """An engine on four partitions whose provider keeps books."""
    books = Books()
    with FakeOpenAI(default=Answer(contract_answer, usage=books.usage)) as fake:
        async with model_on_papers(
            endpoint,
            db,
            fake,
            models={"reader": PRICES, "writer": PRICES},
            cache=False,
            **settings,
        ) as engine:
            yield engine, books


async def test_a_run_costs_what_its_provider_billed_in_each_form(endpoint, db):
    async with billed(endpoint, db) as (engine, books):
        for number, form in enumerate(FORMS):
            books.begin(form)
            events, question = [], f"What is said of subject {number}?"
            answer = await engine.execute(question, full_sweep=True, on_event=events.append)
            assert not answer.partial
            cost, totals = pytest.approx(float(books.cost), rel=1e-9), books.totals
            assert 0 < totals["long"] < totals["calls"], "prompts of both kinds"
            data = answer_data(answer)
            _, rows = await db.call(RUN, {"run": answer.run}, "read")
            stored = rows[0]["stored"]
            assert (answer.cost, data["cost"], stored["cost"]) == (cost, cost, cost), form
            counts = {
                "calls": totals["calls"],
                "input_tokens": totals["input"],
                "output_tokens": totals["output"],
                "cache_read_tokens": totals["cached"],
                "cache_write_tokens": totals["stored"],
            }
            for told in (data["usage"], stored):
                assert {name: told[name] for name in counts} == counts, form
            assert ("from the provider's cache" in usage_line(answer.usage)) == (
                totals["cached"] > 0
            )
            swept = [event for event in events if isinstance(event, PassFinished)]
            assert sum(event.cost or 0.0 for event in swept) < answer.cost
            assert sum(event.usage.cache_read_tokens for event in swept) == sum(
                sweep.usage.cache_read_tokens for sweep in answer.sweeps
            )
            if number and form not in ("impossible", "silent"):
                # Another question reads the same partitions, at the price of cached input.
                share = totals["cached"] / totals["input"]
                assert share > 0.7, form
            again = await engine.runs.answer(answer.run)
            assert (again.cost, again.usage) == (cost, answer.usage)


SHARES = {
    "nothing": lambda read: (0, 0),
    "all cached": lambda read: (read, 0),
    "all stored": lambda read: (0, read),
    "half and half": lambda read: (read // 2, read - read // 2),
}


async def test_no_share_of_cached_input_lets_a_run_exceed_its_cost(endpoint, db):
    dice = random.Random(29)
    shares = SHARES | {"any": lambda read: (cut := dice.randint(0, read), read - cut)}
    async with billed(endpoint, db) as (engine, books):
        books.begin("openrouter", SHARES["all stored"])
        plan = await engine.plan("Why?", full_sweep=True)
        whole = await engine.execute("Why?", full_sweep=True)
        assert whole.cost == pytest.approx(float(books.cost), rel=1e-9)
        assert plan.low <= plan.low_uncached <= whole.cost <= plan.high
        stopped = 0
        for name, share in shares.items():
            for part in (0.4, 0.8, 2.5):
                books.begin("openrouter", share)
                limit = part * whole.cost
                with suppress(BudgetError):
                    answer = await engine.execute(
                        f"Why {part} {name}?", full_sweep=True, max_cost=limit,
                        sweep_max_tokens=300, synthesis_max_tokens=600,
                    )  # fmt: skip
                    stopped += bool(answer.stopped)
                    assert answer.cost == pytest.approx(float(books.cost), rel=1e-9)
                assert float(books.cost) <= limit * (1 + 1e-9), (name, part)
        assert stopped
        books.begin("openai")
        answer = await engine.execute(
            "What else?", full_sweep=True, max_calls=3, session_id="resumed"
        )
        assert answer.stopped
        done = await engine.resume(answer.run, max_calls=50)
        assert not done.partial
        assert done.cost == pytest.approx(float(books.cost), rel=1e-9)
        assert done.usage.cache_read_tokens == books.totals["cached"] > 0
