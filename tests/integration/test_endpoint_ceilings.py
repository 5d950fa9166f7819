"""Whatever an endpoint sends or asks for, a call ends in time and takes little memory."""

from __future__ import annotations

import asyncio
import gzip
from time import monotonic

import pytest
from pydantic import SecretStr

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import (
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    WaitError,
)
from pgs_neo4j.events import CallRetried, CallsHeld, Event
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.embedders.openai import OpenAIEmbedder
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.model import Completion, Prompt
from tests.bench.ceilings import cases, measure
from tests.fakes.openai_server import Answer, Endless, FakeOpenAI, Raw, Status

PROMPT = Prompt(task="sweep", system="read", user="everything", question="why?", partition=30)
CASES = cases(packed_bytes=0, report_bytes=0)  # those of full size are only made to be sent
GROWTH_MB = 100.0
PATIENCE_S = 60.0  # on a busy machine; what is bounded here would take longer without its bound


class Run:
    """The calls of one run on a fake endpoint, and the events they cause."""

    def __init__(self, fake: FakeOpenAI, timeout_s: float = 60.0) -> None:
        self.events: list[Event] = []
        self.llm = OpenAILLM("m", Endpoint(fake.base_url, SecretStr("k"), timeout_s))
        config = PGSConfig(model_timeout_s=timeout_s)
        self.calls = Calls.of(config, {}, self.events.append)

    async def ask(self, **options: bool) -> Completion:
        try:
            return await self.calls.complete(self.llm, PROMPT, room=100, effort=None, **options)
        finally:
            await self.llm.close()


# The last kind takes its time, but no memory: `python -m tests.bench.ceilings` plays it.
@pytest.mark.thorough
@pytest.mark.parametrize("case", [name for name in CASES if name != "endless stream without text"])
def test_no_reply_fills_the_memory_or_outlasts_the_deadline(case: str, fake: FakeOpenAI) -> None:
    stream, fake.default = cases(packed_bytes=300_000_000, report_bytes=10_000_000)[case]
    measured = measure(fake.base_url, stream=stream, timeout_s=20.0)
    assert measured.megabytes < GROWTH_MB
    assert measured.seconds < PATIENCE_S
    assert measured.how.startswith("Model"), measured.how
    # A refusal that names no cause may be about the reply's length, so shorter ones are asked for.
    assert len(fake.chats) == (4 if case == "endless error" else 1)


