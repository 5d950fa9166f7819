"""Ask a question and write its answer: streamed to stdout, or as JSON.

An answer appears on a terminal as it arrives, wrapped and in color. Sources, figures, and the next
command follow when it is complete. A stored answer is written in the same layout.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgs_neo4j.cli import output
from pgs_neo4j.cli.pages.answer_page import TITLES, advice, below
from pgs_neo4j.cli.pages.prose import Prose
from pgs_neo4j.cli.pages.text import Wrapper, wrap_text
from pgs_neo4j.cli.progress import Listener
from pgs_neo4j.cli.run import DONE, PARTIAL
from pgs_neo4j.errors import DatabaseError, OutputError
from pgs_neo4j.events import Event, SearchAnswered, SweepFinished, TextStreamed
from pgs_neo4j.model import Answer, Citation
from pgs_neo4j.text.citations import cited_titles
from pgs_neo4j.text.headings import LoweredText, lower_headings, lowered_text
from pgs_neo4j.text.shown import plain

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS, SearchAnswer
    from pgs_neo4j.events import OnEvent
    from pgs_neo4j.export import Area


Asked = tuple[Answer, "SearchAnswer | None"]
Ask = Callable[["OnEvent"], Awaitable[Asked]]
"""A function that asks, reports events, and returns the answers of the run and of its search."""


async def ask_and_write(pgs: PGS, ask: Ask, listener: Listener, *, as_json: bool) -> int:
    """Ask, write the answer and the next command to try, and return the exit code."""
    if as_json:
        return await _ask_and_write_json(pgs, ask, listener)
    answer = await ask_and_write_text(ask, answer_stream(listener))
    output.write_lines(advice(answer))
    return code_of(answer)


async def ask_and_write_text(ask: Ask, stream: AnswerStream) -> Answer:
    """Ask, stream the answer, write its sources and figures below it, and return it.

    Raises BrokenPipeError or OutputError if stdout failed, which cancels the question.
    """
    try:
        answer, search = await ask(stream)
    except asyncio.CancelledError:
        if stream.broken:
            raise stream.fault or BrokenPipeError from None
        raise
    finally:
        stream.close()
        stream.progress.stop()
    if not stream.written:
        write_answer(answer.text, answer.synthesis.citations)
    searched = search.citations if search is not None else ()
    output.write_page(below(answer, output.width(), searched))
    return answer


def code_of(answer: Answer) -> int:
    """Return the exit code for an answer: PARTIAL for a partial one, else DONE."""
    return PARTIAL if answer.partial else DONE


async def _ask_and_write_json(pgs: PGS, ask: Ask, listener: Listener) -> int:
    from pgs_neo4j.cli.pages import as_json as json_of

    answer, search = await ask(listener)
    areas = await _areas(pgs, answer)
    listener.stop()
    output.write_json(json_of.answer(answer, areas, search))
    return code_of(answer)


async def _areas(pgs: PGS, answer: Answer) -> tuple[Area, ...]:
    """Return the partitions of the generation that the answer was read from.

    The partitions only add keywords to the output. So after a database error, they are left out:
    the answer is already paid for.
    """
    try:
        return (await pgs.runs.document(answer.run)).areas
    except DatabaseError as error:
        output.note(f"the answer has no keywords, because they could not be read: {error}")
        return ()


@dataclass(slots=True)
class AnswerStream:
    """Writes the answer to stdout as it arrives, and forwards all other events.

    If stdout is closed or full, it cancels ``task``, because further model calls would only cost
    money. Events that arrive within a line of the answer are forwarded by ``close``.
    """

    progress: Listener
    task: asyncio.Task[object] | None
    wrapper: Wrapper
    prose: Prose | None = None
    lower: LoweredText = field(default_factory=LoweredText)
    written: bool = False
    broken: bool = False
    fault: OutputError | None = None
    _delayed_events: list[Event] = field(default_factory=list, repr=False)
    _searching: bool = field(default=False, repr=False)
    _line_ended: bool = field(default=False, repr=False)
    _held_return: str = field(default="", repr=False)
    _cited: list[Citation] = field(default_factory=list, repr=False)

    def __call__(self, event: Event) -> None:
        """Write the text of an event, or forward the event."""
        match event:
            case TextStreamed(text):
                self._begin_answer("\n## From the partitions\n\n" if self._searching else "")
                self._searching = False
                below = self.lower.feed(plain(self._hold_back_return(text)))
                self.write(self.wrapper.feed(self._draw(below)))
            case SearchAnswered(text):
                self._begin_answer("## From the nearest nodes\n\n")
                self.write(f"{_whole_text(_lower_answer_headings(plain(text).rstrip()))}\n")
                self._searching = True
                self.progress.start()
            case SweepFinished(sweep) if sweep.report is not None:
                self._cited += sweep.report.citations
                self.progress(event)
            case _ if self.written and not self._line_ended:
                self._delayed_events.append(event)
            case _:
                self.progress(event)

    def close(self) -> None:
        """Write the text still held back, end the line, and forward the delayed events."""
        if self.written:
            rest = self._draw(self.lower.close())
            rest += self.prose.close() if self.prose else ""
            self.write(self.wrapper.feed(rest) + self.wrapper.close())
            self.write("" if self._line_ended else "\n")
        late, self._delayed_events = self._delayed_events, []
        for event in late:
            self.progress(event)

    def write(self, text: str) -> None:
        """Write a text; cancel the run if stdout is closed or full."""
        if self.broken or not text:
            return
        self._line_ended = text.endswith("\n")
        try:
            output.write(text)
        except BrokenPipeError:
            output.silence(sys.stdout)
            self._give_up()
        except OutputError as error:
            self.fault = error
            self._give_up()

    def _give_up(self) -> None:
        self.broken = True
        if self.task is not None:
            self.task.cancel()

    def _hold_back_return(self, text: str) -> str:
        """Return text without a trailing ``\\r``, which is held back.

        The next delta may begin with the ``\\n`` of the same line break.
        """
        text = self._held_return + text
        self._held_return = "\r" if text.endswith("\r") else ""
        return text.removesuffix("\r")

    def _draw(self, text: str) -> str:
        """Return text styled for a terminal; unchanged Markdown without one."""
        if self.prose is None:
            return text
        if not self.prose.titles:
            self.prose.titles = cited_titles(self._cited)
        return self.prose.feed(text)

    def _begin_answer(self, heading: str) -> None:
        if not self.written or heading:
            # Otherwise, the display would overwrite the answer on the same terminal.
            self.progress.stop()
            self.written = True
            self.write(_whole_text(heading) if heading else "")


def answer_stream(progress: Listener) -> AnswerStream:
    """Return a stream for the current task; it wraps and styles text only on a terminal."""
    prose, lower = _prose(), _heading_lowerer()
    return AnswerStream(progress, asyncio.current_task(), Wrapper(_wrap_width()), prose, lower)


def write_answer(text: str, citations: Sequence[Citation] = ()) -> None:
    """Write a complete answer in the layout of a streamed one."""
    answer = plain(text).rstrip()
    if answer:
        output.write(f"{_whole_text(_lower_answer_headings(answer), citations)}\n")


def _whole_text(text: str, citations: Sequence[Citation] = ()) -> str:
    prose = _prose()
    if prose is not None:
        prose.titles = cited_titles(citations)
        text = prose.feed(text) + prose.close()
    return wrap_text(text, _wrap_width())


def _prose() -> Prose | None:
    on_terminal = output.is_terminal(sys.stdout)
    return Prose(color=output.has_color(sys.stdout)) if on_terminal else None


def _heading_lowerer() -> LoweredText:
    """Return a filter that lowers the model's headings below those of the page."""
    return lowered_text(TITLES, markdown=not output.is_terminal(sys.stdout))


def _lower_answer_headings(text: str) -> str:
    return lower_headings(text, TITLES, markdown=not output.is_terminal(sys.stdout))


def _wrap_width() -> int | None:
    return output.width() if output.is_terminal(sys.stdout) else None
