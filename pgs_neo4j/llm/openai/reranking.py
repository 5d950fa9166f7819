"""Relevance from any endpoint with the common ``/rerank`` interface.

A text that is longer than the model reads is divided, and the score of its best piece is its score
(MaxP: Dai and Callan, "Deeper Text Understanding for IR with Contextual Neural Language Modeling",
2019). Most models of this kind read some 500 tokens of question and text together, and many servers
score the beginning of a longer text and say nothing. So the longest text is checked once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pgs_neo4j.errors import ModelOutputError, ModelRateLimitError, PromptTooLongError
from pgs_neo4j.llm.embedders.fitting import SURELY_READ, TextFit
from pgs_neo4j.llm.embedders.pieces import LEAST_CHARACTERS, divide_text, weigh
from pgs_neo4j.llm.lessons import ToldLessons
from pgs_neo4j.llm.openai.body_errors import parse_error, status_error
from pgs_neo4j.llm.openai.ceiling import limited_body
from pgs_neo4j.llm.openai.endpoint import Endpoint, timeout_error, translate
from pgs_neo4j.llm.openai.served import read_text_limit
from pgs_neo4j.llm.retry import with_retries
from pgs_neo4j.model.ceilings import CALL_TOKENS, ranking_bytes
from pgs_neo4j.text.cut import cut
from pgs_neo4j.text.token_floor import LEAST_COUNT, measure
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

if TYPE_CHECKING:
    import openai

QUESTION_BYTES = 4_000
# Cohere and Voyage take 1,000 texts a call, and the smallest models of Voyage 300,000 tokens.
CALL_TEXTS = 500
CALL_TEXT_TOKENS = 100_000
ASKING_S = 2.0  # for the limit of a server, since a search waits
SAME = 0.002  # of a score; repeating it in half precision changes it by less
LEAST_ROOM = SURELY_READ // 4  # tokens for a text beside the longest question


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    place: int
    weight: int
    tokens: int


class _Result(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    index: Annotated[int, Field(ge=0)]
    relevance_score: Annotated[float, Field(allow_inf_nan=False)]


def _counts(value: Any, *names: str) -> Iterator[int]:
    for name in names:
        count = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= CALL_TOKENS:
            yield count


class _Results(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    results: list[_Result]
    usage: Any = None
    meta: Any = None

    @property
    def tokens(self) -> int | None:
        """The tokens that the endpoint counted; None if it did not.

        Jina, Voyage, and vLLM have a usage. Cohere has tokens where it does not bill by searches.
        """
        yielded = [*_counts(self.usage, "total_tokens", "prompt_tokens", "input_tokens")]
        if isinstance(self.meta, Mapping):
            for name in ("tokens", "billed_units"):
                yielded += _counts(self.meta.get(name), "input_tokens")
        return next(iter(yielded), None)


class HTTPReranker:
    """A relevance model behind an endpoint.

    ``context`` is what it reads of a question and a text together, in tokens, as configured.
    """

    def __init__(
        self, endpoint: Endpoint, model: str | None = None, *, context: int | None = None
    ) -> None:
        self.name = model or "unnamed"
        self.fit = TextFit(joined="of which the best one counts")
        if context is not None:
            self.fit.limit(context)
            self.fit.asked = True
        self._model = model
        self._endpoint = endpoint
        self._client: openai.AsyncOpenAI | None = None

    async def rank(self, question: str, texts: Sequence[str]) -> list[int]:
        """Return the places of ``texts`` by their relevance, most relevant first.

        Blank texts are not sent, and an endpoint may leave out others. Raises ModelOutputError when
        a result names no text, or one twice. Other errors are those of the chat model.
        """
        documents = {place: text for place, text in enumerate(texts) if text.strip()}
        if not documents:
            return []
        ranking = _Ranking(self, self._shortened(question), self._endpoint.timeout_s)
        await ranking.settle(max(documents.values(), key=weigh))
        ranking.ask(self._shortened(question))
        scores = await ranking.score(documents)
        return sorted(scores, key=lambda place: (-scores[place], place))

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return in sentences what was learned of the endpoint and a run was not told yet."""
        return self.fit.take_lessons(f"{self._endpoint.host} (model {self.name})", told)

    def _shortened(self, question: str) -> str:
        """Return as much of a question as leaves room for a text."""
        most = QUESTION_BYTES
        if self.fit.window is not None:
            most = min(most, int(self.fit.window / 2 * BYTES_PER_TOKEN))
        short = cut(question, most, most)
        if short != question:
            self.fit.lessons.add("gets long questions without their end")
        return short

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def ask_limit(self) -> None:
        """Ask the server for its limit, once. Raises nothing."""
        self.fit.asked = True
        if self._client is None:
            self._client = self._endpoint.open()
        try:
            async with asyncio.timeout(ASKING_S):
                limit = await read_text_limit(self._client, self._endpoint.url, self._model or "")
        except TimeoutError:
            return
        if limit is not None:
            self.fit.limit(limit.tokens)
            self.fit.refuses = limit.refuses

    async def score(self, question: str, texts: Sequence[str], deadline: float) -> _Results:
        """Return the scores of some texts, in one call with as many tries as it takes."""
        return await with_retries(
            lambda: self._paced(question, texts),
            deadline=deadline,
            timeout_error=timeout_error(self._endpoint, self.name),
        )

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

    def check(self, reply: _Results, count: int) -> None:
        """Raise ModelOutputError for a reply whose results do not name texts once each."""
        indexes = {result.index for result in reply.results}
        if not indexes or len(indexes) < len(reply.results) or max(indexes) >= count:
            raise ModelOutputError(
                f"the model endpoint {self._endpoint.host} (model {self.name}) did not send one "
                "relevance_score for each text; use another rerank_model"
            )


