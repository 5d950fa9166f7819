"""An embedder that costs money and runs in this process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import PGSError
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.llm.protocol import EmbeddedTexts
from pgs_neo4j.model import Usage
from tests.fakes.openai_server import vector_of


class ScriptedEmbedder:
    """Gives each text a vector of its letters. The next calls raise ``failures``."""

    threshold: float | None = None

    def __init__(self, name: str = "scripted", dimensions: int = 8) -> None:
        self.name = name
        self.dimensions: int | None = dimensions
        self.calls: list[list[str]] = []
        self.failures: list[PGSError | None] = []
        self._size = dimensions

    @property
    def texts(self) -> list[str]:
        """All texts that it was given, in order."""
        return [text for call in self.calls for text in call]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of some texts, without counting a call."""
        return unit(np.array([vector_of(text, self._size) for text in texts], np.float32))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.failures and (error := self.failures.pop(0)):
            raise error
        self.calls.append([*texts])
        return self.vectors(texts)

    async def close(self) -> None:
        """Do nothing, since nothing is open."""


class MeteredEmbedder(ScriptedEmbedder):
    """Counts one token per letter, and shares the pace of an endpoint."""

    model = "m"

    def __init__(self) -> None:
        super().__init__("endpoint/m")
        self.pace = Pace()

    async def embed_once(self, texts: Sequence[str]) -> EmbeddedTexts:
        used = Usage(calls=1, input_tokens=sum(map(len, texts)))
        return EmbeddedTexts(await self.embed(texts), used)
