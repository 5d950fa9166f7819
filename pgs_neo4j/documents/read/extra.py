"""The error for an installation without the extra ``documents``."""

from __future__ import annotations

from pgs_neo4j.errors import InputFileError


def missing_extra(error: ImportError, needed_for: str) -> InputFileError:
    """Return the error for a missing library of the extra."""
    return InputFileError(
        f"{needed_for} needs the package {error.name}; install pgs-neo4j with its extra: "
        "pip install 'pgs-neo4j[documents]'"
    )
