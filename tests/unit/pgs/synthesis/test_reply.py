"""No piece of an answer is streamed before it was checked for deleted text."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import DatabaseError, TextDeletedError
from pgs_neo4j.events import Event, TextStreamed, Warned
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.synthesis.reply import PAUSE, CheckedStream, SynthesisTools

PIECES = ["The keeper ", "hid ", "eleven ", "bells."]


class Checks:
    """Notes what is checked, and what is streamed; a check takes some time, or fails."""

    def __init__(self, *, takes_s: float = 0.0, fails: dict[int, Exception] | None = None) -> None:
        self.checked: list[object] = []
        self.sent: list[str] = []
        self.takes_s, self.fails = takes_s, fails or {}

    async def check(self, value: object) -> None:
        await asyncio.sleep(self.takes_s)
        self.checked.append(value)
        if error := self.fails.get(len(self.checked)):
            raise error

    def hear(self, event: Event) -> None:
        assert isinstance(event, TextStreamed)
        self.sent.append(event.text)


async def test_each_piece_is_checked_with_what_was_told_before() -> None:
    checks = Checks()
    stream = CheckedStream(checks.hear, checks.check)
    await stream.send(PIECES[0])
    assert (checks.checked, checks.sent) == ([PIECES[0]], [PIECES[0]])
    for piece in PIECES[1:]:
        await stream.send(piece)
    await stream.finish()
    assert "".join(checks.sent) == checks.checked[-1] == "".join(PIECES)


async def test_nothing_is_told_once_a_check_finds_deleted_text() -> None:
    checks = Checks(fails={1: TextDeletedError("deleted")})
    stream = CheckedStream(checks.hear, checks.check)
    with pytest.raises(TextDeletedError):
        await stream.send(PIECES[0])
    assert checks.sent == []
    assert not stream.sent


async def test_pieces_wait_for_a_database_that_does_not_answer() -> None:
    checks = Checks(fails={1: DatabaseError("away"), 2: DatabaseError("away")})
    stream = CheckedStream(checks.hear, checks.check)
    await stream.send(PIECES[0])
    assert checks.sent == []
    while len(checks.checked) < 2:
        await stream.send("")
    await stream.finish(PIECES[1])
    assert checks.sent == [PIECES[0] + PIECES[1]]


async def test_the_last_piece_is_not_told_without_a_check() -> None:
    checks = Checks(fails={1: DatabaseError("away")})
    with pytest.raises(DatabaseError):
        await CheckedStream(checks.hear, checks.check).finish(PIECES[0])
    assert checks.sent == []


async def test_slow_checks_take_a_part_of_the_time_and_lose_no_piece() -> None:
    """Pieces arrive faster than a distant database answers."""
    checks = Checks(takes_s=0.02)
    stream = CheckedStream(checks.hear, checks.check)
    pieces = [f"{number} " for number in range(200)]
    clock = asyncio.get_running_loop().time
    began = clock()
    for piece in pieces:
        await asyncio.sleep(0.001)
        await stream.send(piece)
    await stream.finish()
    lasted = clock() - began
    assert "".join(checks.sent) == "".join(pieces)
    assert len(checks.checked) * checks.takes_s < lasted / PAUSE + 2 * checks.takes_s


@pytest.mark.parametrize("reducing", [None, ScriptedLLM()])
async def test_a_run_lends_its_calls_its_log_and_its_checks(reducing: ScriptedLLM | None) -> None:
    events: list[Event] = []
    checks, calls, llm = Checks(), Calls.of(PGSConfig(), {}), ScriptedLLM()
    log = RunLog(events.append)
    run: Any = SimpleNamespace(calls=calls, log=log, db=SimpleNamespace(check_deleted=checks.check))
    replies: Any = object()
    tools = SynthesisTools.of_run(run, llm, replies, reducing_llm=reducing)
    assert (tools.llm, tools.calls, tools.replies) == (llm, calls, replies)
    assert tools.reducing_llm is reducing
    tools.warn("cut")
    tools.on_event(TextStreamed("piece"))
    assert (log.warnings, events) == (["cut"], [Warned("cut"), TextStreamed("piece")])
    await tools.check_deleted("piece")
    assert checks.checked == ["piece"]
