"""Ranks texts by relevance at any endpoint with the common ``/rerank`` interface.

A text that is longer than the model reads is divided, and gets the score of its best piece (MaxP:
Dai and Callan, "Deeper Text Understanding for IR with Contextual Neural Language Modeling", 2019).
Most models of this kind read some 500 tokens of question and text together, and many servers
silently score only the beginning of a longer text. So the longest text is checked once.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pgs_neo4j.errors import ModelOutputError, ModelRateLimitError, PromptTooLongError
from pgs_neo4j.llm.embedders.fitting import TextFit
from pgs_neo4j.llm.embedders.pieces import (
    LEAST_CHARACTERS,
    Piece,
    PieceQueue,
    divide_text,
    name_script,
    weigh,
)
from pgs_neo4j.llm.lessons import ToldLessons
from pgs_neo4j.llm.openai.body_errors import parse_error, status_error
from pgs_neo4j.llm.openai.endpoint import Endpoint, timeout_error, translate
from pgs_neo4j.llm.openai.replies import limited_body
from pgs_neo4j.llm.openai.served import read_text_limit
from pgs_neo4j.llm.protocol import Reserve, reserve_nothing
from pgs_neo4j.llm.retry import with_retries
from pgs_neo4j.model import Usage
from pgs_neo4j.model.ceilings import CALL_TOKENS, ranking_bytes
from pgs_neo4j.text.prompt_text import cut
from pgs_neo4j.text.tokens import BYTES_PER_TOKEN, estimate

if TYPE_CHECKING:
    import openai

QUESTION_BYTES = 4_000
# Cohere and Voyage accept 1,000 texts a call, and Voyage's smallest models accept 300,000 tokens.
CALL_TEXTS = 500
CALL_TEXT_TOKENS = 100_000
ASKING_S = 2.0  # wait for a server's limit; short, because a search waits for the answer
SURELY_READ = 128
"""Estimated tokens of question and text that every model reads.

The smallest models read 512 tokens of both together, or 180 of a text alone.
"""
SAME = 0.002  # share of a score; repeating a call in half precision changes a score by less
LEAST_ROOM = 8  # minimum tokens left for a text next to the longest question
PROBE = "Which clockmaker sorted seven violet lanterns beside the frozen harbor?"
# A server that cuts long texts does not cut shorter texts by the same share. So it miscounts if its
# count is too small by the same share (up to ALIKE) for texts of at most SHORTER times the length.
SHORTER, ALIKE = 0.7, 0.05
COUNTED = "fewer tokens were counted"


class _Result(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    index: Annotated[int, Field(ge=0)]
    relevance_score: Annotated[float, Field(allow_inf_nan=False)]


def _find_counts(value: Any, *names: str) -> Iterator[int]:
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
        """The tokens that the endpoint counted; None if it reports no count.

        Jina, Voyage, and vLLM report a usage. Cohere reports tokens unless it bills by searches.
        """
        yielded = [*_find_counts(self.usage, "total_tokens", "prompt_tokens", "input_tokens")]
        if isinstance(self.meta, Mapping):
            for name in ("tokens", "billed_units"):
                yielded += _find_counts(self.meta.get(name), "input_tokens")
        return next(iter(yielded), None)


class HTTPReranker:
    """A relevance model behind an endpoint.

    ``context`` is the configured limit for a question and a text together, in tokens.
    """

    def __init__(
        self, endpoint: Endpoint, model: str | None = None, *, context: int | None = None
    ) -> None:
        self.name = model or "unnamed"
        self.fit = TextFit(surely=SURELY_READ, joined="of which the best one counts")
        if context is not None:
            self.fit.limit(context)
            self.fit.asked = True
        # Set when the endpoint counts fewer tokens than the texts must have: the weight of the
        # longest text, and the reported count divided by the minimum count.
        self.short: tuple[int, float] | None = None
        self._model = model
        self._endpoint = endpoint
        self._client: openai.AsyncOpenAI | None = None

    async def rank(self, question: str, texts: Sequence[str]) -> list[int]:
        """Return the places of ``texts`` in the order of their relevance, most relevant first.

        A place is missing if its text is blank, or if the endpoint leaves the text out or refuses
        it at any length. Raises ModelOutputError if a result does not name a text, or if two
        results name the same text. Also raises the errors of the chat model.
        """
        return await self.rank_within(question, texts, reserve_nothing)

    async def rank_within(self, question: str, texts: Sequence[str], reserve: Reserve) -> list[int]:
        """Rank texts like ``rank``, but reserve each call first.

        Also raises the errors of ``reserve``.
        """
        documents = {place: text for place, text in enumerate(texts) if text.strip()}
        if not documents:
            return []
        ranking = _Ranking(self, self.shortened(question), self._endpoint.timeout_s, reserve)
        try:
            for _, alike in groupby(sorted(documents.values(), key=name_script), name_script):
                await ranking.settle(max(alike, key=weigh))
            ranking.ask(self.shortened(question))
            scores = await ranking.score(documents)
        finally:
            ranking.end()  # also if the search cancels the ranking
        return sorted(scores, key=lambda place: (-scores[place], place))

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return one sentence for each lesson about the endpoint that a run has not reported."""
        return self.fit.take_lessons(f"{self._endpoint.host} (model {self.name})", told)

    def shortened(self, question: str) -> str:
        """Cut a question so that it leaves room for a text."""
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
        """Ask the server for its limit for question and text. Raises nothing."""
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

    async def score(
        self, question: str, texts: Sequence[str], deadline: float, reserve: Reserve
    ) -> _Results:
        """Return the scores of some texts, in one call with retries."""
        return await with_retries(
            lambda: self._request_at_pace(question, texts, reserve),
            deadline=deadline,
            timeout_error=timeout_error(self._endpoint, self.name),
        )

    async def _request_at_pace(
        self, question: str, texts: Sequence[str], reserve: Reserve
    ) -> _Results:
        # A model reads the question with each text.
        tokens = len(texts) * estimate(question) + sum(map(estimate, texts))
        async with reserve(tokens) as paid, self._endpoint.pace.entered(tokens) as entered:
            try:
                reply = await self._request(question, texts)
            except ModelRateLimitError as error:
                entered.used = 0
                if error.retry is not None and error.retry.wait_s:
                    pace = self._endpoint.pace
                    pace.hold(error.retry.wait_s, asyncio.get_running_loop().time())
                raise
            counted = reply.tokens
            used = tokens if counted is None else counted
            paid.usage = Usage(calls=1, input_tokens=used, estimated=counted is None)
            return reply

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
        """Raise ModelOutputError unless each result of a reply names a different text."""
        indexes = {result.index for result in reply.results}
        if not indexes or len(indexes) < len(reply.results) or max(indexes) >= count:
            raise ModelOutputError(
                f"the model endpoint {self._endpoint.host} (model {self.name}) did not send one "
                "relevance_score for each text; use another rerank_model"
            )


