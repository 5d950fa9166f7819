"""`pgs ask`: one question, read for, answered, and accounted for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pgs_neo4j.cli import output
from pgs_neo4j.cli.listen import AnswerStream, Listener, answer_stream, progress
from pgs_neo4j.cli.options import (
    ConcurrencyOption,
    FractionOption,
    FullSweepOption,
    GraphOption,
    JsonOption,
    LeastOption,
    MaxPartitionOption,
    MinCommunityOption,
    ModeOption,
    MostOption,
    QuestionArgument,
    QuietOption,
    SessionOption,
    SweepTokensOption,
    SynthesisTokensOption,
    ThresholdOption,
    TopKOption,
)
from pgs_neo4j.cli.page import advice, below
from pgs_neo4j.cli.run import DONE, PARTIAL, run
from pgs_neo4j.cli.text import plain

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS
    from pgs_neo4j.events import OnEvent
    from pgs_neo4j.model import Answer
    from pgs_neo4j.pgs.layered import SearchAnswer

Asked = dict[str, Any]


def ask(
    question: QuestionArgument,
    graph: GraphOption = None,
    mode: ModeOption = "full",
    session: SessionOption = "default",
    full_sweep: FullSweepOption = False,
    sweep_fraction: FractionOption = None,
    top_k: TopKOption = None,
    max_sweep_partitions: MostOption = None,
    min_sweep_partitions: LeastOption = None,
    threshold: ThresholdOption = None,
    max_concurrent_sweeps: ConcurrencyOption = None,
    sweep_max_tokens: SweepTokensOption = None,
    synthesis_max_tokens: SynthesisTokensOption = None,
    min_community_size: MinCommunityOption = None,
    target_partition_max: MaxPartitionOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Ask a graph a question.

    Partitions the graph, routes the question to the partitions that matter, sweeps each at full
    text, and synthesizes one cited answer. What was read counts in the session.

    Exit codes: 0 done, 2 usage, 3 partial answer, 5 database, 6 model, 130 interrupted.

    \b
      pgs ask "Which results contradict each other?" --graph papers
      pgs ask "And what is missing?" --mode continue
      pgs ask "Who supplies whom?" --json --quiet > answer.json
    """
    knobs = {
        "sweep_fraction": sweep_fraction,
        "max_sweep_partitions": max_sweep_partitions,
        "min_sweep_partitions": min_sweep_partitions,
        "partition_relevance_threshold": threshold,
        "max_concurrent_sweeps": max_concurrent_sweeps,
        "sweep_max_tokens": sweep_max_tokens,
        "synthesis_max_tokens": synthesis_max_tokens,
        "min_community_size": min_community_size,
        "target_partition_max": target_partition_max,
    }
    asked: Asked = {"graph": graph, "mode": mode, "session_id": session, "full_sweep": full_sweep}
    if top_k is not None:
        asked["top_k"] = top_k
    run(_ask(question, asked, knobs, as_json=as_json, quiet=quiet))


async def _ask(
    question: str, asked: Asked, knobs: dict[str, Any], *, as_json: bool, quiet: bool
) -> int:
    from pgs_neo4j.cli.connection import engine
    from pgs_neo4j.pgs.run import check_question

    check_question(question)
    with progress(quiet=quiet) as shown:
        async with engine(shown, **knobs) as pgs:
            if as_json:
                return await _answer_as_json(pgs, question, asked, shown)
            answer = await answer_as_text(pgs, question, asked, answer_stream(shown))
    output.write_lines(advice(answer))
    return code_of(answer)


async def answer_as_text(pgs: PGS, question: str, asked: Asked, stream: AnswerStream) -> Answer:
    """Ask, stream the answer, and write its sources and figures below it."""
    try:
        answer, search = await _execute(pgs, question, asked, stream)
    except asyncio.CancelledError:
        if stream.broken:
            raise BrokenPipeError from None
        raise
    finally:
        stream.close()
        stream.progress.stop()
    if not stream.written:
        output.write(f"{plain(answer.text)}\n")
    searched = search.citations if search is not None else ()
    output.write_lines(below(answer, output.width(), searched))
    return answer


def code_of(answer: Answer) -> int:
    """The exit code of an answer."""
    return PARTIAL if answer.partial else DONE


async def _answer_as_json(pgs: PGS, question: str, asked: Asked, shown: Listener) -> int:
    from pgs_neo4j.cli import as_json

    answer, search = await _execute(pgs, question, asked, shown)
    partitions = {part.id: part for part in await pgs.partitions(answer.graph)}
    shown.stop()
    output.write_json(as_json.answer(answer, partitions, search))
    return code_of(answer)


async def _execute(
    pgs: PGS, question: str, asked: Asked, on_event: OnEvent
) -> tuple[Answer, SearchAnswer | None]:
    if "top_k" not in asked:
        return await pgs.execute(question, **asked, on_event=on_event), None
    layered = await pgs.layered_search(question, **asked, on_event=on_event)
    return layered.answer, layered.search