async def test_a_reply_within_its_room_is_read_packed_or_not(fake: FakeOpenAI) -> None:
    body = b'{"choices":[{"message":{"content":"pong"},"finish_reason":"stop"}]}'
    fake.script(Raw(gzip.compress(body), headers={"Content-Encoding": "gzip"}), Raw(body))
    for _ in range(2):
        assert (await Run(fake).ask()).text == "pong"
    assert fake.chats[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("encoding", ["br", "gzip"])
async def test_a_reply_that_cannot_be_unpacked_is_an_error(encoding: str, fake: FakeOpenAI) -> None:
    fake.default = Raw(b"not packed", headers={"Content-Encoding": encoding})
    with pytest.raises(ModelError):
        await Run(fake, timeout_s=3.0).ask(repeat_malformed=False)


async def test_endless_errors_and_lists_and_vectors_are_cut(fake: FakeOpenAI) -> None:
    run = Run(fake)
    fake.refuse = lambda _: Endless(b'{"data":[', b'{"id":"m"},')
    with pytest.raises(ModelOutputError, match="sent more than 8,000,000 bytes"):
        await run.llm.probe()
    embedder = OpenAIEmbedder(Endpoint(fake.base_url, SecretStr("k"), 60.0))
    with pytest.raises(ModelOutputError, match="sent more than 128,000 bytes"):
        await embedder.embed(["one"])
    await embedder.close()
    fake.refuse = lambda _: Endless(b"no", b"no ", "text/plain", code=404)
    with pytest.raises(ModelUnavailableError, match="404"):
        await run.ask()


async def test_a_list_that_drips_ends_in_time(
    fake: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs_neo4j.llm.openai.chat.PROBE_TIMEOUT_S", 0.5)
    fake.refuse = lambda _: Endless(b'{"data":[', b'{"id":"m"},', pause_s=0.05)
    run = Run(fake)
    async with asyncio.timeout(5.0):
        with pytest.raises(ModelTimeoutError, match=r"did not answer within 0\.5 s"):
            await run.llm.probe()
    await run.llm.close()


@pytest.mark.parametrize(
    ("status", "headers", "until"),
    [
        (429, {"Retry-After": "99999"}, "27 h 46 min, until 20"),
        (503, {"Retry-After": "99999"}, "27 h 46 min, until 20"),
        (429, {"Retry-After": "Fri, 01 Jan 2038 00:00:00 GMT"}, "days|years"),
        (429, {"Retry-After": "1e300"}, "forever, longer"),
        (429, {"Retry-After-Ms": "99999999"}, "27 h 46 min"),
        (
            429,
            {"X-RateLimit-Remaining-Requests": "0", "X-RateLimit-Reset-Requests": "12h0m0s"},
            "12 h 00 min",
        ),
    ],
)
async def test_a_long_wait_ends_the_run_at_once_and_names_the_time(
    status: int, headers: dict[str, str], until: str, fake: FakeOpenAI
) -> None:
    fake.script(Status(status, headers))
    run, began = Run(fake), monotonic()
    with pytest.raises(WaitError, match=until) as caught:
        await run.ask()
    assert "'pgs resume' can continue the run after that" in str(caught.value)
    assert "127.0.0.1" in str(caught.value)
    for last in (False, True):
        with pytest.raises(WaitError):
            await run.ask(last=last)
    assert len(fake.chats) == 1
    # Another run of this process is not held up: the endpoint answers it again.
    assert (await Run(fake).ask()).text == "pong"
    assert monotonic() - began < PATIENCE_S


async def test_a_long_reset_after_a_good_reply_holds_nothing_up(fake: FakeOpenAI) -> None:
    headers = {"X-RateLimit-Remaining-Tokens": "0", "X-RateLimit-Reset-Tokens": "12h"}
    body = b'{"choices":[{"message":{"content":"pong"},"finish_reason":"stop"}]}'
    fake.default = Raw(body, headers=headers)
    run, began = Run(fake), monotonic()
    await run.ask()
    await run.ask()
    assert monotonic() - began < PATIENCE_S


async def test_an_embedder_that_is_told_to_wait_long_says_until_when(fake: FakeOpenAI) -> None:
    fake.refuse = lambda _: Status(429, {"Retry-After": "99999"})
    embedder = OpenAIEmbedder(Endpoint(fake.base_url, SecretStr("k"), 60.0))
    with pytest.raises(ModelRateLimitError, match=r"27 h 46 min.*; ask again after that"):
        await embedder.embed(["one"])
    await embedder.close()


async def test_a_retry_is_an_event_of_its_partition(fake: FakeOpenAI) -> None:
    fake.script(Status(429, {"Retry-After": "0.1"}), Status(500), Answer("pong"))
    run = Run(fake)
    assert (await run.ask()).text == "pong"
    retries = [event for event in run.events if isinstance(event, CallRetried)]
    assert [(event.partition, event.reason) for event in retries] == [
        (30, "429"),
        (30, "endpoint failed"),
    ]
    assert all(0 < event.wait_s < 2 for event in retries)


async def test_malformed_replies_are_bought_three_times_in_all(fake: FakeOpenAI) -> None:
    fake.default = Raw(b"{}")
    for repeated, bought in ((True, 3), (False, 3 + 1)):
        with pytest.raises(ModelOutputError):
            await Run(fake).ask(repeat_malformed=repeated)
        assert len(fake.chats) == bought


async def test_calls_that_wait_for_one_hold_are_reported_once(
    fake: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs_neo4j.llm.retry.QUIET_WAIT_S", 0.1)
    run = Run(fake)
    run.llm.pace.hold(0.5, asyncio.get_running_loop().time())
    calls = (run.calls.complete(run.llm, PROMPT, room=100, effort=None) for _ in range(2))
    await asyncio.gather(*calls)
    await run.llm.close()
    holds = [event for event in run.events if isinstance(event, CallsHeld)]
    assert [hold.reason for hold in holds] == ["the endpoint asks for a pause"]
