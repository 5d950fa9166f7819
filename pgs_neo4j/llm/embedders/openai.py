"""Embeds texts at any OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pgs_neo4j.errors import EmbeddingError, ModelRateLimitError, PromptCutError
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.embedders.fitting import CONCURRENT_BATCHES, TextFit, embed_rows
from pgs_neo4j.llm.embedders.reading import Then, is_vector
from pgs_neo4j.llm.lessons import ToldLessons
from pgs_neo4j.llm.openai.body_errors import parse_error, status_error
from pgs_neo4j.llm.openai.endpoint import Endpoint, error_text, timeout_error, translate
from pgs_neo4j.llm.openai.recognizing import AskedServer
from pgs_neo4j.llm.openai.replies import limited_body
from pgs_neo4j.llm.openai.served import PLACES, read_text_limit, root_of
from pgs_neo4j.llm.openai.usage import count_read
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.llm.protocol import EmbeddedTexts
from pgs_neo4j.llm.retry import wait_sentence, with_retries
from pgs_neo4j.llm.tracing import ServedAt
from pgs_neo4j.model import Usage
from pgs_neo4j.model.ceilings import CALL_TOKENS, longest_wait_s, vectors_bytes
from pgs_neo4j.text.tokens import estimate

if TYPE_CHECKING:
    import openai
    from numpy.typing import NDArray

MODEL = "text-embedding-3-small"
# OpenAI's documented limit is 8,192 tokens an input. Estimates may be off, so this limit is lower.
INPUT_TOKENS = 4_500
ENCODING_REFUSED = (400, 422, 500, 501)


class _Vector(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    index: Annotated[int, Field(ge=0)]
    embedding: str | list[float | None]  # llama.cpp sends null instead of NaN


def _parse_count(value: object) -> int | None:
    """Return the tokens of a usage; None for an impossible count, since the vectors are still good.

    ``value`` is an object with ``prompt_tokens``, or a number.
    """
    if isinstance(value, dict):
        value = value.get("prompt_tokens")
    return value if isinstance(value, int) and 0 <= value <= CALL_TOKENS else None


class _Vectors(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    data: list[_Vector]
    usage: Annotated[int | None, BeforeValidator(_parse_count)] = None


class _NativeVectors(BaseModel):
    """The vectors in a reply of Ollama, in the order of the texts."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    embeddings: list[list[float | None]]
    usage: Annotated[
        int | None, BeforeValidator(_parse_count), Field(alias="prompt_eval_count")
    ] = None


