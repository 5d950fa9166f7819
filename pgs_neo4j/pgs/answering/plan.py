"""Predicts what an answer from a search would show and cost, without calling a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgs_neo4j.errors import BudgetError
from pgs_neo4j.llm.calls.budget import cost_range, estimated_tokens
from pgs_neo4j.llm.calls.ledger import Spent
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import PlannedCalls, Prompt, SearchPlan
from pgs_neo4j.pgs.answering.model_help import (
    CANDIDATES,
    KEYWORD_ROOM,
    LONGEST_SHOWN,
    ORDER_ROOM,
    asks_for_keywords,
    cut_to_top_k,
    keyword_prompt,
    orders_by_model,
    rerank_prompt,
)
from pgs_neo4j.pgs.answering.record import AnswerOrder
from pgs_neo4j.pgs.answering.reply import check_prices, fit_prompt, is_empty
from pgs_neo4j.pgs.answering.statement import asks_for_statement
from pgs_neo4j.pgs.order import RunTools
from pgs_neo4j.pgs.plan import add_costs, usual_tokens
from pgs_neo4j.pgs.querying.schema.text import MOST_TOKENS, prune_schema, write_schema
from pgs_neo4j.pgs.querying.statements.prompt import ROOM, TRIES, TRIES_TOKENS, statement_prompt
from pgs_neo4j.pgs.record import shares_replies
from pgs_neo4j.pgs.synthesis.prompt import reply_tokens
from pgs_neo4j.text.tokens import estimate


async def plan_answer(order: AnswerOrder, tools: RunTools) -> SearchPlan:
    """Return the cost of an answer: its own call, and calls for keywords and for the order.

    Raises UsageError and DatabaseError.
    """
    helpers = await _plan_helpers(order, tools)
    llms, contexts = [tools.synthesis_llm, *(llm for llm, _ in helpers)], tools.calls.contexts
    await tools.ask_contexts(llms)
    planned = await _plan_calls(order, tools, helpers)
    return replace(planned, contexts=contexts.describe(llms), context_advice=contexts.advise(llms))


async def _plan_calls(
    order: AnswerOrder, tools: RunTools, helpers: Sequence[tuple[LLM, PlannedCalls]]
) -> SearchPlan:
    run, llm = order.run, tools.synthesis_llm
    check_prices(tools, [helper for helper, *_ in helpers])
    order = replace(order, found=cut_to_top_k(order, order.found))
    try:
        context, prompt = fit_prompt(order, tools)
    except BudgetError as error:
        return _make_free_plan(order, tools, budget=str(error))
    room = reply_tokens(tools.calls, llm, run.config, prompt)
    # The helpers' keywords and order decide what the prompt shows, so the prompt is not known yet.
    if not helpers and (is_empty(order) or await _is_cached(order, tools, prompt, room)):
        return _make_free_plan(order, tools, len(context.nodes), len(context.facts))
    usual = min(room, await usual_tokens(tools.db, llm.name, run.config.synthesis_max_tokens))
    parts = [(llm, _plan_call(estimated_tokens(prompt), usual, room)), *helpers]
    low, high = cost_range(tools.calls.budget, parts)
    if repeated := _plan_repeated(order, tools, parts[0]):
        _, high = cost_range(tools.calls.budget, [*repeated, *parts])
    total = sum((calls for _, calls in parts), PlannedCalls())
    return SearchPlan(
        graph=run.graph,
        session=run.request.session,
        mode=order.found.mode,
        model=llm.name,
        nodes=len(context.nodes),
        relationships=len(context.facts),
        calls=total.calls,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        output_most=total.output_most,
        low=low,
        high=high,
    )


def add_search_cost(plan: SearchPlan, spent: Spent) -> SearchPlan:
    """Return a plan that includes what its search has spent, because the answer searches again."""
    if not spent.usage.calls:
        return plan
    return replace(
        plan,
        calls=plan.calls + spent.usage.calls,
        input_tokens=plan.input_tokens + spent.usage.input_tokens,
        low=add_costs(plan.low, spent.cost),
        high=add_costs(plan.high, spent.cost),
    )


def _plan_call(tokens: int, likely: int, most: int) -> PlannedCalls:
    return PlannedCalls(calls=1, input_tokens=tokens, output_tokens=likely, output_most=most)


async def _plan_helpers(order: AnswerOrder, tools: RunTools) -> list[tuple[LLM, PlannedCalls]]:
    """Return the models of the calls for keywords and for the order, with the planned calls."""
    question, items = order.run.request.question, order.found.items
    parts: list[tuple[LLM, PlannedCalls]] = []
    if asks_for_statement(order, tools):
        index = await tools.schema.get(tools.db)
        prompt = statement_prompt(question, write_schema(prune_schema(index, question)))
        planned = _plan_call(estimated_tokens(prompt), ROOM // 4, ROOM)
        parts.append((tools.synthesis_llm, planned))
    keyed = asks_for_keywords(order, tools)
    if keyed:
        room = KEYWORD_ROOM
        tokens = estimated_tokens(keyword_prompt(question))
        parts.append((tools.keyword_llm, _plan_call(tokens, room // 4, room)))
    if orders_by_model(order, tools) and (keyed or len(items) > 1):
        room = ORDER_ROOM
        tokens = estimated_tokens(rerank_prompt(question, items))
        if keyed:  # the model's keywords will find other nodes, of unknown length
            tokens = max(tokens, CANDIDATES * estimate("x" * LONGEST_SHOWN))
        parts.append((tools.ordering_llm, _plan_call(tokens, room // 4, room)))
    return parts


def _plan_repeated(
    order: AnswerOrder, tools: RunTools, answer: tuple[LLM, PlannedCalls]
) -> list[tuple[LLM, PlannedCalls]]:
    """Return the calls that an answer may also need, with their models.

    Strict checks may request the answer a second time. A model may need several tries to write a
    statement, and its rows, which are not known yet, may fill the context.
    """
    parts = [answer] if order.run.config.strict else []
    if asks_for_statement(order, tools):
        llm, tokens = tools.synthesis_llm, MOST_TOKENS + TRIES_TOKENS
        tokens += estimated_tokens(statement_prompt(order.run.request.question, ""))
        parts += [(llm, _plan_call(tokens, ROOM, ROOM))] * (TRIES - 1)
        rows = PlannedCalls(input_tokens=order.max_context_tokens)
        parts += [(llm, rows)] * (2 if order.run.config.strict else 1)
    return parts


async def _is_cached(order: AnswerOrder, tools: RunTools, prompt: Prompt, room: int) -> bool:
    if not shares_replies(order.run.config):
        return False
    replies = Replies(tools.db, "")
    key = replies.key(tools.synthesis_llm, prompt, room, order.run.config.synthesis_effort)
    return bool(await replies.find([key]))


def _make_free_plan(
    order: AnswerOrder, tools: RunTools, nodes: int = 0, relationships: int = 0, budget: str = ""
) -> SearchPlan:
    """Return a plan without any call."""
    return SearchPlan(
        graph=order.run.graph,
        session=order.run.request.session,
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
