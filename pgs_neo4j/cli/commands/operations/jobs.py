"""`pgs jobs …`: records of repartitions and ingestions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import GraphOption, JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.shown import one_line, percent, plain, seconds

if TYPE_CHECKING:
    from pgs_neo4j.engine import Job

KINDS = {"ingest": "an ingestion", "repartition": "a repartition"}

jobs_app = typer.Typer(no_args_is_help=True, help="List and show jobs; release a graph.")


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
    from pgs_neo4j.text.json_data import plain_data

    async with database() as pgs:
        holder = await pgs.jobs.release(graph)
    if as_json:
        output.write_json({"graph": graph, "released": plain_data(holder)})
    elif holder is None:
        output.write_lines([f"no job holds the lease of graph {graph}"])
    else:
        since = _clock(holder.acquired_at)
        name = one_line(plain(holder.holder))
        output.write_lines([f"graph {graph} is released; {name} had held its lease since {since}"])


def describe(job: Job) -> list[str]:
    """Return a record in lines."""
    figures = dict(job.figures)
    took = figures.pop("seconds", None)
    unfinished, more = figures.pop("unfinished", ()), figures.pop("unfinished_more", 0)
    rows: list[tuple[str, object]] = [
        ("job", f"{job.id}, {KINDS.get(job.kind, job.kind)} of graph {job.graph}"),
        ("outcome", f"{job.outcome} (silent)" if job.silent else job.outcome),
        ("started", f"{_clock(job.started_at)} by {job.holder}"),
        ("finished", _clock(job.finished_at) if job.finished_at else "-"),
        ("took", "-" if took is None else seconds(float(took))),
        ("drift", "-" if job.drift is None else percent(job.drift)),
        ("generation", job.generation or "-"),
        ("error", job.error or "-"),
    ]
    rows += [(name.replace("_", " "), _figure(value)) for name, value in sorted(figures.items())]
    rows += [(one["state"], f"{one['id']}: {one['reason']}") for one in unfinished]
    rows += [("", f"and {more:,} more")] if more else []
    return [f"{name:<18}{one_line(plain(str(value)))}" for name, value in rows]


def _figure(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items()) or "-"
    return value


def _clock(at: str) -> str:
    return f"{at[:19].replace('T', ' ')} UTC"
