"""A fake OpenAI-compatible endpoint that keeps many calls waiting in one event loop.

``served`` answers each request with a coroutine function. As a program, the endpoint gives contract
answers in its own process, so that its memory and work do not count for the caller::

    python -m tests.bench.endpoint --delay-s 0.2      # prints its base URL, ends with its stdin
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.openai_server import contract_answer

Body = dict[str, Any]
PIECES = 5
READ_LIMIT = 2**20


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its path, and its body as JSON."""

    path: str
    body: Body


@dataclass(frozen=True, slots=True)
class Told:
    """A reply; any status but 200 is an error."""

    text: str = "ok"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


Answer = Callable[[Asked], Awaitable[Told]]


@asynccontextmanager
async def served(answer: Answer) -> AsyncIterator[str]:
    """Serve on loopback while the block runs; its address without a path."""
    open_calls: set[asyncio.Task[None]] = set()

    async def connected(reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_calls.add(task)
        try:
            # Cancelled at the end, it ends well: else asyncio's streams complain of it.
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await _one(reader, writer, answer):
                    pass
        finally:
            open_calls.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=READ_LIMIT)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tuple(open_calls):
            task.cancel()
        await asyncio.gather(*open_calls, return_exceptions=True)


async def _one(reader: StreamReader, writer: StreamWriter, answer: Answer) -> bool:
    """Answer one request; False without one, or when no client waits for it."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    asked = Asked(first.split(" ")[1], json.loads(body or b"{}"))
    reply = await _unless_gone(reader, answer(asked))
    if reply is None:
        return False
    writer.write(_response(asked.body, reply))
    await writer.drain()
    return True


async def _unless_gone(reader: StreamReader, answer: Awaitable[Told]) -> Told | None:
    """The reply, or None as soon as the asker goes away: then it is not worked on any more."""
    pending = asyncio.ensure_future(answer)
    gone = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait((pending, gone), return_when=asyncio.FIRST_COMPLETED)
        return pending.result() if pending.done() else None
    finally:
        for task in (pending, gone):
            task.cancel()
        await asyncio.gather(pending, gone, return_exceptions=True)


def _response(body: Body, reply: Told) -> bytes:
    kind = "application/json"
    if reply.status != 200:
        content = json.dumps({"error": {"message": reply.text, "type": "bench"}}).encode()
    elif body.get("stream"):
        kind, content = "text/event-stream", _events(body, reply.text)
    else:
        content = json.dumps(_whole(body, reply.text)).encode()
    headers = {"Content-Type": kind, "Content-Length": str(len(content)), **reply.headers}
    lines = [
        f"HTTP/1.1 {reply.status} told",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join((*lines, "", "")).encode() + content


def _whole(body: Body, text: str) -> Body:
    message = {"role": "assistant", "content": text}
    return {
        **_head(body, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": _usage(body, text),
    }


def _events(body: Body, text: str) -> bytes:
    """The reply as a stream, all at once."""
    step = max(1, -(-len(text) // PIECES))
    pieces = [text[at : at + step] for at in range(0, len(text), step)]
    deltas: list[tuple[Body, str | None]] = [({"content": piece}, None) for piece in pieces]
    head = _head(body, "chat.completion.chunk")
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in [*deltas, ({}, "stop")]
    ]
    chunks.append({**head, "choices": [], "usage": _usage(body, text)})
    return "".join(
        f"data: {event}\n\n" for event in [*(json.dumps(chunk) for chunk in chunks), "[DONE]"]
    ).encode()


def _head(body: Body, kind: str) -> Body:
    return {"id": "bench", "object": kind, "created": 0, "model": body.get("model")}


def _usage(body: Body, text: str) -> Body:
    prompt_length = sum(len(str(message["content"])) for message in body.get("messages", ()))
    used = {"prompt_tokens": prompt_length // 4 + 1, "completion_tokens": len(text) // 4 + 1}
    return {**used, "total_tokens": sum(used.values())}


async def _contract(delay_s: float) -> None:
    async def answer(asked: Asked) -> Told:
        if "messages" not in asked.body:
            return Told("there is no such page", status=404)
        await asyncio.sleep(delay_s)
        return Told(contract_answer(asked.body))

    async with served(answer) as address:
        sys.stdout.write(f"{address}/v1\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    """Serve contract answers until the standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.endpoint")
    parser.add_argument(
        "--delay-s", type=float, default=0.2, help="seconds before each reply (default 0.2)"
    )
    asyncio.run(_contract(parser.parse_args().delay_s))


if __name__ == "__main__":
    main()