class OpenAIEmbedder:
    """An embedding model behind an endpoint.

    A text is embedded in pieces (see ``pieces``) if it is longer than the model reads, or than some
    16,000 bytes. ``context`` is the configured limit for a text, in tokens.
    """

    threshold: float | None = None

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        model: str = MODEL,
        served_as: str | None = None,
        dimensions: int | None = None,
        context: int | None = None,
    ) -> None:
        self.name = f"openai/{served_as or model}" + (f"-{dimensions}" if dimensions else "")
        self.dimensions = dimensions
        self.model = model
        self._served_as = served_as or model
        self._endpoint = replace(endpoint, words=endpoint.words.for_embedding)
        preset = endpoint.preset
        # Whether the server is Ollama; None as long as it was not asked.
        self._is_ollama = None if preset is None else preset.wire == "ollama"
        self._server = AskedServer(endpoint)
        self._sent_dimensions = dimensions
        self._client: openai.AsyncOpenAI | None = None
        self._slots = asyncio.Semaphore(CONCURRENT_BATCHES)
        # Base64 needs a quarter of the bytes of a list, but some servers refuse it, and others
        # refuse the parameter itself. None leaves the parameter out. A reply with lists is always
        # accepted.
        self._encoding: Literal["base64", "float"] | None = "base64"
        self.fit = TextFit(most=INPUT_TOKENS, refuses=endpoint.refuses)
        if context is not None:
            self.fit.limit(context)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in float32; zero for blank texts.

        Blank texts are not sent. If the model makes no vector of a text, its row is also zero, and
        a lesson reports it. Raises EmbeddingError if no text has a vector, and if a vector is
        missing or its length differs from the others or from ``dimensions``. Also raises the
        errors of the chat model.
        """
        return await embed_rows(self, self.fit, self._call, texts)

    @property
    def pace(self) -> Pace:
        """The pace that all models of one endpoint and key share."""
        return self._endpoint.pace

    @property
    def served_at(self) -> ServedAt:
        """The provider and the host that answer this model's calls."""
        return self._endpoint.served_at("openai")

    @property
    def may_cut(self) -> bool:
        """Whether the endpoint may cut a long text, because it is not known to refuse one."""
        return not self._endpoint.refuses and not self._is_ollama

    async def ask_limit(self) -> None:
        """Ask the server for its limit for a text, at no cost. Raises nothing."""
        if self._is_ollama is None:
            self._is_ollama = await self._server.is_ollama()
        if self._is_ollama or self._endpoint.refuses:
            self.fit.refuses = True
            return
        if self._client is None:
            self._client = self._endpoint.open()
        preset = self._endpoint.preset
        places = PLACES if preset is None else preset.limits
        limit = await read_text_limit(self._client, self._endpoint.url, self._served_as, places)
        if limit is not None:
            self.fit.limit(limit.tokens)
            self.fit.refuses = limit.refuses

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return one sentence for each lesson about the endpoint that a run has not reported."""
        return self.fit.take_lessons(f"{self._endpoint.host} (model {self.model})", told)

    async def embed_once(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Embed texts like ``embed``, but in one call and one try.

        If all texts are blank, no call is made.
        """
        kept = [(row, _replace_surrogates(text)) for row, text in enumerate(texts) if text.strip()]
        if not kept:
            return EmbeddedTexts(np.zeros((len(texts), self.dimensions or 0), np.float32), Usage())
        sent = [text for _, text in kept]
        reply = await self._request(sent)
        usage = count_read(sent, reply.usage)
        self._check_given(sent, reply.usage, usage)
        try:
            vectors = self._check_vectors(reply, len(sent))
            if not all(map(is_vector, vectors)):
                raise self._missing_vector_error()
        except EmbeddingError as error:
            error.usage = usage
            raise
        rows = np.zeros((len(texts), vectors.shape[1]), np.float32)
        rows[[row for row, _ in kept]] = vectors
        return EmbeddedTexts(rows, usage)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _call(self, texts: Sequence[str], then: Then) -> None:
        """Embed some texts in one call, with retries."""
        await then(await self._send_call([_replace_surrogates(text) for text in texts]))

    async def _send_call(self, texts: list[str]) -> EmbeddedTexts:
        """Send a call with retries. A wait that is too long becomes part of its error."""
        async with self._slots:
            try:
                content = await with_retries(
                    lambda: self._request_at_pace(texts),
                    deadline=asyncio.get_running_loop().time() + self._endpoint.timeout_s,
                    timeout_error=timeout_error(self._endpoint, self.model),
                )
            except ModelRateLimitError as error:
                longest_s = longest_wait_s(self._endpoint.timeout_s)
                wait_s = error.retry.wait_s if error.retry is not None else None
                if wait_s is None or wait_s <= longest_s:
                    raise
                said = wait_sentence(str(error), wait_s, longest_s)
                raise ModelRateLimitError(f"{said}; ask again after that") from None
        usage = count_read(texts, content.usage)
        self._check_given(texts, content.usage, usage)
        return EmbeddedTexts(self._check_vectors(content, len(texts)), usage)

    def _check_vectors(self, reply: _Vectors, count: int) -> NDArray[np.float32]:
        """Return the vectors of a reply after a check of their length.

        Raises EmbeddingError if their length differs from ``dimensions``, or from the length of
        earlier vectors.
        """
        vectors = self._order_vectors(reply, count)
        if self.dimensions is None:
            self.dimensions = vectors.shape[1]
        if vectors.shape[1] != self.dimensions:
            raise EmbeddingError(
                f"the embedding model {self.model} sent vectors of {vectors.shape[1]} dimensions "
                f"where {self.dimensions} are expected; correct embedding_model or "
                "embedding_dimensions"
            )
        return vectors

    async def _request_at_pace(self, texts: list[str]) -> _Vectors:
        pace, tokens = self._endpoint.pace, sum(map(estimate, texts))
        async with pace.entered(tokens) as paid:
            try:
                return await self._request(texts)
            except ModelRateLimitError as error:
                paid.used = 0
                if error.retry is not None and error.retry.wait_s:
                    pace.hold(error.retry.wait_s, asyncio.get_running_loop().time())
                raise

    async def _request(self, texts: list[str]) -> _Vectors:
        """Send one request; send it again at once if the server refuses the encoding."""
        import httpx2
        import openai

        if self._client is None:
            self._client = self._endpoint.open()
        if self._is_ollama is None:
            self._is_ollama = await self._server.is_ollama()
        try:
            with limited_body(vectors_bytes(len(texts)), f"{self._endpoint.host} ({self.name})"):
                if self._is_ollama:
                    return await self._embed_natively(self._client, texts)
                # The client's own method would add an encoding even if none is wanted.
                body: dict[str, object] = {"model": self._served_as, "input": texts}
                if self._encoding is not None:
                    body["encoding_format"] = self._encoding
                if self._sent_dimensions is not None:
                    body["dimensions"] = self._sent_dimensions
                raw = await self._client.post("/embeddings", cast_to=httpx2.Response, body=body)
            if error := parse_error(raw.content):
                raise status_error(error, raw)
            return _Vectors.model_validate_json(raw.content)
        except (openai.OpenAIError, ValueError) as error:
            if self._encoding is not None and _refuses_encoding(error):
                self._encoding = "float" if self._encoding == "base64" else None
                return await self._request(texts)
            raise translate(error, self._endpoint, self.model) from None

    async def _embed_natively(self, client: openai.AsyncOpenAI, texts: list[str]) -> _Vectors:
        """Return vectors from Ollama's own interface.

        Only there can Ollama be told to refuse a text that is too long instead of cutting it.
        """
        import httpx2

        body: dict[str, object] = {"model": self._served_as, "input": texts, "truncate": False}
        if self._sent_dimensions is not None:
            body["dimensions"] = self._sent_dimensions
        url = f"{root_of(self._endpoint.url)}/api/embed"
        raw = await client.post(url, cast_to=httpx2.Response, body=body)
        reply = _NativeVectors.model_validate_json(raw.content)
        data = [_Vector(index=index, embedding=row) for index, row in enumerate(reply.embeddings)]
        return _Vectors(data=data, usage=reply.usage)

    def _check_given(self, texts: Sequence[str], counted: int | None, usage: Usage) -> None:
        """Raise PromptCutError if the endpoint counted fewer tokens than the texts must have.

        Some servers cut a text that is too long, and send the vector of its beginning. A gateway
        may do so although the server behind it refuses such a text.
        """
        if least := self.fit.missing(texts, counted):
            raise PromptCutError(
                f"the embedding model {self.model} at {self._endpoint.host} cut a text: it counted "
                f"{counted:,} tokens where there are at least {least:,}; use a model with a "
                "larger context, or lower chunk_tokens",
                prompt=counted,
                usage=usage,
            )

    def _order_vectors(self, reply: _Vectors, count: int) -> NDArray[np.float32]:
        """Return the vectors in the order of their indexes, as unit rows ``(count, d)``.

        The row of a vector of zeros, or with numbers that are not finite, is zero.
        """
        by_index = {vector.index: vector.embedding for vector in reply.data}
        try:
            if len(reply.data) != count:
                raise ValueError("not one vector for each text")
            # A number that is too large becomes infinite, so its row counts as no vector.
            with np.errstate(over="ignore"):
                rows = np.array(
                    [_decode_vector(by_index[i]) for i in range(count)], dtype=np.float32
                )
        except (KeyError, ValueError, binascii.Error):
            rows = np.empty((0, 0), dtype=np.float32)
        if rows.ndim != 2 or not rows.size:
            raise self._missing_vector_error()
        with np.errstate(invalid="ignore"):
            return unit(rows)

    def _missing_vector_error(self) -> EmbeddingError:
        return EmbeddingError(
            f"the embedding model {self.model} at {self._endpoint.host} did not send a usable "
            "vector for each text, finite, of equal length, and not all zeros; use another "
            "embedding_model"
        )


def _refuses_encoding(error: Exception) -> bool:
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in ENCODING_REFUSED:
        return False
    said = error_text(error)
    return "encoding_format" in said or "base64" in said


def _decode_vector(embedding: str | list[float | None]) -> NDArray[np.float32]:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return np.array(embedding, dtype=np.float32)


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
