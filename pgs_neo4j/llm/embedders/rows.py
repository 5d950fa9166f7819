"""Embeds texts into the rows of a matrix, in as many calls as their endpoint needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import ModelError
from pgs_neo4j.llm.embedders.fitting import Call, FittedEmbedding, TextFit, TextVector
from pgs_neo4j.llm.protocol import Embedder
from pgs_neo4j.text.shown import counted

# OpenAI's documented limits: 2,048 inputs a request, and 300,000 tokens summed over them. Estimates
# may be off, so we stay well below. Fewer inputs bound the reply.
BATCH_INPUTS = 512
BATCH_TOKENS = 100_000
CONCURRENT_BATCHES = 4
MOST_FAILURES = 3  # texts that fail alone before an endpoint is given up


async def embed_rows(
    embedder: Embedder,
    fit: TextFit,
    call: Call,
    texts: Sequence[str],
    *,
    most_failures: int = MOST_FAILURES,
) -> NDArray[np.float32]:
    """Return unit rows ``(n, d)`` in the order of ``texts``, zero for blank ones.

    Blank texts are not sent. A row is also zero for a text that the model has no vector of, which
    ``fit`` notes. Raises the first error of a text when there are ``most_failures``, or no vectors,
    and what ``call`` raises.
    """
    found: dict[int, NDArray[np.float32]] = {}
    failures: list[ModelError] = []

    async def take(vectors: Sequence[TextVector]) -> None:
        found.update((one.place, one.vector) for one in vectors if one.vector.any())

    embedding = FittedEmbedding(
        embedder=embedder,
        fit=fit,
        call=call,
        take=take,
        refuse=lambda _, error: failures.append(error),
        most_texts=BATCH_INPUTS,
        most_tokens=BATCH_TOKENS,
        workers=CONCURRENT_BATCHES,
        ended=lambda: len(failures) >= most_failures,
    )
    await embedding.embed(texts)
    if failures and (not found or len(failures) >= most_failures):
        raise failures[0]
    if failures:
        fit.lessons.add(f"made no vector of {counted(len(failures), 'text')}")
    width = max(map(len, found.values()), default=embedder.dimensions or 0)
    rows = np.zeros((len(texts), width), dtype=np.float32)
    for place, vector in found.items():
        rows[place] = vector
    return rows
