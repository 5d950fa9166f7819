"""Other packages that make a graph of the same texts, where they are installed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.bench.ingestion.embedding import TableEmbedder
from tests.bench.ingestion.replies import graphrag_json, lightrag_records
from tests.bench.ingestion.spent import Spent, Watch
from tests.bench.store import Server

AT_ONCE = 16
CHUNK_CHARACTERS = 6000
"""Larger than each text, so that all of these packages make one chunk of it."""


class _Letters:
    """A tokenizer without a vocabulary to download: a token is a character."""

    def encode(self, content: str) -> list[int]:
        return [ord(letter) for letter in content]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))


async def spent_by_lightrag(texts: Sequence[str], folder: Path) -> Spent | None:
    """Return what LightRAG takes; None without it.

    Its stores are its defaults, and nothing is gleaned.
    """
    if find_spec("lightrag") is None:
        return None
    LightRAG = import_module("lightrag").LightRAG  # noqa: N806
    utils = import_module("lightrag.utils")
    logging.getLogger("lightrag").setLevel(logging.ERROR)
    model_s = 0.0
    embedder = TableEmbedder()

    async def extract(prompt: str, **ignored: Any) -> str:
        nonlocal model_s
        began = perf_counter()
        reply = lightrag_records(prompt)
        model_s += perf_counter() - began
        return reply

    async def embed(wanted: list[str], **ignored: Any) -> Any:
        return await embedder.embed(wanted)

    rag = LightRAG(
        working_dir=str(folder),
        tokenizer=utils.Tokenizer("letters", _Letters()),
        llm_model_func=extract,
        embedding_func=utils.EmbeddingFunc(embedding_dim=embedder.dimensions, func=embed),
        chunk_token_size=CHUNK_CHARACTERS,
        entity_extract_max_gleaning=0,
        llm_model_max_async=AT_ONCE,
        embedding_func_max_async=AT_ONCE,
    )
    await rag.initialize_storages()
    try:
        watch = Watch()
        names = [f"{number}.txt" for number in range(len(texts))]
        await rag.ainsert([*texts], ids=names, file_paths=names)
        return watch.stop(model_s)
    finally:
        await rag.finalize_storages()


async def spent_by_graphrag(texts: Sequence[str], server: Server, warm: int) -> Spent | None:
    """Return the same of neo4j-graphrag's SimpleKGPipeline; None without it.

    It needs APOC in the server. Documents are written one after another; the first ``warm`` come
    twice, and only the second time counts.
    """
    if find_spec("neo4j_graphrag") is None:
        return None
    neo4j = import_module("neo4j")
    kg_builder = import_module("neo4j_graphrag.experimental.pipeline.kg_builder")
    splitter = import_module("neo4j_graphrag.components.text_splitters.fixed_size_splitter")
    llms = import_module("neo4j_graphrag.llm")
    base = import_module("neo4j_graphrag.embeddings.base").Embedder
    logging.getLogger("neo4j_graphrag").setLevel(logging.ERROR)
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    model_s = 0.0
    vectors = TableEmbedder().table.tolist()

    class Instant(llms.LLMInterface):  # type: ignore[name-defined, misc]
        def invoke(self, input: str, *ignored: Any, **more: Any) -> Any:  # noqa: A002
            nonlocal model_s
            began = perf_counter()
            reply = llms.LLMResponse(content=graphrag_json(input))
            model_s += perf_counter() - began
            return reply

        async def ainvoke(self, input: str, *ignored: Any, **more: Any) -> Any:  # noqa: A002
            return self.invoke(input)

    class Embed(base):  # type: ignore[misc, valid-type]
        def embed_query(self, text: str) -> list[float]:
            found: list[float] = vectors[hash(text) % len(vectors)]
            return found

    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        pipeline = kg_builder.SimpleKGPipeline(
            llm=Instant("instant"),
            driver=driver,
            embedder=Embed(),
            from_file=False,
            on_error="RAISE",
            text_splitter=splitter.FixedSizeSplitter(CHUNK_CHARACTERS, 200),
            schema="FREE",
        )
        for text in texts[:warm]:
            await pipeline.run_async(text=text)
        watch, model_s = Watch(server.pid), 0.0
        for text in texts:
            await pipeline.run_async(text=text)
        return watch.stop(model_s)
