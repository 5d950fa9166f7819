"""Reads the descriptions of the installed packages, which are mostly their READMEs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from typing import Any

from pgs_neo4j.model.documents import DocumentSource

PACKAGE_QUESTIONS = (
    "Which of these packages talk to databases, servers, or models over a network, and what do "
    "they say about timeouts, retries, and errors?",
    "Which packages test, check, or format code, and what do they leave to others?",
)
ENDINGS = {"text/markdown": ".md", "text/x-rst": ".rst"}
"""File endings by the media type of a description; other descriptions are plain text."""
SHORTEST = 40
"""Minimum characters of a description; shorter descriptions are placeholders."""
_SEPARATORS = re.compile(r"[-_.]+")


def read_packages(installed: Iterable[Distribution] | None = None) -> list[DocumentSource]:
    """Return the description of each installed package as a document, by name.

    If a package is installed twice, the first one counts, because Python imports that one.
    """
    found: dict[str, DocumentSource] = {}
    for distribution in distributions() if installed is None else installed:
        data: dict[str, Any] = distribution.metadata.json if distribution.metadata else {}
        name = _SEPARATORS.sub("-", data.get("name") or "").lower()
        text = (data.get("description") or "").strip()
        if name and name not in found and len(text) >= SHORTEST:
            media_type = (data.get("description_content_type") or "").partition(";")[0]
            ending = ENDINGS.get(media_type.strip().lower(), ".txt")
            found[name] = DocumentSource(id=name + ending, data=f"{text}\n")
    return [found[name] for name in sorted(found)]
