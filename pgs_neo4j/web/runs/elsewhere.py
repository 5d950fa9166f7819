"""Runs that another process carries out, as far as the database knows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi.sse import ServerSentEvent

from pgs_neo4j.web.runs.stream import FINAL, Snapshot, snapshot_text

LOOK_S = 3.0
"""Seconds between two looks at the record of a run."""


async def stream_snapshots(
    snapshot: Snapshot, stopped: asyncio.Event
) -> AsyncIterator[ServerSentEvent]:
    """Yield a ``snapshot`` whenever the record of a run has changed, until the run has ended.

    ``stopped`` ends it earlier, when the server stops. So does a database that is away: its reader
    comes back, and hears why.
    """
    former = ""
    while not stopped.is_set():
        text = await snapshot_text(snapshot)
        if text is None:
            return
        ended = json.loads(text)["state"] != "running"
        if text != former:
            yield ServerSentEvent(raw_data=text, event="snapshot", id=str(FINAL if ended else 0))
        if ended:
            return
        former = text
        with suppress(TimeoutError):
            await asyncio.wait_for(stopped.wait(), LOOK_S)
