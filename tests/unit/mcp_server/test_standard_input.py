"""Lines of stdin: whole, in order, and never waited for after a cancellation."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from pgs_neo4j.mcp_server.standard_input import SIZE, read_lines


async def test_lines_are_whole_however_they_arrive(tmp_path: Path) -> None:
    long = "ü" * SIZE
    file = tmp_path / "lines"
    file.write_bytes(f"one\n\n{long}\nrest".encode() + b"\xff")
    descriptor = os.open(file, os.O_RDONLY)
    try:
        assert [line async for line in read_lines(descriptor)] == ["one", "", long, "rest\ufffd"]
    finally:
        os.close(descriptor)


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
