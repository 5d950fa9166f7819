"""Texts of a graph, and tools that need no database."""

from __future__ import annotations

from typing import Any, cast

from pgs_neo4j.events import ignore
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import PromptNode
from pgs_neo4j.pgs.analogies.texts import AnalogyTools, GraphText


def graph_text(place: int, body: str = "a body") -> GraphText:
    """The text of one node; texts of the same place have the same key."""
    shown = PromptNode("n1", f"title {place}", body)
    return GraphText(f"node {place}", shown.title, body, shown, f"key {place}", shortened=False)


def analogy_tools(calls: Any, **given: Any) -> AnalogyTools:
    """A scripted model and an embedder that hashes words, unless others are given."""
    usual: dict[str, Any] = {
        "db": cast("Any", None),
        "llm": ScriptedLLM(),
        "embedder": HashingEmbedder(),
        "on_event": ignore,
    }
    return AnalogyTools(calls=calls, **usual | given)
