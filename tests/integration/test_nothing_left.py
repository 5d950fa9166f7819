"""A session that has read the whole graph is continued at no cost: nothing is left."""

from __future__ import annotations

import pytest

from pgs_neo4j.cli.commands.request import AskedQuestion
from pgs_neo4j.cli.pages.answer_page import ALL_READ, advice
from pgs_neo4j.cli.run import NOTHING_LEFT, code_of
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import NothingLeftError, UnknownRunError
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.web.failures import failure_of, status_of
from pgs_neo4j.web.runs.served_data import answer_counts
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import answering, engine_on_papers, without_synthesis

ADDED = "CREATE (:Paper {doi: 'new', title: 'New', abstract: 'Text of a new paper'})"
RUNS = "MATCH (r:PgsRun) RETURN count(r) AS runs"


def prompts(pgs: PGS) -> int:
    assert isinstance(pgs.sweep_llm, ScriptedLLM)
    assert isinstance(pgs.synthesis_llm, ScriptedLLM)
    return len(pgs.sweep_llm.prompts) + len(pgs.synthesis_llm.prompts)


async def test_a_loop_of_continuations_ends_and_pays_nothing_at_its_end(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        answer = await pgs.execute("Why?", graph="papers", max_sweep_partitions=1)
        with pytest.raises(NothingLeftError, match=r"has read all 160 nodes") as raised:
            for _ in range(10):
                answer = await pgs.execute(
                    "Why?", graph="papers", mode="continue", max_sweep_partitions=1
                )
        assert answer.coverage.exhausted
        asked, (before,) = prompts(pgs), await fetch(db, RUNS)
        for _ in range(2):
            with pytest.raises(NothingLeftError):
                await pgs.execute("Why?", graph="papers", mode="continue")
        with pytest.raises(NothingLeftError):
            await pgs.plan("Why?", graph="papers", mode="continue")
        with pytest.raises(NothingLeftError):
            await pgs.layered_search("Why?", graph="papers", mode="continue")
        # Neither calls nor runs come of it, so the latest run stays the same.
        assert (prompts(pgs), await fetch(db, RUNS)) == (asked, [before])
        assert code_of(raised.value) == NOTHING_LEFT == 7
        assert status_of(raised.value) == 409
        failure = failure_of(raised.value)
        assert failure.code == "nothing_left"
        assert failure.fix == "to read everything again, set full_sweep (--full-sweep)"
        again = await pgs.execute("Why?", graph="papers", mode="continue", full_sweep=True)
        assert sum(sweep.nodes for sweep in again.sweeps) == 160


async def test_new_nodes_are_left_to_read(endpoint: Endpoint, db: Database) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.execute("Why?", graph="papers", full_sweep=True)
        await alter(db, ADDED)
        more = await pgs.execute("Why?", graph="papers", mode="continue")
        assert more.own_coverage.nodes_read == 1
        assert more.coverage.exhausted
        with pytest.raises(NothingLeftError, match="all 161 nodes"):
            await pgs.execute("Why?", graph="papers", mode="continue")


async def test_reports_without_an_answer_are_answered_from_first(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db, without_synthesis()) as pgs:
        with pytest.raises(Exception, match="gone"):
            await pgs.execute("Why?", graph="papers", full_sweep=True)
        answering(pgs, lambda prompt: "## Thesis\nAll of it [P1:n1].")
        answer = await pgs.execute("Why?", graph="papers", mode="continue")
        assert answer.text
        assert answer.usage.calls == 1
        with pytest.raises(NothingLeftError):
            await pgs.execute("Why?", graph="papers", mode="continue")


async def test_an_answer_from_a_search_changes_neither_the_question_nor_the_reading(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        first = await pgs.execute("Why?", graph="papers", max_sweep_partitions=1)
        await pgs.search("fact101?", graph="papers", answer=True)
        assert (await pgs.runs.latest("papers")).question == "fact101?"
        assert (await pgs.runs.latest("papers", asked=True)).id == first.run
        assert [one.id for one in await pgs.runs("papers", asked=True)] == [first.run]
        asked = AskedQuestion(None, "papers", None, None, again=True, quiet=True)
        request = await asked.request(pgs)
        assert (request.question, request.mode) == ("Why?", "continue")
        rest = await pgs.execute("Why?", graph="papers", mode="continue")
        assert rest.coverage.exhausted
        # What the session read before was not read for this answer, and is not said to be.
        assert rest.own_coverage.nodes_read == 160 - first.own_coverage.nodes_read
        told = " ".join(advice(rest))
        assert f"only {rest.own_coverage.nodes_read} of 160 nodes for this answer" in told
        assert ALL_READ not in told
        assert answer_counts(rest)["own_coverage"]["nodes_read"] == rest.own_coverage.nodes_read


async def test_a_session_with_nothing_but_a_search_is_continued_only_with_a_question(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.search("fact101?", graph="papers", answer=True, session_id="looked")
        with pytest.raises(UnknownRunError, match="there is no question of graph papers yet"):
            await AskedQuestion(None, "papers", None, None, again=True, quiet=True).request(pgs)
        asked = AskedQuestion("Why?", "papers", None, None, again=True, quiet=True)
        request = await asked.request(pgs)
        assert (request.question, request.session) == ("Why?", "looked")
