"""Requests as fakes of the engine note them."""

from __future__ import annotations

from typing import Any

from pgs_neo4j.pgs.request import FIELDS, Request


def options_of(request: Request) -> dict[str, Any]:
    """Return the knobs of a request, and those of its options that are not None or False."""
    options = {name: getattr(request, field) for name, field in FIELDS.items()}
    return {name: value for name, value in options.items() if value} | dict(request.knobs)
