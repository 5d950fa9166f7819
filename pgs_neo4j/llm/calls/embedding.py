"""Embeds and ranks texts within a run's queue, pace, and budget."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import BudgetError
from pgs_neo4j.llm.calls.budget import Amount, Purpose
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.waits import stopping
from pgs_neo4j.llm.embedders.fitting import TextFit, embed_rows
from pgs_neo4j.llm.embedders.reading import Call, Then
from pgs_neo4j.llm.protocol import (
    EmbeddedTexts,
    Embedder,
    Fitted,
    Metered,
    PaidCall,
    RelevanceModel,
    Reserve,
    is_free,
)
from pgs_neo4j.llm.tracing import embed_once_traced, embed_traced
from pgs_neo4j.model import Prompt, Usage
from pgs_neo4j.text.tokens import estimate

TOLD = Prompt(task="embedding", system="", user="", question="")
"""A placeholder for reports of waits, because a call of an embedder has no prompt."""

Take = Callable[[NDArray[np.float32]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """The name of an embedder or a reranker in the price list, and whether it is free."""

    name: str
    free: bool


def priced_model(embedder: Embedder) -> EmbeddingModel:
    """Return the name under which an embedder is priced, and whether it is free."""
    name = embedder.model if isinstance(embedder, Metered) else embedder.name
    return EmbeddingModel(name, is_free(embedder))


async def embed_texts(calls: Calls, embedder: Embedder, texts: Sequence[str], then: Take) -> None:
    """Embed some texts in one call, and pass their unit vectors ``(n, d)`` to ``then``.

    ``then`` finishes before the next call is sent. A free embedder makes no call. Raises
    ModelError, BudgetError, DeadlineError, and WaitError as completions do.
    """

    async def take(embedded: EmbeddedTexts) -> None:
        await then(embedded.vectors)

    await fitted_call(calls, embedder)(texts, take)


async def embed_counted(
    calls: Calls, embedder: Embedder, texts: Sequence[str]
) -> NDArray[np.float32]:
    """Embed texts within the limits of a run; return unit rows ``(n, d)``.

    The calls count as calls of the run. A failure or a long wait does not end the run, because its
    reading does not depend on these vectors. Raises ModelError, BudgetError, and DeadlineError, and
    ConfigError if the limit on the cost needs a price.
    """
    if is_free(embedder):
        return await embed_traced(embedder, texts)
    model = priced_model(embedder)
    calls.budget.check({model.name: model.free})
    call = fitted_call(calls, embedder, purpose="rest")
    return await embed_rows(embedder, fit_of(embedder), call, texts)


def fit_of(embedder: Embedder) -> TextFit:
    """Return the limits of an embedder's endpoint; for embedders without them, an empty fit."""
    return embedder.fit if isinstance(embedder, Fitted) else TextFit()


def fitted_call(calls: Calls, embedder: Embedder, purpose: Purpose = "sweep") -> Call:
    """Return a function that embeds texts in one call of the queue, or at once if it is free.

    For the purpose ``sweep``, a limit without room for the call or too long a wait ends the calls
    of the run.
    """

    async def call(texts: Sequence[str], then: Then) -> None:
        if is_free(embedder):
            await then(EmbeddedTexts(await embed_traced(embedder, texts), Usage()))
        else:
            await _call(calls, embedder, texts, then, purpose)

    return call


async def _call(
    calls: Calls,
    embedder: Embedder,
    texts: Sequence[str],
    take: Callable[[EmbeddedTexts], Awaitable[None]],
    purpose: Purpose,
) -> None:
    """Embed some texts in one call of the queue, and pass their vectors to ``take``."""
    model, estimated = priced_model(embedder), sum(map(estimate, texts))
    ends = (
        stopping(calls.budget, calls.scheduler.timeout_s) if purpose == "sweep" else nullcontext()
    )

    async def once() -> EmbeddedTexts:
        async with calls.reserving(model, estimated, 0, purpose) as paid:
            embedded = await _embed(embedder, texts, estimated)
            paid.usage = embedded.usage
            return embedded

    with ends:
        await calls.scheduler.call(
            once,
            calls.pace(embedder),
            length=float(estimated),
            who=f"the embedding model {model.name}",
            tokens=estimated,
            until=calls.ends_at if purpose == "sweep" else None,
            alone=True,
            then=take,
            on_wait=partial(calls.waits.tell, TOLD),
        )


async def _embed(embedder: Embedder, texts: Sequence[str], estimated: int) -> EmbeddedTexts:
    """Return vectors and their usage, which is an estimate if the embedder does not count."""
    if isinstance(embedder, Metered):
        return await embed_once_traced(embedder, texts)
    usage = Usage(calls=1, input_tokens=estimated, estimated=True)
    return EmbeddedTexts(await embed_traced(embedder, texts), usage)


def reserve_ranking(calls: Calls, model: RelevanceModel, kept: Amount) -> Reserve:
    """Return a function that reserves a call of a reranker in the budget and ledger of a run.

    ``kept`` is the amount to leave for the answer. Reserving raises BudgetError if a limit has no
    room for both, and ConfigError if ``max_cost`` needs a price.
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
