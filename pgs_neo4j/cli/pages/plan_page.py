"""Plans in words, laid out for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.cli.pages.text import labeled
from pgs_neo4j.export.rows.plan import plan_rows, search_plan_rows
from pgs_neo4j.model import Plan, SearchPlan


def below(plan: Plan, unpriced: Sequence[str], width: int) -> list[str]:
    """Return the figures of a plan.

    ``unpriced`` are the models without a configured price.
    """
    rows = plan_rows(plan, unpriced)
    return [line for label, text in rows for line in labeled(label, text, width)]


def of_search(plan: SearchPlan, unpriced: Sequence[str], width: int) -> list[str]:
    """Return what an answer from a search would show and cost."""
    rows = search_plan_rows(plan, unpriced)
    return [line for label, text in rows for line in labeled(label, text, width)]
