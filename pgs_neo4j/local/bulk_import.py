"""Loads CSV files with Neo4j's offline importer: the way to set up a graph of millions.

The new store is built beside the database and takes its place only when it is complete, so
a failed import loses nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.errors import InputFileError, LocalServerError, UsageError
from pgs_neo4j.events import OnEvent, Progressed, StepStarted
from pgs_neo4j.local import config_files, credentials, java, launch, memory, process
from pgs_neo4j.local.locks import check, held
from pgs_neo4j.local.options import LocalOptions, LocalPaths, claim, paths_of, writing
from pgs_neo4j.local.readiness import probe
from pgs_neo4j.local.server import stop_locked
from pgs_neo4j.local.threads import delivered, in_thread

DATABASE = "neo4j"
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
    """What was loaded, and whether a running server was stopped for it."""

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
    """Fill the local server's database from CSV files, in place of what it holds.

    Each entry is ``path``, ``LABEL=path`` or ``path,path`` as Neo4j's importer has it;
    ``flags`` such as ``--array-delimiter=|`` are passed on to it. A running server is stopped
    and stays stopped. Raises InputFileError (a file is absent, or the importer refuses the
    content), UsageError (a flag is not one to pass on; a database that may hold data, without
    ``overwrite``), LocalServerError.
    """
    given = options or LocalOptions()
    arguments = [f"--nodes={_absolute(str(each))}" for each in nodes]
    arguments += [f"--relationships={_absolute(str(each))}" for each in relationships]
    if not nodes:
        raise UsageError("no file of nodes was given; name at least one with --nodes")
    arguments += _passed_on(flags)
    tell = delivered(on_event)
    return await in_thread(lambda cancelled: _import(given, arguments, overwrite, tell, cancelled))


def _import(
    options: LocalOptions,
    arguments: list[str],
    overwrite: bool,
    tell: OnEvent,
    cancelled: threading.Event,
) -> ImportResult:
    paths = paths_of(options)
    claim(paths)
    with held(paths.lock, "using the local server's data directory", cancelled), writing(paths):
        found = java.find_java(options.java_home)
        jars = launch.fetch(paths, options, tell, cancelled)
        if not overwrite:
            _refuse_to_replace(paths)
        stopped = stop_locked(paths, 60.0)
        size = memory.plan(options)
        try:
            _prepare(paths, config_files.neo4j_conf(0, size))
            command = [
                *config_files.admin_command(found.executable, jars, size.heap_mb),
                *("database", "import", "full", DATABASE, "--overwrite-destination"),
                f"--report-file={paths.logs / 'import.report'}",
                *arguments,
            ]
            output = _run(command, paths, tell, cancelled)
            _put_in_place(paths)
        finally:
            shutil.rmtree(paths.staging, ignore_errors=True)
    counts = {what: int(count) for count, what in _COUNT.findall(output)}
    return ImportResult(
        nodes=counts.get("nodes", 0),
        relationships=counts.get("relationships", 0),
        properties=counts.get("properties", 0),
        stopped_server=stopped,
    )


def _refuse_to_replace(paths: LocalPaths) -> None:
    if not (paths.data / "databases" / DATABASE).exists():
        return
    found, password = process.live(paths), credentials.read_password(paths)
    answer = probe(found[0].port, password) if found and password else None
    if answer is not None and answer.nodes == 0:
        return
    holds = f"holds {answer.nodes} nodes" if answer else "may hold data"
    raise UsageError(
        f"the local database {holds} and an import would replace all of it; "
        "say --overwrite if that is meant"
    )


def _prepare(paths: LocalPaths, conf: str) -> None:
    shutil.rmtree(paths.staging, ignore_errors=True)
    (paths.staging / "conf").mkdir(parents=True)
    (paths.staging / "conf" / "neo4j.conf").write_text(conf, encoding="ascii")
    paths.logs.mkdir(exist_ok=True)


def _run(command: list[str], paths: LocalPaths, tell: OnEvent, cancelled: threading.Event) -> str:
    """The importer's output; its process never outlives this call."""
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
                check(cancelled, "importing")
                lines.append(line)
                _tell_progress(line, tell)
        except BaseException:  # Leaving the block would otherwise wait for it to finish.
            running.kill()
            raise
    output = "".join(lines)
    (paths.logs / "import.log").write_text(output, encoding="utf-8")
    if running.returncode != 0:
        raise InputFileError(
            f"the import failed and the database is as it was: {_reason(lines)}; "
            f"see {paths.logs / 'import.log'}"
        )
    return output


def _tell_progress(line: str, tell: OnEvent) -> None:
    stage = _STAGE.match(line)
    if stage:
        tell(StepStarted("load", f"{stage[3].lower()} ({stage[1]} of {stage[2]})"))
    percent = _PERCENT.search(line) if line.startswith((".", "-")) else None
    if percent:
        tell(Progressed("load", int(percent[1]), 100, "percent"))


def _put_in_place(paths: LocalPaths) -> None:
    """Swap the finished store in by renaming; the former one is deleted last."""
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


def _reason(lines: list[str]) -> str:
    telling = [line.strip() for line in lines if re.search(r"rror|nvalid|xception|aused", line)]
    return (telling or [line.strip() for line in lines if line.strip()] or ["no reason given"])[
        0
    ].rstrip(".")[:300]


def _passed_on(flags: Sequence[str]) -> list[str]:
    for flag in flags:
        name = flag.partition("=")[0]
        if not name.startswith("--") or name in OWN_FLAGS:
            raise UsageError(
                f"{name!r} cannot be passed on to the importer; "
                "write its options as --name=value, without those set here"
            )
    return list(flags)


def _absolute(spec: str) -> str:
    """The entry with absolute paths, because the importer runs in another folder."""
    label, separator, files = spec.partition("=")
    if not separator or Path(spec).exists():
        label, files = "", spec
    parts = [_existing(Path(part).expanduser()) for part in files.split(",")]
    return f"{label}{separator if label else ''}{','.join(parts)}"


def _existing(path: Path) -> str:
    whole = path.parent.resolve() / path.name
    if not whole.is_file() and not _PATTERN_CHARACTERS.search(path.name):
        raise InputFileError(f"there is no file {path}; check the path")
    return str(whole)
