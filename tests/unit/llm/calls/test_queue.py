"""The scheduler: longest first, within a limit that adapts, retried in one place, on time."""

from __future__ import annotations

import asyncio
import itertools

import pytest
import stamina

from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import (
    DeadlineError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    Retry,
)
from pgs_neo4j.llm.calls.queue import ConcurrencyLimit, Scheduler
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.model import Completion, Left, Usage
from tests.timeless import timeless

pytestmark = pytest.mark.usefixtures("no_waits")


def scheduler(slots=2, ceiling=None, **given):
    return Scheduler(ConcurrencyLimit(slots, ceiling or slots), **{"timeout_s": 10.0, **given})


def calls(found, works, lengths, pace=None):
    pace = pace or Pace()
    return [
        found.call(work, pace, length=float(length), tokens=1)
        for work, length in zip(works, lengths, strict=True)
    ]


async def quick():
    await asyncio.sleep(0.02)
    return "quick"


async def hang():
    await asyncio.Event().wait()


@pytest.mark.parametrize(("sign", "order"), [(None, [1, 5, 4, 3]), (-1.0, [1, 3, 4, 5])])
@timeless
async def test_the_longest_or_most_urgent_begin_first_and_results_keep_their_order(sign, order):
    begun = []

    def work(item):
        async def run():
            begun.append(item)
            await asyncio.sleep(0)
            return 2 * item

        return run

    found, pace = scheduler(1), Pace()
    results = await together(
        *(
            found.call(
                work(i), pace, length=i, priority=None if sign is None else sign * i, tokens=1
            )
            for i in (1.0, 5.0, 3.0, 4.0)
        )
    )
    assert results == (2, 10, 6, 8)
    # The first one takes the free slot before it is known that others will come.
    assert begun == order


@timeless
async def test_never_more_than_the_limit_and_a_free_slot_is_refilled_at_once():
    running, most, begun = set(), 0, []
    release = {item: asyncio.Event() for item in range(4)}

    def work(item):
        async def hold():
            nonlocal most
            running.add(item)
            begun.append(item)
            most = max(most, len(running))
            await release[item].wait()
            running.discard(item)

        return hold

    found = scheduler(2)
    task = asyncio.create_task(together(*calls(found, map(work, range(4)), [1, 1, 1, 1])))
    await asyncio.sleep(0.01)
    assert begun == [0, 1]
    release[1].set()
    await asyncio.sleep(0.01)
    assert begun == [0, 1, 2]
    for event in release.values():
        event.set()
    await task
    assert most == 2
    assert found.in_flight == 0


@timeless
async def test_the_limit_grows_while_calls_wait_and_the_first_failure_frees_all_slots():
    running, most = 0, 0

    async def work():
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1

    await together(*calls(scheduler(2, 8), [work] * 40, [1] * 40))
    assert most == 8

    async def fail():
        raise ZeroDivisionError

    found = scheduler(3)
    with pytest.raises(ZeroDivisionError):
        await together(*calls(found, [hang, hang, fail], [1, 1, 1]))
    assert found.in_flight == 0


@timeless
async def test_a_slot_is_free_for_others_while_one_waits_to_try_again():
    stamina.set_testing(False)
    order, failures = [], itertools.count()

    async def flaky():
        if next(failures) == 0:
            raise ModelUnavailableError("down", retry=Retry(wait_s=0.2))
        order.append("flaky")

    async def other():
        order.append("quick")

    await together(*calls(scheduler(1), [flaky, other], [2, 1]))
    assert order == ["quick", "flaky"]


