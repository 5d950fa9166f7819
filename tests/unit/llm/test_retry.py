from __future__ import annotations

import asyncio

import pytest
import stamina

from pgs_neo4j.errors import ModelRateLimitError, ModelTimeoutError, ModelUnavailableError, Retry
from pgs_neo4j.llm.retry import retry_after_s, with_retries
from tests.timeless import timeless

pytestmark = pytest.mark.usefixtures("no_waits")
TIMED_OUT = ModelTimeoutError("too late")


class Flaky:
    """Raises the given failures one after the other, then returns 'done'."""

    def __init__(self, *failures: Exception, last: Exception | None = None) -> None:
        self.failures = list(failures)
        self.last = last
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        if self.last is not None:
            raise self.last
        return "done"


def soon(seconds: float = 10.0) -> float:
    return asyncio.get_running_loop().time() + seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "7"}, 7.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 40.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:40 GMT"}, 0.0),
    ],
)
def test_retry_after_is_read_in_all_its_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers, now=60.0) == seconds


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (ModelUnavailableError("down", retry=Retry(tries=4)), 4),
        (ModelUnavailableError("for good"), 1),
        (ZeroDivisionError(), 1),
        (ModelRateLimitError("wait beyond the deadline", retry=Retry(wait_s=60.0)), 1),
    ],
)
@timeless
async def test_an_error_is_raised_after_its_number_of_tries(error: Exception, calls: int) -> None:
    call = Flaky(last=error)
    with pytest.raises(type(error)) as caught:
        await with_retries(call, deadline=soon(), timeout_error=TIMED_OUT)
    assert caught.value is error
    assert call.calls == calls


@pytest.mark.parametrize("failures", [0, 1])
@timeless
async def test_the_deadline_ends_a_try_with_what_failed_before_or_the_timeout(
    failures: int,
) -> None:
    down = ModelUnavailableError("down", retry=Retry())
    before = Flaky(*[down] * failures)

    async def call() -> str:
        await before()
        await asyncio.Event().wait()
        return "never"

    with pytest.raises(type(down) if failures else ModelTimeoutError) as caught:
        await with_retries(call, deadline=soon(0.2), timeout_error=TIMED_OUT)
    assert caught.value is (down if failures else TIMED_OUT)


@timeless
async def test_an_endpoint_that_says_zero_is_not_hammered() -> None:
    stamina.set_testing(False)
    call = Flaky(last=ModelRateLimitError("slow down", retry=Retry(wait_s=0.0)))
    with pytest.raises(ModelRateLimitError):
        await with_retries(call, deadline=soon(0.5), timeout_error=TIMED_OUT)
    assert 1 < call.calls < 8
