"""Renders values in notebooks, by a renderer from a higher layer."""

from __future__ import annotations

from importlib import import_module

RENDERERS = "pgs_neo4j.export.notebook"
"""The module that renders values. It imports the models, so it is imported by name on demand."""


def render(value: object) -> str:
    """Return a value as an HTML fragment for ``_repr_html_``."""
    fragment: str = import_module(RENDERERS).render(value)
    return fragment
