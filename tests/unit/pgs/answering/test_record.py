"""A resumed answer counts what its earlier tries have spent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.schema import SCHEMA_VERSION
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.ledger import Spent
from pgs_neo4j.model import Usage
from pgs_neo4j.pgs.answering.record import record_answer
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.runs.runs import StoredRun
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.answering.conftest import answer_order
from tests.unit.pgs.answering.test_context import found


async def test_what_earlier_tries_have_spent_is_part_of_the_total() -> None:
    before = Spent(Usage(calls=2, input_tokens=30, output_tokens=4), 0.5)
    spent = {"calls": 2, "input_tokens": 30, "output_tokens": 4, "cost": 0.5}
    db = FakeDatabase(
        read_version=[{"version": SCHEMA_VERSION}],
        set_run_holders=[{"id": "r1", "spent": spent, "today": None}],
    )
    tools: Any = SimpleNamespace(
        db=db, calls=Calls.of(PGSConfig(), {}), end=None, known=None, log=RunLog(ignore)
    )
    stored = StoredRun(
        id="r1", graph="papers", session="s", generation=None, current=False, silent=False,
        properties={"holder": "elsewhere, pid 1", "status": "failed"},
    )  # fmt: skip
    order = answer_order(found(), partitioned=False)
    async with record_answer(order, tools, stored) as record:
        assert (record.id, record.recording.before) == ("r1", before)
        assert record.recording.ledger.total().spent == before
