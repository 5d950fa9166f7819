"""Runs that another process carries out, as far as the database knows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi.sse import ServerSentEvent

from pgs_neo4j.text.json_data import json_text
from pgs_neo4j.web.runs.stream import Snapshot

LOOK_S = 3.0
"""Seconds between two looks at the record of a run."""


async def stream_snapshots(
    snapshot: Snapshot, stopped: asyncio.Event
) -> AsyncIterator[ServerSentEvent]:
    """Yield a ``snapshot`` whenever the record of a run has changed, until the run has ended.

    ``stopped`` ends it earlier, when the server stops.
    """
    former = ""
    while not stopped.is_set():
        record = await snapshot()
        text = json_text(record)
        if text != former:
            yield ServerSentEvent(raw_data=text, event="snapshot", id="0")
        if record["state"] != "running":
            return
        former = text
        with suppress(TimeoutError):
            await asyncio.wait_for(stopped.wait(), LOOK_S)
