"""LightRAG on the same nodes, relationships, and vectors, where it is installed.

Its stores are its defaults: files, loaded into memory. No language model takes part; keywords are
those that ``pgs search`` takes from a question without a model.
"""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pgs_neo4j.database.connection import Database
from pgs_neo4j.llm.protocol import Embedder
from pgs_neo4j.text.keywords import extract_keywords
from tests.bench.rivals import Ranked

NODES = """
MATCH (n:LoadedNode) RETURN elementId(n) AS id, n.title AS title, n.text AS text ORDER BY id
"""
LINKS = """
MATCH (a:LoadedNode)-[r]->(b:LoadedNode)
WHERE NOT type(r) STARTS WITH 'PGS_' AND a <> b
RETURN elementId(a) AS source, elementId(b) AS target, r.weight AS weight
"""
MODES = ("naive", "local", "global", "hybrid", "mix")
UNBOUNDED = 10**7
"""Tokens; no list is cut before its top."""


class _Letters:
    """A tokenizer without a vocabulary to download: a token is a character."""

    def encode(self, content: str) -> list[int]:
        return [ord(letter) for letter in content]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))


@asynccontextmanager
async def lightrag(
    database: Database, embedder: Embedder | None, top: int
) -> AsyncIterator[Mapping[str, Ranked]]:
    """Each mode of LightRAG; empty without it, or without vectors."""
    if find_spec("lightrag") is None or embedder is None:
        yield {}
        return
    LightRAG = import_module("lightrag").LightRAG  # noqa: N806
    utils = import_module("lightrag.utils")

    logging.getLogger("lightrag").setLevel(logging.ERROR)

    async def embed(texts: list[str], **ignored: Any) -> Any:
        rows = np.array(await embedder.embed(texts))
        # A vector of zeros has no cosine, and its store would take what comes of it for the best.
        rows[~rows.any(axis=1)] = -1 / math.sqrt(rows.shape[1])
        return rows

    async def no_model(*asked: Any, **ignored: Any) -> str:
        raise RuntimeError("no language model takes part")

    with TemporaryDirectory() as folder:
        rag = LightRAG(
            working_dir=str(Path(folder)),
            tokenizer=utils.Tokenizer("letters", _Letters()),
            llm_model_func=no_model,
            embedding_func=utils.EmbeddingFunc(embedding_dim=embedder.dimensions or 0, func=embed),
            cosine_better_than_threshold=-1.0,
        )
        await rag.initialize_storages()
        try:
            ids = await _fill(rag, database)
            yield {f"lightrag {mode}": _ranked(rag, mode, ids, top) for mode in MODES}
        finally:
            await rag.finalize_storages()


async def _fill(rag: Any, database: Database) -> Mapping[str, str]:
    """Insert every node as an entity and a chunk; return element ids by entity and by file."""
    _, nodes = await database.call(NODES, {}, "read")
    _, links = await database.call(LINKS, {}, "read")
    name = {node["id"]: f"Node {place}" for place, node in enumerate(nodes)}
    title = {node["id"]: node["title"] for node in nodes}
    await rag.ainsert_custom_kg(
        {
            "chunks": [
                {
                    "content": f"{node['title']}\n{node['text'] or ''}",
                    "source_id": name[node["id"]],
                    "file_path": name[node["id"]],
                }
                for node in nodes
            ],
            "entities": [
                {
                    "entity_name": name[node["id"]],
                    "entity_type": "document",
                    "description": f"{node['title']}\n{node['text'] or ''}",
                    "source_id": name[node["id"]],
                    "file_path": name[node["id"]],
                }
                for node in nodes
            ],
            "relationships": [
                {
                    "src_id": name[link["source"]],
                    "tgt_id": name[link["target"]],
                    "description": f"{title[link['source']]}; {title[link['target']]}",
                    "keywords": "",
                    "weight": float(link["weight"] or 1.0),
                    "source_id": name[link["source"]],
                }
                for link in links
            ],
        }
    )
    return {own: node for node, own in name.items()}


def _ranked(rag: Any, mode: str, ids: Mapping[str, str], top: int) -> Ranked:
    QueryParam = import_module("lightrag").QueryParam  # noqa: N806

    async def ranked(question: str) -> list[str]:
        keywords = extract_keywords(question)
        asked = QueryParam(
            mode=mode,
            only_need_context=True,
            top_k=top,
            chunk_top_k=top,
            max_entity_tokens=UNBOUNDED,
            max_relation_tokens=UNBOUNDED,
            max_total_tokens=UNBOUNDED,
            hl_keywords=list(keywords.high),
            ll_keywords=list(keywords.low),
            enable_rerank=False,
        )
        data = (await rag.aquery_data(question, asked)).get("data", {})
        entities = [one["entity_name"] for one in data.get("entities", ())]
        chunks = [one["file_path"] for one in data.get("chunks", ())]
        order = entities if mode == "local" else [*chunks, *entities]
        return list(dict.fromkeys(ids[one] for one in order if one in ids))

    return ranked
