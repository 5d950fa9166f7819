"""Estimates what a run would read and cost, without calling a language model."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import together
from pgs_neo4j.llm.calls.budget import DEAR, Amount, cost_range, estimated_tokens, least_uncached
from pgs_neo4j.llm.calls.ledger import Spent
from pgs_neo4j.llm.calls.outcome import PROMPT, ROOM, UpcomingCall
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.llm.embedders.reading import describe_text_limits
from pgs_neo4j.llm.protocol import LLM, is_free
from pgs_neo4j.model import (
    Partition,
    Plan,
    PlannedCalls,
    PlannedMost,
    PlannedSweep,
    PlannedTotal,
    Prompt,
    Route,
    Routing,
)
from pgs_neo4j.pgs.bounds import Bounds, Reading, sum_largest
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.record import prepare_plan, shares_replies
from pgs_neo4j.pgs.route import Selection, route_question, select_partitions
from pgs_neo4j.pgs.runs.sweeps import Recovered, read_unsynthesized
from pgs_neo4j.pgs.sweeping.material import PaidPasses, find_paid, read_packed
from pgs_neo4j.pgs.sweeping.order import SweepOrder, SweepTools, new_gate, record_nothing
from pgs_neo4j.pgs.sweeping.pack import (
    Pass,
    fitting_limit,
    is_narrower,
    pass_size,
    repartition_command,
)
from pgs_neo4j.pgs.sweeping.report import render_report, sweep_prompt
from pgs_neo4j.pgs.synthesis.prompt import SYSTEM
from pgs_neo4j.pgs.waves import order_sweeps
from pgs_neo4j.text.tokens import estimate

FLAG_CANDIDATES = 4  # minimum number of partitions to pack for each partition that flags may add
USUAL_SHARE = 0.25  # assumed length of a reply, as a share of its room, if no reply is stored yet


@dataclass(frozen=True, slots=True)
class UsualReplies:
    """The likely output tokens of one reply to a pass, and of the synthesis."""

    sweep: int
    synthesis: int


@dataclass(frozen=True, slots=True)
class _SweepPlan:
    """A planned sweep, and its upper bounds.

    ``tokens`` and ``nodes`` count the part of the partition for which no reply is cached.
    """

    sweep: PlannedSweep
    reading: Reading
    tokens: int
    nodes: int


@dataclass(frozen=True, slots=True)
class _FlaggedPlan:
    """What flags may add to a run: partitions, passes, likely calls, and upper bounds."""

    partitions: int = 0
    passes: int = 0
    calls: PlannedCalls = field(default_factory=PlannedCalls)
    reading: Reading = field(default_factory=Reading)


def add_routing_cost(plan: Plan, spent: Spent) -> Plan:
    """Return a plan that includes the cost of embedding the question.

    The plan has just spent ``spent`` to embed the question, and the run will embed it again.
    """
    if not spent.usage.calls:
        return plan
    routed = PlannedCalls(calls=spent.usage.calls, input_tokens=spent.usage.input_tokens)
    return replace(
        plan,
        routed=routed,
        without_flags=_add_to_total(plan.without_flags, spent),
        with_flags=_add_to_total(plan.with_flags, spent),
        most=_add_to_total(plan.most, spent, DEAR),
        low=add_costs(plan.low, spent.cost),
        high=add_costs(plan.high, spent.cost),
        low_uncached=add_costs(plan.low_uncached, spent.cost),
    )


def _add_to_total(total: PlannedTotal, spent: Spent, factor: float = 1.0) -> PlannedTotal:
    """Return a total that includes ``factor`` times the cost of embedding the question."""
    more = None if spent.cost is None else factor * spent.cost
    return replace(
        total,
        calls=total.calls + spent.usage.calls,
        input_tokens=total.input_tokens + math.ceil(factor * spent.usage.input_tokens),
        cost=add_costs(total.cost, more),
    )


def add_costs(cost: float | None, more: float | None) -> float | None:
    """Return the sum of two costs; None if one of them is unknown."""
    return None if cost is None or more is None else cost + more


async def plan_run(order: RunOrder, tools: RunTools) -> Plan:
    """Return the plan of a run: route the question, and pack the routed partitions.

    Partitions are made if the graph has none of its present definition, but never replaced. The
    only call that may cost anything embeds the question at an endpoint. Raises UsageError and
    DatabaseError.
    """
    tools.calls.budget.check(tools.models)
    await tools.ask_contexts()
    partitioning, partitions_note = await prepare_plan(order, tools)
    earlier = await _read_earlier(order, tools, partitioning)
    selection = await select_partitions(order, tools, partitioning, answer_missing=bool(earlier))
    routing = await route_question(order, tools, partitioning, selection.partitions)
    usual = await _estimate_replies(order, tools)
    bounds = Bounds(tools.calls, order.config, tools.sweep_llm, tools.synthesis_llm)
    planned = await _plan_sweeps(order, tools, partitioning, selection, routing, usual, bounds)
    sweeps = tuple(one.sweep for one in planned)
    flagged = await _plan_flagged(order, tools, partitioning, selection, sweeps, usual, bounds)
    known = [estimate(render_report(one.sweep.report)) for one in earlier if one.sweep.report]
    reading = sum((one.reading for one in planned), Reading(reports=sum(known)))
    synthesis = plan_synthesis(order, tools, sweeps, usual, sum(known))
    shown = estimate(order.request.question) + estimate(order.search_answer or "")
    settled = synthesis.calls and _needs_settling(order, tools, sweeps, flagged)
    combining = bounds.of_synthesis(
        (reading + flagged.reading).reports,
        len(sweeps) + flagged.partitions + len(known),
        shown,
        settled=bool(settled),
    )
    synthesis = replace(synthesis, most=combining)
    priced = _list_priced_calls(tools, sweeps, synthesis)
    low, high = cost_range(tools.calls.budget, priced)
    if order.config.strict and high is not None:  # each reply may be requested twice
        high *= 2
    return Plan(
        graph=order.graph,
        session=order.request.session,
        mode=order.request.mode,
        generation=partitioning.generation.id,
        sweep_model=tools.sweep_llm.name,
        synthesis_model=tools.synthesis_llm.name,
        routing=routing,
        sweeps=sweeps,
        synthesis=synthesis,
        flagged=flagged.calls,
        low=low,
        high=high,
        low_uncached=least_uncached(tools.calls.budget, priced),
        budget=_find_crossed_limit(tools, sweeps, synthesis),
        advice=_advise_repartition(order, tools, partitioning, sweeps),
        partitions_note=partitions_note,
        contexts=(
            *tools.calls.contexts.describe(tools.readers),
            *await describe_text_limits([tools.space.embedder]),
        ),
        context_advice=tools.calls.contexts.advise(tools.readers),
        without_flags=likely_total(tools, sweeps, synthesis),
        with_flags=likely_total(tools, sweeps, synthesis, flagged, usual.sweep),
        most=_sum_most(sweeps, flagged, reading.most + flagged.reading.most + combining),
    )


async def _read_earlier(
    order: RunOrder, tools: RunTools, partitioning: Partitioning
) -> Sequence[Recovered]:
    """Return the reports of earlier runs that the run's answer would include."""
    if order.request.mode == "full":
        return ()
    return await read_unsynthesized(
        tools.db, order.graph, order.request.session, "", partitioning.generation.id
    )


