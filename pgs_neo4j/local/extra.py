"""The sentence for those who installed the package without its extra ``local``."""

from __future__ import annotations

from pgs_neo4j.errors import LocalServerError


def missing(error: ImportError) -> LocalServerError:
    """The error to raise when a library of the extra ``local`` is not installed."""
    return LocalServerError(
        f"the local server needs the package {error.name}; "
        "install pgs-neo4j with its extra: pip install 'pgs-neo4j[local]'"
    )
