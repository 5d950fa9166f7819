"""Plans in words: totals, possible additions, cost. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.cli.pages.text import labeled
from pgs_neo4j.model import Plan, PlannedCalls, SearchPlan
from pgs_neo4j.model.ingest import IngestPlan
from pgs_neo4j.text.shown import counted, money, one_line, tokens


def below(plan: Plan, unpriced: Sequence[str], width: int) -> list[str]:
    """Return the figures of a plan.

    ``unpriced`` are the models without a configured price.
    """
    rows = [
        ("Sweeps", sweeps(plan)),
        ("Why", one_line(shared_reason(plan))),
        ("Synthesis", calls(plan.synthesis)),
        (
            "Total",
            f"{counted(plan.calls, 'call')}, {_tokens(plan.input_tokens, plan.output_tokens)}",
        ),
        ("Flags", f"may add at most {calls(plan.flagged)}" if plan.flagged.calls else ""),
        ("Cost", _aside(cost(plan, unpriced), plan)),
        ("Limit", one_line(plan.budget)),
        ("Advice", one_line(plan.advice)),
        ("Model", models(plan)),
        ("Note", one_line(plan.routing.note)),
    ]
    return [line for label, text in rows if text for line in labeled(label, text, width)]


def shared_reason(plan: Plan) -> str:
    """Return the reason for reading if all partitions share it, else empty."""
    reasons = {sweep.reason for sweep in plan.sweeps}
    return reasons.pop() if len(reasons) == 1 else ""


def sweeps(plan: Plan) -> str:
    """Return the work of the sweeps.

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
    """Return model calls: ``1 call, about 24,000 tokens in, 4,000 out``."""
    return (
        f"{counted(planned.calls, 'call')}, {_tokens(planned.input_tokens, planned.output_tokens)}"
    )


def _tokens(read: int, written: int) -> str:
    return tokens(read, written, estimated=True)


def cost(plan: Plan | SearchPlan | IngestPlan, unpriced: Sequence[str]) -> str:
    """Return the likely range of the cost, or how to configure prices."""
    if plan.low is None or plan.high is None:
        names = " and ".join(f'[models."{one_line(name, 60)}"]' for name in unpriced)
        return (
            f"unknown; add input_price and output_price (per million tokens) under {names} in "
            "pgs.toml"
        )
    if not plan.high:
        none = not isinstance(plan, Plan) and not plan.calls
        return "nothing: no call is needed" if none else "nothing: no language model is used"
    return f"between {money(plan.low)} and {money(plan.high)}"


def _aside(text: str, plan: Plan) -> str:
    return f"{text}, without the calls for flags" if plan.flagged.calls and plan.high else text


def of_search(plan: SearchPlan, unpriced: Sequence[str], width: int) -> list[str]:
    """Return what an answer from a search would show and cost."""
    shown = f"{counted(plan.nodes, 'node')} and {counted(plan.relationships, 'relationship')}"
    called = _tokens(plan.input_tokens, plan.output_tokens)
    none = "none: the reply is in the cache, or nothing was found"
    rows = [
        ("Shown", f"{shown}, in mode {plan.mode}"),
        (
            "Call" if plan.calls < 2 else "Calls",
            f"{counted(plan.calls, 'call')}, {called}, at most {plan.output_most:,} out"
            if plan.calls
            else none,
        ),
        ("Cost", cost(plan, [name for name in unpriced if name == plan.model])),
        ("Limit", one_line(plan.budget)),
        ("Model", one_line(plan.model, 60)),
    ]
    if plan.budget:
        rows = rows[3:]
    return [line for label, text in rows if text for line in labeled(label, text, width)]


def models(plan: Plan) -> str:
    """Return the sweep model and the synthesis model."""
    names = dict.fromkeys((one_line(plan.sweep_model, 60), one_line(plan.synthesis_model, 60)))
    return " / ".join(names)
