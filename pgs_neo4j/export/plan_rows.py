"""Writes the figures of a plan and its routing as labels and texts, for terminal and notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.export.figures import cost_line
from pgs_neo4j.export.wording import EXTRACTIVE
from pgs_neo4j.model import (
    Plan,
    PlannedCalls,
    PlannedSweep,
    PlannedTotal,
    Route,
    Routing,
    SearchPlan,
)
from pgs_neo4j.model.ingest import IngestPlan
from pgs_neo4j.text.shown import counted, money, one_line, tokens

Rows = list[tuple[str, str]]


def plan_rows(plan: Plan, unpriced: Sequence[str] = ()) -> Rows:
    """Return the figures of a plan, as labels and texts.

    ``unpriced`` are the models without a configured price; empty if these models are not known.
    """
    total = tokens(plan.input_tokens, plan.output_tokens, estimated=True)
    flags = plan.flagged.calls
    rows = [
        ("Sweeps", sweeps(plan)),
        ("Partitions", one_line(plan.partitions_note)),
        ("Why", one_line(shared_reason(plan))),
        ("Synthesis", calls(plan.synthesis)),
        ("Total", f"{counted(plan.calls, 'call')}, {total}"),
        ("Flags", f"may add {calls(plan.flagged)}" if flags else ""),
        ("Likely", f"with flags {whole(plan.with_flags, estimated=True)}" if flags else ""),
        ("At most", whole(plan.most) if plan.most.calls else ""),
        ("Cost", _add_flags_note(cost(plan, unpriced), plan)),
        ("Limit", one_line(plan.budget)),
        ("Advice", one_line(plan.advice)),
        ("Model", models(plan)),
        *context_rows(plan.contexts),
        ("Note", one_line(plan.routing.note)),
    ]
    return [(label, text) for label, text in rows if text]


def search_plan_rows(plan: SearchPlan, unpriced: Sequence[str] = ()) -> Rows:
    """Return the figures of a planned answer from a search, as labels and texts."""
    shown = f"{counted(plan.nodes, 'node')} and {counted(plan.relationships, 'relationship')}"
    amount = tokens(plan.input_tokens, plan.output_tokens, estimated=True)
    none = "none: the reply is in the cache, or nothing was found"
    rows = [
        ("Shown", f"{shown}, in mode {plan.mode}"),
        (
            "Call" if plan.calls < 2 else "Calls",
            f"{counted(plan.calls, 'call')}, {amount}, at most {plan.output_most:,} out"
            if plan.calls
            else none,
        ),
        ("Cost", cost(plan, [name for name in unpriced if name == plan.model])),
        ("Limit", one_line(plan.budget)),
        ("Model", one_line(plan.model, 60)),
        *context_rows(plan.contexts),
    ]
    return [(label, text) for label, text in (rows[3:] if plan.budget else rows) if text]


def context_rows(contexts: Sequence[tuple[str, str]]) -> Rows:
    """Return the context size of each model and the source of this figure, as labels and texts."""
    return [("Context", f"{one_line(name, 60)}: {text}") for name, text in contexts]


def sweep_table(plan: Plan) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the headings and rows of the partitions that would be read, the best first.

    ``>`` after a heading right-aligns its column. If all partitions have the same reason, the last
    column omits it.
    """
    shared = bool(shared_reason(plan))
    rows = [
        (
            f"P{planned.partition}",
            f"{planned.nodes:,}",
            f"{planned.passes:,}",
            f"{planned.cached:,}" if planned.cached else "",
            f"{planned.input_tokens:,}",
            f"{planned.output_tokens:,}",
            _name_partition(planned) if shared else _name_with_reason(planned),
        )
        for planned in plan.sweeps
    ]
    last = "label" if shared else "label and reason"
    return ("id", "nodes>", "passes>", "cached>", "tokens in>", "out>", last), rows


def _name_partition(planned: PlannedSweep) -> str:
    """Return the label of a partition, or without a label, its first keywords."""
    return planned.label or ", ".join(planned.keywords[:4]) or "-"


def _name_with_reason(planned: PlannedSweep) -> str:
    return f"{planned.label}: {planned.reason}" if planned.label else planned.reason


