"""Predicts the steps and the cost of an ingestion, without calling a model or writing anything.

It only asks a model's server for the size of the model's context, which is free.
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
from pgs_neo4j.documents.fold.rulings import group_judged_names, rulings_in_force
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
"""Bytes of text per second that pgs processes without model calls: it extracts or grounds the text,
and writes it."""
PAIR_TOKENS, LINE_TOKENS = 150, 4
"""Typical tokens of a pair of names with their descriptions, and of the reply for this pair."""
CALL_S, REPLY_TOKENS_S = 1.0, 60
"""Typical seconds before a reply begins, and typical tokens of a reply per second. Endpoints differ
widely."""


@dataclass(slots=True)
class _Forecast:
    """The forecast so far.

    ``known`` has the keys of the extractions that the next group can reuse from the previous one.
    """

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
    """Return the plan of an ingestion with the calls to ``llm``.

    ``divider`` embeds the sentences of documents that are divided by meaning.

    Every source is read and divided, because only its text shows what changed. Calls are counted in
    the same way in which the ingestion makes them. Gleaning and retries of truncated or useless
    replies can add calls, and the number of combined descriptions is a guess. Raises DatabaseError.
    """
    stored = await read_documents(tools.db, order.graph)
    compared, wanted = compare(order, tools.loader, stored, tools.extractor, tools.chunker)
    forecast = _Forecast()
    async with aclosing(wanted), aclosing(group_documents(wanted)) as groups:
        async for group in groups:
            await _add_group(order, tools, llm, forecast, group)
    judging = await _forecast_judging(order, tools)
    describing = await forecast.names.forecast(order, tools)
    described = describing or DescriptionForecast()
    first = forecast.calls.calls + judging + described.calls
    again = forecast.calls.gleaning + described.more
    dividing, divided = _forecast_dividing(tools)
    embedding = await forecast.embedding.forecast(order, tools)
    least, most = _list_embedding_calls(embedding)
    low, _ = cost_range(tools.calls.budget, [*_list_priced(llm, first), *divided, *least])
    _, high = cost_range(tools.calls.budget, [*_list_priced(llm, first + again), *divided, *most])
    # The extracting model also describes entities, and may have to judge names that are not known
    # yet.
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
        seconds=_estimate_seconds(tools, forecast, described, embedding),
        budget=_describe_left_out(forecast) or _describe_unembedded(tools, llm, first, embedding),
        embedding=embedding,
        contexts=(
            *tools.calls.contexts.describe(asked),
            *await describe_text_limits(embedders),
        ),
        context_advice=tools.calls.contexts.advise(asked),
    )


async def _forecast_calls(extractor: Extractor, chunks: Sequence[Chunk]) -> ExtractionForecast:
    """Return the calls for some chunks. Raises ModelError if a user's extractor fails."""
    name = type(extractor).__name__
    with said_by(name, "extractor"):
        forecasting: object = extractor.forecast(chunks)
    return await await_forecast(name, forecasting)


async def _add_group(
    order: IngestOrder,
    tools: IngestTools,
    llm: LLM,
    forecast: _Forecast,
    group: Sequence[WantedDocument],
) -> None:
    """Add the calls and outcomes of a group of documents to the forecast."""
    stored = await read_former(tools.db, order.graph, group)
    known = forecast.known | (await read_known(order, tools, group, stored)).keys()
    settled = [document.settle(known) for document in group]
    for chunks in prompt_groups(settled, known, tools.extractor):
        forecast.calls += await _forecast_calls(tools.extractor, [one.chunk for one in chunks])
    missing = {chunk.extraction_key for one in settled for chunk in one.chunks} - known
    if forecast.crossed is None and (limit := _find_crossed_limit(tools, llm, forecast)):
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


