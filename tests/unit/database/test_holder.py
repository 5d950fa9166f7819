"""Holders have one text form, which is parsed strictly, and beats end the work when they fail."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from pgs_neo4j.database import holder
from pgs_neo4j.database.holder import Holder, keep_beating, this_machine, this_place
from pgs_neo4j.errors import RunLostError


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("worker, pid 4711, 0a1b2c3d", Holder("worker", 4711, "0a1b2c3d")),
        ("worker, pid 7", Holder("worker", 7)),
        ("a, pid 1, pid 2", Holder("a, pid 1", 2)),
        ("w, pid 4711 at 5e6f7a8b, 0a1b2c3d", Holder("w", 4711, "0a1b2c3d", "5e6f7a8b")),
        ("w, pid 4711 at 5e6f7a8b", Holder("w", 4711, place="5e6f7a8b")),
    ],
)
def test_a_holder_is_read_back_as_it_was_written(text: str, named: Holder) -> None:
    assert str(named) == text
    assert Holder.parse(text) == named


@pytest.mark.parametrize(
    "text",
    [
        *("", "worker", "worker, pid", "worker, pid x", ", pid 1", "worker, pid 1, 00"),
        *("w, pid 1, me", "w, pid 1 at home", "w, pid 1 at ", "w, pid 1, 0a1b2c3d at 5e6f7a8b"),
    ],
)
def test_any_other_text_is_no_holder(text: str) -> None:
    assert Holder.parse(text) is None


def test_a_unique_holder_is_this_process_if_it_says_where_it_is() -> None:
    one, other = Holder.unique(), Holder.unique()
    assert one != other
    assert (one.machine, one.pid) == (this_machine(), os.getpid())
    assert Holder.parse(str(one)) == one
    here = Holder.unique()
    assert here.is_this_process() == bool(this_place())
    assert not replace(here, place="").is_this_process()
    assert not replace(here, pid=here.pid + 1).is_this_process()
    assert not replace(here, machine="elsewhere").is_this_process()


def test_only_a_process_of_this_machine_is_known_to_have_ended() -> None:
    place = this_place()
    ended = ended_process()
    assert Holder(this_machine(), ended, place=place).has_ended()
    assert not Holder.of_this_process().has_ended()
    assert not Holder("elsewhere", ended, place=place).has_ended()
    assert not Holder(this_machine(), 10**9 * 9, place=place).has_ended()


def test_a_process_of_another_container_or_boot_is_not_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may run there, although no process of this place has its id."""
    ended = ended_process()
    here = this_place()
    boot, namespace = tmp_path / "boot_id", tmp_path / "pid"
    boot.write_text("another boot\n")
    namespace.symlink_to("pid:[4026532999]")
    elsewhere = set()
    for place in ((boot, holder.PLACE[1]), (holder.PLACE[0], namespace), (boot, namespace)):
        monkeypatch.setattr(holder, "PLACE", place)
        this_place.cache_clear()
        elsewhere.add(this_place())
        assert not Holder(this_machine(), ended, place=here).has_ended()
        assert Holder(this_machine(), ended, place=this_place()).has_ended()
    monkeypatch.undo()
    this_place.cache_clear()
    assert this_place() == here
    if here:  # this system says where its processes are
        assert len(elsewhere - {here}) == 3
        assert not Holder(this_machine(), ended).has_ended()  # of a place that did not say
    monkeypatch.setattr(holder, "PLACE", (tmp_path / "none", tmp_path / "none"))
    this_place.cache_clear()
    try:
        assert this_place() == ""
        assert Holder(this_machine(), ended_process()).has_ended()
    finally:
        this_place.cache_clear()


def ended_process() -> int:
    """The id of a process that has just ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


PATIENCE_S = 30.0


async def beat_often() -> float:
    return 0.001


async def refuse() -> float:
    raise RunLostError("taken over")


async def test_it_beats_until_the_body_ends_if_that_lasts() -> None:
    beats: list[float] = []
    enough = asyncio.Event()

    async def beat() -> float:
        beats.append(0.001)
        if len(beats) == 3:
            enough.set()
        return 0.001

    async with keep_beating(beat, first_s=0.001, close_s=1), asyncio.timeout(PATIENCE_S):
        await enough.wait()
    count = len(beats)
    await asyncio.sleep(0.02)
    assert len(beats) == count
    reached = False
    async with keep_beating(refuse, first_s=PATIENCE_S, close_s=1):
        await asyncio.sleep(0.01)
        reached = True
    assert reached


async def test_a_refused_beat_cancels_the_body_and_is_raised() -> None:
    canceled = []

    async def work() -> None:
        async with keep_beating(refuse, first_s=0.001, close_s=1):
            try:
                await asyncio.sleep(PATIENCE_S)
            except asyncio.CancelledError:
                canceled.append(True)
                raise

    with pytest.raises(RunLostError, match="taken over"):
        await work()
    assert canceled == [True]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_body_ends_with_its_own_error_or_well_despite_a_refusal() -> None:
    with pytest.raises(TimeoutError):
        async with keep_beating(beat_often, first_s=0.001, close_s=1), asyncio.timeout(0.01):
            await asyncio.sleep(PATIENCE_S)
    with pytest.raises(ZeroDivisionError):
        async with keep_beating(refuse, first_s=0.001, close_s=1):
            try:
                await asyncio.sleep(PATIENCE_S)
            except asyncio.CancelledError:
                raise ZeroDivisionError from None
    async with keep_beating(refuse, first_s=0.001, close_s=1):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(PATIENCE_S)
    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()


@pytest.mark.parametrize("refused", [False, True])
async def test_a_cancellation_from_outside_stays_one(refused: bool) -> None:
    inside = asyncio.Event()

    async def work() -> None:
        async with keep_beating(refuse if refused else beat_often, first_s=0.001, close_s=1):
            if refused:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(PATIENCE_S)
            inside.set()
            await asyncio.sleep(PATIENCE_S)

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_beat_under_way_may_finish_but_not_for_ever() -> None:
    began, finished = asyncio.Event(), []

    async def beat() -> float:
        began.set()
        await asyncio.sleep(0.01)
        finished.append(True)
        await asyncio.sleep(PATIENCE_S)
        return 0.0

    async with asyncio.timeout(PATIENCE_S / 2):
        async with keep_beating(beat, first_s=0.001, close_s=0.1):
            await began.wait()
    assert finished == [True]