@dataclass(slots=True)
class _Ranking:
    """Scores the texts of one question, in calls that the endpoint accepts.

    The weight of a piece includes the question, because models read both as one text.
    """

    model: HTTPReranker
    question: str
    timeout_s: float
    reserve: Reserve
    _deadline: float = field(init=False)
    _asked: int = field(init=False)
    _queue: PieceQueue = field(init=False)
    _windows: dict[int, int] = field(default_factory=dict)
    _waiting: Counter[int] = field(default_factory=Counter)
    _failed: dict[int, PromptTooLongError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._deadline = asyncio.get_running_loop().time() + self.timeout_s
        self._queue = PieceQueue(self.model.fit.sizes, CALL_TEXTS, CALL_TEXT_TOKENS)
        self.ask(self.question)

    def end(self) -> None:
        """Drop the limits that were assumed for refused texts without a score."""
        for place in self._windows:
            self.model.fit.withdraw((id(self), place))

    def ask(self, question: str) -> None:
        """Score all later texts by this question."""
        self.question, self._asked = question, weigh(question)

    async def settle(self, longest: str) -> None:
        """Find out up to which length texts of a script are read as a whole.

        ``longest`` is the longest text of the script. It is scored by an unrelated question, once
        alone and once with that question at its end. Equal scores show that the end is not read.
        """
        fit = self.model.fit
        if self._weigh(longest) <= fit.read_of(longest):
            return
        if not fit.asked:
            await self.model.ask_limit()
        if fit.refuses:
            return
        (probed, *_) = self._divide(longest)
        refused = False
        while self._weigh(probed) > fit.read_of(longest):
            try:
                (same,) = await self._compare_ends([probed])
            except PromptTooLongError:
                if len(probed) < 2 * LEAST_CHARACTERS:
                    return  # its length is not the reason for the refusal
                refused = True
                probed = divide_text(probed, max(weigh(probed) // 2, 1))[0]
                continue
            if same:
                await self._find_longest_read(probed)
            elif same is not None:
                fit.prove(longest, self._weigh(probed))
            # A server that refused a longer piece and read this one to its end does not cut texts.
            fit.refuses = refused and same is False
            return
        fit.refuses = refused

    async def _find_longest_read(self, longest: str) -> None:
        """Find out in one call how much is read of a text that is not read to its end."""
        fit, heads = self.model.fit, list[str]()
        size = fit.read_of(longest)
        while size < self._weigh(longest):
            heads.append(divide_text(longest, max(size - self._asked, 1))[0])
            size *= 2
        for head, same in zip(heads, await self._compare_ends(heads), strict=True):
            if same is not False:
                break
            fit.prove(longest, self._weigh(head))
        fit.narrow(fit.read_of(longest))

    async def _compare_ends(self, texts: Sequence[str]) -> list[bool | None]:
        """Return whether texts score the same with more text at the end; None without scores."""
        # The search's question is put before each text, so that the inputs are as long as in the
        # search.
        whole = [f"{self.question} {text}" for text in texts]
        pairs = [one for text in whole for one in (text, f"{text} {PROBE}")]
        reply = await self.model.score(PROBE, pairs, self._deadline, self.reserve)
        self.model.check(reply, len(pairs))
        scores = {result.index: result.relevance_score for result in reply.results}
        found: list[bool | None] = []
        for place in range(0, len(pairs), 2):
            plain, longer = scores.get(place), scores.get(place + 1)
            found.append(_are_equal_scores(plain, longer))
        return found

    async def score(self, documents: Mapping[int, str]) -> dict[int, float]:
        """Return the scores of texts by their places. A text has the score of its best piece.

        A text that is refused at any length has no score. Raises PromptTooLongError if all are
        refused.
        """
        scores: dict[int, float] = {}
        for place, text in documents.items():
            self._enqueue(place, [text])
        while not self._queue.is_empty:
            batch = [one for one in self._queue.next_call() if one.place not in self._failed]
            if not batch:
                continue
            texts = [piece.text for piece in batch]
            try:
                reply = await self.model.score(self.question, texts, self._deadline, self.reserve)
            except PromptTooLongError as error:
                if len(batch) > 1:
                    self._queue.make_smaller(batch)
                else:
                    self._divide_refused(batch[0], error)
                continue
            self.model.check(reply, len(batch))
            if self._was_cut(batch, reply):
                self._send_again(batch)
                continue
            self._queue.accept(batch)
            for result in reply.results:
                place = batch[result.index].place
                known = scores.get(place, result.relevance_score)
                scores[place] = max(known, result.relevance_score)
            for piece in batch:
                self._accept(piece.place)
        if len(self._failed) == len(documents):
            raise next(iter(self._failed.values()))
        return {place: score for place, score in scores.items() if place not in self._failed}

    def _weigh(self, text: str) -> int:
        return self._asked + weigh(text)

    def _enqueue(self, place: int, texts: Sequence[str]) -> None:
        """Add the pieces of a place's texts to the end of the queue."""
        pieces = [
            Piece(one, place, self._weigh(one), self._asked + estimate(one))
            for text in texts
            for one in self._divide(text, place)
        ]
        self._waiting[place] += len(pieces)
        self._queue.waiting.extend(pieces)

    def _divide(self, text: str, place: int = -1) -> list[str]:
        fit = self.model.fit
        windows = (fit.window, self._windows.get(place))
        window = min((one for one in windows if one is not None), default=None)
        if window is None or self._weigh(text) <= window:
            return [text]
        fit.divides = True
        return divide_text(text, max(window - self._asked, LEAST_ROOM))

    def _send_again(self, pieces: Sequence[Piece]) -> None:
        """Send pieces once more, and divide a piece that exceeds the current limit."""
        for piece in pieces:
            self._waiting[piece.place] -= 1
            self._enqueue(piece.place, [piece.text])

    def _accept(self, place: int) -> None:
        """Note that a piece was accepted. If it was refused before, divide other texts like it."""
        self._waiting[place] -= 1
        window = self._windows.get(place)
        if window is None or place in self._failed:
            return
        fit, known = self.model.fit, self.model.fit.window
        fit.assume((id(self), place), window)
        if not self._waiting[place]:
            fit.confirm((id(self), place))
        if fit.window != known:
            self._send_again(self._queue.take_waiting())

    def _divide_refused(self, piece: Piece, error: PromptTooLongError) -> None:
        """Divide a refused piece and send its parts next; it fails if it is too short for that."""
        place = piece.place
        self.model.fit.sizes.excuse(piece.text)
        if len(piece.text) < 2 * LEAST_CHARACTERS:
            self._failed[place] = error
            self.model.fit.withdraw((id(self), place))
            return
        self._windows[place] = self._asked + max(weigh(piece.text) // 2, 1)
        others = self._queue.take_waiting()
        self._send_again([piece])
        self._queue.waiting.extend(others)

    def _was_cut(self, batch: Sequence[Piece], reply: _Results) -> bool:
        """Return whether the endpoint counted fewer tokens than the texts of a call must have.

        Then later pieces are shorter. If the count is too small by the same share even for short
        texts, the endpoint miscounts, and its counts are ignored.
        """
        fit, counted = self.model.fit, reply.tokens
        least = fit.missing([piece.text for piece in batch], counted)
        if not least or counted is None:
            if counted is not None and counted > len(batch):
                fit.confirm(COUNTED)
            return False
        longest = max(piece.weight for piece in batch)
        share, earlier = counted / least, self.model.short
        alike = earlier is not None and abs(earlier[1] - share) <= ALIKE * share
        if longest <= SURELY_READ or (alike and earlier and longest <= SHORTER * earlier[0]):
            fit.miscounts = True
            fit.withdraw(COUNTED)
            fit.lessons.add("counts too few tokens for texts of any length")
            return False
        self.model.short = (longest, share)
        # The true number of tokens exceeds the minimum, so the share that was read is smaller than
        # this ratio. So only half of the ratio is assumed.
        fit.assume(COUNTED, max(int(longest / 2 * share), SURELY_READ))
        if any(len(self._divide(piece.text, piece.place)) > 1 for piece in batch):
            return True
        fit.lessons.add("counts too few tokens even for short texts, so it may cut them")
        return False


def _are_equal_scores(score: float | None, other: float | None) -> bool | None:
    if score is None or other is None:
        return None
    return abs(score - other) <= SAME * max(abs(score), abs(other))