def likely_total(
    tools: RunTools,
    sweeps: Sequence[PlannedSweep],
    synthesis: PlannedCalls,
    flagged: _FlaggedPlan | None = None,
    report: int = 0,
) -> PlannedTotal:
    """Return the likely total of a run, including the ``flagged`` partitions if passed.

    ``report`` is the tokens that each pass over flagged partitions adds to the prompt of the
    synthesis.
    """
    more = flagged or _FlaggedPlan()
    calls = sum(sweep.passes - sweep.cached for sweep in sweeps) + more.calls.calls
    read = sum(sweep.input_tokens for sweep in sweeps) + more.calls.input_tokens
    written = sum(sweep.output_tokens for sweep in sweeps) + more.calls.output_tokens
    combined = synthesis.input_tokens + more.passes * report
    price = partial(_price, tools)
    return PlannedTotal(
        partitions=len(sweeps) + more.partitions,
        calls=calls + synthesis.calls,
        input_tokens=read + combined,
        output_tokens=written + synthesis.output_tokens,
        cost=add_costs(
            price(tools.sweep_llm, read, written, calls),
            price(tools.synthesis_llm, combined, synthesis.output_tokens, synthesis.calls),
        ),
    )


def _price(tools: RunTools, llm: LLM, read: int, written: int, calls: int) -> float | None:
    return 0.0 if is_free(llm) else tools.calls.budget.price(llm.name, read, written, calls)


