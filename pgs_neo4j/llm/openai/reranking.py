"""Relevance from any endpoint with the common ``/rerank`` interface."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from pgs_neo4j.errors import ModelOutputError, ModelRateLimitError
from pgs_neo4j.llm.openai.body_errors import parse_error, status_error
from pgs_neo4j.llm.openai.ceiling import limited_body
from pgs_neo4j.llm.openai.endpoint import Endpoint, timeout_error, translate
from pgs_neo4j.llm.retry import with_retries
from pgs_neo4j.model.ceilings import ranking_bytes
from pgs_neo4j.text.cut import cut
from pgs_neo4j.text.tokens import estimate

if TYPE_CHECKING:
    import openai

TEXT_BYTES = 4_000
"""Bytes of one text that are sent; most models of this kind read about 500 tokens."""
QUESTION_BYTES = 4_000


class _Result(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    index: Annotated[int, Field(ge=0)]
    relevance_score: Annotated[float, Field(allow_inf_nan=False)]


class _Results(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    results: list[_Result]


class HTTPReranker:
    """A relevance model behind an endpoint; reads 4,000 bytes per text."""

    def __init__(self, endpoint: Endpoint, model: str | None = None) -> None:
        self.name = model or "unnamed"
        self._model = model
        self._endpoint = endpoint
        self._client: openai.AsyncOpenAI | None = None

    async def rank(self, question: str, texts: Sequence[str]) -> list[int]:
        """Return the places of ``texts`` by their relevance, most relevant first.

        Blank texts are not sent, and an endpoint may leave out others. Raises ModelOutputError when
        a result names no text, or one twice. Other errors are those of the chat model.
        """
        places = [place for place, text in enumerate(texts) if text.strip()]
        if not places:
            return []
        sent = [cut(texts[place], TEXT_BYTES, TEXT_BYTES) for place in places]
        reply = await with_retries(
            lambda: self._paced(cut(question, QUESTION_BYTES, QUESTION_BYTES), sent),
            deadline=asyncio.get_running_loop().time() + self._endpoint.timeout_s,
            timeout_error=timeout_error(self._endpoint, self.name),
        )
        return [places[index] for index in self._in_order(reply, len(sent))]

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _paced(self, question: str, texts: Sequence[str]) -> _Results:
        pace, tokens = self._endpoint.pace, estimate(question) + sum(map(estimate, texts))
        async with pace.entered(tokens) as paid:
            try:
                return await self._request(question, texts)
            except ModelRateLimitError as error:
                paid.used = 0
                if error.retry is not None and error.retry.wait_s:
                    pace.hold(error.retry.wait_s, asyncio.get_running_loop().time())
                raise

    async def _request(self, question: str, texts: Sequence[str]) -> _Results:
        import httpx2
        import openai

        if self._client is None:
            self._client = self._endpoint.open()
        body: Mapping[str, object] = {
            **({"model": self._model} if self._model else {}),
            "query": question,
            "documents": [*texts],
            "top_n": len(texts),
        }
        size = ranking_bytes(len(texts), sum(len(text.encode()) for text in texts))
        try:
            with limited_body(size, f"{self._endpoint.host} (model {self.name})"):
                raw = await self._client.post("/rerank", cast_to=httpx2.Response, body=body)
            if error := parse_error(raw.content):
                raise status_error(error, raw)
            return _Results.model_validate_json(raw.content)
        except (openai.OpenAIError, ValueError) as failed:
            raise translate(failed, self._endpoint, self.name) from None

    def _in_order(self, reply: _Results, count: int) -> list[int]:
        """Return the indexes of a reply by descending score; ties keep the order of texts."""
        indexes = {result.index for result in reply.results}
        if not indexes or len(indexes) < len(reply.results) or max(indexes) >= count:
            raise ModelOutputError(
                f"the model endpoint {self._endpoint.host} (model {self.name}) did not send one "
                "relevance_score for each text; use another rerank_model"
            )
        ordered = sorted(reply.results, key=lambda result: (-result.relevance_score, result.index))
        return [result.index for result in ordered]
