"""The events of a run: joined text, readers that come back, and bounds."""

from __future__ import annotations

import asyncio
import json

import pytest

from pgs_neo4j.web.runs.events import (
    MOST_ENTRIES,
    MOST_ID,
    TEXT_S,
    EventLog,
    MissedEventsError,
    stream_events,
)
from tests.timeless import timeless


async def names(log: EventLog, place: int = 0) -> list[tuple[int, str]]:
    return [(entry.id, entry.name) async for entry in log.after(place)]


async def test_ids_count_up_from_one_to_the_end() -> None:
    log = EventLog()
    for name in "abc":
        log.add(name, {})
    log.end()
    log.add("late", {})
    log.add_text("late")
    log.end()
    assert await names(log) == [(1, "a"), (2, "b"), (3, "c")]
    assert await names(log, 2) == [(3, "c")]
    assert await names(log, 3) == []


async def test_text_is_joined_and_stays_in_its_place() -> None:
    log = EventLog()
    for piece in ("one ", "two ", "three"):
        log.add_text(piece)
    log.add("then", {})
    log.add_text("four")
    log.end()
    listed = [(entry.name, json.loads(entry.data)) async for entry in log.after(0)]
    assert listed == [
        ("text_streamed", {"text": "one two three"}),
        ("then", {}),
        ("text_streamed", {"text": "four"}),
    ]


@timeless
async def test_text_makes_at_most_twenty_events_a_second() -> None:
    log = EventLog()
    for _ in range(60):
        log.add_text("x")
        await asyncio.sleep(TEXT_S / 10)
    log.end()
    listed = [json.loads(entry.data)["text"] async for entry in log.after(0)]
    assert "".join(listed) == "x" * 60
    assert 1 < len(listed) <= 7


async def test_any_number_may_read_while_it_grows() -> None:
    log = EventLog()
    reading = [asyncio.create_task(names(log, place)) for place in (0, 0, 1)]
    for number in range(100):
        log.add("e", {"n": number})
        if number % 7 == 0:
            await asyncio.sleep(0)
    log.end()
    whole, same, rest = await asyncio.gather(*reading)
    assert whole == same == [(number, "e") for number in range(1, 101)]
    assert rest == whole[1:]


async def snapshot() -> dict[str, object]:
    return {"state": "running"}


async def told(
    log: EventLog | None, place: int | None
) -> tuple[list[str | None], list[str | None]]:
    """The ids and the names of the events on a stream that continues after some event."""
    listed = [(one.id, one.event) async for one in stream_events(log, place, snapshot)]
    return [id_ for id_, _ in listed], [name for _, name in listed]


async def test_old_events_go_and_who_missed_them_gets_a_snapshot_in_their_place() -> None:
    log = EventLog()
    for _ in range(MOST_ENTRIES + 1):
        log.add("e", {})
    assert len(log.entries) <= MOST_ENTRIES
    assert log.last == MOST_ENTRIES + 1
    with pytest.raises(MissedEventsError):
        await names(log)
    log.end()
    assert len(await names(log, log.first - 1)) == len(log.entries)
    assert await told(log, None) == ([str(log.last)], ["snapshot"])
    assert (await told(None, None))[1] == ["snapshot"], "the run is not here"


async def test_an_id_of_an_earlier_server_gets_a_snapshot_and_then_what_comes() -> None:
    log = EventLog()
    log.add("accepted", {})
    reading = stream_events(log, 99, snapshot)
    first = await anext(reading)
    log.add("answered", {})
    log.end()
    rest = [event.event async for event in reading]
    assert (first.event, first.id, rest) == ("snapshot", "1", ["answered"])


async def resumed(former: EventLog | None) -> EventLog:
    """The log of a run that was resumed, with 60 events."""
    log = EventLog.following(former)
    for number in range(60):
        log.add(f"e{number}", {})
    log.end()
    return log


@pytest.mark.parametrize("known", [True, False])
async def test_who_read_a_run_before_it_was_resumed_gets_a_snapshot(known: bool) -> None:
    former = EventLog()
    for _ in range(50):
        former.add("e", {})
    log = await resumed(former if known else None)
    assert await told(log, 40) == ([str(log.last)], ["snapshot"])
    ids, names = await told(log, None)
    assert ids == [str(number) for number in range(log.start + 1, log.start + 61)]
    assert await told(log, log.start + 40) == (ids[40:], names[40:])
    assert log.last < MOST_ID


async def test_who_read_a_run_to_its_end_misses_nothing_when_it_is_resumed() -> None:
    former = EventLog()
    former.add("cancelled", {})
    log = await resumed(former)
    assert (await told(log, former.last))[1] == [f"e{number}" for number in range(60)]
    again = await resumed(None)
    assert again.start > log.last


async def test_numbers_that_json_lacks_are_an_error_and_never_sent() -> None:
    log = EventLog()
    with pytest.raises(ValueError, match="not JSON compliant"):
        log.add("e", {"cost": float("nan")})
