"""Describe in words what a question, a search, or an ingestion would read and cost. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.cli.pages.ingested import FIXES, STATES, state_counts
from pgs_neo4j.cli.pages.text import labeled_rows
from pgs_neo4j.export.plan_rows import calls, context_rows, cost, plan_rows, search_plan_rows
from pgs_neo4j.model import Plan, SearchPlan
from pgs_neo4j.model.ingest import DescriptionForecast, EmbeddingForecast, IngestPlan
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, duration, one_line

ASIDE = ", without the descriptions of entities from many chunks"
FIXES_PLANNED = {**FIXES, "failed": "these cannot be read"}


def below(plan: Plan, unpriced: Sequence[str], width: int) -> list[str]:
    """Return labeled lines on what a question would read and cost.

    ``unpriced`` has the names of models without a configured price.
    """
    return labeled_rows(plan_rows(plan, unpriced), width)


def search_lines(plan: SearchPlan, unpriced: Sequence[str], width: int) -> list[str]:
    """Return labeled lines on what an answer from a search would show and cost."""
    return labeled_rows(search_plan_rows(plan, unpriced), width)


def ingestion_json(plan: IngestPlan) -> Json:
    """Return the plan of an ingestion as JSON data."""
    counts = {state: plan.count(state) for state, _ in STATES}
    return {**plain_data(plan), "contexts": dict(plan.contexts), "counts": counts}


def ingestion_lines(plan: IngestPlan, unpriced: Sequence[str], width: int) -> list[str]:
    """Return labeled lines on what an ingestion would do and cost.

    ``unpriced`` has the names of models without a configured price.
    """
    chunks = sum(outcome.chunks for outcome in plan.outcomes)
    extracted = sum(outcome.extracted for outcome in plan.outcomes)
    forecast = plan.forecast
    gleaning = f"may add at most {calls(forecast.gleaning)}"
    priced = [name for name in unpriced if name == plan.model]
    for used in (plan.embedding, plan.dividing):
        if used and not used.priced and used.model not in priced:
            priced.append(used.model)
    aside = ASIDE if plan.calls and plan.high and plan.describing is None else ""
    rows = [
        ("Graph", f"{one_line(plan.graph)}, label {one_line(plan.label)}"),
        ("Documents", state_counts(plan)),
        ("Chunks", f"{chunks:,}, {extracted:,} of them to extract"),
        ("Skipped", ", ".join(f"{count:,} {ending}" for ending, count in plan.skipped.items())),
        ("Calls", calls(forecast.calls) if plan.calls else "none"),
        ("Dividing", _dividing(plan)),
        ("Judging", calls(plan.judging) if plan.judging.calls else ""),
        ("Describing", _describing(plan.describing)),
        ("Gleaning", gleaning if forecast.gleaning.calls else ""),
        ("Vectors", _vectors(plan.embedding)),
        ("Cost", cost(plan, priced) + aside),
        ("Time", f"about {duration(plan.seconds)}"),
        ("Limit", one_line(plan.budget)),
        ("Model", one_line(plan.model, 60)),
        *context_rows(plan.contexts),
        *(("Advice", one_line(advice)) for advice in plan.context_advice),
    ]
    return labeled_rows(rows, width)


def _vectors(planned: EmbeddingForecast | None) -> str:
    """Return in words what would be embedded; empty without a forecast."""
    if planned is None:
        return ""
    parts = [f"{counted(planned.texts, 'text')} by {one_line(planned.model, 60)}"]
    if planned.found:
        parts.append(f"about {counted(planned.found, 'name or fact', 'names and facts')}")
    if not planned.free:
        parts.append(calls(planned.calls + planned.more))
    return ", ".join(parts)


def _describing(planned: DescriptionForecast | None) -> str:
    """Return in words the calls that describe entities; empty if there are none."""
    if planned is None:
        return ""
    parts = [calls(planned.calls)] if planned.calls.calls else []
    if planned.more.calls:
        parts.append(f"probably {calls(planned.more)}, for entities from many new chunks")
    return "; ".join(parts)


def _dividing(plan: IngestPlan) -> str:
    """Return in words the calls that embed sentences to divide documents; empty for none."""
    if plan.dividing is None or not plan.dividing.calls.calls:
        return ""
    dividing = calls(plan.dividing.calls)
    return f"{dividing} by {one_line(plan.dividing.model, 60)}; chunks are an estimate"
