"""Loads CSV files of millions of nodes with Neo4j's offline importer.

The new store is built beside the database and replaces the database only when the new store is
complete. So a failed import loses nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pgs_neo4j.database.local import credentials, launch, process, runtime
from pgs_neo4j.database.local.blocking import (
    deliver_events,
    hold_lock,
    in_thread,
    raise_if_cancelled,
)
from pgs_neo4j.database.local.launch import probe
from pgs_neo4j.database.local.lockfile import Release
from pgs_neo4j.database.local.options import (
    LocalOptions,
    LocalPaths,
    choose_release,
    claim,
    paths_of,
    translate_disk_errors,
)
from pgs_neo4j.database.local.server import stop_locked
from pgs_neo4j.errors import InputFileError, LocalServerError, UsageError
from pgs_neo4j.events import OnEvent, Progressed, StepStarted
from pgs_neo4j.text.shown import counted

DATABASE = "neo4j"
LOG = "import.log"
OnLine = Callable[[str], None]
"""Receives each line that Neo4j's offline tool prints."""
OWN_FLAGS = (
    "--nodes",
    "--relationships",
    "--overwrite-destination",
    "--report-file",
    "--additional-config",
    "--verbose",
)
_STAGE = re.compile(r"^\((\d)/(\d)\) (.+?) \d{4}-")
_PERCENT = re.compile(r"\s(\d{1,3})% ")
_COUNT = re.compile(r"^\s+(\d+) (nodes|relationships|properties)\s*$", re.MULTILINE)
_PATTERN_CHARACTERS = re.compile(r"[*+?\[\](){}|\\^$]")


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The counts of loaded items, and whether a server was stopped."""

    nodes: int
    relationships: int
    properties: int
    stopped_server: bool


async def bulk_import(
    options: LocalOptions | None = None,
    *,
    nodes: Sequence[str | Path],
    relationships: Sequence[str | Path] = (),
    overwrite: bool = False,
    flags: Sequence[str] = (),
    on_event: OnEvent | None = None,
) -> ImportResult:
    """Replace the content of the local server's database with CSV files.

    Each entry is ``path``, ``LABEL=path``, or ``path,path``, as Neo4j's importer expects it. The
    importer also gets ``flags`` such as ``--array-delimiter=|``. A running server is stopped and
    stays stopped. Raises InputFileError (a file is absent, or the importer refuses its content),
    UsageError (there is no file of nodes, a flag must not be passed on, or the database may contain
    data and ``overwrite`` is not set), LocalServerError.
    """
    chosen = options or LocalOptions()
    arguments = [f"--nodes={_make_absolute(str(entry))}" for entry in nodes]
    arguments += [f"--relationships={_make_absolute(str(entry))}" for entry in relationships]
    if not nodes:
        raise UsageError("there is no file of nodes; name at least one with --nodes")
    arguments += _check_flags(flags)
    report = deliver_events(on_event)
    return await in_thread(
        lambda cancelled: _import(chosen, arguments, overwrite, report, cancelled)
    )


def _import(
    options: LocalOptions,
    arguments: list[str],
    overwrite: bool,
    report: OnEvent,
    cancelled: threading.Event,
) -> ImportResult:
    paths = paths_of(options)
    with holding_store(paths, options, overwrite, report, cancelled) as (release, java_path, jars):
        stopped = stop_locked(paths, 60.0)
        size = runtime.plan_memory(options)
        try:
            prepare_staging(paths, runtime.neo4j_conf(0, size))
            command = [
                *runtime.admin_command(java_path, jars, size.heap_mb),
                *("database", "import", "full", DATABASE, "--overwrite-destination"),
                f"--report-file={paths.logs / 'import.report'}",
                *arguments,
            ]
            output = run_admin(command, paths, partial(_report_progress, report=report), cancelled)
            paths.release.write_text(f"{release.name}\n", encoding="ascii")
            put_in_place(paths)
        finally:
            shutil.rmtree(paths.staging, ignore_errors=True)
    counts = {what: int(count) for count, what in _COUNT.findall(output)}
    return ImportResult(
        nodes=counts.get("nodes", 0),
        relationships=counts.get("relationships", 0),
        properties=counts.get("properties", 0),
        stopped_server=stopped,
    )


@contextmanager
def holding_store(
    paths: LocalPaths,
    options: LocalOptions,
    overwrite: bool,
    report: OnEvent,
    cancelled: threading.Event,
) -> Iterator[tuple[Release, Path, Path]]:
    """Hold the lock of the data directory, and yield the release, its Java, and its jars.

    Raises UsageError if the database may contain data and ``overwrite`` is not set.
    """
    claim(paths)
    with (
        hold_lock(paths.lock, "using the local server's data directory", cancelled),
        translate_disk_errors(paths),
    ):
        release = choose_release(paths, options)
        java = runtime.find_java(options.java_home, release.java)
        jars = launch.fetch(release, paths, options, report, cancelled)
        if not overwrite:
            refuse_to_replace(paths)
        yield release, java.executable, jars


def refuse_to_replace(paths: LocalPaths) -> None:
    """Raise UsageError if the database may contain data."""
    if not (paths.data / "databases" / DATABASE).exists():
        return
    server, password = process.find_live(paths), credentials.read_password(paths)
    readiness = probe(server[0].port, password, server[1]) if server and password else None
    if readiness is not None and readiness.nodes == 0:
        return
    holds = f"holds {counted(readiness.nodes, 'node')}" if readiness else "may hold data"
    raise UsageError(
        f"the local database {holds} and an import would replace all of it; "
        "add --overwrite to replace it"
    )


def prepare_staging(paths: LocalPaths, conf: str) -> None:
    """Create an empty folder for building a new store."""
    shutil.rmtree(paths.staging, ignore_errors=True)
    (paths.staging / "conf").mkdir(parents=True)
    (paths.staging / "conf" / "neo4j.conf").write_text(conf, encoding="ascii")
    paths.logs.mkdir(exist_ok=True)


def run_admin(
    command: list[str],
    paths: LocalPaths,
    on_line: OnLine,
    cancelled: threading.Event,
    *,
    log: str = LOG,
    what: str = "the import",
) -> str:
    """Run Neo4j's offline tool in the staging folder and return its output.

    An error or a cancellation kills the tool. The output is also written to the file ``log`` in the
    logs folder. Raises InputFileError if the tool fails.
    """
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=paths.staging,
        env=credentials.admin_environment(paths.staging),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as running:
        try:
            assert running.stdout is not None
            for line in running.stdout:
                raise_if_cancelled(cancelled, "importing")
                lines.append(line)
                on_line(line)
        except BaseException:  # Without the kill, leaving the block would wait for the process.
            running.kill()
            raise
    output = "".join(lines)
    (paths.logs / log).write_text(output, encoding="utf-8")
    if running.returncode != 0:
        raise InputFileError(
            f"{what} failed and changed nothing: {_find_reason(lines)}; see {paths.logs / log}"
        )
    return output


def _report_progress(line: str, report: OnEvent) -> None:
    stage = _STAGE.match(line)
    if stage:
        report(StepStarted("load", f"{stage[3].lower()} ({stage[1]} of {stage[2]})"))
    percent = _PERCENT.search(line) if line.startswith((".", "-")) else None
    if percent:
        report(Progressed("load", int(percent[1]), 100, "percent"))


def put_in_place(paths: LocalPaths) -> None:
    """Replace the old store by the new one with renames. Raises LocalServerError.

    The old store moves to the staging folder, which the caller deletes afterwards.
    """
    former = paths.staging / "former"
    try:
        for kind in ("databases", "transactions"):
            place = paths.data / kind / DATABASE
            place.parent.mkdir(parents=True, exist_ok=True)
            (former / kind).mkdir(parents=True, exist_ok=True)
            if place.exists():
                place.rename(former / kind / DATABASE)
            (paths.staging / "data" / kind / DATABASE).rename(place)
    except OSError as error:
        raise LocalServerError(
            f"the imported store could not be put in place ({error.strerror}); "
            "import again with --overwrite"
        ) from error


def _find_reason(lines: list[str]) -> str:
    relevant = [line.strip() for line in lines if re.search(r"rror|nvalid|xception|aused", line)]
    return (relevant or [line.strip() for line in lines if line.strip()] or ["no reason given"])[
        0
    ].rstrip(".")[:300]


def _check_flags(flags: Sequence[str]) -> list[str]:
    for flag in flags:
        name = flag.partition("=")[0]
        if not name.startswith("--") or name in OWN_FLAGS:
            raise UsageError(
                f"{name!r} cannot be passed to the importer; "
                "write options as --name=value, and leave out those set by this command"
            )
    return list(flags)


def _make_absolute(spec: str) -> str:
    """Make the paths of an entry absolute, because the importer runs in another folder."""
    label, separator, files = spec.partition("=")
    if not separator or Path(spec).exists():
        label, files = "", spec
    parts = [_find_file(Path(part).expanduser()) for part in files.split(",")]
    return f"{label}{separator if label else ''}{','.join(parts)}"


def _find_file(path: Path) -> str:
    absolute = path.parent.resolve() / path.name
    if not absolute.is_file() and not _PATTERN_CHARACTERS.search(path.name):
        raise InputFileError(f"there is no file {path}; check the path")
    return str(absolute)
