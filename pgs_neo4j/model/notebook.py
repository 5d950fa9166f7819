"""How values look in notebooks, which is decided above them."""

from __future__ import annotations

from importlib import import_module

RENDERERS = "pgs_neo4j.export.notebook"
"""Renders values. It stands above them and imports them, so it is found by name."""


def render(value: object) -> str:
    """Return a value as an HTML fragment for ``_repr_html_``."""
    fragment: str = import_module(RENDERERS).render(value)
    return fragment
