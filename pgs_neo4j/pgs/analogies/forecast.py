"""Predicts what making the analogies of a graph would cost, without a model call."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.llm.calls.budget import Amount
from pgs_neo4j.llm.calls.cost_range import cost_range
from pgs_neo4j.llm.calls.prompt_sizes import estimated_tokens
from pgs_neo4j.model import AnalogyPlan, PlannedCalls
from pgs_neo4j.pgs.analogies.buying import group_texts, missing_texts
from pgs_neo4j.pgs.analogies.order import AnalogyOrder, AnalogyTools, check_analogies
from pgs_neo4j.pgs.analogies.skeletons import skeleton_prompt
from pgs_neo4j.pgs.analogies.store import find_skeletons
from pgs_neo4j.pgs.analogies.texts import GraphText, read_texts
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.tokens import estimate

LINE_TOKENS = 40
"""Tokens of a usual line with a skeleton of about 30 words."""


async def plan_analogies(order: AnalogyOrder, tools: AnalogyTools) -> AnalogyPlan:
    """Return what ``make_analogies`` would buy. No model is called.

    Raises ConfigError, NoTextError, and DatabaseError.
    """
    check_analogies(order, tools)
    texts = await read_texts(order, tools)
    kept = await find_skeletons(tools.db, order.graph, (text.key for text in texts))
    groups = [*group_texts(order, tools, missing_texts(texts, kept))]
    sizes = [estimated_tokens(skeleton_prompt([text.shown for text in own])) for own in groups]
    longest = len(groups) * order.config.sweep_max_tokens
    calls = PlannedCalls(
        calls=len(groups),
        input_tokens=sum(sizes),
        output_most=longest,
        longest_prompt=max(sizes, default=0),
    )
    low, high = cost_range(tools.calls.budget, [(tools.llm, calls)] if groups else [])
    return AnalogyPlan(
        graph=order.graph,
        model=tools.llm.name,
        embedder=tools.embedder.name,
        texts=len(texts),
        kept=sum(text.key in kept for text in texts),
        shortened=sum(text.shortened for text in texts),
        calls=len(groups),
        input_tokens=sum(sizes),
        output_tokens=sum(map(_usual, groups)),
        output_most=longest,
        embedded_tokens=sum(estimate(text.whole) + LINE_TOKENS for text in texts),
        low=low,
        high=high,
        budget=_crossed_limit(tools, groups, sizes),
    )


def _usual(group: Sequence[GraphText]) -> int:
    return LINE_TOKENS * len(group)


def _crossed_limit(
    tools: AnalogyTools, groups: Sequence[Sequence[GraphText]], sizes: Sequence[int]
) -> str:
    """Return the limit that the calls would cross, and what stays without a skeleton."""
    budget, total, left = tools.calls.budget, Amount(), sum(map(len, groups))
    for group, size in zip(groups, sizes, strict=True):
        cost = budget.price(tools.llm.name, size, _usual(group)) or 0.0
        total += Amount(1, size + _usual(group), cost)
        if crossed := budget.bounds.crossed(total):
            return f"{crossed[0]} would leave about {counted(left, 'text')} without a skeleton"
        left -= len(group)
    return ""
