"""`pgs schedule`: run the jobs of pgs.toml at their set times, in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgs_neo4j.cli import logs, output
from pgs_neo4j.cli.commands.jobs import job_line
from pgs_neo4j.cli.options import JsonLinesOption
from pgs_neo4j.cli.run import DONE, PARTIAL, code_of, run, worst
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.shown import counted

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from pgs_neo4j.config.schedule_table import ScheduleEntry
    from pgs_neo4j.engine import PGS
    from pgs_neo4j.engine.schedule import Ended, Planned
    from pgs_neo4j.model.ingest import Ingested


def schedule(
    once: Annotated[
        bool, typer.Option("--once", help="Run every entry now, in turn, and exit.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Print when each entry runs next, and exit.")
    ] = False,
    as_json: JsonLinesOption = False,
) -> None:
    """Repartition graphs and ingest files at set times.

    Runs until SIGTERM or Ctrl-C, which ends the current job and cleans up after it. Each
    finished job prints one line on stderr, or with --json one line of JSON on stdout. Jobs run
    one at a time; a failure does not stop the rest.

    \b
      [[schedule]]
      graph = "papers"          # or: all = true
      cron = "17 3 * * *"       # as in crontab
      timezone = "Europe/Oslo"  # default: that of this machine
      if_changed = true         # false: every time, changed or not
      max_drift = 0.05          # optional, as in pgs repartition
      keep = 3                  # optional

    \b
      [[schedule]]
      kind = "ingest"
      graph = "notes"
      paths = ["/home/me/notes"]
      cron = "7 * * * *"
      sync = true               # optional; also max_cost = 2 and the like
    """
    run(_schedule(once, show, as_json=as_json))


async def _schedule(once: bool, show: bool, *, as_json: bool) -> int:
    from pgs_neo4j import config
    from pgs_neo4j.engine.schedule import plan, run_forever, run_once

    if once and show:
        raise UsageError("--once cannot be combined with --show; leave one of them out")
    logs.apply_settings()
    planned = plan(config.load().settings.schedule)
    if show:
        _show(planned, as_json=as_json)
        return DONE
    watcher = JobPrinter(planned, as_json)
    if once:
        await run_once(planned, _connect_for, watcher)
        return worst(watcher.codes)
    first = min(planned, key=lambda item: item.next_at())
    output.note(
        f"{counted(len(planned), 'entry', 'entries')} scheduled, the next is "
        f"{first.entry.target} at {_time_text(first.next_at())}"
    )
    try:
        await run_forever(planned, _connect_for, watcher)
    except asyncio.CancelledError:
        # A signal is the normal end of a scheduler; the current job has been cleaned up.
        output.note("the schedule has ended")
    return DONE


def _connect_for(entry: ScheduleEntry) -> AbstractAsyncContextManager[PGS]:
    """Open the engine for the job of an entry; only an ingestion needs a model."""
    from pgs_neo4j.cli.connection import database, engine

    return engine() if entry.kind == "ingest" else database()


@dataclass(slots=True)
class JobPrinter:
    """Prints a line for each finished job, and collects the exit codes."""

    planned: Sequence[Planned]
    as_json: bool
    codes: list[int] = field(default_factory=list)

    def ended(self, number: int, ended: Ended) -> None:
        """Print one line on a finished job: JSON on stdout, or text on stderr."""
        from pgs_neo4j.engine import FailedJob
        from pgs_neo4j.model.ingest import Ingested
        from pgs_neo4j.telemetry.logs import log_ids

        job = ended.job if isinstance(ended, FailedJob | Ingested) else ended
        with log_ids(job=job if isinstance(job, str) else job.id if job is not None else ""):
            self._print_job(number, ended)

    def _print_job(self, number: int, ended: Ended) -> None:
        from pgs_neo4j.cli.pages import as_json as json_of
        from pgs_neo4j.engine import FailedJob
        from pgs_neo4j.model.ingest import Ingested

        if isinstance(ended, Ingested):
            self._print_ingestion(number, ended)
            return
        if isinstance(ended, FailedJob):
            self.codes.append(code_of(ended.error))
        if self.as_json:
            output.write_json_line({"entry": number, **json_of.job(ended)})
        elif isinstance(ended, FailedJob):
            output.write_error(f"{_now()} {job_line(ended)}")
        else:
            output.note(f"{_now()} {job_line(ended)}")

    def _print_ingestion(self, number: int, done: Ingested) -> None:
        from pgs_neo4j.cli.pages import ingested

        self.codes.append(DONE if done.complete and not done.partly_read else PARTIAL)
        if self.as_json:
            output.write_json_line({"entry": number, "kind": "ingest", **ingested.as_json(done)})
        else:
            output.note(f"{_now()} {ingested.line(done)}")

    def skipped(self, number: int, why: str) -> None:
        """Print one line on a skipped job, on stderr."""
        target = self.planned[number - 1].entry.target
        output.note(f"{_now()} {target}: skipped, because {why}")


def _show(planned: Sequence[Planned], *, as_json: bool) -> None:
    rows: list[dict[str, Any]] = [
        {
            "entry": item.number,
            **item.entry.model_dump(mode="json", by_alias=True),
            "next_at": item.next_at().isoformat(),
        }
        for item in planned
    ]
    if as_json:
        output.write_json({"schedule": rows})
        return
    from pgs_neo4j.cli.pages import tables

    cells = (
        (item.number, item.entry.target, item.entry.cron, _time_text(item.next_at()))
        for item in planned
    )
    output.write_table(tables.table(("entry>", "what", "cron", "next"), cells))


def _time_text(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M %Z}"


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
