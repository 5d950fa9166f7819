"""``--metrics-file``: how a command ended, for the textfile collector of node_exporter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pgs_neo4j.cli.files import check_target, write_whole
from pgs_neo4j.cli.run import code_of
from pgs_neo4j.errors import DatabaseError, PGSError, UsageError

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS, EndedJob

MISSING = "--metrics-file needs the extra 'serve'; install it with: pip install 'pgs-neo4j[serve]'"


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
        from pgs_neo4j.metrics.jobs import job_text

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
                from pgs_neo4j.metrics.jobs import job_text

                write_whole(self.name, job_text([], [], code_of(error)), force=True)
            raise
