"""Measures how well fifteen passes are scheduled: makespan ÷ lower bound, by policy.

    python -m tests.bench.schedule
    python -m tests.bench.schedule --draws 100 --speed 50 --simulate 1000 --json

Each draw gives fifteen calls log-normal lengths and latencies. A fake endpoint delays its replies
accordingly, on a clock that runs ``--speed`` times as fast, and the engine's client calls it over
HTTP. All policies get the same draws at the same time. ``--simulate`` adds draws without HTTP.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tests.bench import latencies, program, trial
from tests.bench.policies import BATCHES, GROWING, HEDGED, OURS, SEMAPHORE, SLOTS
from tests.bench.trial import Scenario

DRAWS, SPEED, SIMULATED = 30, 20.0, 400
FOUR = (BATCHES, SEMAPHORE, OURS, HEDGED)
SCENARIOS = (
    Scenario(name="log-normal", policies=FOUR),
    Scenario(name="2 % stragglers of 120 s", policies=FOUR, stragglers=0.02),
    Scenario(name="takes 3 at once, else 429", policies=FOUR, takes=3, slots=3),
    Scenario(name="takes 15 at once", policies=(OURS, GROWING), takes=15),
    Scenario(name="takes 15 at once, 60 calls", policies=(OURS, GROWING), takes=15, calls=60),
)
TARGETS = {("log-normal", OURS.name): 1.12, ("2 % stragglers of 120 s", HEDGED.name): 1.06}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    # Each retry would be told on stderr: that is what this is about.
    logging.getLogger("stamina").setLevel(logging.ERROR)
    return program.told(
        lambda: measured(options.draws, options.speed, options.simulate, options.seed),
        table,
        options.json,
    )


def measured(draws: int, speed: float, simulated: int, seed: int) -> dict[str, Any]:
    """All scenarios, over HTTP and simulated."""
    scenarios = []
    for scenario in SCENARIOS:
        times = min(draws, max(draws * SCENARIOS[0].calls // scenario.calls, 1))
        program.say(f"{scenario.name}: {times} draws over HTTP, {simulated} simulated")
        over_http = trial.over_http(scenario, range(seed, seed + times), speed) if times else {}
        jumped = trial.simulated(scenario, range(seed, seed + simulated)) if simulated else {}
        scenarios.append(_scenario(scenario, over_http, jumped))
    return {
        "draws": draws,
        "simulated": simulated,
        "speed": speed,
        "seed": seed,
        "latencies": {
            name.lower(): getattr(latencies, name)
            for name in ("MEDIAN_S", "SIZE_SPREAD", "NOISE_SPREAD", "STRAGGLER_S")
        },
        "scenarios": scenarios,
    }


def _scenario(
    scenario: Scenario,
    over_http: dict[str, list[trial.Outcome]],
    simulated: dict[str, list[trial.Outcome]],
) -> dict[str, Any]:
    return {
        **{name: value for name, value in asdict(scenario).items() if name != "policies"},
        "policies": [
            {
                "name": policy.name,
                "http": _summed(over_http, policy.name),
                "simulated": _summed(simulated, policy.name),
                "target": TARGETS.get((scenario.name, policy.name)),
            }
            for policy in scenario.policies
        ],
    }


def _summed(outcomes: dict[str, list[trial.Outcome]], name: str) -> dict[str, float] | None:
    return trial.summed(outcomes[name]) if outcomes else None


def table(document: dict[str, Any]) -> str:
    """The figures for people, one part for each scenario."""
    parts = [_part(scenario) for scenario in document["scenarios"]]
    head = (
        f"Makespan ÷ lower bound, {SLOTS} slots: mean ± standard deviation; {document['draws']} "
        f"draws over HTTP at {document['speed']:g} times the speed, {document['simulated']} "
        "simulated.\n"
    )
    return "\n".join((head, *parts))


def _part(scenario: dict[str, Any]) -> str:
    title = f"{scenario['name']} ({scenario['calls']} calls; bound: {scenario['slots']} slots)"
    rows = [(title, "HTTP", "simulated", "9th decile", "hedged", "refused", "limit", "target")]
    for policy in scenario["policies"]:
        figures = policy["simulated"] or policy["http"]
        rows.append(
            (
                f"  {policy['name']}",
                _mean(policy["http"]),
                _mean(policy["simulated"]),
                f"{figures['p90']:.2f}",
                f"{figures['hedged']:.2f}",
                f"{figures['refused']:.1f}",
                f"{figures['limit']:.1f}",
                "" if policy["target"] is None else f"{policy['target']:.2f}",
            )
        )
    return program.aligned(rows)


def _mean(summed: dict[str, float] | None) -> str:
    return "none" if summed is None else f"{summed['mean']:.3f} ± {summed['spread']:.2f}"


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("schedule", __doc__)
    parser.add_argument(
        "--draws", type=program.number(0), default=DRAWS, help=f"draws over HTTP (default {DRAWS})"
    )
    parser.add_argument(
        "--simulate",
        type=program.number(0),
        default=SIMULATED,
        help=f"simulated draws (default {SIMULATED})",
    )
    parser.add_argument(
        "--speed",
        type=program.positive,
        default=SPEED,
        help=f"speed of the endpoint's clock (default {SPEED:g})",
    )
    parser.add_argument(
        "--seed", type=program.number(0), default=1, help="seed of the first draw (default 1)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
