"""Analogies that were made, as lines and as JSON."""

from __future__ import annotations

from pgs_neo4j.cli.pages.analogies.forecast import TITLE, texts
from pgs_neo4j.cli.pages.text import labeled
from pgs_neo4j.model import Analogies, Analogy
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, money, one_line, seconds, used_tokens


def as_json(made: Analogies) -> Json:
    """Return analogies as JSON data."""
    best = [plain_data(one) | {"delta": one.delta} for one in made.best]
    return {**plain_data(made), "best": best}


def lines(made: Analogies, width: int) -> list[str]:
    """Return the figures of analogies, and the best of them."""
    usage = made.usage
    rows = [
        ("Texts", texts(made.texts, made.kept)),
        ("Skeletons", _skeletons(made)),
        ("Links", f"{counted(made.links, 'pair')} in {seconds(made.seconds)}"),
        ("Calls", f"{counted(usage.calls, 'call')}, {used_tokens(usage)}" if usage.calls else ""),
        ("Cost", _spent(made)),
        ("Limit", f"{one_line(made.stopped)}; run it again to continue" if made.stopped else ""),
        ("Model", f"{one_line(made.model, TITLE)}, compared by {one_line(made.embedder, TITLE)}"),
    ]
    shown = [line for label, text in rows if text for line in labeled(label, text, width)]
    return [*shown, *(["", *map(_pair, made.best)] if made.best else [])]


def _skeletons(made: Analogies) -> str:
    parts = [f"{made.plain:,} without a mechanism"]
    parts += [f"{made.commonplace:,} commonplace"] if made.commonplace else []
    parts += [f"{made.missing:,} still missing"] if made.missing else []
    return f"{made.texts - made.missing:,}: {', '.join(parts)}"


def _spent(made: Analogies) -> str:
    if made.cost is None:
        return "unknown, since the model has no price in pgs.toml"
    return money(made.cost) if made.cost else ""


def _pair(one: Analogy) -> str:
    first, second = one_line(one.first, TITLE), one_line(one.second, TITLE)
    return f"  {first} ~ {second} (texts {one.raw:.2f}, skeletons {one.skeleton:.2f})"