def _sum_most(
    sweeps: Sequence[PlannedSweep], flagged: _FlaggedPlan, most: PlannedMost
) -> PlannedTotal:
    return PlannedTotal(
        partitions=len(sweeps) + flagged.partitions,
        calls=most.calls,
        input_tokens=most.input_tokens,
        output_tokens=most.output_tokens,
        cost=most.cost,
    )


async def _plan_sweeps(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    selection: Selection,
    routing: Routing,
    usual: UsualReplies,
    bounds: Bounds,
) -> tuple[_SweepPlan, ...]:
    """Return the sweeps of all routes, in their order."""
    by_id = {part.id: part for part in partitioning.partitions}
    routed = [by_id[route.partition] for route in routing.routes]
    matches = {route.partition: route.matches for route in routing.routes}
    orders = await order_sweeps(
        tools.db, order, partitioning, routed, selection.read, matches=matches
    )
    sweep_tools = _make_sweep_tools(order, tools)
    return await together(
        *(
            _plan_sweep(sweep, sweep_tools, route, usual, bounds)
            for sweep, route in zip(orders, routing.routes, strict=True)
        )
    )


def _make_sweep_tools(order: RunOrder, tools: RunTools) -> SweepTools:
    return SweepTools(
        db=tools.db,
        llm=tools.sweep_llm,
        calls=tools.calls,
        replies=Replies(tools.db, "") if shares_replies(order.config) else None,
        on_event=tools.log.on_event,
        record=record_nothing,
        gate=new_gate(),
    )


async def _plan_sweep(
    order: SweepOrder, tools: SweepTools, route: Route, usual: UsualReplies, bounds: Bounds
) -> _SweepPlan:
    async with tools.gate:
        paid = await find_paid(order, tools, await read_packed(order, tools))
    order, passes = paid.packed.order, paid.packed.passes
    unpaid = paid.find_unpaid()
    write_prompt = partial(_write_prompt, paid, tools.calls.asks_receipts(tools.llm))
    # In threads: the prompts of all passes and of their halves are rendered, which takes a while.
    tokens = await asyncio.to_thread(
        lambda: [estimated_tokens(write_prompt(item)) for item in unpaid]
    )
    reading = await asyncio.to_thread(_bound_passes, paid, bounds, write_prompt)
    sweep = PlannedSweep(
        partition=order.partition.id,
        nodes=len(paid.packed.nodes),
        passes=len(passes),
        cached=len(passes) - len({item.number for item in unpaid}),
        input_tokens=sum(tokens),
        output_tokens=len(unpaid) * usual.sweep,
        output_most=len(unpaid) * order.config.sweep_max_tokens,
        reason=route.reason,
        similarity=route.similarity,
        keywords=order.partition.keywords,
        label=order.partition.label,
        longest_prompt=max(tokens, default=0),
        most=reading.most,
    )
    return _SweepPlan(sweep, reading, *_count_unpaid(order.partition, paid, unpaid))


def _count_unpaid(part: Partition, paid: PaidPasses, unpaid: Sequence[Pass]) -> tuple[int, int]:
    """Return the tokens and the nodes of a partition that a run would pay to read."""
    if len(paid.packed.nodes) >= part.size and len(unpaid) == len(paid.packed.passes):
        return part.tokens, part.size
    pieces = [piece for item in unpaid for piece in item.pieces]
    tokens = sum(piece.tokens for piece in pieces)
    return min(part.tokens, tokens), len({piece.rank for piece in pieces})


def _write_prompt(paid: PaidPasses, coded: bool, item: Pass) -> Prompt:
    """Return the prompt for a whole or half pass, reusing one already written."""
    packed, known = paid.packed, paid.prompts.get(item.label)
    return known or sweep_prompt(packed.order, item, len(packed.passes), with_receipts=coded)


def _bound_passes(
    paid: PaidPasses, bounds: Bounds, write_prompt: Callable[[Pass], Prompt]
) -> Reading:
    """Return the upper bounds of all passes over a partition together."""
    total = Reading()
    for item in paid.packed.passes:
        reply = paid.replies.get(paid.keys.get(item.number, ""))
        if reply is not None:
            total += bounds.of_cached(write_prompt(item), reply.usage.output_tokens)
        else:
            total += bounds.of_pass(item, paid.packed.relationships, write_prompt)
    return total


async def _estimate_replies(order: RunOrder, tools: RunTools) -> UsualReplies:
    config = order.config
    return UsualReplies(
        sweep=await usual_tokens(tools.db, tools.sweep_llm.name, config.sweep_max_tokens),
        synthesis=await usual_tokens(
            tools.db, tools.synthesis_llm.name, config.synthesis_max_tokens
        ),
    )


