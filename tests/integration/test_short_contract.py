"""Models that lose the contract of a report are asked once with a shorter one."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import AllSweepsFailedError, BudgetError
from pgs_neo4j.llm.scripted import Answer, Reply, contract_reply
from pgs_neo4j.model import Completion, Prompt, Usage
from pgs_neo4j.pgs.sweeping.short_report import SHORT_MARK, SHORT_SYSTEM
from tests.conftest import Endpoint
from tests.database import fetch
from tests.engines import answering, asked, engine_on_papers
from tests.graphs import count

PROSE = "In a world powered by fossil fuel, there is no alternative. "


def is_short(prompt: Prompt) -> bool:
    return prompt.system == SHORT_SYSTEM


def sloppy(otherwise: Reply = PROSE, least: int = 0) -> Answer:
    """A reader that keeps the shorter contract alone, for passes of at most as many nodes."""

    def answer(prompt: Prompt) -> Reply:
        if prompt.task != "sweep" or (
            is_short(prompt) and (not least or len(prompt.nodes) <= least)
        ):
            reply = contract_reply(prompt)
            assert isinstance(reply, str)
            return reply
        return otherwise

    return answer


CUT = Completion(text=PROSE * 9, usage=Usage(calls=1), model="scripted", truncated=True)


@pytest.mark.parametrize("otherwise", [PROSE, CUT], ids=["whole", "cut off"])
async def test_a_reply_that_is_no_report_is_asked_for_with_a_shorter_contract_and_kept(
    endpoint: Endpoint, db: Database, otherwise: Reply
) -> None:
    async with engine_on_papers(endpoint, db, sloppy(otherwise), topics=2) as pgs:
        answer = await pgs.execute("Why?", full_sweep=True)
        assert not answer.partial
        assert answer.coverage.nodes_read == 80
        passes = len(answer.sweeps)
        assert answer.usage.calls == 2 * passes + 1  # each is another paid call
        shorts = [is_short(prompt) for prompt in asked(pgs) if prompt.task == "sweep"]
        assert sorted(shorts) == [False] * passes + [True] * passes
        rows = await fetch(
            db, "MATCH (r:PgsReply) WHERE r.error IS NULL RETURN r.key AS key, r.text AS text"
        )
        assert sum(row["key"].endswith(SHORT_MARK) for row in rows) == passes
        assert not any(PROSE in row["text"] for row in rows)
        # What was paid for is not bought again, and only the whole contract has the usual key.
        again = await pgs.execute("Why?", full_sweep=True)
        assert (again.usage.calls, again.coverage.nodes_read) == (0, 80)
        answering(pgs, contract_reply)
        fresh = await pgs.execute("Why?", full_sweep=True, cache=False)
        assert fresh.usage.calls == passes + 1


async def test_halves_and_limits_count_the_shorter_contract_too(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db, sloppy(CUT, least=20), topics=2) as pgs:
        with pytest.raises(BudgetError, match="nothing was read"):
            await pgs.execute("Why?", full_sweep=True, max_calls=1)
        first = await pgs.execute("Why?", full_sweep=True, max_calls=6, max_concurrent_sweeps=1)
        assert first.partial
        assert first.usage.calls <= 6
        done = await pgs.resume(first.run, max_calls="none")
        assert done.coverage.nodes_read == 80
        assert not done.partial
        asked(pgs)
        again = await pgs.execute("Why?", full_sweep=True)
        assert again.coverage.nodes_read == 80
        assert asked(pgs) == []


async def test_a_model_that_keeps_neither_is_asked_three_times_in_all_and_reads_nothing(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db, lambda prompt: PROSE, topics=2) as pgs:
        with pytest.raises(AllSweepsFailedError, match=r"not a report.*3 times in all"):
            await pgs.execute("Why?", full_sweep=True)
        tries = [is_short(prompt) for prompt in asked(pgs)]
        assert len(tries) == 3 * sum(tries) > 0
        assert await count(db, "(x:PgsReply) WHERE x.error IS NULL") == 0
        assert await count(db, "(x:PgsSweep) WHERE x.nodes_read > 0") == 0


@pytest.mark.parametrize(
    ("reply", "calls", "why"),
    [(PROSE, 3, "not a report"), (PROSE, 6, "not a report"), (CUT, 3, "was cut off at")],
)
async def test_a_limit_that_ends_a_run_of_refused_reports_says_why_they_were_refused(
    endpoint: Endpoint, db: Database, reply: Reply, calls: int, why: str
) -> None:
    async with engine_on_papers(endpoint, db, lambda prompt: reply, topics=4) as pgs:
        said = rf"^nothing was read: .*{why}.*, and then the next call could exceed the limit"
        with pytest.raises(BudgetError, match=said) as caught:
            await pgs.execute("Why?", full_sweep=True, max_calls=calls, max_concurrent_sweeps=1)
    assert str(caught.value).count("limit of") == 1
