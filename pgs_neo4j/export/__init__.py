"""Writes answers as Markdown, JSON, an HTML page, tables, or a notebook cell.

All functions are pure and read no clock.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgs_neo4j.export.document import Area, AreaState, Document, SourceNode
    from pgs_neo4j.export.json_text import event_data, to_json
    from pgs_neo4j.export.markdown import to_markdown
    from pgs_neo4j.export.notebook import to_notebook
    from pgs_neo4j.export.page import policy, to_fragment, to_html
    from pgs_neo4j.export.tabular.formats import BYTE_ORDER_MARK, restore_text, to_csv, to_parquet
    from pgs_neo4j.export.tabular.tables import Table, answer_table, runs_table

__all__ = [
    "BYTE_ORDER_MARK",
    "Area",
    "AreaState",
    "Document",
    "SourceNode",
    "Table",
    "answer_table",
    "event_data",
    "policy",
    "restore_text",
    "runs_table",
    "to_csv",
    "to_fragment",
    "to_html",
    "to_json",
    "to_markdown",
    "to_notebook",
    "to_parquet",
]

_HOMES = {
    "BYTE_ORDER_MARK": "tabular.formats",
    "Area": "document",
    "AreaState": "document",
    "Document": "document",
    "SourceNode": "document",
    "Table": "tabular.tables",
    "answer_table": "tabular.tables",
    "event_data": "json_text",
    "policy": "page",
    "restore_text": "tabular.formats",
    "runs_table": "tabular.tables",
    "to_csv": "tabular.formats",
    "to_fragment": "page",
    "to_html": "page",
    "to_json": "json_text",
    "to_markdown": "markdown",
    "to_notebook": "notebook",
    "to_parquet": "tabular.formats",
}


def __getattr__(name: str) -> Any:
    # Imports are lazy, because most commands need only ``wording`` and no Markdown parser.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
