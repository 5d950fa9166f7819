"""All calls of a run: whatever becomes of one, a budget expects what it may have cost."""

import asyncio
import itertools
from dataclasses import replace

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import (
    BudgetError,
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    PromptCutError,
    Retry,
)
from pgs_neo4j.llm.calls.budget import Amount, Stop, StopKind
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.model import Completion, Prompt, Usage
from tests.fakes.tokens import hearing
from tests.timeless import timeless

pytestmark = pytest.mark.usefixtures("no_waits")
PROMPT = Prompt(task="sweep", system="s", user="u" * 3500, question="q")
ROOM = 1000


class Model:
    """Does what a function of the number of the call says: raise, or reply at last."""

    name = "m"

    def __init__(self, act, pieces=("one ", "two")):
        self.act, self.pieces, self.asked = act, pieces, itertools.count(1)
        self.open = 0

    async def complete(self, prompt, *, max_tokens, effort=None):
        await self.act(next(self.asked))
        return reply("".join(self.pieces))

    async def stream(self, prompt, *, max_tokens, effort=None):
        number = next(self.asked)
        self.open += 1
        try:
            await self.act(number)
            for piece in self.pieces:
                yield piece
            yield reply("".join(self.pieces))
        finally:
            self.open -= 1

    @property
    def count(self):
        return next(self.asked) - 1


def reply(text):
    usage = Usage(calls=1, input_tokens=900, output_tokens=10)
    return Completion(text=text, usage=usage, model="m")


def of(**knobs):
    return Calls.of(PGSConfig(**knobs), {})


def raising(*errors):
    async def act(number):
        if number <= len(errors):
            raise errors[number - 1]

    return act


def ask(calls, model, **given):
    return calls.complete(model, PROMPT, room=ROOM, effort=None, **given)


def stream(calls, model):
    return calls.stream(model, PROMPT, hearing([]), room=ROOM, effort=None)


@pytest.mark.parametrize(
    ("error", "charged"),
    [
        (ModelTimeoutError("late"), True),
        (ModelUnavailableError("broke off"), True),
        (ModelOutputError("malformed"), True),
        (RuntimeError("a model by someone else"), True),
        (asyncio.CancelledError(), True),
        (ModelAuthError("no"), False),
        (ModelRateLimitError("slow down"), False),
        (ModelUnavailableError("refused", usage=Usage()), False),
    ],
)
@timeless
async def test_a_call_counts_at_its_worst_unless_it_was_refused(error, charged):
    calls = of(max_tokens=100_000)
    with pytest.raises(ModelError if isinstance(error, RuntimeError) else type(error)):
        await ask(calls, Model(raising(error)))
    assert calls.budget.spent.calls == charged
    assert (calls.budget.spent.tokens >= 1000 + ROOM) == charged
    assert (calls.budget.spent == Amount()) != charged
    assert calls.budget.reserved == Amount()
    assert not calls.budget.knows("m")  # nothing was learnt from it
    assert (calls.usage.calls, calls.usage.estimated) == (charged, charged)


@timeless
async def test_a_first_call_that_does_not_fit_leaves_room_for_a_smaller_one():
    calls, model = of(max_tokens=6_000), Model(raising())
    large = replace(PROMPT, user="word " * 4000)
    with pytest.raises(BudgetError) as caught:
        await calls.complete(model, large, room=ROOM, effort=None)
    assert (caught.value.least or 0) > 6_000
    assert calls.budget.closed is None
    small = replace(PROMPT, user="word")
    await calls.complete(model, small, room=ROOM, effort=None)
    with pytest.raises(BudgetError):
        await calls.complete(model, large, room=ROOM, effort=None)
    assert calls.budget.closed is not None


@timeless
async def test_waits_that_the_endpoint_or_others_ask_for_again_and_again_end():
    calls = of(model_timeout_s=600)
    slow = ModelRateLimitError("slow down", retry=Retry(200.0))
    began = asyncio.get_running_loop().time()
    with pytest.raises(ModelRateLimitError):
        await ask(calls, Model(raising(*[slow] * 99)))
    assert asyncio.get_running_loop().time() - began < 600 + 300
    calls, model = of(model_timeout_s=60), Model(raising())
    clock, pace = asyncio.get_running_loop().time, calls.pace(model)

    async def hold_on():
        while True:
            pace.hold(30.0, clock())
            await asyncio.sleep(20.0)

    holding, began = asyncio.create_task(hold_on()), clock()
    await asyncio.sleep(0)
    with pytest.raises(ModelTimeoutError):
        await ask(calls, model)
    assert 300 < clock() - began <= 60 + 300 + 1
    holding.cancel()


@timeless
async def test_one_deadline_ends_a_call_with_its_hedge():
    calls = of(model_timeout_s=60, hedge=True)

    async def hang(number):
        await asyncio.sleep(1.0 if number <= 5 else 1e6)

    model = Model(hang)
    for _ in range(5):
        await ask(calls, model)
    began = asyncio.get_running_loop().time()
    with pytest.raises(ModelTimeoutError):
        await ask(calls, model)
    assert asyncio.get_running_loop().time() - began == pytest.approx(60, abs=0.1)
    assert model.count == 7


@timeless
async def test_a_reply_far_longer_than_its_room_is_no_reply():
    calls = of()
    with pytest.raises(ModelOutputError, match="500,000 characters when"):
        await ask(calls, Model(raising(), pieces=("word " * 100_000,)))
    assert calls.usage.calls == 1