def shared_reason(plan: Plan) -> str:
    """Return the reason for reading if it is the same for all partitions, else empty."""
    reasons = {sweep.reason for sweep in plan.sweeps}
    return reasons.pop() if len(reasons) == 1 else ""


def sweeps(plan: Plan) -> str:
    """Return the amount of work of the sweeps.

    ``15 of 68 partitions, 1,095 nodes, 16 passes, 3 of them in the cache``
    """
    if not plan.sweeps:
        return "nothing is left to read"
    nodes = sum(sweep.nodes for sweep in plan.sweeps)
    passes = sum(sweep.passes for sweep in plan.sweeps)
    cached = f", {plan.cached:,} of them in the cache" if plan.cached else ""
    return (
        f"{len(plan.sweeps)} of {counted(plan.routing.considered, 'partition')}, "
        f"{counted(nodes, 'node')}, {counted(passes, 'pass', 'passes')}{cached}"
    )


def calls(planned: PlannedCalls) -> str:
    """Return planned calls in words: ``1 call, about 24,000 tokens in, 4,000 out``."""
    amount = tokens(planned.input_tokens, planned.output_tokens, estimated=True)
    return f"{counted(planned.calls, 'call')}, {amount}"


def whole(planned: PlannedTotal, *, estimated: bool = False) -> str:
    """Return a run's total: ``4 partitions, 9 calls, 24,000 tokens in, 4,000 out, cost 0.2``."""
    price = f", cost {money(planned.cost)}" if planned.cost else ""
    amount = tokens(planned.input_tokens, planned.output_tokens, estimated=estimated)
    return (
        f"{counted(planned.partitions, 'partition')}, {counted(planned.calls, 'call')}, "
        f"{amount}{price}"
    )


def cost(plan: Plan | SearchPlan | IngestPlan, unpriced: Sequence[str]) -> str:
    """Return the likely range of the cost, or how to configure prices."""
    if plan.low is None or plan.high is None:
        if not unpriced:
            return cost_line(None)
        names = " and ".join(f'[models."{one_line(name, 60)}"]' for name in unpriced)
        return (
            f"unknown; add input_price and output_price (per million tokens) under {names} in "
            "pgs.toml"
        )
    if not plan.high:
        if not plan.calls:
            return "nothing: no call is needed"
        if any(name != EXTRACTIVE for name in _list_models(plan)):
            return "nothing: the configured price is 0"
        return "nothing: no language model is used"
    between = f"between {money(plan.low)} and {money(plan.high)}"
    uncached = plan.low_uncached if isinstance(plan, Plan) else None
    if uncached is None or money(uncached) == money(plan.low):
        return between
    return f"{between} ({money(uncached)} at least if the provider has cached none of the input)"


def _list_models(plan: Plan | SearchPlan | IngestPlan) -> tuple[str, ...]:
    if isinstance(plan, Plan):
        return (plan.sweep_model, plan.synthesis_model)
    return tuple(plan.model.split(" + "))


def _add_flags_note(text: str, plan: Plan) -> str:
    return f"{text}, without the calls for flags" if plan.flagged.calls and plan.high else text


def models(plan: Plan) -> str:
    """Return the names of the sweep model and the synthesis model, only once if they are equal."""
    names = dict.fromkeys((one_line(plan.sweep_model, 60), one_line(plan.synthesis_model, 60)))
    return " / ".join(names)


def chosen_line(routing: Routing) -> str:
    """Return how many partitions were chosen: ``5 of 68 partitions``."""
    return f"{len(routing.routes)} of {counted(routing.considered, 'partition')}"


def score_heading(routing: Routing) -> str:
    """Return the heading of the score that decided the routing, for a right-aligned column."""
    by_evidence = any(route.evidence for route in routing.routes)
    return "evidence>" if by_evidence else "similarity>"


def score_text(route: Route) -> str:
    """Return the number of matching nodes, or if it is 0, the similarity."""
    if route.evidence:
        return str(route.evidence)
    return "-" if route.similarity is None else f"{route.similarity:.2f}"
