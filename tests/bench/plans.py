"""Compares what runs take with the bounds that their plans tell.

    python -m tests.bench.plans
    python -m tests.bench.plans --graphs 50 --json

No model and no database take part. Each random graph is planned and run with models that answer as
usual, or as badly as they can: with replies of full length that are rejected, cut off, or both.
Each run is made without limits, and again with the bounds of its plan as its budget. The figures
that a plan calls likely are those of a model that answers as usual, whose replies are known.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from statistics import median
from typing import Any

from tests.forecasts import MODES, NEAR, Outcome, try_graph


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the graphs, write the figures, and return 1 if a bound was exceeded or ended a run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.plans", description=__doc__)
    parser.add_argument("--graphs", type=int, default=300, help="random graphs (default: 300)")
    parser.add_argument("--json", action="store_true", help="write JSON")
    options = parser.parse_args(arguments)
    figures = asyncio.run(measure(options.graphs))
    text = json.dumps(figures, indent=2) if options.json else table(figures)
    sys.stdout.write(f"{text}\n")
    return int(any(one["exceeded"] or one["stopped"] for one in figures.values()))


async def measure(graphs: int) -> dict[str, Any]:
    """Return the figures of each mode: runs, failures, and shares of the most that were used."""
    figures = {}
    for mode in MODES:
        tried = [
            await try_graph(seed, mode, bounded=bounded)
            for seed in range(graphs)
            for bounded in (False, True)
        ]
        figures[mode] = summarize([one for one in tried if one is not None])
    return figures


def summarize(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures of some runs; shares are the least, the median, and the largest."""
    shares = [one.shares() for one in outcomes]
    kinds = {kind: [one[kind] for one in shares] for kind in ("calls", "input", "output", "cost")}
    return {
        "runs": len(outcomes),
        "exceeded": sum(one.exceeded for one in outcomes),
        "stopped": sum(one.stopped for one in outcomes),
        "near": {
            kind: round(sum(one.hits()[kind] for one in outcomes) / len(outcomes), 3)
            for kind in kinds
        },
        "shares": {
            kind: [round(figure, 3) for figure in (min(some), median(some), max(some))]
            for kind, some in kinds.items()
        },
    }


def table(figures: dict[str, Any]) -> str:
    """Return the figures as text."""
    lines = ["model     runs  exceeded  stopped  used of the most: least, median, largest"]
    for mode, one in figures.items():
        shares = "; ".join(
            f"{kind} {', '.join(f'{figure:.2f}' for figure in some)}"
            for kind, some in one["shares"].items()
        )
        near = ", ".join(f"{kind} {share:.0%}" for kind, share in one["near"].items())
        lines.append(f"{mode:<9}{one['runs']:>5}{one['exceeded']:>10}{one['stopped']:>9}  {shares}")
        lines.append(f"{'':<9}likely figures within {NEAR:.0%}: {near}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
