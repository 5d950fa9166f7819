"""What a run tells of its models' contexts: once, and again if any of it is new."""

from __future__ import annotations

from pgs_neo4j.events import ContextsKnown, Event
from pgs_neo4j.pgs.log import RunLog


def test_contexts_are_reported_when_any_of_them_is_new() -> None:
    heard: list[Event] = []
    log = RunLog(heard.append)
    log.note_contexts(())
    log.note_contexts((("m", "unknown"),))
    log.note_contexts((("m", "unknown"),))
    log.note_contexts((("n", "4,096 tokens"),))
    log.note_contexts((("m", "2,048 tokens"), ("n", "4,096 tokens")))
    assert heard == [
        ContextsKnown((("m", "unknown"),)),
        ContextsKnown((("m", "unknown"), ("n", "4,096 tokens"))),
        ContextsKnown((("m", "2,048 tokens"), ("n", "4,096 tokens"))),
    ]
    assert log.contexts == {"m": "2,048 tokens", "n": "4,096 tokens"}
