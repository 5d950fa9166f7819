"""What a run would read and cost, told without asking a language model anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.calls.budget import Amount
from pgs_neo4j.calls.calls import estimated_tokens
from pgs_neo4j.calls.queue import together
from pgs_neo4j.calls.replies import Replies
from pgs_neo4j.database import queries
from pgs_neo4j.model import Partition, Plan, PlannedCalls, PlannedSweep, Route
from pgs_neo4j.partitioning.result import Partitioning
from pgs_neo4j.pgs.route import route_question, select
from pgs_neo4j.pgs.run import Request, Work, check, prepare
from pgs_neo4j.runs import session
from pgs_neo4j.sweeping.context import Reader, neighbors, new_gate, read_material, unrecorded
from pgs_neo4j.sweeping.report import sweep_prompt
from pgs_neo4j.synthesis.prompt import SYSTEM
from pgs_neo4j.text.tokens import estimate

USUAL_SHARE = 0.25  # of the room for a reply that models use, where no reply is known
# Tokens of a prompt for each that was estimated. The lower end of the band takes replies for
# nothing, the upper one for as long as they may be.
CHEAP, DEAR = 0.8, 1.5


@dataclass(frozen=True, slots=True)
class _Usual:
    """Output tokens that replies are likely to have."""

    sweep: int
    synthesis: int


async def plan(work: Work, request: Request) -> Plan:
    """Route the question and pack what it leads to, partitioning the graph when it changed.

    Only a question that has to be embedded by an endpoint costs that one embedding. Raises
    UsageError and DatabaseError.
    """
    check(request)
    work.calls.budget.check(work.models)
    partitioning = await prepare(work, request)
    chosen, read = await select(work, request, partitioning)
    routing = await route_question(work, request, chosen, partitioning)
    usual = await _usual(work)
    reader = _reader(work, request, partitioning)
    sweeps = await together([_planned(reader, route, read, usual) for route in routing.routes])
    synthesis = _synthesis(work, sweeps, usual)
    low, high = _cost(work, sweeps, synthesis)
    return Plan(
        graph=request.graph,
        session=request.session,
        mode=request.mode,
        generation=partitioning.generation.id,
        sweep_model=work.sweep_llm.name,
        synthesis_model=work.synthesis_llm.name,
        routing=routing,
        sweeps=tuple(sweeps),
        synthesis=synthesis,
        flagged=_flagged(work, partitioning.partitions, sweeps, usual),
        low=low,
        high=high,
        budget=_bounded(work, sweeps, synthesis),
    )


def _reader(work: Work, request: Request, partitioning: Partitioning) -> Reader:
    shared = work.config.cache and work.config.cache_mb > 0
    return Reader(
        db=work.db,
        llm=work.sweep_llm,
        mapping=request.mapping,
        generation=partitioning.generation.id,
        partitions={part.id: part for part in partitioning.partitions},
        question=request.question,
        config=work.config,
        calls=work.calls,
        replies=Replies(work.db, "") if shared else None,
        on_event=work.on_event,
        record=unrecorded,
        gate=new_gate(),
    )


async def _planned(reader: Reader, route: Route, read: session.Read, usual: _Usual) -> PlannedSweep:
    part = reader.partitions[route.partition]
    async with reader.gate:
        material = await read_material(reader, part, read.ranks.get(part.id, frozenset()))
    near, count = neighbors(reader, part), len(material.passes)
    room, effort = reader.config.sweep_max_tokens, reader.config.sweep_effort
    replies = reader.replies
    tokens: list[int] = []
    keys: list[str | None] = []
    for item in material.passes:
        prompt = sweep_prompt(reader.question, part, item, near, count)
        tokens.append(estimated_tokens(prompt))
        keys.append(replies.key(reader.llm, prompt, room, effort) if replies else None)
    found = await replies.find(keys) if replies else {}
    paid = [size for size, key in zip(tokens, keys, strict=True) if key not in found]
    return PlannedSweep(
        partition=part.id,
        nodes=len(material.nodes),
        passes=count,
        cached=count - len(paid),
        input_tokens=sum(paid),
        output_tokens=len(paid) * usual.sweep,
        output_most=len(paid) * room,
        reason=route.reason,
        similarity=route.similarity,
        keywords=part.keywords,
    )


async def _usual(work: Work) -> _Usual:
    names = [work.sweep_llm.name, work.synthesis_llm.name]
    rows = await work.db.read(queries.get("calls/read_usual_replies"), models=names)
    known = {row["model"]: int(row["output_tokens"]) for row in rows}
    sweep, synthesis = work.config.sweep_max_tokens, work.config.synthesis_max_tokens
    return _Usual(
        sweep=min(sweep, known.get(names[0], int(USUAL_SHARE * sweep))),
        synthesis=min(synthesis, known.get(names[1], int(USUAL_SHARE * synthesis))),
    )


def _synthesis(work: Work, sweeps: Sequence[PlannedSweep], usual: _Usual) -> PlannedCalls:
    """The synthesis, and the reductions before it when the reports exceed one prompt."""
    config, passes = work.config, sum(each.passes for each in sweeps)
    reports, frame = passes * usual.sweep, estimate(SYSTEM)
    most = work.calls.pass_tokens(
        work.synthesis_llm, config.max_pass_tokens, config.synthesis_max_tokens
    )
    room = min(most or math.inf, config.max_pass_characters / 4) - frame
    reductions = math.ceil(reports / max(room, 1)) if reports > room else 0
    again = reductions * (usual.sweep + frame) if reductions else 0
    return PlannedCalls(
        calls=1 + reductions,
        input_tokens=frame + reports + again,
        output_tokens=usual.synthesis + reductions * usual.sweep,
        output_most=config.synthesis_max_tokens + reductions * config.sweep_max_tokens,
    )


def _flagged(
    work: Work, partitions: Sequence[Partition], sweeps: Sequence[PlannedSweep], usual: _Usual
) -> PlannedCalls:
    """What flags may add at most, by the size of the partitions that are not routed."""
    routed = {each.partition for each in sweeps}
    others = sorted((p.tokens for p in partitions if p.id not in routed), reverse=True)
    kept = others[: work.config.max_flag_sweeps]
    most = work.calls.pass_tokens(
        work.sweep_llm, work.config.max_pass_tokens, work.config.sweep_max_tokens
    )
    room = min(most or math.inf, work.config.max_pass_characters / 4)
    passes = sum(math.ceil(tokens / room) for tokens in kept)
    return PlannedCalls(
        calls=passes,
        input_tokens=sum(kept),
        output_tokens=passes * usual.sweep,
        output_most=passes * work.config.sweep_max_tokens,
    )


def _cost(
    work: Work, sweeps: Sequence[PlannedSweep], synthesis: PlannedCalls
) -> tuple[float | None, float | None]:
    read = sum(each.input_tokens for each in sweeps)
    most = sum(each.output_most for each in sweeps)
    parts = [
        (work.sweep_llm, read, most),
        (work.synthesis_llm, synthesis.input_tokens, synthesis.output_most),
    ]
    low = high = 0.0
    for llm, tokens, longest in parts:
        if getattr(llm, "free", False):
            continue
        cheap = work.calls.budget.price(llm.name, CHEAP * tokens, 0)
        dear = work.calls.budget.price(llm.name, DEAR * tokens, longest)
        if cheap is None or dear is None:
            return None, None
        low, high = low + cheap, high + dear
    return low, high


def _bounded(work: Work, sweeps: Sequence[PlannedSweep], synthesis: PlannedCalls) -> str:
    """How far the bounds reach, in the order in which partitions come first within a budget."""
    budget = work.calls.budget
    if not budget.bounds.any:
        return ""
    price = budget.price
    tokens, likely = synthesis.input_tokens, synthesis.output_tokens
    total = Amount(1, tokens + likely, price(work.synthesis_llm.name, tokens, likely) or 0.0)
    for place, each in enumerate(sweeps):
        used = each.input_tokens + each.output_tokens
        cost = price(work.sweep_llm.name, each.input_tokens, each.output_tokens) or 0.0
        total += Amount(each.passes - each.cached, used, cost)
        if crossed := budget.bounds.crossed(total):
            return f"{crossed} would leave about {len(sweeps) - place} of {len(sweeps)} unread"
    return ""
