"""The scheduler: longest first, within a limit that adapts, retried in one place, on time."""

import asyncio
import itertools

import pytest
import stamina

from pgs_neo4j.calls.concurrency import ConcurrencyLimit
from pgs_neo4j.calls.queue import Scheduler
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import (
    DeadlineError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    Retry,
)
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.model import Completion, Left, Usage
from tests.timeless import timeless


@pytest.fixture(autouse=True)
def no_waits():
    stamina.set_testing(True, attempts=50)
    yield
    stamina.set_testing(False)


def scheduler(slots=2, ceiling=None, **given):
    return Scheduler(ConcurrencyLimit(slots, ceiling or slots), **{"timeout_s": 10.0, **given})


def calls(found, works, lengths, pace=None):
    pace = pace or Pace()
    return [
        found.call(work, pace, length=float(length), tokens=1)
        for work, length in zip(works, lengths, strict=True)
    ]


@timeless
async def test_the_longest_begin_first_and_results_keep_their_order():
    begun = []

    def work(item):
        async def run():
            begun.append(item)
            await asyncio.sleep(0)
            return 2 * item

        return run

    items = [1, 5, 3, 4]
    found = scheduler(1)
    results = await together(*calls(found, map(work, items), items))
    assert results == (2, 10, 6, 8)
    # The first one takes the free slot before it is known that longer ones will come.
    assert begun == [1, 5, 4, 3]


@timeless
async def test_a_priority_decides_instead_of_the_length():
    begun = []

    def work(item):
        async def run():
            begun.append(item)
            await asyncio.sleep(0)

        return run

    found, pace = scheduler(1), Pace()
    await together(
        *[
            found.call(work(i), pace, length=float(i), priority=float(-i), tokens=1)
            for i in (3, 2, 1)
        ]
    )
    assert begun == [3, 1, 2]


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
async def test_the_limit_grows_while_calls_wait_and_all_is_well():
    running, most = 0, 0

    async def work():
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1

    await together(*calls(scheduler(2, 8), [work] * 40, [1] * 40))
    assert most == 8


@timeless
async def test_the_first_failure_ends_the_others_and_frees_their_slots():
    cancelled = []

    async def hang():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def fail():
        raise ZeroDivisionError

    found = scheduler(3)
    with pytest.raises(ZeroDivisionError):
        await together(*calls(found, [hang, hang, fail], [1, 1, 1]))
    assert cancelled == [True, True]
    assert found.in_flight == 0


@timeless
async def test_a_slot_is_free_for_others_while_one_waits_to_try_again():
    stamina.set_testing(False)
    order, failures = [], itertools.count()

    async def flaky():
        if next(failures) == 0:
            raise ModelUnavailableError("down", retry=Retry(wait_s=0.2))
        order.append("flaky")

    async def quick():
        order.append("quick")

    await together(*calls(scheduler(1), [flaky, quick], [2, 1]))
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
        await found.call(asyncio.Event().wait, Pace(), length=1.0, tokens=1)


@timeless
async def test_the_deadline_of_a_run_holds_for_those_that_wait_as_well():
    now = asyncio.get_running_loop().time()
    found = scheduler(1, deadline=now + 0.2)
    results = await asyncio.gather(
        *calls(found, [asyncio.Event().wait] * 3, [1] * 3), return_exceptions=True
    )
    assert [type(result) for result in results] == [DeadlineError] * 3
    assert asyncio.get_running_loop().time() - now < 0.4
    assert found.in_flight == 0


@timeless
async def test_an_earlier_deadline_of_one_call():
    found = scheduler(1, deadline=asyncio.get_running_loop().time() + 60)
    with pytest.raises(DeadlineError, match="pgs resume"):
        await found.call(
            asyncio.Event().wait,
            Pace(),
            length=1.0,
            tokens=1,
            until=asyncio.get_running_loop().time() + 0.05,
        )


@timeless
async def test_a_straggler_is_asked_again_in_an_idle_slot_and_the_first_reply_counts():
    tries = itertools.count()
    cancelled = []

    async def quick():
        await asyncio.sleep(0.02)
        return "quick"

    async def straggler():
        if next(tries):
            return "second"
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    found = scheduler(2, hedge=True)
    works = [straggler, quick, quick, quick]
    results = await asyncio.wait_for(together(*calls(found, works, [1] * 4)), 5)
    assert results == ("second", "quick", "quick", "quick")
    assert cancelled == [True]
    assert next(tries) == 2
    assert found.in_flight == 0


