"""Reads the texts of a graph, and what a prompt shows of each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.queries import Row
from pgs_neo4j.llm.protocol import is_signed, reply_signature
from pgs_neo4j.model import Node, PromptNode
from pgs_neo4j.pgs.analogies.order import AnalogyOrder, AnalogyTools
from pgs_neo4j.pgs.analogies.skeletons import SYSTEM
from pgs_neo4j.pgs.sweeping.pieces import cut_node
from pgs_neo4j.text import node_text

SHOWN = (2_000, 1_000)
"""Characters and tokens that a prompt shows of one text."""
FORM = "1"
"""Of what keys are made; another one finds nothing of the former."""


@dataclass(frozen=True, slots=True)
class GraphText:
    """A node with text: all of it, what a prompt shows of it, and the key of its skeleton."""

    node: str
    title: str
    whole: str
    shown: PromptNode
    key: str
    shortened: bool


async def read_texts(order: AnalogyOrder, tools: AnalogyTools) -> list[GraphText]:
    """Return the texts of a graph in the order of their keys. Raises DatabaseError.

    That order depends on nothing but the texts and the model.
    """
    mapping = order.mapping
    return await tools.db.stream(
        queries.get("pgs/analogies/read_texts"),
        partial(_take_texts, _seed(order, tools)),
        labels=list(mapping.labels),
        text=mapping.text_properties,
        facts=mapping.facts,
        title=mapping.title_properties,
        key=mapping.key_properties,
    )


async def _take_texts(seed: str, rows: AsyncIterator[Row]) -> list[GraphText]:
    texts: list[GraphText] = []
    async for row in rows:
        node = node_text.node(rank=0, labels=(), **row)
        if node.text:
            texts.append(_text(node, seed))
    return sorted(texts, key=lambda text: (text.key, text.node))


def _text(node: Node, seed: str) -> GraphText:
    piece = next(cut_node(node, SHOWN))
    parts = (seed, piece.node.title, piece.node.text)
    digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass"))
    titled = node.text.startswith(node.title)
    return GraphText(
        node=node.element_id,
        title=node.title,
        whole=node.text if titled else f"{node.title}\n{node.text}",
        shown=piece.node,
        key=digest.hexdigest(),
        shortened=piece.parts > 1,
    )


def _seed(order: AnalogyOrder, tools: AnalogyTools) -> str:
    """Return everything but the text that decides a skeleton.

    A model that has no signature does not say all of it, so no later call finds its skeletons.
    """
    decides = reply_signature(tools.llm) if is_signed(tools.llm) else uuid4().hex
    return "\0".join((FORM, decides, str(order.config.sweep_effort), SYSTEM))