async def usual_tokens(db: Database, model: str, most: int) -> int:
    """Return the likely output tokens of a model's reply, at most ``most``.

    It is the average of the model's stored replies, or, without stored replies, ``USUAL_SHARE`` of
    ``most``.
    """
    usual = queries.get("pgs/read_usual_replies")
    rows = await db.read(usual, model=model, digest=db.scope.digest)
    return min(most, int(rows[0]["output_tokens"] if rows else USUAL_SHARE * most))


def plan_synthesis(
    order: RunOrder,
    tools: RunTools,
    sweeps: Sequence[PlannedSweep],
    usual: UsualReplies,
    earlier: int,
) -> PlannedCalls:
    """Return the likely calls of the synthesis.

    They include the reductions before it and the small call that determines its model's context, if
    there is such a call. ``earlier`` is the number of tokens of the reports that earlier runs left
    without an answer.
    """
    config, passes = order.config, sum(sweep.passes for sweep in sweeps)
    settled = int(_needs_settling(order, tools, sweeps))
    reports, frame = passes * usual.sweep + earlier, estimate(SYSTEM)
    most = tools.calls.pass_tokens(
        tools.synthesis_llm, config.max_pass_tokens, config.synthesis_max_tokens
    )
    room = min(most or math.inf, config.max_pass_characters / 4) - frame
    reductions = math.ceil(reports / max(room, 1)) if reports > room else 0
    again = reductions * (usual.sweep + frame) if reductions else 0
    return PlannedCalls(
        calls=1 + reductions + settled,
        input_tokens=frame + reports + again + settled * estimated_tokens(PROMPT),
        output_tokens=usual.synthesis + reductions * usual.sweep + settled * ROOM,
        output_most=config.synthesis_max_tokens
        + reductions * config.sweep_max_tokens
        + settled * ROOM,
        longest_prompt=int(min(frame + reports, frame + room)),
    )


def _needs_settling(
    order: RunOrder,
    tools: RunTools,
    sweeps: Sequence[PlannedSweep],
    flagged: _FlaggedPlan | None = None,
) -> bool:
    """Return whether a small call first determines the context of the synthesis model."""
    last = UpcomingCall(tools.synthesis_llm, order.config.synthesis_effort, stream=True)
    paid = any(sweep.passes > sweep.cached for sweep in sweeps)
    paid = paid or (flagged is not None and flagged.reading.most.calls > 0)
    return paid and tools.calls.needs_settling(last)


async def _plan_flagged(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    selection: Selection,
    sweeps: Sequence[PlannedSweep],
    usual: UsualReplies,
    bounds: Bounds,
) -> _FlaggedPlan:
    """Return what flags may add, for the largest unrouted partitions that a run may sweep."""
    most, routed = order.config.max_flag_sweeps, {sweep.partition for sweep in sweeps}
    others = [part for part in partitioning.partitions if part.id not in routed]
    if order.request.mode != "full":
        others = [part for part in others if selection.read.unread(part)]
    if not most or not others or not sweeps:
        return _FlaggedPlan()
    sweep_tools = _make_sweep_tools(order, tools)

    async def plan_some(candidates: Sequence[Partition]) -> tuple[_SweepPlan, ...]:
        ordered = await order_sweeps(
            tools.db, order, partitioning, candidates, selection.read, wave=2
        )
        return await together(
            *(
                _plan_sweep(one, sweep_tools, _make_flag_route(one), usual, bounds)
                for one in ordered
            )
        )

    planned = await _plan_largest(others, FLAG_CANDIDATES * most, plan_some)
    chosen = sorted(planned, key=lambda one: -one.sweep.input_tokens)[:most]
    reading = sum_largest([one.reading for one in planned], most)
    swept = [one.sweep for one in chosen]
    return _FlaggedPlan(
        partitions=len(chosen),
        passes=sum(sweep.passes for sweep in swept),
        calls=PlannedCalls(
            calls=sum(sweep.passes - sweep.cached for sweep in swept),
            input_tokens=sum(sweep.input_tokens for sweep in swept),
            output_tokens=sum(sweep.output_tokens for sweep in swept),
            output_most=sum(sweep.output_most for sweep in swept),
            longest_prompt=max((sweep.longest_prompt for sweep in swept), default=0),
            most=reading.most,
        ),
        reading=reading,
    )


