"""An answer as a file: Markdown, JSON, a page, a notebook cell. Pure, no I/O, no clock."""

from pgs_neo4j.export.document import Area, AreaState, Document, SourceNode
from pgs_neo4j.export.json_text import to_json
from pgs_neo4j.export.markdown import to_markdown
from pgs_neo4j.export.notebook import to_notebook
from pgs_neo4j.export.page import to_html

__all__ = [
    "Area",
    "AreaState",
    "Document",
    "SourceNode",
    "to_html",
    "to_json",
    "to_markdown",
    "to_notebook",
]
