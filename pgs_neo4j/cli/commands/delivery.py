"""Ask a question and write the answer, as streamed text or JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from pgs_neo4j.cli import output
from pgs_neo4j.cli.progress import AnswerStream, Listener, answer_stream, write_answer
from pgs_neo4j.cli.run import DONE, PARTIAL
from pgs_neo4j.errors import DatabaseError

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS, SearchAnswer
    from pgs_neo4j.events import OnEvent
    from pgs_neo4j.export import Area
    from pgs_neo4j.model import Answer

Asked = tuple["Answer", "SearchAnswer | None"]
Ask = Callable[["OnEvent"], Awaitable[Asked]]
"""Asks, tells what happens, and returns the answer and that of the search before it."""


async def answered(pgs: PGS, ask: Ask, listener: Listener, *, as_json: bool) -> int:
    """Write the answer and the next steps; returns the exit code."""
    from pgs_neo4j.cli.pages.answer_page import advice

    if as_json:
        return await _as_json(pgs, ask, listener)
    answer = await as_text(ask, answer_stream(listener))
    output.write_lines(advice(answer))
    return code_of(answer)


async def as_text(ask: Ask, stream: AnswerStream) -> Answer:
    """Ask, stream the answer, and write its sources and figures below it."""
    from pgs_neo4j.cli.pages.answer_page import below

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
    """Return the exit code of an answer."""
    return PARTIAL if answer.partial else DONE


async def _as_json(pgs: PGS, ask: Ask, listener: Listener) -> int:
    from pgs_neo4j.cli.pages import as_json as answer_json

    answer, search = await ask(listener)
    areas = await _areas(pgs, answer)
    listener.stop()
    output.write_json(answer_json.answer(answer, areas, search))
    return code_of(answer)


async def _areas(pgs: PGS, answer: Answer) -> tuple[Area, ...]:
    """Return the partitions of the answer's generation, current or not.

    They only add keywords, so an answer that is paid for does not fail without them.
    """
    try:
        return (await pgs.document(answer.run)).areas
    except DatabaseError as error:
        output.note(f"the answer has no keywords, because they could not be read: {error}")
        return ()
