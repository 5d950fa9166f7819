"""Predicts what an ingestion would do and cost. It calls no model, and writes nothing.

A model's server is asked only what the model can take, which costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from pgs_neo4j.documents.compare import compare
from pgs_neo4j.documents.enrich.arbiter import ROOM, SYSTEM
from pgs_neo4j.documents.enrich.describe import ModelDescriber, NameTally
from pgs_neo4j.documents.enrich.embed import EmbeddingTally
from pgs_neo4j.documents.enrich.judging import PAIRS, find_pairs
from pgs_neo4j.documents.extract.buying import prompt_groups, read_known
from pgs_neo4j.documents.fold.resolution import Resolution, VariantResolver
from pgs_neo4j.documents.fold.rulings import mates_of, rulings_in_force
from pgs_neo4j.documents.names.renewal import read_judgments, read_rulings
from pgs_neo4j.documents.order import Extractor, IngestOrder, IngestTools
from pgs_neo4j.documents.pipeline import group_documents
from pgs_neo4j.documents.publish.large import join_outcomes, read_former
from pgs_neo4j.documents.semantic import DivisionEstimate, SemanticChunker
from pgs_neo4j.documents.stored import read_documents
from pgs_neo4j.documents.wanted import WantedDocument
from pgs_neo4j.llm.calls.budget import Amount, cost_range
from pgs_neo4j.llm.calls.embedding import EmbeddingModel
from pgs_neo4j.llm.embedders.reading import describe_text_limits
from pgs_neo4j.llm.own_models import await_forecast, said_by
from pgs_neo4j.llm.protocol import LLM, Embedder, Named
from pgs_neo4j.model import PlannedCalls
from pgs_neo4j.model.documents import Chunk
from pgs_neo4j.model.ingest import (
    DescriptionForecast,
    DivisionForecast,
    DocumentOutcome,
    EmbeddingForecast,
    ExtractionForecast,
    IngestPlan,
)
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.tokens import estimate

OWN_BYTES_S = 200_000
"""Bytes of text a second that are extracted without a model, or grounded, and written."""
PAIR_TOKENS, LINE_TOKENS = 150, 4
"""Usual tokens of a pair of names with what is said of them, and of what a model replies."""
CALL_S, REPLY_TOKENS_S = 1.0, 60
"""Usual seconds before a reply begins, and its tokens a second; endpoints differ widely."""


@dataclass(slots=True)
class _Forecast:
    """What is known so far. ``known`` are the keys of what the group before leaves behind."""

    outcomes: list[DocumentOutcome] = field(default_factory=list)
    calls: ExtractionForecast = field(default_factory=ExtractionForecast)
    known: set[str] = field(default_factory=set)
    bytes: int = 0
    crossed: tuple[str, int] | None = None
    embedding: EmbeddingTally = field(default_factory=EmbeddingTally)
    names: NameTally = field(default_factory=NameTally)


async def plan_ingest(
    order: IngestOrder, tools: IngestTools, llm: LLM, divider: Embedder | None = None
) -> IngestPlan:
    """Return what an ingestion would do, and what ``llm`` would be asked for.

    ``divider`` embeds the sentences of documents that are divided by meaning.

    Every source is read and divided, since only its text tells what changed. Calls are counted as
    the ingestion makes them; gleaning, and replies that are cut off or useless can add to them, and
    the descriptions of what many chunks describe are a guess. Raises DatabaseError.
    """
    stored = await read_documents(tools.db, order.graph)
    compared, wanted = compare(order, tools.loader, stored, tools.extractor, tools.chunker)
    forecast = _Forecast()
    async with aclosing(wanted), aclosing(group_documents(wanted)) as groups:
        async for group in groups:
            await _add(order, tools, llm, forecast, group)
    judging = await _judging(order, tools)
    describing = await forecast.names.forecast(order, tools)
    described = describing or DescriptionForecast()
    first = forecast.calls.calls + judging + described.calls
    again = forecast.calls.gleaning + described.more
    dividing, divided = _dividing(tools)
    embedding = await forecast.embedding.forecast(order, tools)
    least, most = _embedded(embedding)
    low, _ = cost_range(tools.calls.budget, [*_part(llm, first), *divided, *least])
    _, high = cost_range(tools.calls.budget, [*_part(llm, first + again), *divided, *most])
    # The model that extracts also describes, and judges names that are not found yet.
    asked = [llm] if (first + again).calls or tools.arbiter is not None else []
    for reader in asked:
        await tools.calls.ask_context(reader)
    embedders: list[object] = [divider] if dividing is not None and divider is not None else []
    if tools.embedding is not None:
        embedders.append(tools.embedding.embedder)
    return IngestPlan(
        graph=order.graph,
        label=order.label,
        model=llm.name,
        outcomes=compared.all_outcomes(order, forecast.outcomes),
        skipped=order.sources.skipped,
        forecast=forecast.calls,
        judging=judging,
        dividing=dividing,
        describing=describing,
        low=low,
        high=high,
        seconds=_seconds(tools, forecast, described, embedding),
        budget=_left_out(forecast) or _left_unembedded(tools, llm, first, embedding),
        embedding=embedding,
        contexts=(
            *tools.calls.contexts.describe(asked),
            *await describe_text_limits(embedders),
        ),
        context_advice=tools.calls.contexts.advise(asked),
    )


async def _forecast_calls(extractor: Extractor, chunks: Sequence[Chunk]) -> ExtractionForecast:
    """Return the calls for some chunks. Raises ModelError if an own extractor fails."""
    name = type(extractor).__name__
    with said_by(name, "extractor"):
        forecasting: object = extractor.forecast(chunks)
    return await await_forecast(name, forecasting)


async def _add(
    order: IngestOrder,
    tools: IngestTools,
    llm: LLM,
    forecast: _Forecast,
    group: Sequence[WantedDocument],
) -> None:
    """Add the documents of a group, which the ingestion would extract together."""
    stored = await read_former(tools.db, order.graph, group)
    known = forecast.known | (await read_known(order, tools, group, stored)).keys()
    settled = [document.settle(known) for document in group]
    for chunks in prompt_groups(settled, known, tools.extractor):
        forecast.calls += await _forecast_calls(tools.extractor, [one.chunk for one in chunks])
    missing = {chunk.extraction_key for one in settled for chunk in one.chunks} - known
    if forecast.crossed is None and (limit := _crossed(tools, llm, forecast)):
        forecast.crossed = limit, len(forecast.outcomes)
    forecast.embedding.add(settled, stored, missing)
    if isinstance(tools.describer, ModelDescriber):
        forecast.names.add(settled, missing)
    forecast.known = missing
    join_outcomes(forecast.outcomes, [document.outcome(missing) for document in settled])
    forecast.bytes += sum(
        len(chunk.chunk.text.encode("utf-8", "replace"))
        for one in settled
        for chunk in one.chunks
        if chunk.extraction_key in missing
    )


async def _judging(order: IngestOrder, tools: IngestTools) -> PlannedCalls:
    """Return the calls about close names that are in the graph already."""
    if tools.arbiter is None:
        return PlannedCalls()
    judgments = await read_judgments(tools.db, order.graph)
    rulings = rulings_in_force(await read_rulings(tools.db, order.graph))
    judged = mates_of(judgments)
    resolution = Resolution(tools.resolver or VariantResolver(), rulings, judged)
    pairs = await find_pairs(tools.db, order.graph, resolution, judgments)
    calls = -(-len(pairs) // PAIRS)
    return PlannedCalls(
        calls=calls,
        input_tokens=len(pairs) * PAIR_TOKENS + calls * estimate(SYSTEM),
        output_tokens=len(pairs) * LINE_TOKENS,
        output_most=calls * ROOM,
    )


def without_calls(tools: IngestTools) -> IngestTools:
    """Return the connections of a plan: instead of what is paid for, an estimate divides."""
    chunker = tools.chunker
    if isinstance(chunker, SemanticChunker) and not chunker.model.free:
        return replace(tools, chunker=DivisionEstimate(chunker))
    return tools


def _dividing(
    tools: IngestTools,
) -> tuple[DivisionForecast | None, list[tuple[Named, PlannedCalls]]]:
    """Return the calls for vectors that divide documents, also as a part of the cost."""
    if not isinstance(tools.chunker, DivisionEstimate):
        return None, []
    model, calls = tools.chunker.chunker.model, tools.chunker.calls
    priced = tools.calls.budget.price(model.name, 1, 0) is not None
    forecast = DivisionForecast(model=model.name, priced=priced, calls=calls)
    return forecast, _part(model, calls)


def _part(llm: Named, calls: PlannedCalls) -> list[tuple[Named, PlannedCalls]]:
    return [(llm, calls)] if calls.calls else []


def _embedded(
    planned: EmbeddingForecast | None,
) -> tuple[list[tuple[Named, PlannedCalls]], list[tuple[Named, PlannedCalls]]]:
    """Return the calls of an embedder that are known, and the most that are likely."""
    if planned is None:
        return [], []
    model = EmbeddingModel(planned.model, planned.free)
    return _part(model, planned.calls), _part(model, planned.calls + planned.more)


def _crossed(tools: IngestTools, llm: LLM, forecast: _Forecast) -> str:
    """Return the limit that the calls so far are likely to cross; empty if they cross none."""
    budget, calls = tools.calls.budget, forecast.calls.calls
    cost = budget.price(llm.name, calls.input_tokens, calls.output_tokens, calls.calls) or 0.0
    dividing, _ = _dividing(tools)
    if dividing is not None:
        divided = dividing.calls
        cost += budget.price(dividing.model, divided.input_tokens, 0, divided.calls) or 0.0
        calls += dividing.calls
    used = calls.input_tokens + calls.output_tokens
    crossed = budget.bounds.crossed(Amount(calls.calls, used, cost))
    return crossed[0] if crossed else ""


def _left_out(forecast: _Forecast) -> str:
    """Return what a limit would leave out, to the group of documents that reaches it."""
    if forecast.crossed is None:
        return ""
    limit, done = forecast.crossed
    left, total = len(forecast.outcomes) - done, len(forecast.outcomes)
    return f"{limit} would leave up to {left:,} of {counted(total, 'document')} waiting"


def _left_unembedded(
    tools: IngestTools, llm: LLM, calls: PlannedCalls, planned: EmbeddingForecast | None
) -> str:
    """Return what a limit would leave without vectors."""
    if planned is None or planned.free:
        return ""
    budget, total = tools.calls.budget, calls + planned.calls
    cost = budget.price(llm.name, calls.input_tokens, calls.output_tokens, calls.calls) or 0.0
    embedded = planned.calls
    cost += budget.price(planned.model, embedded.input_tokens, 0, embedded.calls) or 0.0
    tokens = total.input_tokens + total.output_tokens
    crossed = budget.bounds.crossed(Amount(total.calls, tokens, cost))
    return f"{crossed[0]} would leave texts without vectors" if crossed else ""


def _seconds(
    tools: IngestTools,
    forecast: _Forecast,
    described: DescriptionForecast,
    embedding: EmbeddingForecast | None,
) -> float:
    """Return the seconds that the ingestion may take: its own work and the replies overlap."""
    dividing, _ = _dividing(tools)
    calls = (
        described.calls
        + described.more
        + forecast.calls.calls
        + (dividing.calls if dividing else PlannedCalls())
    )
    if embedding is not None:
        calls += embedding.calls + embedding.more
    at_once = max(1, tools.calls.scheduler.limit.ceiling)
    replies = (CALL_S * calls.calls + calls.output_tokens / REPLY_TOKENS_S) / at_once
    if tools.calls.tokens_per_minute:
        tokens = calls.input_tokens + calls.output_most
        replies = max(replies, 60 * tokens / tools.calls.tokens_per_minute)
    return max(forecast.bytes / OWN_BYTES_S, replies)
