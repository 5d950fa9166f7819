"""Describes whose analogies are wanted, and which connections find them."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import ConfigError, NoTextError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.protocol import LLM, Embedder, is_free
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.add_command import text_command


@dataclass(frozen=True, slots=True)
class AnalogyOrder:
    """A graph whose analogies are to be found."""

    graph: str
    mapping: GraphMapping
    config: PGSConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalogyTools:
    """The connections that find analogies."""

    db: Database
    llm: LLM
    embedder: Embedder
    calls: Calls
    on_event: OnEvent


def check_analogies(order: AnalogyOrder, tools: AnalogyTools) -> None:
    """Raise an error if the analogies of a graph cannot be made.

    It is ConfigError without a language model, or without the price that a limit needs, and
    NoTextError for a mapping that names no text.
    """
    if isinstance(tools.llm, ExtractiveLLM):
        raise ConfigError(
            "analogies need a language model, and the extractive reader only quotes sentences; "
            "choose a model with PGS_LLM_PROVIDER=openai and PGS_SWEEP_MODEL"
        )
    if not order.mapping.has_text:
        raise NoTextError(
            f"graph {order.graph} names no text to compare; name a property that holds text with "
            f"{text_command(order.graph, order.mapping)}"
        )
    tools.calls.budget.check({tools.llm.name: is_free(tools.llm)})
