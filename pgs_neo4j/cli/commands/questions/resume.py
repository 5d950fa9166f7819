"""`pgs resume`: complete a run that ended early, without paying twice."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, cast

from pgs_neo4j.cli.commands.questions.knobs import LIMITS
from pgs_neo4j.cli.knob_options import with_knobs
from pgs_neo4j.cli.options import (
    JsonOption,
    LatestOfOption,
    ModelOption,
    QuietOption,
    RunArgument,
    VerboseOption,
    model_settings,
)
from pgs_neo4j.cli.progress.listen import Listener, run_progress
from pgs_neo4j.cli.run import run as run_command
from pgs_neo4j.errors import UsageError

if TYPE_CHECKING:
    from pgs_neo4j.cli.commands.questions.delivery import Asked
    from pgs_neo4j.config import Knobs
    from pgs_neo4j.events import OnEvent


@with_knobs(*LIMITS)
def resume(
    run: RunArgument = None,
    graph: LatestOfOption = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **knobs: object,
) -> None:
    """Resume a run or an ingestion that ended early.

    The run may have reached a limit, been interrupted, failed, or answered only in part. What
    was read and paid for is not paid for again. The run keeps its options. Its limits start
    over; pass new ones to change them, or 'none' to lift one. A complete run just returns its
    answer. Without RUN, resumes the latest run; 'pgs runs' lists the runs.

    To continue an ingestion, pass the id of its job; 'pgs jobs list' shows it. It keeps its
    options, and its limits start over.

    Exit codes: 0 done, 2 usage, 3 partial answer, limit reached, or a document failed, 4 the run
    or another ingestion is in progress, 5 database, 6 model, 130 interrupted.

    \b
      pgs resume
      pgs resume r0a1b2c3d4e5 --max-calls 50
      pgs resume j0a1b2c3d4e5
    """
    listening = run_progress(quiet=quiet, verbose=verbose)
    if run is not None and run.startswith("j"):
        run_command(_resume_ingestion(run, graph, model, knobs, listening, as_json=as_json))
    else:
        run_command(_resume(run, graph, model, knobs, listening, as_json=as_json, quiet=quiet))


async def _resume_ingestion(
    job: str,
    graph: str | None,
    model: str | None,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
) -> int:
    from pgs_neo4j.cli.commands.graphs.ingest import tell_ingested
    from pgs_neo4j.cli.connection import engine

    if graph is not None:
        raise UsageError("--graph chooses the latest run of a graph; leave it out for a job")
    with listening as listener:
        async with engine(listener, **model_settings(model)) as pgs:
            done = await pgs.ingest.resume(job, **cast("Knobs", knobs))
    return tell_ingested(done, as_json=as_json)


async def _resume(
    name: str | None,
    graph: str | None,
    model: str | None,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    from pgs_neo4j.cli.commands.questions.delivery import answered
    from pgs_neo4j.cli.commands.questions.latest import run_id
    from pgs_neo4j.cli.connection import engine

    with listening as listener:
        async with engine(listener, **model_settings(model)) as pgs:
            run = await run_id(pgs, name, graph, quiet=quiet)

            async def ask(on_event: OnEvent) -> Asked:
                return await pgs.resume(run, on_event=on_event, **cast("Knobs", knobs)), None

            return await answered(pgs, ask, listener, as_json=as_json)
