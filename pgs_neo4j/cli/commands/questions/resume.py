"""`pgs resume`: complete a run that ended early, without paying twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pgs_neo4j.cli.commands.questions.knobs import LIMITS
from pgs_neo4j.cli.knob_options import with_knobs
from pgs_neo4j.cli.options import JsonOption, QuietOption, RunArgument
from pgs_neo4j.cli.progress.listen import run_progress
from pgs_neo4j.cli.run import run as run_command

if TYPE_CHECKING:
    from pgs_neo4j.cli.commands.questions.delivery import Asked
    from pgs_neo4j.config import Knobs
    from pgs_neo4j.events import OnEvent


@with_knobs(*LIMITS)
def resume(
    run: RunArgument, as_json: JsonOption = False, quiet: QuietOption = False, **knobs: object
) -> None:
    """Resume a run that ended early.

    The run may have reached a limit, been interrupted, failed, or answered only in part. What
    was read and paid for is not paid for again. The run keeps its options. Its limits start
    over; pass new ones to change them, or 'none' to lift one. A complete run just returns its
    answer.

    Exit codes: 0 done, 2 usage, 3 partial answer, or a limit was reached before any answer,
    4 the run is in progress, 5 database, 6 model, 130 interrupted.

    \b
      pgs resume r0a1b2c3d4e5
      pgs resume r0a1b2c3d4e5 --max-calls 50
    """
    run_command(_resume(run, knobs, as_json=as_json, quiet=quiet))


async def _resume(run: str, knobs: dict[str, object], *, as_json: bool, quiet: bool) -> int:
    from pgs_neo4j.cli.commands.questions.delivery import answered
    from pgs_neo4j.cli.connection import engine

    with run_progress(quiet=quiet) as listener:
        async with engine(listener) as pgs:

            async def ask(on_event: OnEvent) -> Asked:
                return await pgs.resume(run, on_event=on_event, **cast("Knobs", knobs)), None

            return await answered(pgs, ask, listener, as_json=as_json)
