"""Requests that wait for an answer go before the work of new runs, to a limit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pgs_neo4j.web.runs.answering import FOLLOW_S, MOST_S, Answering, CountRequests
from tests.timeless import timeless


async def test_work_begins_when_the_last_request_is_answered() -> None:
    requests = Answering()
    with requests.count_request() as first, requests.count_request() as second:
        settled = asyncio.create_task(requests.settled())
        first()
        first()  # an answer has many parts
        await asyncio.sleep(0)
        assert (requests.waiting, settled.done()) == (1, False)
        second()
        await settled
    assert requests.waiting == 0
    await requests.settled()


async def test_requests_about_runs_count_until_their_answers_begin() -> None:
    requests, seen = Answering(), list[int]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(requests.waiting)
        await send({"type": "http.response.start"})
        seen.append(requests.waiting)

    async def send(message: Any) -> None:
        seen.append(requests.waiting)

    for path in ("/api/runs/r1/events", "/api/graphs"):
        await CountRequests(app, requests)({"type": "http", "path": path}, send, send)
    assert seen == [1, 1, 0, 0, 0, 0]

    async def fail(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - that of the double
        await CountRequests(fail, requests)({"type": "http", "path": "/api/runs"}, send, send)
    assert requests.waiting == 0


@timeless
async def test_requests_that_hang_and_readers_that_do_not_come_hold_work_up_for_a_while() -> None:
    requests, time = Answering(), asyncio.get_running_loop().time
    with requests.count_request():
        await requests.settled()
        assert time() == pytest.approx(MOST_S)
        assert requests.waiting == 1
    requests.expect_reader("r1")
    await requests.settled()
    assert time() == pytest.approx(MOST_S + FOLLOW_S)
    assert requests.waiting == 0


async def test_the_reader_of_a_new_run_is_expected_until_it_comes() -> None:
    requests = Answering()
    requests.expect_reader("r1")
    requests.expect_reader("r1")
    settled = asyncio.create_task(requests.settled())
    await asyncio.sleep(0)
    with requests.count_request() as answered:
        requests.meet_reader("r1")
        await asyncio.sleep(0)
        assert (requests.waiting, settled.done()) == (1, False)
        answered()
        await settled
    requests.meet_reader("r1")
    assert requests.waiting == 0