async def _forecast_judging(order: IngestOrder, tools: IngestTools) -> PlannedCalls:
    """Return the calls that judge the close names which the graph already contains."""
    if tools.arbiter is None:
        return PlannedCalls()
    judgments = await read_judgments(tools.db, order.graph)
    rulings = rulings_in_force(await read_rulings(tools.db, order.graph))
    judged = group_judged_names(judgments)
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
    """Return the connections for a plan: a chunker with paid calls is replaced by an estimate."""
    chunker = tools.chunker
    if isinstance(chunker, SemanticChunker) and not chunker.model.free:
        return replace(tools, chunker=DivisionEstimate(chunker))
    return tools


def _forecast_dividing(
    tools: IngestTools,
) -> tuple[DivisionForecast | None, list[tuple[Named, PlannedCalls]]]:
    """Return the embedding calls for dividing documents, as a forecast and as items to price."""
    if not isinstance(tools.chunker, DivisionEstimate):
        return None, []
    model, calls = tools.chunker.chunker.model, tools.chunker.calls
    priced = tools.calls.budget.price(model.name, 1, 0) is not None
    forecast = DivisionForecast(model=model.name, priced=priced, calls=calls)
    return forecast, _list_priced(model, calls)


def _list_priced(llm: Named, calls: PlannedCalls) -> list[tuple[Named, PlannedCalls]]:
    return [(llm, calls)] if calls.calls else []


def _list_embedding_calls(
    planned: EmbeddingForecast | None,
) -> tuple[list[tuple[Named, PlannedCalls]], list[tuple[Named, PlannedCalls]]]:
    """Return the embedder's certain calls and its likely maximum of calls, as items to price."""
    if planned is None:
        return [], []
    model = EmbeddingModel(planned.model, planned.free)
    return _list_priced(model, planned.calls), _list_priced(model, planned.calls + planned.more)


def _find_crossed_limit(tools: IngestTools, llm: LLM, forecast: _Forecast) -> str:
    """Return the limit that the calls so far are likely to exceed, empty without one."""
    budget, calls = tools.calls.budget, forecast.calls.calls
    cost = budget.price(llm.name, calls.input_tokens, calls.output_tokens, calls.calls) or 0.0
    dividing, _ = _forecast_dividing(tools)
    if dividing is not None:
        divided = dividing.calls
        cost += budget.price(dividing.model, divided.input_tokens, 0, divided.calls) or 0.0
        calls += dividing.calls
    used = calls.input_tokens + calls.output_tokens
    crossed = budget.bounds.crossed(Amount(calls.calls, used, cost))
    return crossed[0] if crossed else ""


def _describe_left_out(forecast: _Forecast) -> str:
    """Return a sentence about the documents that a limit would leave waiting, or "".

    The documents are counted from the group that reaches the limit.
    """
    if forecast.crossed is None:
        return ""
    limit, done = forecast.crossed
    left, total = len(forecast.outcomes) - done, len(forecast.outcomes)
    return f"{limit} would leave up to {left:,} of {counted(total, 'document')} waiting"


def _describe_unembedded(
    tools: IngestTools, llm: LLM, calls: PlannedCalls, planned: EmbeddingForecast | None
) -> str:
    """Return a sentence about a limit that would leave texts without vectors, or ""."""
    if planned is None or planned.free:
        return ""
    budget, total = tools.calls.budget, calls + planned.calls
    cost = budget.price(llm.name, calls.input_tokens, calls.output_tokens, calls.calls) or 0.0
    embedded = planned.calls
    cost += budget.price(planned.model, embedded.input_tokens, 0, embedded.calls) or 0.0
    tokens = total.input_tokens + total.output_tokens
    crossed = budget.bounds.crossed(Amount(total.calls, tokens, cost))
    return f"{crossed[0]} would leave texts without vectors" if crossed else ""


def _estimate_seconds(
    tools: IngestTools,
    forecast: _Forecast,
    described: DescriptionForecast,
    embedding: EmbeddingForecast | None,
) -> float:
    """Return the estimated seconds of the ingestion.

    Local work and waiting for replies overlap, so the result is the longer time of the two.
    """
    dividing, _ = _forecast_dividing(tools)
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
