"""Predicts what an answer from a search would show and cost, without a model."""

from __future__ import annotations

from pgs_neo4j.answering.keywords import ROOM, asks_for_keywords, keyword_prompt
from pgs_neo4j.answering.order import AnswerOrder
from pgs_neo4j.answering.reply import check_prices, fit_prompt, is_empty
from pgs_neo4j.calls.cost_range import cost_range
from pgs_neo4j.calls.prompt_sizes import estimated_tokens
from pgs_neo4j.calls.replies import Replies
from pgs_neo4j.errors import BudgetError
from pgs_neo4j.model import Prompt, SearchPlan
from pgs_neo4j.pgs.order import RunTools, check_order
from pgs_neo4j.pgs.plan import usual_tokens
from pgs_neo4j.pgs.record import shares_replies
from pgs_neo4j.synthesis import reserve


async def plan_answer(order: AnswerOrder, tools: RunTools) -> SearchPlan:
    """Return what the calls of an answer would cost: the answer's, and that for keywords.

    Raises UsageError and DatabaseError.
    """
    run, llm = order.run, tools.synthesis_llm
    check_order(run)
    check_prices(tools, keyed=asks_for_keywords(order, tools))
    try:
        context, prompt = fit_prompt(order, tools)
    except BudgetError as error:
        return _planned(order, tools, budget=str(error))
    room = reserve.reply_tokens(tools.calls, llm, run.config, prompt)
    keyed = asks_for_keywords(order, tools)  # what the keywords will find is not known yet
    nothing = is_empty(order) and not keyed
    if nothing or await _is_cached(order, tools, prompt, room):
        return _planned(order, tools, len(context.nodes), len(context.facts))
    usual = min(room, await usual_tokens(tools.db, llm.name, run.config.synthesis_max_tokens))
    parts = [(llm, estimated_tokens(prompt), usual, room)]
    if keyed:
        tokens = estimated_tokens(keyword_prompt(run.question))
        parts.append((tools.sweep_llm, tokens, ROOM // 4, ROOM))
    costs = [(model, tokens, most) for model, tokens, _, most in parts]
    low, high = cost_range(tools.calls.budget, costs)
    return SearchPlan(
        graph=run.graph,
        session=run.session,
        mode=order.found.mode,
        model=llm.name,
        nodes=len(context.nodes),
        relationships=len(context.facts),
        calls=len(parts),
        input_tokens=sum(tokens for _, tokens, _, _ in parts),
        output_tokens=sum(likely for _, _, likely, _ in parts),
        output_most=sum(most for _, _, _, most in parts),
        low=low,
        high=high,
    )


async def _is_cached(order: AnswerOrder, tools: RunTools, prompt: Prompt, room: int) -> bool:
    if not shares_replies(order.run.config):
        return False
    replies = Replies(tools.db, "")
    key = replies.key(tools.synthesis_llm, prompt, room, order.run.config.synthesis_effort)
    return bool(await replies.find([key]))


def _planned(
    order: AnswerOrder, tools: RunTools, nodes: int = 0, relationships: int = 0, budget: str = ""
) -> SearchPlan:
    """Return a plan without a call."""
    return SearchPlan(
        graph=order.run.graph,
        session=order.run.session,
        mode=order.found.mode,
        model=tools.synthesis_llm.name,
        nodes=nodes,
        relationships=relationships,
        calls=0,
        input_tokens=0,
        output_tokens=0,
        output_most=0,
        low=0.0,
        high=0.0,
        budget=budget,
    )
