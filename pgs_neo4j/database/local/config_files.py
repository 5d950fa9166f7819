"""Configuration file and Java command line of the local Neo4j."""

from __future__ import annotations

from pathlib import Path

from pgs_neo4j.database.local.memory import Memory
from pgs_neo4j.database.local.options import LocalPaths

HOST = "127.0.0.1"
ADMIN_CLASS = "org.neo4j.cli.AdminTool"

# The part of the flags of Neo4j's own launcher that Community and GDS need.
OPENED = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
)
# GDS asks a library how large Java's objects are. To find out, the library would start five Java
# processes that attach to this one, and the first projection would take four seconds longer. What
# it computes without them leads to the same estimates of memory.
UNATTACHED = "-Djol.skipHotspotSAAttach=true"
# Measured on lfr_1e5. Below this heap the serial collector is as fast with 0.8 GB less memory.
# Above it the parallel collector keeps full collections short. Both start faster than G1.
PARALLEL_FROM_HEAP_MB = 2048
INITIAL_HEAP_MB = 256


def neo4j_conf(port: int, memory: Memory) -> str:
    """Return the text of neo4j.conf: loopback, no HTTP, no usage report, GDS.

    It names no folder, because Neo4j mangles a path in this file that is not ASCII. All folders
    are Neo4j's defaults below its home.
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
        # Otherwise a statement could read any file that this user can read.
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "dbms.usage_report.enabled": "false",
        # The query log would contain parameters, and so questions and texts.
        "db.logs.query.enabled": "OFF",
        # Otherwise an empty server uses half a gigabyte of disk.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.retention_policy": "2 days 512M",
        # The quiet time, twice five seconds at each stop, only helps load balancers.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def server_command(
    java: Path, jars: Path, server_class: str, paths: LocalPaths, memory: Memory, marker: str
) -> list[str]:
    """Return the command of the server process.

    ``marker`` identifies it among processes.
    """
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

    ``brief`` is for work of a second, which better compiled code would not make shorter.
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
