"""Phase 2: read one partition at full text, in as many passes as it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.db import Database
from pgs_neo4j.errors import (
    DatabaseMemoryError,
    DatabaseTimeoutError,
    ModelError,
    ModelOutputError,
    QueryError,
)
from pgs_neo4j.events import OnEvent, PassFinished, SweepFinished, SweepStarted
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.llm.tokens import estimate
from pgs_neo4j.model import (
    GraphMapping,
    Node,
    Partition,
    Prompt,
    PromptNeighbor,
    Relationship,
    Report,
    Sweep,
    SweepStatus,
    Usage,
)
from pgs_neo4j.pgs import read, schedule
from pgs_neo4j.pgs.pack import Pass, pack, read_ranges
from pgs_neo4j.pgs.report import frame_size, merge_reports, parse_report, sweep_prompt

FRAME_SLACK = 200  # characters: the count of passes, relationships not listed
TRIES = 3  # of one pass whose reply is cut off or is no report


@dataclass(frozen=True, slots=True)
class Reader:
    """What all sweeps of a run share. ``calls`` bounds the model calls in flight."""

    db: Database
    llm: LLM
    mapping: GraphMapping
    generation: str
    partitions: Mapping[int, Partition]
    question: str
    config: PGSConfig
    calls: asyncio.Semaphore
    on_event: OnEvent
    known: str | None = None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of one pass: a report that was accepted, or why there is none."""

    report: Report | None
    usage: Usage
    error: str | None = None


async def sweep(reader: Reader, partition: Partition, skip: frozenset[int] = frozenset()) -> Sweep:
    """Read a partition but for the ranks in ``skip``.

    A model's failure is part of the result and never raised: what no accepted report stands
    for is not read. Raises DatabaseError.
    """
    began = perf_counter()
    wanted = partition.size - len(skip)
    try:
        nodes = await read.members(reader.db, partition, reader.mapping, skip)
        links = await read.relationships(reader.db, partition, reader.mapping)
    except (QueryError, DatabaseTimeoutError, DatabaseMemoryError) as error:
        result = _unreadable(reader, partition, wanted, str(error), perf_counter() - began)
        reader.on_event(SweepFinished(result))
        return result
    if not nodes:
        gone = "its nodes are gone: they were deleted after it was made"
        result = _unreadable(reader, partition, wanted, gone, perf_counter() - began)
        reader.on_event(SweepFinished(result))
        return result
    passes = _passes(reader, partition, nodes, links)
    reader.on_event(SweepStarted(partition.id, len(nodes), len(passes), partition.keywords))
    shown = {node.alias: node for node in nodes}
    outcomes = await schedule.run_all(
        passes,
        lambda item: _read_pass(reader, partition, item, len(passes), shown),
        limit=len(passes),
        length=lambda item: float(len(item.pieces)),
    )
    result = _merged(reader, partition, len(nodes), passes, outcomes, perf_counter() - began)
    reader.on_event(SweepFinished(result))
    return result


def _passes(
    reader: Reader,
    partition: Partition,
    nodes: Sequence[Node],
    links: Sequence[Relationship],
) -> tuple[Pass, ...]:
    frame = sweep_prompt(
        reader.question, partition, Pass(1, ()), _neighbors(reader, partition), 99, reader.known
    )
    return pack(
        nodes,
        links,
        max_characters=reader.config.max_pass_characters,
        max_tokens=reader.config.max_pass_tokens,
        reserved=frame_size(frame) + FRAME_SLACK,
        reserved_tokens=estimate(frame.system + frame.user) + FRAME_SLACK // 2,
    )


def _unreadable(
    reader: Reader, partition: Partition, nodes: int, why: str, seconds: float
) -> Sweep:
    return Sweep(
        partition=partition.id,
        status=SweepStatus.FAILED,
        nodes=nodes,
        errors=(why,),
        seconds=seconds,
        generation=reader.generation,
    )


async def _read_pass(
    reader: Reader, partition: Partition, item: Pass, passes: int, shown: Mapping[str, Node]
) -> _Outcome:
    prompt = sweep_prompt(
        reader.question, partition, item, _neighbors(reader, partition), passes, reader.known
    )
    in_pass = {piece.node.alias: shown[piece.node.alias] for piece in item.pieces}
    outcome = await _asked(reader, partition, prompt, in_pass)
    reader.on_event(PassFinished(partition.id, item.number, passes, outcome.error))
    return outcome


async def _asked(
    reader: Reader, partition: Partition, prompt: Prompt, shown: Mapping[str, Node]
) -> _Outcome:
    """Ask until a whole report comes back; a reply that was cut off is given more room."""
    usage = Usage()
    room = reader.config.sweep_max_tokens
    error = ""
    for _ in range(TRIES):
        replied = False
        try:
            async with reader.calls:
                reply = await reader.llm.complete(
                    prompt, max_tokens=room, effort=reader.config.sweep_effort
                )
            replied = True
            usage += reply.usage
            if reply.truncated:
                error = f"the report was cut off at {room} tokens"
                room *= 2
                continue
            report = parse_report(
                reply.text, partition.id, shown, known_partitions=reader.partitions.keys()
            )
            return _Outcome(report, usage)
        except ModelOutputError as malformed:
            # Also when there is no usable reply at all, the prompt was paid for.
            error = str(malformed)
            usage += Usage() if replied else _asked_once(prompt)
        except ModelError as failed:
            return _Outcome(None, usage, str(failed))
    return _Outcome(None, usage, f"{error}, {TRIES} times in a row")


def _asked_once(prompt: Prompt) -> Usage:
    return Usage(calls=1, input_tokens=estimate(prompt.system + prompt.user), estimated=True)


def _merged(
    reader: Reader,
    partition: Partition,
    nodes: int,
    passes: Sequence[Pass],
    outcomes: Sequence[_Outcome],
    seconds: float,
) -> Sweep:
    accepted = {
        item.number for item, outcome in zip(passes, outcomes, strict=True) if outcome.report
    }
    reports = {
        item.number: outcome.report
        for item, outcome in zip(passes, outcomes, strict=True)
        if outcome.report
    }
    if len(accepted) == len(passes):
        status = SweepStatus.ACCEPTED
    else:
        status = SweepStatus.PARTIAL if accepted else SweepStatus.FAILED
    return Sweep(
        partition=partition.id,
        status=status,
        nodes=nodes,
        read=read_ranges(passes, accepted),
        passes=len(passes),
        passes_accepted=len(accepted),
        report=merge_reports(partition.id, reports, len(passes)) if reports else None,
        errors=tuple(outcome.error for outcome in outcomes if outcome.error),
        usage=sum((outcome.usage for outcome in outcomes), Usage()),
        seconds=seconds,
        generation=reader.generation,
    )


def _neighbors(reader: Reader, partition: Partition) -> tuple[PromptNeighbor, ...]:
    known = [(link, reader.partitions.get(link.id)) for link in partition.adjacent]
    return tuple(
        PromptNeighbor(found.name, found.keywords, found.summary, link.edges)
        for link, found in known
        if found is not None
    )
