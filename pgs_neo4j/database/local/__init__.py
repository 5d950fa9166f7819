"""Fetches, starts, and finds a private Neo4j with GDS on loopback.

This subpackage needs the extra ``local``. Without the extra, the import raises LocalServerError.
"""

from pgs_neo4j.database.local.bulk_import import ImportResult, bulk_import
from pgs_neo4j.database.local.dump_load import DumpResult, load_dump
from pgs_neo4j.database.local.logs import log_paths, log_tail
from pgs_neo4j.database.local.options import LocalOptions, options_from_environment
from pgs_neo4j.database.local.server import (
    LocalServer,
    LocalStatus,
    ensure_running,
    password_file,
    reset,
    status,
    stop,
)

__all__ = [
    "DumpResult",
    "ImportResult",
    "LocalOptions",
    "LocalServer",
    "LocalStatus",
    "bulk_import",
    "ensure_running",
    "load_dump",
    "log_paths",
    "log_tail",
    "options_from_environment",
    "password_file",
    "reset",
    "status",
    "stop",
]
