"""Describe runs in words: a list, how to resume one, and the models' replies in one. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgs_neo4j.cli.pages.text import fit_line, moment, size, wrap_text
from pgs_neo4j.text.shown import counted, one_line, plain, unproven_note

if TYPE_CHECKING:
    from pgs_neo4j.engine import RunInfo, StoredReply


COMPLETE = "complete"
RUNNING = "running"
NO_REPLIES = (
    "no reply is stored; a run without the cache deletes its replies when it is complete, and the "
    "extractive reader makes none"
)


def run_lines(infos: Sequence[RunInfo], width: int) -> list[str]:
    """Return two lines for each run: its status and figures, then its question."""
    return [line for info in infos for line in (_head(info), _question(info, width))]


def _head(run: RunInfo) -> str:
    status = "running (silent)" if run.silent else run.status
    parts = [run.id, moment(run.started_at), status]
    if run.nodes_shown is not None:
        parts.append(f"{counted(run.nodes_shown, 'node')} shown")
    elif run.nodes_read is not None:
        unproven = unproven_note(run.nodes_unproven or 0)
        parts.append(f"{counted(run.nodes_read, 'node')} read{unproven}")
    if run.outcome is not None:
        parts.append(run.outcome)
    parts.append(f"graph {run.graph}, session {run.session}")
    return "  ".join(map(one_line, parts))


def _question(run: RunInfo, width: int) -> str:
    return f"  {fit_line(run.question, width - 2)}"


def resume_command(run: str) -> str:
    """Return the command that resumes a run."""
    return f"pgs resume {shlex.quote(one_line(run))}"


def next_step(run: str, status: str) -> list[str]:
    """Return lines on how to resume a run; empty for a complete run."""
    if status == COMPLETE:
        return []
    if status == RUNNING:
        return [
            "",
            "It is in progress. If its process was killed, resume it with:",
            f"  {resume_command(run)}",
        ]
    return ["", "Resume it with:", f"  {resume_command(run)}"]


def reply_lines(
    shown: Sequence[tuple[int, StoredReply]], stored: Sequence[StoredReply], width: int
) -> list[str]:
    """Return lines for each numbered reply: its source, figures, and result, then its beginning."""
    if not stored:
        return wrap_text(NO_REPLIES, width).splitlines()
    head = [f"{count_replies(stored)}; 'pgs runs replies RUN NUMBER' prints one whole", ""]
    return [*head, *(line for at, one in shown for line in _reply_row(at, one, width))]


def whole_reply(number: int, reply: StoredReply) -> list[str]:
    """Return a complete reply, without the escape sequences that a terminal would obey."""
    return [_reply_head(number, reply), "", *plain(reply.text).splitlines()]


def count_replies(stored: Sequence[StoredReply]) -> str:
    """Return how many replies are stored: ``3 replies, 2 of them rejected``."""
    rejected = sum(reply.error is not None for reply in stored)
    total = counted(len(stored), "reply", "replies")
    return f"{total}, {rejected} of them rejected" if rejected else total


def cached_note(cached: int) -> str:
    """Return a note on how many replies came from the cache, and where they are listed."""
    came = f"{counted(cached, 'reply', 'replies')} came from the cache"
    return f"{came}; each is listed with the run that paid for it"


def _reply_row(number: int, reply: StoredReply, width: int) -> list[str]:
    indent = " " * 5
    begins = fit_line(reply.text, max(20, width - len(indent))) or "(no text)"
    head = wrap_text(_reply_head(number, reply), width - len(indent)).splitlines()
    return [head[0], *(f"{indent}{more}" for more in head[1:]), f"{indent}{begins}"]


def _reply_head(number: int, reply: StoredReply) -> str:
    where = f"P{reply.partition} pass {reply.number}" if reply.partition is not None else "answer"
    amount = f"{counted(reply.output_tokens, 'token')}, {size(reply.size)}"
    what = f"rejected: {one_line(reply.error)}" if reply.error is not None else "accepted"
    when = moment(reply.created_at)
    return f"{number:>3}  {where}, {when}, {one_line(reply.model, 60)}, {amount}: {what}"
