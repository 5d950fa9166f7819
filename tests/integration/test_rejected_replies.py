"""Replies that are no report: reported at once, stored to be read, and gone with their session."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import AllSweepsFailedError, UnknownRunError, UsageError
from pgs_neo4j.events import Event, ReplyRejected, SweepFinished
from pgs_neo4j.llm.calls import replies as reply_cache
from pgs_neo4j.llm.scripted import Reply, contract_reply
from pgs_neo4j.model import Prompt
from pgs_neo4j.pgs.sweeping.short_report import SHORT_SYSTEM
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers
from tests.graphs import count

PROSE = "I am a small model, and turtles are my subject. "


def sloppy(prompt: Prompt) -> Reply:
    """Keep the shorter contract alone."""
    if prompt.task == "sweep" and prompt.system != SHORT_SYSTEM:
        return PROSE
    return contract_reply(prompt)


async def test_each_rejected_reply_is_reported_at_once_and_can_be_read(
    endpoint: Endpoint, db: Database
) -> None:
    events: list[Event] = []
    async with engine_on_papers(endpoint, db, sloppy, topics=2) as pgs:
        answer = await pgs.execute("Why?", full_sweep=True, on_event=events.append)
        passes = len(answer.sweeps)
        told = [event for event in events if isinstance(event, ReplyRejected)]
        assert sorted(event.partition for event in told) == sorted(
            sweep.partition for sweep in answer.sweeps
        )
        for event in told:
            assert "is not a report" in event.reason
            assert "turtles" not in event.reason
            ended = next(
                at
                for at, other in enumerate(events)
                if isinstance(other, SweepFinished) and other.sweep.partition == event.partition
            )
            assert events.index(event) < ended
        stored = await pgs.runs.replies(answer.run)
        rejected = [reply for reply in stored if reply.error is not None]
        assert [reply.text for reply in rejected] == [PROSE] * passes
        assert {(one.partition, one.number) for one in rejected} == {
            (event.partition, event.number) for event in told
        }
        assert {reply.error for reply in rejected} == {event.reason for event in told}
        accepted = [reply for reply in stored if reply.error is None]
        assert len(accepted) == answer.usage.calls - passes
        heads = await pgs.runs.replies(answer.run, most=5)
        assert {reply.text for reply in heads if reply.error} == {PROSE[:5]}
        # What was rejected is never taken for a reply, and costs the same again.
        again = await pgs.execute("Why?", full_sweep=True)
        assert again.usage.calls == 0
        assert await pgs.runs.replies(again.run) == []
        await pgs.sessions.delete("default", "papers")
        assert await count(db, "(x:PgsReply) WHERE x.error IS NOT NULL") == 0
        assert await count(db, "(x:PgsReply)") == len(accepted)  # for later questions


async def test_rejected_replies_are_bounded_and_make_room_first(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_cache, "MOST_REJECTED", 2)
    monkeypatch.setattr(reply_cache, "LONGEST_REJECTED", 10)
    async with engine_on_papers(endpoint, db, lambda _: PROSE, topics=2) as pgs:
        with pytest.raises(AllSweepsFailedError):
            await pgs.execute("Why?", full_sweep=True)
        run = (await pgs.runs.latest()).id
        assert [reply.text for reply in await pgs.runs.replies(run)] == [PROSE[:10]] * 2
        row = {"key": "accepted", "run": "r000000000000", "private": False, "text": "x", "size": 1,
               "model": "m", "output_tokens": 1}  # fmt: skip
        await alter(
            db, "CREATE (r:PgsReply) SET r = $row, r.used_at = datetime('2000-01-01')", row=row
        )
        await reply_cache.trim(db, 1e-6)
        assert await count(db, "(x:PgsReply) WHERE x.error IS NOT NULL") == 0
        assert await count(db, "(x:PgsReply {key: 'accepted'})") == 1
        with pytest.raises(AllSweepsFailedError):
            await pgs.execute("Why?", full_sweep=True)
        await reply_cache.clear(db)  # also those of a run that has not ended well
        assert await count(db, "(x:PgsReply)") == 0


async def test_a_run_is_found_by_how_its_id_begins(endpoint: Endpoint, db: Database) -> None:
    async with engine_on_papers(endpoint, db, topics=2) as pgs:
        first = (await pgs.execute("Why?", full_sweep=True)).run
        assert await pgs.runs.find(first) == first
        assert await pgs.runs.find(first[:6]) == first
        twin = f"{first[:10]}zz"
        await alter(
            db,
            "MATCH (r:PgsRun {id: $run})-[:PGS_RAN_IN]->(s) "
            "CREATE (c:PgsRun {id: $twin, status: 'complete', started_at: datetime()}) "
            "CREATE (c)-[:PGS_RAN_IN]->(s)",
            run=first,
            twin=twin,
        )
        with pytest.raises(UsageError, match="several runs begin with") as caught:
            await pgs.runs.find(first[:8])
        assert first in str(caught.value)
        assert twin in str(caught.value)
        assert await pgs.runs.find(first[:11]) == first
        assert await pgs.runs.find(twin) == twin
        with pytest.raises(UsageError, match="at least 4 characters"):
            await pgs.runs.find("r")
        for unknown in ("rzzzz", "r%%%%", "' OR 1"):
            with pytest.raises(UnknownRunError):
                await pgs.runs.find(unknown)
