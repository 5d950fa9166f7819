"""Python's peak memory above idle while an endpoint sends far too much.

``python -m tests.bench.ceilings`` plays an endless stream, an endless reply, a packed reply of
1.5 GB, and a report of 10 MB, each to one call in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO

from pydantic import SecretStr

from pgs_neo4j.errors import PGSError
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.model import Prompt
from tests.asking import Asked
from tests.bench.memory import own_peak_mb
from tests.fakes.openai_server import Answer, Endless, FakeOpenAI, Raw, Scripted

PROMPT = Prompt(task="sweep", system="read", user="all of it", question="why?")
ROOM = 6000
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n'


@dataclass(frozen=True, slots=True)
class Measured:
    """How a call ended, after how long, and the memory it took above idle."""

    how: str
    seconds: float
    megabytes: float


def packed(size: int) -> bytes:
    """Return ``size`` blanks as gzip, a thousandth as large."""
    file = BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as archive:
        blanks = b" " * 1_000_000
        for _ in range(size // len(blanks)):
            archive.write(blanks)
    return file.getvalue()


@cache
def cases(packed_bytes: int, report_bytes: int) -> dict[str, tuple[bool, Scripted]]:
    """Return whether each case is streamed, and what the endpoint sends."""
    bullets = "- A finding, and another one, of many that say the same [n1].\n"
    report = "## Domain State\nAll.\n\n## Findings\n" + bullets * (report_bytes // len(bullets))
    choice = {"index": 0, "message": {"content": report}, "finish_reason": "stop"}
    return {
        "endless stream": (True, Endless(b"", EVENT % (b"word " * 10), "text/event-stream")),
        "endless stream without text": (True, Endless(b"", EVENT % b"", "text/event-stream")),
        "endless line of a stream": (True, Endless(b"data: ", b"word ", "text/event-stream")),
        "endless reply": (False, Endless(b'{"choices":[{"message":{"content":"', b"word ")),
        "endless error": (False, Endless(b"no", b"no ", "text/plain", code=400)),
        "packed reply": (False, Raw(packed(packed_bytes), headers={"Content-Encoding": "gzip"})),
        "report": (False, Raw(json.dumps({"choices": [choice]}).encode())),
        "streamed report": (True, Answer(report, pieces=2000)),
    }


def measure(base_url: str, *, stream: bool, timeout_s: float) -> Measured:
    """Make one call in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.ceilings", "--ask", base_url]
    command += ["--timeout-s", str(timeout_s), *(["--stream"] if stream else [])]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return Measured(**json.loads(ended.stdout))


async def _ask(base_url: str, *, stream: bool, timeout_s: float) -> Measured:
    llm = Asked(OpenAILLM("m", Endpoint(base_url, SecretStr("k"), timeout_s)), timeout_s)
    with suppress(PGSError):  # what is imported for any call is no growth
        await llm.probe()
    idle, began = own_peak_mb(), time.monotonic()
    try:
        if stream:
            async for _ in llm.stream(PROMPT, max_tokens=ROOM):
                pass
        else:
            await llm.complete(PROMPT, max_tokens=ROOM)
        how = "answered"
    except PGSError as error:
        how = f"{type(error).__name__}: {error}"
    seconds, peak = time.monotonic() - began, own_peak_mb()
    await llm.close()
    return Measured(how, round(seconds, 2), round(peak - idle, 1))


def main() -> None:
    """Measure all cases, or make one call and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ask", help="the endpoint of one call")
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--timeout-s", type=float, default=60.0)
    parser.add_argument("--packed-mb", type=int, default=1500)
    parser.add_argument("--report-mb", type=int, default=10)
    options = parser.parse_args()
    if options.ask:
        work = _ask(options.ask, stream=options.stream, timeout_s=options.timeout_s)
        measured = asyncio.run(work)
        print(json.dumps({name: getattr(measured, name) for name in Measured.__slots__}))  # noqa: T201
        return
    for name, (stream, reply) in cases(
        options.packed_mb * 10**6, options.report_mb * 10**6
    ).items():
        with FakeOpenAI(default=reply) as fake:
            measured = measure(fake.base_url, stream=stream, timeout_s=options.timeout_s)
        line = f"{name:28} {measured.seconds:7.2f} s {measured.megabytes:8.1f} MB  {measured.how}"
        print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
