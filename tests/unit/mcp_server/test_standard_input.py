"""Lines of stdin: whole, in order, and never waited for after a cancellation."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from pgs_neo4j.mcp_server.standard_input import KEPT, MOST_LINE, SIZE, LongLine, read_lines


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
