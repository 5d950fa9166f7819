"""What to ask, of which graph and session: from the command line or from the latest run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.questions.latest import in_words
from pgs_neo4j.cli.question_input import question_of
from pgs_neo4j.cli.run import fail
from pgs_neo4j.errors import PGSError, UnknownRunError
from pgs_neo4j.model import Mode
from pgs_neo4j.text.json_data import Json

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS, RunInfo

DEFAULT_SESSION = "default"


@dataclass(frozen=True, slots=True)
class Request:
    """What a command was asked; the latest run or a default decides what is None."""

    question: str | None
    graph: str | None
    mode: Mode | None
    session: str | None
    again: bool
    quiet: bool

    async def settle(self, pgs: PGS) -> tuple[str, Json]:
        """Return the question, and where it goes.

        Raises UnknownRunError when there is no run to continue after.
        """
        if not self.again:
            session = self.session or DEFAULT_SESSION
            target: Json = {"graph": self.graph, "mode": self.mode or "full", "session_id": session}
            return self.question or "", target
        latest = await self._find_latest(pgs)
        if not self.quiet:
            output.note(f"continuing after run {in_words(latest)}")
        target = {"graph": latest.graph, "mode": self.mode or "continue"}
        if latest.structure_only:
            target["structure_only"] = True
        return self.question or latest.question, {**target, "session_id": latest.session}

    async def _find_latest(self, pgs: PGS) -> RunInfo:
        """Return the latest run that read, whose question is repeated.

        An answer from a search only says where another question goes, and only if nothing was read.
        """
        try:
            return await pgs.runs.latest(self.graph, self.session, asked=True)
        except UnknownRunError:
            if self.question is None:
                raise
            return await pgs.runs.latest(self.graph, self.session)


def request_of(
    words: Sequence[str] | None,
    graph: str | None,
    mode: Mode | None,
    session: str | None,
    *,
    again: bool,
    quiet: bool,
) -> Request:
    """Return what a command was asked; ``again`` continues after the latest run.

    Exits with an error if there is no question. This runs before the event loop does, so that
    Ctrl-C ends the wait for stdin.
    """
    from pgs_neo4j.engine import check_question

    question = None
    try:
        if words or not again:
            question = question_of(words or (), quiet=quiet)
            check_question(question)
    except PGSError as error:
        fail(error)
    return Request(question, graph, mode, session, again, quiet)