@timeless
async def test_without_an_idle_slot_nothing_is_asked_twice():
    tries = itertools.count()

    async def work():
        next(tries)
        await asyncio.sleep(0.05)

    found = scheduler(1, hedge=True)
    await together(*calls(found, [work] * 5, [1] * 5))
    assert next(tries) == 5


@timeless
async def test_a_second_try_that_fails_does_not_end_the_first():
    tries = itertools.count()

    async def quick():
        await asyncio.sleep(0.02)

    async def straggler():
        if next(tries):
            raise ZeroDivisionError
        await asyncio.sleep(1.2)
        return "first"

    found = scheduler(2, hedge=True)
    results = await together(*calls(found, [straggler, quick, quick, quick], [1] * 4))
    assert results[0] == "first"


@timeless
async def test_a_straggler_is_asked_a_second_time_once_whatever_comes_of_it():
    tries = itertools.count()

    async def quick():
        await asyncio.sleep(0.02)

    async def straggler():
        if next(tries):
            raise ModelUnavailableError("down", retry=Retry())
        await asyncio.sleep(1.5)
        return "first"

    found = scheduler(2, hedge=True)
    results = await together(*calls(found, [straggler, quick, quick, quick], [1] * 4))
    assert results[0] == "first"
    assert next(tries) == 2


@timeless
async def test_what_has_to_be_alone_is_never_asked_twice():
    tries = itertools.count()

    async def slow():
        next(tries)
        await asyncio.sleep(0.8)

    found = scheduler(2, hedge=True)
    await together(*calls(found, [_nothing] * 4, [1] * 4))
    await found.call(slow, Pace(), length=1.0, tokens=1, alone=True)
    assert next(tries) == 1


@timeless
async def test_waiting_for_the_bucket_is_not_the_time_of_the_model():
    async def work():
        return Completion(text="x", usage=Usage(calls=1, input_tokens=60), model="m")

    pace = Pace()
    pace.allow(6000)  # 100 a second, the first 6000 at once
    pace.bucket.take(6000, asyncio.get_running_loop().time())
    found = scheduler(5, timeout_s=0.7)
    made = await together(
        *[found.call(work, pace, length=60.0, tokens=60) for _ in range(4)]
    )  # the last one is let through after 2.4 s
    assert len(made) == 4


@timeless
async def test_a_call_has_all_its_time_after_it_was_let_through_and_no_more():
    pace = Pace()
    pace.hold(0.4, asyncio.get_running_loop().time())
    found, began = scheduler(1, timeout_s=0.3), asyncio.get_running_loop().time()
    with pytest.raises(ModelTimeoutError, match=r"within 0.3 s"):
        await found.call(asyncio.Event().wait, pace, length=1.0, tokens=1)
    assert 0.65 < asyncio.get_running_loop().time() - began < 2.0


@timeless
async def test_the_deadline_of_the_run_ends_a_wait_for_the_bucket():
    pace = Pace()
    pace.hold(60.0, asyncio.get_running_loop().time())
    found = scheduler(1, deadline=asyncio.get_running_loop().time() + 0.1)
    with pytest.raises(DeadlineError):
        await found.call(_nothing, pace, length=1.0, tokens=1)
    assert found.in_flight == 0


@timeless
async def test_hungry_returns_when_fewer_wait_than_may_run():
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


@timeless
async def test_canceling_one_that_waits_leaves_its_turn_to_the_next():
    found, pace, gate = scheduler(1), Pace(), asyncio.Event()
    first = asyncio.create_task(found.call(gate.wait, pace, length=1.0, tokens=1))
    second, third = (
        asyncio.create_task(found.call(_nothing, pace, length=1.0, tokens=1)) for _ in range(2)
    )
    await asyncio.sleep(0)
    second.cancel()
    gate.set()
    await asyncio.wait_for(asyncio.gather(first, third), 1)
    assert second.cancelled()
    assert found.in_flight == 0


async def _nothing():
    return None
