"""Errors of canceled requests are taken out of a stream, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgs_neo4j.mcp_server.transport import REQUEST_CANCELLED, _drop_cancellations


def event(message: object) -> bytes:
    return f"event: message\r\ndata: {json.dumps(message)}\r\n\r\n".encode()


CANCELED = {"jsonrpc": "2.0", "id": 7, "error": {"code": REQUEST_CANCELLED, "message": "x"}}
KEPT: list[bytes] = [
    event({"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "-32800"}}),
    event({"jsonrpc": "2.0", "id": 7, "result": {"error": {"code": REQUEST_CANCELLED}}}),
    event({"jsonrpc": "2.0", "id": 7, "result": {"text": json.dumps(CANCELED)}}),
    event([CANCELED["error"]]), event(-32800), b"data: {-32800", b": ping -32800", b"",
    b"data: " + b"[" * 100_000 + b"-32800",
]  # fmt: skip


async def passed(body: bytes) -> list[Any]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    pass_on = _drop_cancellations(send)
    await pass_on({"type": "http.response.start", "status": 200})
    await pass_on({"type": "http.response.body", "body": body, "more_body": True})
    await pass_on({"type": "http.response.body"})
    return sent


async def test_the_error_of_a_canceled_request_is_not_sent() -> None:
    for body in (event(CANCELED), event(CANCELED | {"id": "text"})):
        begun, emptied, ended = await passed(body)
        assert begun == {"type": "http.response.start", "status": 200}
        assert emptied == {"type": "http.response.body", "body": b"", "more_body": True}
        assert ended == {"type": "http.response.body"}


@pytest.mark.parametrize("body", KEPT, ids=range(len(KEPT)))
async def test_all_else_is_sent_as_it_is(body: bytes) -> None:
    assert (await passed(body))[1]["body"] == body
