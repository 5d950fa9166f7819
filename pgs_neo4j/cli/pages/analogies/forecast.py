"""The plan of analogies, as lines and as JSON."""

from __future__ import annotations

from pgs_neo4j.cli.pages.text import labeled
from pgs_neo4j.model import AnalogyPlan
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, money, one_line, tokens

TITLE = 60


def as_json(plan: AnalogyPlan) -> Json:
    """Return a plan as JSON data."""
    return {**plain_data(plan)}


def lines(plan: AnalogyPlan, width: int) -> list[str]:
    """Return the figures of a plan."""
    part = f"the model sees only the beginning of {counted(plan.shortened, 'text')}"
    used = tokens(plan.input_tokens, plan.output_tokens, estimated=True)
    rows = [
        ("Texts", texts(plan.texts, plan.kept)),
        ("Calls", f"{counted(plan.calls, 'call')}, {used}" if plan.calls else "none"),
        ("Cost", _cost(plan)),
        ("Limit", one_line(plan.budget)),
        ("Note", part if plan.shortened else ""),
        ("Embedder", f"{one_line(plan.embedder, TITLE)}, about {plan.embedded_tokens:,} tokens"),
        ("Model", one_line(plan.model, TITLE)),
    ]
    return [line for label, text in rows if text for line in labeled(label, text, width)]


def texts(count: int, kept: int) -> str:
    """Return a number of texts, and how many have a skeleton."""
    return f"{counted(count, 'text')}, {kept:,} of them with a stored skeleton"


def _cost(plan: AnalogyPlan) -> str:
    if plan.low is None or plan.high is None:
        return (
            "unknown; add input_price and output_price (per million tokens) under "
            f'[models."{one_line(plan.model, TITLE)}"] in pgs.toml'
        )
    return f"between {money(plan.low)} and {money(plan.high)}" if plan.high else "nothing"
