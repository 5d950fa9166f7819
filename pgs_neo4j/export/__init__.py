"""Answers as Markdown, JSON, page, or notebook cell. Pure, no clock."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgs_neo4j.export.document import Area, AreaState, Document, SourceNode
    from pgs_neo4j.export.event_json import event_data
    from pgs_neo4j.export.json_text import to_json
    from pgs_neo4j.export.markdown import to_markdown
    from pgs_neo4j.export.notebook.answer import to_notebook
    from pgs_neo4j.export.page import policy, to_fragment, to_html

__all__ = [
    "Area",
    "AreaState",
    "Document",
    "SourceNode",
    "event_data",
    "policy",
    "to_fragment",
    "to_html",
    "to_json",
    "to_markdown",
    "to_notebook",
]

_HOMES = {
    "Area": "document",
    "AreaState": "document",
    "Document": "document",
    "SourceNode": "document",
    "event_data": "event_json",
    "policy": "page",
    "to_fragment": "page",
    "to_html": "page",
    "to_json": "json_text",
    "to_markdown": "markdown",
    "to_notebook": "notebook.answer",
}


def __getattr__(name: str) -> Any:
    # Lazy: most commands need only the wording, and no parser of Markdown.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
