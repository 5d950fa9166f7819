"""Find the question, graph, session, and run that a command is about.

A question comes from the command line or from stdin; with -c, the latest run supplies whatever is
left out. Commands on a stored run use the named run, else the latest one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgs_neo4j.cli import output
from pgs_neo4j.cli.run import fail
from pgs_neo4j.errors import PGSError, QuestionError, UnknownRunError, UsageError
from pgs_neo4j.model import Mode
from pgs_neo4j.text.shown import one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS, Request, RunInfo


DEFAULT_SESSION = "default"
SHOWN = 200  # characters of a question in a note; half of that after the id of a run
STDIN = "-"
MOST_BYTES = 1_000_000  # read from stdin; far more than the longest question allowed
WAIT_S = 2.0  # before a note says that pgs waits for stdin


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question and where to ask it; fields that are None come from the latest run or a default.

    With ``again``, the question continues after the latest run.
    """

    question: str | None
    graph: str | None
    mode: Mode | None
    session: str | None
    again: bool
    quiet: bool
    full_sweep: bool = False
    structure_only: bool = False
    key: str | None = None

    async def request(self, pgs: PGS) -> Request:
        """Return the request for the engine.

        Raises UnknownRunError if there is no run to continue after.
        """
        from pgs_neo4j.engine import Request

        if not self.again:
            return Request(
                self.question or "",
                graph=self.graph,
                mode=self.mode or "full",
                session=self.session or DEFAULT_SESSION,
                full_sweep=self.full_sweep,
                structure_only=self.structure_only,
                idempotency_key=self.key,
            )
        latest = await self._find_latest(pgs)
        if not self.quiet:
            output.note(f"continuing after run {in_words(latest)}")
        return Request(
            self.question or latest.question,
            graph=latest.graph,
            mode=self.mode or "continue",
            session=latest.session,
            full_sweep=self.full_sweep,
            structure_only=self.structure_only or latest.structure_only,
            idempotency_key=self.key,
        )

    async def _find_latest(self, pgs: PGS) -> RunInfo:
        """Return the latest run that was not a search, or else the latest search."""
        try:
            return await pgs.runs.latest(self.graph, self.session, asked=True)
        except UnknownRunError:
            if self.question is None:
                raise
            return await pgs.runs.latest(self.graph, self.session)


def read_asked_question(
    words: Sequence[str] | None,
    graph: str | None,
    mode: Mode | None,
    session: str | None,
    *,
    again: bool,
    quiet: bool,
    full_sweep: bool,
    structure_only: bool,
    key: str | None = None,
) -> AskedQuestion:
    """Return the question and target of a command; ``again`` continues after the latest run.

    ``key`` is an idempotency key. Exits with an error, as ``read_question`` does, if the question
    is invalid, or missing without ``again``.
    """
    question = read_question(words, quiet=quiet) if words or not again else None
    return AskedQuestion(
        question, graph, mode, session, again, quiet, full_sweep, structure_only, key
    )


def read_question(words: Sequence[str] | None, *, quiet: bool) -> str:
    """Return the question of a command, or exit with an error if it is missing or invalid.

    Runs before the event loop starts, so that Ctrl-C ends the wait for stdin.
    """
    from pgs_neo4j.engine import check_question

    try:
        question = question_of(words or (), quiet=quiet)
        check_question(question)
    except PGSError as error:
        fail(error)
    return question


def question_of(words: Sequence[str], *, quiet: bool = False) -> str:
    """Return the question on the command line, or on stdin.

    Several words form one question. A single ``-`` means stdin, and so does an empty list if stdin
    is not a terminal. Raises QuestionError if there is no question.
    """
    if list(words) == [STDIN]:
        return read_stdin()
    if words:
        if len(words) > 1 and not quiet:
            output.note(f"the question: {one_line(' '.join(words), SHOWN)}")
        return " ".join(words)
    if sys.stdin is None or sys.stdin.isatty():
        raise QuestionError(
            'there is no question; write it in quotes after the command, as in pgs ask "What is '
            'missing?", or write - and pipe it in'
        )
    return read_stdin()


def read_stdin() -> str:
    """Return the text on stdin, stripped.

    Raises QuestionError if it is empty, not UTF-8, or too long, or if stdin is closed.
    """
    if sys.stdin is None:
        raise QuestionError("stdin is closed; write the question after the command")
    with output.note_if_slow("waiting for the question on stdin; end it with Ctrl-D", WAIT_S):
        content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise QuestionError(
            f"the text on stdin is longer than {MOST_BYTES:,} bytes; pipe in the question alone"
        )
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise QuestionError("the text on stdin is not valid UTF-8; write it again") from None
    if not text:
        raise QuestionError("stdin holds no question; write it after the command, or pipe it in")
    return text


async def run_id(
    pgs: PGS, run: str | None, graph: str | None, *, answered: bool = False, quiet: bool = False
) -> str:
    """Return the id of the named run, else the id of the latest run, with a note that names it.

    ``run`` may be the beginning of an id that no other run shares. ``answered`` skips runs without
    an answer; ``quiet`` omits the note. Raises UnknownRunError, and UsageError if both ``run`` and
    ``graph`` are given.
    """
    if run is not None:
        if graph is not None:
            raise UsageError("--graph chooses the latest run of a graph; leave out --graph or RUN")
        return await pgs.runs.find(run)
    latest = await pgs.runs.latest(graph, answered=answered)
    if not quiet:
        output.note(f"the latest run{' with an answer' if answered else ''}: {in_words(latest)}")
    return latest.id


def in_words(run: RunInfo) -> str:
    """Return a run in one line: id, graph, session, and question."""
    place = f"{run.id} of graph {run.graph}, session {run.session}"
    return f"{one_line(place)}: {one_line(run.question, SHOWN // 2)}"
