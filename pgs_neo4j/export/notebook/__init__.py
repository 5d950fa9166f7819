"""Values as notebook cells: HTML fragments without scripts, in the notebook's colors."""

from __future__ import annotations

from pgs_neo4j.export.notebook.answer import to_notebook
from pgs_neo4j.export.notebook.tables import (
    coverage_cell,
    generation_cell,
    plan_cell,
    routing_cell,
    search_plan_cell,
)
from pgs_neo4j.model import Answer, Coverage, Generation, Plan, Routing, SearchPlan

__all__ = ["render"]


def render(value: object) -> str:
    """Return a value as an HTML fragment. Raises TypeError for a value that has no cell."""
    match value:
        case Answer():
            return to_notebook(value)
        case Coverage():
            return coverage_cell(value)
        case Generation():
            return generation_cell(value)
        case Plan():
            return plan_cell(value)
        case Routing():
            return routing_cell(value)
        case SearchPlan():
            return search_plan_cell(value)
        case _:
            raise TypeError(f"{type(value).__name__} has no notebook cell")
