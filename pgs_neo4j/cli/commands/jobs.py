"""`pgs repartition` and `pgs jobs …`: run repartitions as jobs, and list the records of jobs.

`pgs repartition` is made for cron, systemd, and Kubernetes, and runs one job per graph. Ingestions
leave records of the same kind.
"""

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
from pgs_neo4j.cli.progress import Listener, progress
from pgs_neo4j.cli.run import code_of, run, worst
from pgs_neo4j.errors import DatabaseError, PGSError, UsageError
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, one_line, percent, plain, seconds

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS, EndedJob, Job


jobs_app = typer.Typer(no_args_is_help=True, help="List and show jobs; release a graph.")
MISSING = "--metrics-file needs the extra 'serve'; install it with: pip install 'pgs-neo4j[serve]'"
KINDS = {"ingest": "an ingestion", "repartition": "a repartition"}
WORDS = {
    "running": "running",
    "unchanged": "unchanged",
    "left": "left as it is",
    "refreshed": "refreshed where texts changed",
    "seeded": "repartitioned from its former partitions",
    "repartitioned": "repartitioned",
    "ingested": "ingested",
    "partial": "ingested in part",
    "busy": "another job holds the lock",
    "failed": "failed",
    "interrupted": "interrupted",
    "killed": "killed",
}


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
    """Print how jobs ended, and return the worst of their exit codes."""
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.engine import FailedJob

    if as_json:
        output.write_json({"jobs": [json_of.job(ended) for ended in jobs]})
    for ended in jobs:
        if isinstance(ended, FailedJob):
            message = job_line(ended) if several else str(ended.error)
            output.report_error(message, type(ended.error).__name__, code_of(ended.error))
        elif not as_json:
            output.write_lines([job_line(ended)])
    return exit_code(jobs)


def exit_code(jobs: list[EndedJob]) -> int:
    """Return the worst exit code of the jobs."""
    from pgs_neo4j.engine import FailedJob

    return worst(code_of(ended.error) for ended in jobs if isinstance(ended, FailedJob))


@dataclass(frozen=True, slots=True)
class MetricsFile:
    """A file of Prometheus metrics, replaced as a whole so that no reader sees half of it.

    With ``name`` None, nothing is written.
    """

    name: str | None

    def check(self) -> None:
        """Raise UsageError if the file cannot be written; called before any work."""
        if self.name is None:
            return
        if find_spec("prometheus_client") is None:
            raise UsageError(MISSING)
        check_target(self.name, force=True)

    async def write(self, pgs: PGS, jobs: list[EndedJob], exit_code: int) -> None:
        """Write how jobs ended, and the state of the graphs unless the database cannot be read."""
        if self.name is None:
            return
        from pgs_neo4j.engine.metrics import job_text

        try:
            states = await pgs.graphs.states()
        except DatabaseError:
            states = []
        write_whole(self.name, job_text(jobs, states, exit_code), force=True)

    @contextmanager
    def reporting_failure(self) -> Iterator[None]:
        """Write the file even if an error ends the command before a job begins."""
        try:
            yield
        except PGSError as error:
            if self.name is not None and not isinstance(error, UsageError):
                from pgs_neo4j.engine.metrics import job_text

                write_whole(self.name, job_text([], [], code_of(error)), force=True)
            raise