@timeless
async def test_a_refusal_halves_the_limit_holds_the_endpoint_and_is_tried_again():
    refused, pace = itertools.count(), Pace()
    sent = []
    clock = asyncio.get_running_loop().time

    async def work():
        sent.append(clock())
        await asyncio.sleep(0.01)
        if next(refused) < 4:
            raise ModelRateLimitError("slow down", retry=Retry(wait_s=0.3))

    stamina.set_testing(False)
    found = scheduler(4)
    await together(*calls(found, [work] * 4, [1] * 4, pace))
    assert found.limit.calls == 2  # halved once: all four had been sent together
    assert len(sent) == 8
    assert min(sent[4:]) - max(sent[:4]) >= 0.3


@timeless
async def test_what_the_endpoint_says_is_left_is_heeded():
    pace, sent = Pace(), []
    clock = asyncio.get_running_loop().time

    async def work():
        sent.append(clock())
        left = Left(requests=0, requests_reset_s=0.2)
        return Completion(text="", usage=Usage(), model="m", left=left)

    await together(*calls(scheduler(1), [work] * 2, [1, 1], pace))
    assert sent[1] - sent[0] >= 0.2


@timeless
async def test_the_time_of_a_call_begins_with_its_turn_and_bounds_all_its_tries():
    async def slow():
        await asyncio.sleep(0.15)

    found = scheduler(1, timeout_s=0.25)
    await together(*calls(found, [slow] * 4, [1] * 4))  # 0.6 s in all, each in time

    async def never():
        raise ModelUnavailableError("down", retry=Retry(wait_s=0.1))

    stamina.set_testing(False)
    began = asyncio.get_running_loop().time()
    with pytest.raises(ModelUnavailableError):
        await found.call(never, Pace(), length=1.0, tokens=1)
    assert asyncio.get_running_loop().time() - began < 0.5
    with pytest.raises(ModelTimeoutError, match="model_timeout_s"):
        await found.call(hang, Pace(), length=1.0, tokens=1)


@timeless
async def test_a_call_has_all_its_time_after_it_was_let_through_and_no_more():
    pace, clock = Pace(), asyncio.get_running_loop().time
    pace.hold(0.4, clock())
    began = clock()
    with pytest.raises(ModelTimeoutError, match=r"within 0.3 s"):
        await scheduler(1, timeout_s=0.3).call(hang, pace, length=1.0, tokens=1)
    assert clock() - began == pytest.approx(0.7, abs=0.05)


