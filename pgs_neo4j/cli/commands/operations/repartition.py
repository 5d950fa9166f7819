"""`pgs repartition`: one job per graph, for cron, systemd, and Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.files import check_target, write_whole
from pgs_neo4j.cli.knob_options import knob_option
from pgs_neo4j.cli.options import GraphOption, JsonOption, QuietOption, VerboseOption
from pgs_neo4j.cli.progress.listen import Listener, progress
from pgs_neo4j.cli.run import code_of, run, worst
from pgs_neo4j.errors import DatabaseError, PGSError, UsageError
from pgs_neo4j.text.json_data import Json

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS, EndedJob

MISSING = "--metrics-file needs the extra 'serve'; install it with: pip install 'pgs-neo4j[serve]'"


def repartition(
    graph: GraphOption = None,
    all_graphs: Annotated[
        bool, typer.Option("--all", help="Repartition all stored graphs in turn.")
    ] = False,
    if_changed: Annotated[
        bool, typer.Option("--if-changed", help="Skip graphs that did not change.")
    ] = False,
    max_drift: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=1.0, help="Skip graphs that changed by at most this share (0 to 1)."
        ),
    ] = None,
    keep: Annotated[int | None, knob_option("keep_generations", min=1)] = None,
    metrics_file: Annotated[
        str | None, typer.Option("--metrics-file", help="Also write metrics for Prometheus here.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Repartition graphs as jobs that leave a record.

    One job per graph runs at a time. --max-drift implies --if-changed. The partitions in use
    stay until the new ones are complete. 'pgs jobs list' shows the records.

    Exit codes: 0 done or nothing to do, 2 usage, 4 another job holds the lock, 5 database,
    130 interrupted. With --all, the worst code of all jobs; 4 is the mildest.

    \b
      pgs repartition --graph papers --if-changed --json
      pgs repartition --all --max-drift 0.05 --keep 3
    """
    changed = if_changed or max_drift is not None
    limits = {"if_changed": changed, "max_drift": max_drift, "keep": keep}
    listening = progress(quiet=quiet, verbose=verbose)
    metrics = MetricsFile(metrics_file)
    run(_repartition(graph, all_graphs, limits, listening, metrics, as_json=as_json))


async def _repartition(
    graph: str | None,
    all_graphs: bool,
    limits: Json,
    listening: AbstractContextManager[Listener],
    metrics: MetricsFile,
    *,
    as_json: bool,
) -> int:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.engine import JobOrder

    if graph is not None and all_graphs:
        raise UsageError("--graph cannot be combined with --all; leave one of them out")
    order = JobOrder(**limits)
    metrics.check()
    with listening as listener, metrics.reporting_failure():
        async with database(listener) as pgs:
            if all_graphs:
                jobs = await pgs.jobs.attempt_all(order)
            else:
                jobs = [await pgs.jobs.attempt(graph, order)]
            await metrics.write(pgs, jobs, exit_code(jobs))
    if not jobs:
        output.note("no graph is stored in this database yet; 'pgs graph add' stores one")
    return report(jobs, as_json=as_json, several=all_graphs)


def report(jobs: list[EndedJob], *, as_json: bool, several: bool) -> int:
    """Print how jobs ended; returns their exit code."""
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.pages.job_words import line
    from pgs_neo4j.engine import FailedJob

    if as_json:
        output.write_json({"jobs": [json_of.job(ended) for ended in jobs]})
    for ended in jobs:
        if isinstance(ended, FailedJob):
            message = line(ended) if several else str(ended.error)
            output.report_error(message, type(ended.error).__name__, code_of(ended.error))
        elif not as_json:
            output.write_lines([line(ended)])
    return exit_code(jobs)


def exit_code(jobs: list[EndedJob]) -> int:
    """Return the worst exit code of some jobs."""
    from pgs_neo4j.engine import FailedJob

    return worst(code_of(ended.error) for ended in jobs if isinstance(ended, FailedJob))


@dataclass(frozen=True, slots=True)
class MetricsFile:
    """A file that is written whole each time, so that no reader sees half of it; None: no file."""

    name: str | None

    def check(self) -> None:
        """Raise UsageError before any work if the file cannot be written."""
        if self.name is None:
            return
        if find_spec("prometheus_client") is None:
            raise UsageError(MISSING)
        check_target(self.name, force=True)

    async def write(self, pgs: PGS, jobs: list[EndedJob], exit_code: int) -> None:
        """Write how jobs ended, and how the graphs stand if the database tells."""
        if self.name is None:
            return
        from pgs_neo4j.engine.metrics.jobs import job_text

        try:
            states = await pgs.graphs.states()
        except DatabaseError:
            states = []
        write_whole(self.name, job_text(jobs, states, exit_code), force=True)

    @contextmanager
    def reporting_failure(self) -> Iterator[None]:
        """Also write the file when no job could begin."""
        try:
            yield
        except PGSError as error:
            if self.name is not None and not isinstance(error, UsageError):
                from pgs_neo4j.engine.metrics.jobs import job_text

                write_whole(self.name, job_text([], [], code_of(error)), force=True)
            raise