@timeless
async def test_every_try_of_a_stream_is_set_aside_and_counted():
    late = ModelTimeoutError("late", retry=Retry(tries=9))
    calls = of(max_calls=5)
    calls.budget.spent = Amount(calls=2)
    model = Model(raising(late, late))
    assert (await stream(calls, model)).text == "one two"
    assert calls.budget.spent.calls == 5
    assert model.count == 3
    calls, model = of(max_calls=2), Model(raising(*[late] * 9))
    with pytest.raises(BudgetError):
        await stream(calls, model)
    assert model.count == calls.budget.spent.calls == 2
    assert calls.budget.reserved == Amount()


@timeless
async def test_a_stream_is_never_hedged():
    async def slow(number):
        await asyncio.sleep(0.7 if number > 4 else 0.0)

    calls, model = of(hedge=True), Model(slow)
    for _ in range(4):
        await ask(calls, model)
    await stream(calls, model)
    assert model.count == 5


@pytest.mark.parametrize("after", [0, 1])
@timeless
async def test_a_stream_that_is_left_is_closed_and_counts_at_its_worst(after):
    heard, begun = [], asyncio.Event()

    async def hang(_):
        begun.set()
        if not after:
            await asyncio.Event().wait()

    class Stalling(Model):
        async def stream(self, prompt, *, max_tokens, effort=None):
            self.open += 1
            try:
                await self.act(next(self.asked))
                yield "one"
                await asyncio.Event().wait()
            finally:
                self.open -= 1

    calls, model = of(max_tokens=100_000), Stalling(hang)
    task = asyncio.create_task(calls.stream(model, PROMPT, hearing(heard), room=ROOM, effort=None))
    await begun.wait()
    await asyncio.sleep(0.01)
    assert len(heard) == after
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.open == 0
    assert calls.budget.idle
    assert calls.budget.spent.tokens > 2 * ROOM


@timeless
async def test_what_is_held_back_is_for_the_end_which_may_be_bought_when_sweeping_has_ended():
    calls, model = of(max_calls=2), Model(raising())
    calls.budget.ending = Amount(calls=1)
    await ask(calls, model)
    with pytest.raises(BudgetError):
        await ask(calls, model)
    stop = calls.sweeping_stop()
    assert stop is not None
    assert stop.kind is StopKind.BUDGET
    with pytest.raises(BudgetError):
        await ask(calls, model, last=True)
    await stream(calls, model)
    assert calls.budget.spent.calls == 2
    calls = of(max_tokens=1_000_000)
    calls.budget.closed = Stop(StopKind.BUDGET, "the next partition was too large")
    with pytest.raises(BudgetError):
        await ask(calls, Model(raising()))
    assert (await ask(calls, Model(raising()), last=True)).text == "one two"


class CuttingModel(Model):
    """Its server counts fewer tokens than the prompt must have."""

    refuses_long_prompts, larger_context = True, "start it with: more"

    async def read_context(self):
        return None

    async def complete(self, prompt, *, max_tokens, effort=None):
        return replace(reply("one"), counted=300)


@timeless
async def test_a_prompt_that_was_cut_says_what_its_server_wants():
    calls, prompt = of(), replace(PROMPT, user="word " * 3500)
    with pytest.raises(PromptCutError, match=r"at least 2,\d{3}\); start it with: more, or write"):
        await calls.complete(CuttingModel(raising()), prompt, room=ROOM, effort=None)


class OwnModel(Model):
    """One that was passed in, and says how much of a prompt it was given."""

    def __init__(self, counted):
        super().__init__(raising())
        self.counted = counted

    async def complete(self, prompt, *, max_tokens, effort=None):
        return replace(reply("one"), counted=self.counted)

    async def stream(self, prompt, *, max_tokens, effort=None):
        yield "one"
        if self.counted is not None:
            yield await self.complete(prompt, max_tokens=max_tokens)


@timeless
@pytest.mark.parametrize("counted", [0, 10, 300])
async def test_an_own_model_that_counts_too_little_was_not_given_the_prompt(counted):
    calls, prompt = of(), replace(PROMPT, user="word " * 3500)
    said = rf"m was not given all of the prompt \(it counted {counted} tokens where .* \('pgs help"
    with pytest.raises(PromptCutError, match=said):
        await calls.complete(OwnModel(counted), prompt, room=ROOM, effort=None)
    with pytest.raises(PromptCutError, match=said):
        await calls.stream(OwnModel(counted), prompt, hearing([]), room=ROOM, effort=None)


@timeless
@pytest.mark.parametrize("counted", [None, 5000])
async def test_an_own_model_that_counts_enough_or_nothing_is_trusted(counted):
    calls, prompt = of(), replace(PROMPT, user="word " * 3500)
    read = await calls.complete(OwnModel(counted), prompt, room=ROOM, effort=None)
    assert read.proven
    assert calls.uncounted == 0


@timeless
async def test_a_stream_of_an_own_model_ends_with_its_completion():
    with pytest.raises(ModelOutputError, match="before its end; yield the Completion last"):
        await stream(of(), OwnModel(None))


@timeless
async def test_waiting_for_a_budget_is_not_the_time_of_the_model():
    async def slow(_):
        await asyncio.sleep(0.4)

    calls = of(max_tokens=14_000, model_timeout_s=1, max_concurrent_sweeps=5)
    model = Model(slow)
    made = await asyncio.gather(*(ask(calls, model) for _ in range(5)))
    assert len(made) == 5  # one after the other, in two seconds
