"""How fast an endpoint is asked: a bucket of tokens, and what the endpoint itself says."""

import asyncio

import pytest
from pydantic import SecretStr

from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.openai.limits import parse_rate_limits, reset_s
from pgs_neo4j.llm.pace import Bucket, Pace
from pgs_neo4j.model import Left
from tests.timeless import timeless

NOW = 1_787_306_400.0  # 2026-08-21T10:00:00Z


def test_the_bucket_refills_evenly_takes_back_what_was_not_used_and_forgets_no_debt():
    bucket = Bucket(60)
    assert bucket.take(60, now=100.0) == 0.0
    assert bucket.take(30, now=100.0) == pytest.approx(30.0)
    assert bucket.take(10, now=130.0) == pytest.approx(10.0)
    bucket = Bucket(60)
    bucket.take(60, now=0.0)
    bucket.give_back(50)
    assert bucket.take(50, now=0.0) == 0.0
    bucket.give_back(1000)
    assert bucket.level == 60.0
    # More than a minute holds is let through late, and not never.
    assert bucket.take(120, now=0.0) == pytest.approx(60.0)
    pace = Pace()
    pace.allow(60)
    pace.bucket.take(100, now=0.0)
    pace.allow(600)
    pace.allow(60)
    assert pace.bucket.take(0, now=0.0) == pytest.approx(40.0)
    pace.allow(None)
    assert pace.bucket.per_minute == 60


@timeless
async def test_two_that_share_a_pace_wait_for_each_other():
    pace = Pace()
    pace.allow(6000)  # 100 a second
    began = asyncio.get_running_loop().time()

    async def call():
        async with pace.entered(3000) as paid:
            paid.used = 3000

    await asyncio.gather(call(), call())
    assert asyncio.get_running_loop().time() - began < 0.2

    async def another():
        async with pace.entered(20) as paid:
            paid.used = 20

    await another()
    assert asyncio.get_running_loop().time() - began >= 0.15


@timeless
async def test_a_wait_that_is_cancelled_gives_its_tokens_back():
    pace = Pace()
    pace.allow(60)
    pace.bucket.take(60, asyncio.get_running_loop().time())

    async def call():
        async with pace.entered(30):
            raise AssertionError("it should have waited")

    task = asyncio.create_task(call())
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert pace.bucket.level == pytest.approx(0.0, abs=1.0)


def test_no_call_is_sent_when_the_endpoint_would_not_take_it():
    pace = Pace()
    pace.told(Left(tokens=100, tokens_reset_s=30.0), now=0.0)
    assert pace.wait_s(100, now=0.0) == 0.0
    assert pace.wait_s(101, now=10.0) == pytest.approx(20.0)
    assert pace.wait_s(101, now=30.0) == 0.0
    pace.told(Left(requests=0, requests_reset_s=5.0), now=40.0)
    assert pace.wait_s(1, now=41.0) == pytest.approx(4.0)
    pace.told(None, now=41.0)
    pace.hold(9.0, now=41.0)
    pace.hold(1.0, now=41.0)
    assert pace.wait_s(1, now=41.0) == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("1m3.5s", 63.5),
        ("12", 12.0),
        ("2026-08-21T10:00:30Z", 30.0),
        ("2026-08-21T12:00:30+02:00", 30.0),
        ("2026-08-21T09:00:00Z", 0.0),  # it is over
        ("1787306430", 30.0),
        ("1787306430000", 30.0),
        ("2026-13-41T10:00:30Z", None),
        ("soon", None),
        ("", None),
        ("1s" * 40, None),
        ("-3s", None),
    ],
)
def test_durations_are_read_as_endpoints_write_them(value, seconds):
    found = parse_rate_limits(
        {"x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": value}, NOW
    )
    assert found == Left(tokens=7, tokens_reset_s=seconds)


def test_only_limits_that_are_used_up_count_as_a_wait_and_odd_headers_tell_nothing():
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-tokens": "70",
        "x-ratelimit-reset-tokens": "9h",
    }
    assert reset_s(parse_rate_limits(headers)) == 2.0
    assert reset_s(None) is None
    assert parse_rate_limits({}) is None
    assert parse_rate_limits({"x-ratelimit-remaining-requests": "many"}) is None


@pytest.mark.parametrize(
    ("left", "found"),
    [
        ({"requests": 9}, Left(requests=9, requests_reset_s=30.0)),
        ({"tokens": 50, "input-tokens": 40}, Left(tokens=40, tokens_reset_s=30.0)),
        ({"tokens": 50, "output-tokens": 8}, Left(tokens=50, tokens_reset_s=30.0)),
        ({"tokens": 50, "output-tokens": 0}, Left(tokens=0, tokens_reset_s=30.0)),
    ],
)
def test_the_limits_of_anthropic_are_read(left, found):
    names = [f"anthropic-ratelimit-{kind}" for kind in left]
    headers = {f"{name}-reset": "2026-08-21T10:00:30Z" for name in names}
    headers |= {f"{name}-remaining": str(n) for name, n in zip(names, left.values(), strict=True)}
    assert parse_rate_limits(headers, NOW) == found


def test_the_limits_of_openrouter_are_read():
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1787306430000"}
    assert reset_s(parse_rate_limits(headers, NOW)) == 30.0


def test_an_endpoint_and_a_key_share_one_pace_and_the_key_is_nowhere_in_it():
    url, key = "http://127.0.0.1:9/v1", SecretStr("sk-not-for-logs")
    assert Endpoint(url, key).pace is Endpoint(url, key, timeout_s=1.0).pace
    assert Endpoint(url, key).pace is not Endpoint(url, SecretStr("another")).pace
    assert Endpoint(url, key).pace is not Endpoint("http://127.0.0.1:8/v1", key).pace
    assert "sk-not" not in repr(Endpoint(url, key).pace)
