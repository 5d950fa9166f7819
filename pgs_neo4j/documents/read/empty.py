"""Tells a file with nothing in it from one that cannot be read."""

from __future__ import annotations

from pgs_neo4j.errors import InputFileError


class EmptyDocumentError(InputFileError):
    """A source was read to its end, and has nothing to read: it has no document."""