@pytest.mark.parametrize(
    ("run_s", "call_s", "hold_s"), [(0.2, None, 0), (60, 0.2, 0), (0.2, None, 60)]
)
@timeless
async def test_the_earlier_deadline_of_run_or_call_ends_calls_and_waits(run_s, call_s, hold_s):
    pace, now = Pace(), asyncio.get_running_loop().time()
    pace.hold(hold_s, now)
    found = scheduler(1, deadline=now + run_s)
    until = None if call_s is None else now + call_s
    results = await asyncio.gather(
        *(found.call(hang, pace, length=1.0, tokens=1, until=until) for _ in range(3)),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [DeadlineError] * 3
    assert "pgs resume" in str(results[0])
    assert asyncio.get_running_loop().time() - now == pytest.approx(0.2, abs=0.01)
    assert found.in_flight == 0


@pytest.mark.parametrize(
    ("second", "counts"),
    [
        ("second", "second"),
        (ZeroDivisionError(), "first"),
        (ModelUnavailableError("down", retry=Retry()), "first"),
    ],
)
@timeless
async def test_a_straggler_is_asked_once_more_in_an_idle_slot_and_the_first_reply_counts(
    second, counts
):
    tries, cancelled = itertools.count(), []

    async def straggler():
        if next(tries):
            if isinstance(second, Exception):
                raise second
            return second
        try:
            await asyncio.sleep(1.5)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return "first"

    found = scheduler(2, hedge=True)
    results = await together(*calls(found, [straggler, quick, quick, quick], [1] * 4))
    assert results == (counts, "quick", "quick", "quick")
    assert cancelled == [True] * (counts == "second")
    assert next(tries) == 2
    assert found.in_flight == 0


@pytest.mark.parametrize(("slots", "at_once", "alone"), [(1, 2, False), (2, 1, True)])
@timeless
async def test_without_an_idle_slot_or_if_it_has_to_be_alone_nothing_is_asked_twice(
    slots, at_once, alone
):
    tries = itertools.count()

    async def slow():
        next(tries)
        await asyncio.sleep(0.8)

    found = scheduler(slots, hedge=True)
    await together(*calls(found, [quick] * 4, [1] * 4))
    slows = (
        found.call(slow, Pace(), length=1.0, tokens=1, alone=alone) for _ in range(slots % 2 + 1)
    )
    await together(*slows)
    assert next(tries) == slots % 2 + 1


@timeless
async def test_hungry_returns_when_few_wait_and_canceling_one_leaves_its_turn_to_the_next():
    found, pace = scheduler(1), Pace()
    await asyncio.wait_for(found.wait_until_hungry(), 1)
    gates = [asyncio.Event() for _ in range(3)]
    tasks = [
        asyncio.create_task(found.call(gate.wait, pace, length=1.0, tokens=1)) for gate in gates
    ]
    await asyncio.sleep(0)
    hungry = asyncio.create_task(found.wait_until_hungry())
    await asyncio.sleep(0.01)
    assert not hungry.done()
    gates[0].set()
    gates[1].set()
    await asyncio.wait_for(hungry, 1)
    gates[2].set()
    await asyncio.gather(*tasks)
    found, pace, gate = scheduler(1), Pace(), asyncio.Event()
    first = asyncio.create_task(found.call(gate.wait, pace, length=1.0, tokens=1))
    second, third = (
        asyncio.create_task(found.call(quick, pace, length=1.0, tokens=1)) for _ in range(2)
    )
    await asyncio.sleep(0)
    second.cancel()
    gate.set()
    await asyncio.wait_for(asyncio.gather(first, third), 1)
    assert second.cancelled()
    assert found.in_flight == 0


def well(limit, times=1, seconds=1.0, full=True):
    for _ in range(times):
        limit.ended_well(seconds=seconds, length=1.0, full=full)


def test_it_grows_by_one_for_each_good_call_up_to_the_ceiling_while_others_wait():
    limit = ConcurrencyLimit(5, 12)
    well(limit, 4)
    assert limit.calls == 9
    well(limit, 40)
    assert limit.calls == 12
    for limit, full in ((ConcurrencyLimit(5, 2), True), (ConcurrencyLimit(2, 12), False)):
        assert limit.calls == 2
        well(limit, 10, full=full)
        assert limit.calls == 2


def test_a_refusal_halves_once_for_all_sent_before_and_then_it_grows_by_one_a_round():
    limit = ConcurrencyLimit(8, 100)
    limit.refused(began=0.0, now=1.0)
    assert limit.calls == 4
    well(limit, 4)
    assert limit.calls == 4
    well(limit, 1)
    assert limit.calls == 5
    limit = ConcurrencyLimit(16, 100)
    for _ in range(16):
        limit.refused(began=0.0, now=1.0)
    assert limit.calls == 8
    limit.refused(began=2.0, now=3.0)
    assert limit.calls == 4
    for began in range(3, 20):
        limit.refused(began=float(began), now=began + 0.5)
    assert limit.calls == 1


def test_an_endpoint_that_only_queues_is_not_given_more_nor_one_that_refused():
    limit = ConcurrencyLimit(4, 100)
    well(limit, 8)
    reached = limit.calls
    well(limit, 30, seconds=1.8)  # slower, though not twice
    assert reached <= limit.calls <= reached + 4
    well(limit, 60, seconds=5.0)
    assert limit.calls == 4
    limit = ConcurrencyLimit(5, 16)
    well(limit, 5)
    for began in (10.0, 20.0, 30.0):
        limit.refused(began, began + 1)
    assert limit.calls == 1
    well(limit, 20, seconds=9.0)
    assert limit.calls == 1
