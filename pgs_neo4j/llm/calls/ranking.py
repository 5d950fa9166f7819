"""Reserves the calls of a reranker behind an endpoint within the budget of a run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pgs_neo4j.errors import BudgetError
from pgs_neo4j.llm.calls.budget import Amount
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.embedding import EmbeddingModel
from pgs_neo4j.llm.protocol import PaidCall, RelevanceModel, Reserve, is_free


def reserve_ranking(calls: Calls, model: RelevanceModel, kept: Amount) -> Reserve:
    """Return what reserves each call of a reranker, and records it in the ledger of the run.

    ``kept`` is what the answer may cost, which is left for it. Reserving raises BudgetError where
    a limit has no room for both, and ConfigError where ``max_cost`` needs a price.
    """
    named = EmbeddingModel(model.name, is_free(model))

    @asynccontextmanager
    async def reserve(tokens: int) -> AsyncGenerator[PaidCall]:
        calls.budget.check({named.name: named.free})
        if not calls.budget.allows(calls.budget.most(named.name, tokens, 0) + kept):
            raise BudgetError("its call would leave too little of the limit for the answer")
        async with calls.reserving(named, tokens, 0, "rest") as paid:
            yield paid

    return reserve
