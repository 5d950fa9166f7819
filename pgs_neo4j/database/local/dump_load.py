"""Loads a dump of a Neo4j database into the local server.

As with imports, the store is built beside the database and replaces it only when the new store is
complete. The server must also be able to open the store's format. Until then, a running server is
not stopped.
"""

from __future__ import annotations

import re
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.database.local import runtime
from pgs_neo4j.database.local.blocking import deliver_events, in_thread
from pgs_neo4j.database.local.bulk_import import (
    DATABASE,
    OnLine,
    holding_store,
    prepare_staging,
    put_in_place,
    refuse_to_replace,
    run_admin,
)
from pgs_neo4j.database.local.options import (
    LocalOptions,
    LocalPaths,
    paths_of,
)
from pgs_neo4j.database.local.server import stop_locked
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.events import OnEvent, Progressed, StepStarted

MAGIC = (b"DZV1", b"DGV1")
"""The first bytes of a dump, compressed with Zstandard or gzip, since Neo4j 4.0."""
LOG = "load.log"
_PERCENT = re.compile(r"data:\s+(\d{1,3})\.\d%")
_FORMAT = re.compile(r"^Store format version:\s+(\S+)", re.MULTILINE)
_SUPERSEDED = re.compile(r"^Store format superseded in:\s+(\S+)", re.MULTILINE)
_OPENED = re.compile(r"record-(?:aligned|standard)-")
"""Store formats that Neo4j Community opens. All other formats belong to Neo4j Enterprise."""
STOP_S = 60.0


@dataclass(frozen=True, slots=True)
class DumpResult:
    """The store format and bytes of a loaded dump, and whether a server was stopped."""

    store_format: str
    size_bytes: int
    stopped_server: bool


async def load_dump(
    options: LocalOptions | None = None,
    *,
    dump: str | Path,
    overwrite: bool = False,
    on_event: OnEvent | None = None,
) -> DumpResult:
    """Replace the content of the local server's database with the content of a dump.

    The dump is a file from ``neo4j-admin database dump`` with any name. A running server is stopped
    once the new store is complete, and stays stopped. Raises InputFileError (the file is absent,
    not a dump, or damaged, or the server cannot open its store), UsageError (the database may
    contain data and ``overwrite`` is not set), LocalServerError. After an error, the database is
    unchanged.
    """
    report, chosen = deliver_events(on_event), options or LocalOptions()
    return await in_thread(
        lambda cancelled: _load(chosen, Path(dump), overwrite, report, cancelled)
    )


def check_dump(path: Path) -> None:
    """Raise InputFileError unless the first bytes of a file are the first bytes of a dump."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(MAGIC[0]))
    except OSError as error:
        raise InputFileError(
            f"the dump {path} cannot be read ({error.strerror}); check the path"
        ) from None
    if begins not in MAGIC:
        raise InputFileError(
            f"{path} is no dump of a Neo4j database; make one with 'neo4j-admin database dump', or "
            "import CSV files with --nodes"
        )


def _load(
    options: LocalOptions,
    dump: Path,
    overwrite: bool,
    report: OnEvent,
    cancelled: threading.Event,
) -> DumpResult:
    dump = dump.expanduser().absolute()
    check_dump(dump)
    paths = paths_of(options)
    with holding_store(paths, options, overwrite, report, cancelled) as (release, java_path, jars):
        size = runtime.plan_memory(options)
        admin = runtime.admin_command(java_path, jars, size.heap_mb)
        try:
            prepare_staging(paths, runtime.neo4j_conf(0, size))
            source = _name_for_loader(paths, dump)
            report(StepStarted("load", "loading the dump"))
            command = (*admin, "database", "load", DATABASE, f"--from-path={source}")
            run_admin([*command, "--overwrite-destination=true"], paths, report_progress(report),
                      cancelled, log=LOG, what="loading the dump")  # fmt: skip
            store_format = _check_format(admin, paths, cancelled)
            if not overwrite:
                refuse_to_replace(paths)  # The running server may have received data since.
            stopped = stop_locked(paths, STOP_S)
            paths.release.write_text(f"{release.name}\n", encoding="ascii")
            put_in_place(paths)
        finally:
            shutil.rmtree(paths.staging, ignore_errors=True)
    return DumpResult(store_format, dump.stat().st_size, stopped)


def report_progress(report: OnEvent) -> OnLine:
    """Return a function that reads the loader's lines and reports an event for each percent."""
    last = -1

    def read(line: str) -> None:
        nonlocal last
        if (percent := _PERCENT.search(line)) and int(percent[1]) > last:
            last = int(percent[1])
            report(Progressed("load", last, 100, "percent"))

    return read


def _ignore_line(line: str) -> None:
    del line


def _name_for_loader(paths: LocalPaths, dump: Path) -> Path:
    """Link the dump under the name that the loader expects, and return the link's folder."""
    folder = paths.staging / "from"
    folder.mkdir()
    link = folder / f"{DATABASE}.dump"
    try:
        link.symlink_to(dump)
    except OSError:  # Windows lets only some users make links.
        shutil.copyfile(dump, link)
    return folder


def _check_format(admin: list[str], paths: LocalPaths, cancelled: threading.Event) -> str:
    """Return the format of the loaded store. Raises InputFileError if Community cannot open it."""
    output = run_admin([*admin, "database", "info", DATABASE], paths, _ignore_line, cancelled,
                       log="info.log", what="reading the store of the dump")  # fmt: skip
    found = _FORMAT.search(output)
    store_format = found[1] if found else "unknown"
    if found and not _OPENED.match(store_format):
        raise InputFileError(
            f"the dump has a store of the format {store_format}, which Neo4j Community does not "
            "open; on the server that it comes from, run 'neo4j-admin database migrate "
            "--to-format=aligned' on the database, then dump it again"
        )
    if superseded := _SUPERSEDED.search(output):
        raise InputFileError(
            f"the dump has a store of the format {store_format}, which Neo4j {superseded[1]} "
            "replaced; load it into a newer Neo4j, run 'neo4j-admin database migrate' on it, then "
            "dump it again"
        )
    return store_format
