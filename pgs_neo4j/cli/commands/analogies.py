"""`pgs analogies`: link texts that use other words for the same mechanism."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.knob_options import with_knobs
from pgs_neo4j.cli.options import (
    GraphOption,
    JsonOption,
    ModelOption,
    QuietOption,
    VerboseOption,
    model_settings,
)
from pgs_neo4j.cli.pages.text import labeled_rows
from pgs_neo4j.cli.progress import Listener, progress
from pgs_neo4j.cli.run import DONE, PARTIAL, run
from pgs_neo4j.model import Analogies, Analogy, AnalogyPlan
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, money, one_line, seconds, tokens, used_tokens

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS


PlanOption = Annotated[
    bool, typer.Option("--plan", help="Show what it would cost, and call no model.")
]
TITLE = 60  # characters of a title or model name


@with_knobs(
    "max_calls",
    "max_tokens",
    "max_cost",
    "run_timeout_s",
    "sweep_max_tokens",
    "max_concurrent_sweeps",
    "hedge",
)
def analogies(
    graph: GraphOption = None,
    plan: PlanOption = False,
    model: ModelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **knobs: object,
) -> None:
    """Link texts that use other words for the same mechanism.

    A language model restates each text of the graph in one line without the words of its domain.
    Two texts are linked if these lines are much more alike than the texts. Later runs tell sweeps
    about the links, and 'pgs search --mode structural' follows them. Each text is paid for once:
    run the command again after a limit or a crash, or when the graph has changed.

    \b
      pgs analogies --graph papers --plan
      pgs analogies --graph papers --max-cost 0.50
    """
    knobs |= model_settings(model)
    listening = progress(quiet=quiet, verbose=verbose)
    run(_analogies(graph, knobs, listening, plan=plan, as_json=as_json))


async def _analogies(
    graph: str | None,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    plan: bool,
    as_json: bool,
) -> int:
    from pgs_neo4j.cli.connection import engine

    with listening as listener:
        async with engine(listener, **knobs) as pgs:
            if plan:
                return await _plan(pgs, graph, as_json=as_json)
            made = await pgs.analogies(graph)
    if as_json:
        output.write_json(analogies_json(made))
    else:
        output.write_lines(analogies_lines(made, output.width()))
        for warning in made.warnings:
            output.note(warning)
    return PARTIAL if made.stopped or made.missing else DONE


async def _plan(pgs: PGS, graph: str | None, *, as_json: bool) -> int:
    forecast = await pgs.analogies.plan(graph)
    if as_json:
        output.write_json(plain_data(forecast))
    else:
        output.write_lines(plan_lines(forecast, output.width()))
    return DONE


def plan_lines(plan: AnalogyPlan, width: int) -> list[str]:
    """Return labeled lines on what a run would read, call, and cost."""
    part = f"the model sees only the beginning of {counted(plan.shortened, 'text')}"
    used = tokens(plan.input_tokens, plan.output_tokens, estimated=True)
    rows = [
        ("Texts", _texts(plan.texts, plan.kept)),
        ("Calls", f"{counted(plan.calls, 'call')}, {used}" if plan.calls else "none"),
        ("Cost", _cost(plan)),
        ("Limit", one_line(plan.budget)),
        ("Note", part if plan.shortened else ""),
        ("Embedder", f"{one_line(plan.embedder, TITLE)}, about {plan.embedded_tokens:,} tokens"),
        ("Model", one_line(plan.model, TITLE)),
    ]
    return labeled_rows(rows, width)


def _cost(plan: AnalogyPlan) -> str:
    if plan.low is None or plan.high is None:
        return (
            "unknown; add input_price and output_price (per million tokens) under "
            f'[models."{one_line(plan.model, TITLE)}"] in pgs.toml'
        )
    return f"between {money(plan.low)} and {money(plan.high)}" if plan.high else "nothing"


def analogies_json(made: Analogies) -> Json:
    """Return analogies as JSON data."""
    best = [plain_data(one) | {"delta": one.delta} for one in made.best]
    return {**plain_data(made), "best": best}


def analogies_lines(made: Analogies, width: int) -> list[str]:
    """Return labeled lines on what was linked and what it cost, then the best pairs."""
    usage = made.usage
    rows = [
        ("Texts", _texts(made.texts, made.kept)),
        ("Skeletons", _skeletons(made)),
        ("Links", f"{counted(made.links, 'pair')} in {seconds(made.seconds)}"),
        ("Calls", f"{counted(usage.calls, 'call')}, {used_tokens(usage)}" if usage.calls else ""),
        ("Cost", _actual_cost(made)),
        ("Limit", f"{one_line(made.stopped)}; run it again to continue" if made.stopped else ""),
        ("Model", f"{one_line(made.model, TITLE)}, compared by {one_line(made.embedder, TITLE)}"),
    ]
    return [*labeled_rows(rows, width), *(["", *map(_pair, made.best)] if made.best else [])]


def _skeletons(made: Analogies) -> str:
    parts = [f"{made.plain:,} without a mechanism"]
    parts += [f"{made.commonplace:,} commonplace"] if made.commonplace else []
    parts += [f"{made.missing:,} still missing"] if made.missing else []
    return f"{made.texts - made.missing:,}: {', '.join(parts)}"


def _actual_cost(made: Analogies) -> str:
    if made.cost is None:
        return "unknown, since the model has no price in pgs.toml"
    return money(made.cost) if made.cost else ""


def _pair(one: Analogy) -> str:
    first, second = one_line(one.first, TITLE), one_line(one.second, TITLE)
    return f"  {first} ~ {second} (texts {one.raw:.2f}, skeletons {one.skeleton:.2f})"


def _texts(count: int, kept: int) -> str:
    """Return the number of texts, and how many of them have a stored skeleton."""
    return f"{counted(count, 'text')}, {kept:,} of them with a stored skeleton"
