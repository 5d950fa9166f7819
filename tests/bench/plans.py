"""Compares what runs take with the bounds that their plans tell.

    python -m tests.bench.plans
    python -m tests.bench.plans --graphs 50 --json
    python -m tests.bench.plans --histories 300
    python -m tests.bench.plans --histories 300 --first 300

No model takes part. Each random graph is planned and run with models that answer as usual, or as
badly as they can: with replies of full length that are rejected, cut off, or both. Each run is made
without limits, and again with the bounds of its plan as its budget. The figures that a plan calls
likely are those of a model that answers as usual, whose replies are known. ``--histories`` needs a
database: on each of so many random graphs the engine is asked four questions, some of them in
sessions that have read a part of it, with and without cached replies and codes in prompts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from statistics import median
from typing import Any

from tests.bench import place, program
from tests.database import empty
from tests.forecasts import MODES, NEAR, Outcome, try_graph
from tests.planned_runs import Compared, try_history


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the graphs, write the figures, and return 1 if a bound was exceeded or ended a run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.plans", description=__doc__)
    parser.add_argument("--graphs", type=int, default=300, help="random graphs (default: 300)")
    parser.add_argument("--histories", type=int, help="graphs that the engine is asked about")
    parser.add_argument("--first", type=int, default=0, help="seed of the first history")
    parser.add_argument("--uri", help=place.HELP)
    parser.add_argument("--json", action="store_true", help="write JSON")
    options = parser.parse_args(arguments)
    if options.histories is None:
        figures = asyncio.run(measure(options.graphs))
    else:
        seeds = range(options.first, options.first + options.histories)
        figures = asyncio.run(measure_histories(seeds, options.uri))
    text = json.dumps(figures, indent=2) if options.json else table(figures)
    sys.stdout.write(f"{text}\n")
    return int(any(one["exceeded"] or one["stopped"] for one in figures.values()))


async def measure_histories(seeds: Sequence[int], uri: str | None) -> dict[str, Any]:
    """Return the figures of runs of the engine; runs that exceed their bound go to stderr."""
    tried: list[Compared] = []
    async with place.opened(uri) as (server, database):
        for seed in seeds:
            await empty(database)
            for one in await try_history(place.connection(server), database, seed):
                if one.exceeded or one.stopped:
                    program.say(f"{', '.join(one.exceeded) or 'stopped'}: {one}")
                tried.append(one)
            if seed % 10 == 9:
                program.say(f"seed {seed}: {len(tried)} runs")
    return {"engine": summarize(tried)}


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


def summarize(outcomes: Sequence[Outcome | Compared]) -> dict[str, Any]:
    """Return the figures of some runs; shares are the least, the median, and the largest."""
    shares = [one.shares() for one in outcomes]
    hits = [one.hits() for one in outcomes if isinstance(one, Outcome)]
    kinds = {kind: [one[kind] for one in shares] for kind in ("calls", "input", "output", "cost")}
    return {
        "runs": len(outcomes),
        "exceeded": sum(bool(one.exceeded) for one in outcomes),
        "stopped": sum(one.stopped for one in outcomes),
        "near": {
            kind: round(sum(one[kind] for one in hits) / len(hits), 3) for kind in kinds if hits
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
        if near:
            lines.append(f"{'':<9}likely figures within {NEAR:.0%}: {near}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