async def _plan_largest(
    partitions: Sequence[Partition],
    count: int,
    plan_some: Callable[[Sequence[Partition]], Awaitable[Sequence[_SweepPlan]]],
) -> list[_SweepPlan]:
    """Return plans that include the ``count`` partitions with the most left to pay for.

    Packing a partition reads its texts, so not all partitions are packed. No partition has more
    left to pay for than its whole size. So the largest partitions are packed, until ``count`` of
    the packed ones have at least as much left as the size of every other partition, both in tokens
    and in nodes. If nothing was read or paid for before, these are simply the largest.
    """
    waiting = {part.id: part for part in partitions}
    planned: list[_SweepPlan] = []
    while waiting:
        by_tokens = sorted(waiting.values(), key=lambda part: -part.tokens)
        by_nodes = sorted(waiting.values(), key=lambda part: -part.size)
        long = sum(one.tokens >= by_tokens[0].tokens for one in planned)
        wide = sum(one.nodes >= by_nodes[0].size for one in planned)
        longest, widest = by_tokens[: max(0, count - long)], by_nodes[: max(0, count - wide)]
        chosen = {part.id: part for part in (*longest, *widest)}
        if not chosen:
            break
        planned += await plan_some([*chosen.values()])
        waiting = {id_: part for id_, part in waiting.items() if id_ not in chosen}
    return planned


def _make_flag_route(order: SweepOrder) -> Route:
    return Route(partition=order.partition.id, similarity=None, reason="a flag may name it")


def _advise_repartition(
    order: RunOrder,
    tools: RunTools,
    partitioning: Partitioning,
    sweeps: Sequence[PlannedSweep],
) -> str:
    """Return how to make partitions small enough that one pass shows a whole partition.

    The result is empty if one pass shows each planned partition whole. Partitions of a single node
    do not count, because they cannot be divided. The result is also empty if the partitions were
    made with the limit that would be advised or a lower one, because making them again would change
    nothing.
    """
    config, sizes = order.config, {part.id: part.size for part in partitioning.partitions}
    large = sum(sweep.passes > 1 and sizes[sweep.partition] > 1 for sweep in sweeps)
    if not large:
        return ""
    most = tools.calls.pass_tokens(tools.sweep_llm, config.max_pass_tokens, config.sweep_max_tokens)
    fitting = fitting_limit(pass_size(config.max_pass_characters, most))
    if not is_narrower(fitting, partitioning.generation.knobs):
        return ""
    return (
        f"partitions longer than one pass ({large:,} of {len(sweeps):,}) are read in parts; run "
        f"{repartition_command(order.graph, fitting)}, so that one pass shows a partition whole"
    )


def _list_priced_calls(
    tools: RunTools, sweeps: Sequence[PlannedSweep], synthesis: PlannedCalls
) -> list[tuple[LLM, PlannedCalls]]:
    """Return the calls of the run with their models: the sweeps, then the synthesis."""
    swept = PlannedCalls(
        calls=sum(sweep.passes - sweep.cached for sweep in sweeps),
        input_tokens=sum(sweep.input_tokens for sweep in sweeps),
        output_most=sum(sweep.output_most for sweep in sweeps),
        longest_prompt=max((sweep.longest_prompt for sweep in sweeps), default=0),
    )
    return [(tools.sweep_llm, swept), (tools.synthesis_llm, synthesis)]


def _find_crossed_limit(
    tools: RunTools, sweeps: Sequence[PlannedSweep], synthesis: PlannedCalls
) -> str:
    """Return a phrase on the limit that the run would cross, and how much it leaves unread.

    Sweeps are added in the order in which a budget admits them; the synthesis is reserved first.
    The result is empty if no limit is crossed.
    """
    budget = tools.calls.budget
    if not budget.bounds.any:
        return ""
    price = budget.price
    tokens, likely = synthesis.input_tokens, synthesis.output_tokens
    cost = price(tools.synthesis_llm.name, tokens, likely, synthesis.calls) or 0.0
    total = Amount(1, tokens + likely, cost)
    for place, sweep in enumerate(sweeps):
        used = sweep.input_tokens + sweep.output_tokens
        calls = sweep.passes - sweep.cached
        name = tools.sweep_llm.name
        cost = price(name, sweep.input_tokens, sweep.output_tokens, calls) or 0.0
        total += Amount(calls, used, cost)
        if crossed := budget.bounds.crossed(total):
            limit, _ = crossed
            return f"{limit} would leave about {len(sweeps) - place} of {len(sweeps)} unread"
    return ""