@jobs_app.command("list")
def list_(
    graph: GraphOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Maximum records to list.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the records of jobs, the latest first.

    A job is 'killed' if its process ended without recording it, and 'left' if the graph changed no
    more than --max-drift allows. An ingestion is 'partial' if a document failed, a limit ended it,
    or entities still wait for a description, and 'failed' if every document did. The newest 200 of
    each graph are stored.
    """
    run(_list(graph, limit, as_json=as_json))


async def _list(graph: str | None, limit: int, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.pages import tables

    async with database() as pgs:
        records = await pgs.jobs(graph, limit=limit)
    if as_json:
        output.write_json({"jobs": [json_of.job(job) for job in records]})
    elif records:
        output.write_table(tables.jobs(records))
    else:
        output.note("there is no job on record; 'pgs repartition' and 'pgs ingest' leave records")


@jobs_app.command("show")
def show(
    job: Annotated[str, typer.Argument(metavar="ID", help="The job's id.")],
    as_json: JsonOption = False,
) -> None:
    """Show one job: times, outcome, drift of the graph, and figures.

    Of an ingestion, it also lists documents that failed or wait, with reasons.
    """
    run(_show(job, as_json=as_json))


async def _show(job: str, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of

    async with database() as pgs:
        record = await pgs.jobs.get(job)
    if as_json:
        output.write_json(json_of.job(record))
    else:
        output.write_lines(describe(record))


@jobs_app.command("release")
def release(
    graph: Annotated[str, typer.Argument(metavar="GRAPH", help="The graph's name.")],
    as_json: JsonOption = False,
) -> None:
    """Take a graph's lease away from the job that holds it.

    Use it when the job is gone but its lease has not expired. If the job still runs, it can write
    nothing more and ends with exit code 4. Its unfinished partitions are discarded; the current
    ones stay.
    """
    run(_release(graph, as_json=as_json))


async def _release(graph: str, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database

    async with database() as pgs:
        holder = await pgs.jobs.release(graph)
    if as_json:
        output.write_json({"graph": graph, "released": plain_data(holder)})
    elif holder is None:
        output.write_lines([f"no job holds the lease of graph {graph}"])
    else:
        since = _time_text(holder.acquired_at)
        name = one_line(plain(holder.holder))
        output.write_lines([f"graph {graph} is released; {name} had held its lease since {since}"])


def describe(job: Job) -> list[str]:
    """Return the record of a job as lines of name and value."""
    figures = dict(job.figures)
    took = figures.pop("seconds", None)
    unfinished, more = figures.pop("unfinished", ()), figures.pop("unfinished_more", 0)
    rows: list[tuple[str, object]] = [
        ("job", f"{job.id}, {KINDS.get(job.kind, job.kind)} of graph {job.graph}"),
        ("outcome", f"{job.outcome} (silent)" if job.silent else job.outcome),
        ("started", f"{_time_text(job.started_at)} by {job.holder}"),
        ("finished", _time_text(job.finished_at) if job.finished_at else "-"),
        ("took", "-" if took is None else seconds(float(took))),
        ("drift", "-" if job.drift is None else percent(job.drift)),
        ("generation", job.generation or "-"),
        ("error", job.error or "-"),
    ]
    rows += [
        (name.replace("_", " "), _figure_text(value)) for name, value in sorted(figures.items())
    ]
    rows += [(one["state"], f"{one['id']}: {one['reason']}") for one in unfinished]
    rows += [("", f"and {more:,} more")] if more else []
    return [f"{name:<18}{one_line(plain(str(value)))}" for name, value in rows]


def _figure_text(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items()) or "-"
    return value


def _time_text(at: str) -> str:
    return f"{at[:19].replace('T', ' ')} UTC"


def job_line(ended: EndedJob) -> str:
    """Return how a job ended in one line: graph, outcome, figures, and id, or its error."""
    from pgs_neo4j.engine import FailedJob

    if isinstance(ended, FailedJob):
        outcome = ended.job.outcome if ended.job is not None else "failed"
        target = f"{one_line(ended.graph)}: " if ended.graph else ""
        return f"{target}{WORDS[outcome]}: {one_line(str(ended.error))}"
    figures = ended.figures
    parts = [f"{one_line(ended.graph)}: {WORDS[ended.outcome]}"]
    if "partitions" in figures:
        amount = f"{counted(figures['partitions'], 'partition')} of "
        parts.append(f"{amount}{counted(figures['nodes'], 'node')}")
        parts.append(f"modularity {figures['modularity']:.3f}")
    if ended.drift is not None:
        parts.append(f"drift {percent(ended.drift)}")
    if "seconds" in figures:
        parts.append(seconds(float(figures["seconds"])))
    return f"{', '.join(parts)} (job {ended.id})"
