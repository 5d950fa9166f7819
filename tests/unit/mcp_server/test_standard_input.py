"""Lines of stdin: whole, in order, and never waited for after a cancellation."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp.types import INVALID_REQUEST, PARSE_ERROR

from pgs_neo4j.mcp_server import server
from pgs_neo4j.mcp_server.standard_input import (
    KEPT,
    MOST_LINE,
    SIZE,
    LongLine,
    check_line,
    make_long_line_error,
    read_lines,
)
from tests.fakes.mcp_engine import FakeEngine


async def test_lines_are_whole_however_they_arrive(tmp_path: Path) -> None:
    long = "ü" * SIZE
    file = tmp_path / "lines"
    file.write_bytes(f"one\n\n{long}\nrest".encode() + b"\xff")
    descriptor = os.open(file, os.O_RDONLY)
    try:
        assert [line async for line in read_lines(descriptor)] == ["one", "", long, "rest\ufffd"]
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("size", [MOST_LINE + 1, 3 * MOST_LINE, 20_000_000])
async def test_of_a_long_line_only_the_ends_are_kept(tmp_path: Path, size: int) -> None:
    file = tmp_path / "lines"
    begin, end = "a" * KEPT, "z" * KEPT
    whole = "y" * MOST_LINE
    file.write_text(f"one\n{begin}{'x' * (size - 2 * KEPT)}{end}\n{whole}\n{'x' * size}")
    descriptor = os.open(file, os.O_RDONLY)
    try:
        lines = [line async for line in read_lines(descriptor)]
    finally:
        os.close(descriptor)
    assert lines == ["one", LongLine(begin, end), whole, LongLine("x" * KEPT, "x" * KEPT)]


async def test_a_client_that_sends_faster_than_it_is_read_waits(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    lines = read_lines(reading)
    sent = os.write(writing, b"one\n")
    assert await anext(lines) == "one"

    def send() -> int:
        try:
            return os.write(writing, b"\n" * SIZE)
        except BlockingIOError:
            return 0

    silent = 0
    while silent < 10:  # until nothing is taken for some time, which never comes without a limit
        await asyncio.sleep(0.02)
        more = send()
        sent, silent = sent + more, 0 if more else silent + 1
        assert sent < 40_000_000
    os.close(writing)
    assert [line async for line in lines] == [""] * (sent - len("one\n"))
    os.close(reading)


async def test_a_silent_client_can_be_left() -> None:
    reading, writing = os.pipe()
    lines = read_lines(reading)
    try:
        os.write(writing, b"one\n")
        assert await anext(lines) == "one"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await anext(lines)
    finally:
        os.close(writing)
        await asyncio.sleep(0.05)
        os.close(reading)


async def test_a_descriptor_that_cannot_be_read_ends_at_once() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    assert [line async for line in read_lines(reading)] == []
    os.close(writing)


DIGITS = "9" * 5000


def request(own: str, x: str = "1") -> str:
    """A request with an id and a parameter, as they stand in its line."""
    return f'{{"jsonrpc": "2.0", "id": {own}, "method": "ping", "params": {{"x": {x}}}}}'


@pytest.mark.parametrize(
    ("line", "own", "code"),
    [
        (request("7", '"\\ud800"'), 7, PARSE_ERROR),
        (request('"\\udfff"'), None, INVALID_REQUEST),
        (request("7", DIGITS), 7, PARSE_ERROR),
        (request(DIGITS), None, INVALID_REQUEST),
        *((request(own), None, INVALID_REQUEST)
          for own in ("NaN", "Infinity", "1.5", "1e400", "null", "true", "[1]", "{}")),
        (request('"a"').replace("2.0", "1.0"), "a", INVALID_REQUEST),
        ('{"id": 7, "method": "ping"}', 7, INVALID_REQUEST),
        ('{"id": 7}', None, INVALID_REQUEST),
        ("{", None, PARSE_ERROR), ("[" * 100_000, None, PARSE_ERROR), ("no", None, PARSE_ERROR),
        ("[]", None, INVALID_REQUEST), ("7", None, INVALID_REQUEST),
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused_with_its_id(
    line: str, own: str | int | None, code: int
) -> None:
    error = check_line(line)
    assert error is not None
    assert (error.id, error.error.code) == (own, code)
    assert "9999" not in error.error.message


@pytest.mark.parametrize(
    "line",
    [
        *(request(own) for own in ("0", "-1", '"a"', '""', "9" * 30)),
        request("1", "NaN"),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": 1, "result": {}}',
        '{"id": 1, "result": {}}',  # no request waits for an answer to an answer
    ],
)
def test_requests_notifications_and_answers_pass(line: str) -> None:
    assert check_line(line) is None


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "%s"}}', 7),
        ('{"method":"ping","id":"a","params":{"id":8,"x":"%s"},"jsonrpc":"2.0"}', "a"),
        ('{"method": "ping", "params": {"id": 8, "x": "%s"}, "jsonrpc": "2.0", "id": -7}', -7),
        ('{"method": "ping", "params": {"x": "%s"}, "id": "a", "jsonrpc": "2.0"}\r', "a"),
        ('{"params": {"x": "%s", "id": 8}, "method": "ping"}', None),
        ('{"params": {"x": "%s", "id": 8}}', None),
        ('{"params": {"id": 8, "x": "%s"}, "id": 7, "method": "ping"}', 7),
        ('{"params": {"x": "%s, \\"id\\": 8"}, "method": "ping"}', None),
        ('{"id": 1.5, "params": {"x": "%s"}}', None),
        ('{"id": "a\tb", "params": {"x": "%s"}}', None),
        (f'{{"id": {DIGITS}, "params": {{"x": "%s"}}}}', None),
        ('{"id": "%s", "method": "ping"}', None),
        ("%s", None),
    ],
)
def test_a_long_line_is_refused_with_an_id_that_stands_first_or_last(
    line: str, own: str | int | None
) -> None:
    whole = line.replace("%s", "x" * MOST_LINE)
    error = make_long_line_error(LongLine(whole[:KEPT], whole[-KEPT:]))
    assert (error.id, error.error.code) == (own, INVALID_REQUEST)
    assert "longer than 1,000,000 bytes" in error.error.message


async def test_a_server_answers_them_and_serves_on(monkeypatch: pytest.MonkeyPatch) -> None:
    (their_end, to_server), (answers, from_server) = os.pipe(), os.pipe()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: their_end))
    with os.fdopen(from_server, "w") as written:
        monkeypatch.setattr(sys, "stdout", written)
        engine: Any = FakeEngine()
        serving = asyncio.create_task(server.serve_stdio(engine, read_only=True))
        lines = [request("1", '"\\ud800"'), request(DIGITS), request("NaN"), ""]
        lines += [request("3", f'"{"x" * 3 * MOST_LINE}"'), request("2")]

        def send() -> None:
            with os.fdopen(to_server, "w", closefd=False) as sending:
                sending.write("\n".join([*lines, ""]))

        await asyncio.to_thread(send)
        with os.fdopen(answers) as told:
            heard = [json.loads(await asyncio.to_thread(told.readline)) for _ in range(5)]
            os.close(to_server)
            await serving
    os.close(their_end)
    assert [one["id"] for one in heard] == [1, None, None, 3, 2]
    assert all("error" in one for one in heard[:4])
