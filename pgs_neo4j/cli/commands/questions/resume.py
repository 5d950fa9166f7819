"""`pgs resume`: a run that ended early goes on, and what it has paid for is not paid again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgs_neo4j.cli.options import (
    CallsBound,
    CostBound,
    JsonOption,
    QuietOption,
    RunArgument,
    TimeBound,
    TokensBound,
)
from pgs_neo4j.cli.progress.listen import run_progress
from pgs_neo4j.cli.run import run as run_command

if TYPE_CHECKING:
    from pgs_neo4j.cli.commands.questions.asking import Asked
    from pgs_neo4j.events import OnEvent


def resume(
    run: RunArgument,
    max_calls: CallsBound = None,
    max_tokens: TokensBound = None,
    max_cost: CostBound = None,
    timeout: TimeBound = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Go on with a run that ended early.

    It may have been stopped by a bound, interrupted, or failed, or have answered in part. What
    was read and paid for is not paid for again. The run keeps its options. Its bounds count
    anew from here; give others to change them, or 'none' to lift one. A run that is complete
    just gives its answer.

    Exit codes: 0 done, 2 usage, 3 partial answer, or stopped by a bound before there was one,
    4 the run is still going on, 5 database, 6 model, 130 interrupted.

    \b
      pgs resume r0a1b2c3d4e5
      pgs resume r0a1b2c3d4e5 --max-calls 50
    """
    knobs = {
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_cost": max_cost,
        "run_timeout_s": timeout,
    }
    run_command(_resume(run, knobs, as_json=as_json, quiet=quiet))


async def _resume(run: str, knobs: dict[str, Any], *, as_json: bool, quiet: bool) -> int:
    from pgs_neo4j.cli.commands.questions.asking import answered
    from pgs_neo4j.cli.connection import engine

    with run_progress(quiet=quiet) as shown:
        async with engine(shown) as pgs:

            async def ask(on_event: OnEvent) -> Asked:
                return await pgs.resume(run, on_event=on_event, **knobs), None

            return await answered(pgs, ask, shown, as_json=as_json)