@dataclass(slots=True)
class _Ranking:
    """Scores the texts of one question, in calls that the endpoint takes.

    Weights of pieces are those of question and text together, since models read both as one.
    """

    model: HTTPReranker
    question: str
    timeout_s: float
    _deadline: float = field(init=False)
    _asked: int = field(init=False)
    _halves: deque[list[_Piece]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._deadline = asyncio.get_running_loop().time() + self.timeout_s
        self.ask(self.question)

    def ask(self, question: str) -> None:
        """Score by a question from now on."""
        self.question, self._asked = question, weigh(question)

    async def settle(self, longest: str) -> None:
        """Learn how long a text is read as a whole, from texts that end with the question.

        The same score without that end shows that the end is not read. One call for texts of
        several lengths learns it for all later ones.
        """
        fit = self.model.fit
        if self._weigh(longest) <= fit.proven:
            return
        if not fit.asked:
            await self.model.ask_limit()
        if fit.refuses:
            return
        (longest, *_) = self._divide(longest)
        weight = self._weigh(longest)
        if weight <= fit.proven:
            return
        heads: list[str] = []
        size = fit.proven
        while size < weight:
            heads.append(divide_text(longest, max(size - self._asked, 1))[0])
            size *= 2
        heads.append(longest)
        pairs = [one for head in heads for one in (head, f"{head} {self.question}")]
        scores = await self.score(dict(enumerate(pairs)), divided=False)
        for place, head in enumerate(heads):
            plain, longer = scores.get(2 * place), scores.get(2 * place + 1)
            if plain is None or longer is None:
                break
            if abs(plain - longer) <= SAME * max(abs(plain), abs(longer)):
                fit.narrow(max(fit.proven, SURELY_READ))
                break
            fit.proven = max(fit.proven, self._weigh(head))

    async def score(
        self, documents: Mapping[int, str], *, divided: bool = True
    ) -> dict[int, float]:
        """Return the score of each text by its place, which is that of its best piece.

        ``divided``: texts that are too long are sent in pieces. Otherwise they have no score.
        """
        scores: dict[int, float] = {}
        queue = deque(
            self._piece(piece, place)
            for place, text in documents.items()
            for piece in (self._divide(text) if divided else [text])
        )
        while queue or self._halves:
            batch = self._halves.popleft() if self._halves else self._next_batch(queue)
            try:
                reply = await self.model.score(
                    self.question, [piece.text for piece in batch], self._deadline
                )
            except PromptTooLongError:
                if divided and len(batch) == 1 and len(batch[0].text) < 2 * LEAST_CHARACTERS:
                    raise
                queue.extendleft(reversed(self._make_smaller(batch, divided=divided)))
                continue
            self.model.check(reply, len(batch))
            if divided and (smaller := self._find_cut(batch, reply)):
                queue.extendleft(reversed(smaller))
                continue
            self.model.fit.sizes.accept(len(batch), sum(piece.tokens for piece in batch))
            for result in reply.results:
                place = batch[result.index].place
                known = scores.get(place, result.relevance_score)
                scores[place] = max(known, result.relevance_score)
        return scores

    def _weigh(self, text: str) -> int:
        return self._asked + weigh(text)

    def _piece(self, text: str, place: int) -> _Piece:
        return _Piece(text, place, self._weigh(text), self._asked + estimate(text))

    def _divide(self, text: str) -> list[str]:
        window = self.model.fit.window
        if window is None or self._weigh(text) <= window:
            return [text]
        self.model.fit.divides = True
        return divide_text(text, max(window - self._asked, LEAST_ROOM))

    def _next_batch(self, queue: deque[_Piece]) -> list[_Piece]:
        batch: list[_Piece] = []
        tokens, sizes = 0, self.model.fit.sizes
        while queue and len(batch) < CALL_TEXTS:
            total = tokens + queue[0].tokens
            larger = total > CALL_TEXT_TOKENS or not sizes.fits(len(batch) + 1, total)
            if batch and larger:
                break
            batch.append(queue.popleft())
            tokens = total
        return batch

    def _make_smaller(self, batch: list[_Piece], *, divided: bool) -> list[_Piece]:
        """Return what to ask for in place of a call that was refused."""
        fit = self.model.fit
        if len(batch) > 1:
            tokens = sum(one.tokens for one in batch)
            if fit.sizes.refuse([one.text for one in batch], tokens):
                return batch
            middle = len(batch) // 2
            self._halves.extendleft((batch[middle:], batch[:middle]))
            return []
        (piece,) = batch
        fit.sizes.excuse(piece.text)
        fit.refuses = True
        fit.narrow(self._asked + max(weigh(piece.text) // 2, 1))
        if not divided:
            return []
        return self._again(batch)

    def _find_cut(self, batch: list[_Piece], reply: _Results) -> list[_Piece]:
        """Return what to ask for in place of a call of which fewer tokens were read than it has."""
        fit, counted = self.model.fit, reply.tokens
        longest = max(piece.weight for piece in batch)
        if counted is None or counted < LEAST_COUNT or longest <= SURELY_READ:
            return []
        least = measure("\n".join(piece.text for piece in batch)).floor
        if counted >= least:
            return []
        # A text has more tokens than it must have, so less of it was read than the counts say.
        fit.proven = SURELY_READ
        fit.narrow(max(int(longest / 2 * counted / least), SURELY_READ))
        smaller = self._again(batch)
        if len(smaller) > len(batch):
            return smaller
        fit.lessons.add("counts fewer tokens than even short texts have, so it may cut them")
        return []

    def _again(self, batch: list[_Piece]) -> list[_Piece]:
        return [
            self._piece(text, piece.place) for piece in batch for text in self._divide(piece.text)
        ]
