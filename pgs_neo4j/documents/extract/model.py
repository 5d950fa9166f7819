"""Extracts chunks by a model. If a reply is incomplete, retries with more room or with halves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import TypeAdapter

from pgs_neo4j.documents.extract.prompts import (
    FORMAT,
    extraction_prompt,
    gleaning_prompt,
    separate,
)
from pgs_neo4j.errors import ModelOutputError, PromptTooLongError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.llm.calls.budget import estimated_tokens
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.receipts import complete_coded
from pgs_neo4j.llm.own_models import advise_other
from pgs_neo4j.llm.protocol import LLM, is_free, reply_signature
from pgs_neo4j.model import Effort, PlannedCalls, Prompt
from pgs_neo4j.model.documents import Chunk, Extraction, Sentence
from pgs_neo4j.model.ingest import ExtractionForecast, Gleaning
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.extraction.replies import ParsedReply, parse_reply
from pgs_neo4j.text.extraction.schema import EntitySchema
from pgs_neo4j.text.local_extraction.proper_names import missed_names
from pgs_neo4j.text.tokens import estimate

ROOMS = ((25_000, 4_096), (75_000, 8_192), (125_000, 12_288))
"""Pairs of a size in bytes and a number of tokens: for chunks below this size, a reply may have at
most this many tokens (published figures of dual-level retrieval)."""
MOST_ROOM = 16_384
LARGEST_ROOM = 32_768
"""Maximum tokens of a reply when a truncated reply is requested again."""
DOUBLINGS = 2
TRIES = 2
"""Maximum number of attempts to get a reply that has records."""
AUTO_ROUNDS = 2
"""Maximum number of further rounds with ``auto``. More rounds add little (dual-level retrieval)."""
REPLY_SHARE = 0.5
"""Typical tokens of a reply per token of text: about 6 entities and 8 relations per 1200 tokens."""
MISSED_LEAST = 3
"""Minimum number of names in the text that a reply lacks before ``auto`` asks again."""


class KeptReplies(Protocol):
    """Stores the replies to a chunk while it needs further calls."""

    async def find(self, key: str) -> str | None:
        """Return the text stored under a key, None without one."""
        ...

    async def keep_text(self, key: str, text: str) -> None:
        """Store a text under its key, and return when it is stored."""
        ...


@dataclass(frozen=True, slots=True)
class PaidReply:
    """A reply in its stored form. A truncated reply is also stored, to pay for it only once.

    ``proven`` means there is proof that the model received the whole prompt. It is False for a
    reply that was stored without this field.
    """

    text: str
    truncated: bool
    proven: bool = False


PAID = TypeAdapter(PaidReply)


def reuse_reply(calls: Calls, kept: str) -> PaidReply:
    """Return a stored reply. If it is not proven, add it to the ``calls``' unproven replies."""
    reply = PAID.validate_json(kept)
    calls.uncounted += not reply.proven
    return reply


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """Extracts by a language model; ``replies`` stores the paid replies of unfinished chunks."""

    llm: LLM
    calls: Calls
    schema: EntitySchema
    effort: Effort | None = None
    gleaning: Gleaning = "0"
    replies: KeptReplies | None = None

    shares = True  # The instructions are most of a small document's prompt.
    sure = True  # A model names what matters.

    @property
    def signature(self) -> str:
        """A hash of the model and the prompt, except the schema."""
        parts = [reply_signature(self.llm), str(self.effort), FORMAT, self.gleaning]
        return digest(["model", *parts])

    @property
    def free(self) -> bool:
        """Whether extracting costs nothing."""
        return is_free(self.llm)

    async def forecast(self, chunks: Sequence[Chunk]) -> ExtractionForecast:
        """Return a forecast of the call for some chunks; a call with a stored reply is free."""
        prompt, room = extraction_prompt(chunks, self.schema), room_for(chunks)
        asked = estimated_tokens(prompt)
        likely = min(room, int(REPLY_SHARE * sum(estimate(chunk.text) for chunk in chunks)))
        rounds = AUTO_ROUNDS if self.gleaning == "auto" else int(self.gleaning)
        again = PlannedCalls(
            calls=rounds,
            input_tokens=rounds * (asked + likely),
            output_tokens=rounds * likely // 2,
            output_most=rounds * room,
            longest_prompt=asked + likely if rounds else 0,
        )
        if self.replies and await self.replies.find(self.reply_key(prompt, room, 0)):
            return ExtractionForecast(gleaning=again)
        first = PlannedCalls(calls=1, input_tokens=asked, output_tokens=likely, output_most=room)
        return ExtractionForecast(calls=first, gleaning=again)

    def reply_key(self, prompt: Prompt, room: int, attempt: int) -> str:
        """Return the key under which a reply is stored."""
        return digest([self.signature, prompt.system, prompt.user, room, attempt])

    async def extract(self, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """Return the extraction of each chunk, in order; one prompt asks for all of them.

        If a reply is truncated or lacks its end mark, it is requested again with twice the room,
        and then for each half of the chunks. Raises ModelError and StoppedError.
        """
        await self.calls.ask_context(self.llm)
        return await _PassageExtractor(self).extract(tuple(chunks))


@dataclass(slots=True)
class _PassageExtractor:
    """Makes the calls for some passages; each reply is stored before the next call."""

    own: ModelExtractor
    unkept: tuple[str, str] | None = None
    too_long: str = ""

    async def extract(self, passages: tuple[Chunk, ...]) -> list[Extraction]:
        """Return the extraction of each passage, in order."""
        own, room = self.own, room_for(passages)
        prompt = extraction_prompt(passages, own.schema)
        divisible = len(passages) > 1 or len(passages[0].sentences) > 1
        if divisible and not own.calls.fits(own.llm, prompt):
            key = own.reply_key(prompt, room, 0)
            if own.replies is None or not await own.replies.find(key):
                return await self._extract_halves(passages)
        parsed = await self._ask_until_complete(prompt, room)
        if parsed is None:
            return await self._extract_halves(passages)
        found = await self._glean(prompt, passages, parsed.extraction)
        return separate(found, passages)

    async def _extract_halves(self, passages: tuple[Chunk, ...]) -> list[Extraction]:
        if len(passages) > 1:
            middle = len(passages) // 2
            first = await self.extract(passages[:middle])
            return [*first, *await self.extract(passages[middle:])]
        (chunk,) = passages
        if len(chunk.sentences) < 2:
            if self.too_long:
                raise ModelOutputError(f"one sentence was not extracted, because {self.too_long}")
            raise ModelOutputError(
                f"the replies of the model {self.own.llm.name} to one sentence were cut off, or "
                "lacked the end mark; use another model"
            )
        middle = _find_middle(chunk.sentences)
        halves = chunk.sentences[:middle], chunk.sentences[middle:]
        parts = [(await self.extract((replace(chunk, sentences=half),)))[0] for half in halves]
        return [_join_halves(parts[0], parts[1], middle)]

    async def _glean(
        self, prompt: Prompt, passages: Sequence[Chunk], found: Extraction
    ) -> Extraction:
        """Return an extraction with the additions of further rounds."""
        own = self.own
        auto = own.gleaning == "auto"
        for _ in range(AUTO_ROUNDS if auto else int(own.gleaning)):
            missed = missed_names(passages, (one.name for one in found.entities))
            if auto and len(missed) < MISSED_LEAST:
                break
            try:
                again = gleaning_prompt(prompt, found, missed)
                parsed = await self._ask_until_complete(again, room_for(passages))
            except ModelOutputError:
                break
            more = found if parsed is None else _add_found(found, parsed.extraction)
            if more == found:
                break
            found = more
        return found

    async def _ask_until_complete(self, prompt: Prompt, room: int) -> ParsedReply | None:
        """Return a complete reply, None if all were truncated or the prompt is too long.

        A reply without the end mark may be truncated, even if the endpoint reports it as complete.
        Raises ModelOutputError if the model writes no records.
        """
        replies: list[ParsedReply] = []
        former, first = room, 0
        for _ in range(DOUBLINGS + 1):
            try:
                parsed = await self._read(prompt, room, first)
            except PromptTooLongError as error:
                self.too_long = str(error)
                if not replies or first:
                    return None
                # The context has no room for a longer reply. A new attempt number gives the reply a
                # new key.
                room, first = former, TRIES
                continue
            if parsed is not None:
                replies.append(parsed)
                if whole := _select_complete(replies):
                    return whole
            former, room = room, min(2 * room, LARGEST_ROOM)
        return None

    async def _read(self, prompt: Prompt, room: int, first: int) -> ParsedReply | None:
        """Return a reply of at most ``room`` tokens, None if it was truncated.

        ``first`` is the number of the first attempt. The key of a reply includes the number of its
        attempt. Raises ModelOutputError if the model writes no records.
        """
        for attempt in range(first, first + TRIES):
            reply = await self._buy(prompt, room, attempt)
            if reply.truncated:
                return None
            parsed = parse_reply(reply.text)
            if parsed.form != "none":
                extraction = replace(parsed.extraction, proven=reply.proven)
                return replace(parsed, extraction=extraction)
        advice = advise_other(
            self.own.llm, "name another PGS_SWEEP_MODEL", "let it answer in the form of the prompt"
        )
        raise ModelOutputError(f"the model {self.own.llm.name} did not write records; {advice}")

    async def _buy(self, prompt: Prompt, room: int, attempt: int) -> PaidReply:
        """Return the stored reply to a prompt, or make the call.

        A new reply is stored only before the next call. After the last call, the whole extraction
        is stored instead of the reply.
        """
        own, replies = self.own, self.own.replies
        key = own.reply_key(prompt, room, attempt)
        if replies is not None:
            if kept := await replies.find(key):
                return reuse_reply(own.calls, kept)
            if self.unkept is not None:
                await replies.keep_text(*self.unkept)
                self.unkept = None
        reply = await complete_coded(
            own.calls,
            own.llm,
            prompt,
            "sentences",
            room=room,
            effort=own.effort,
            repeat_malformed=False,
        )
        # JSON can contain half of a surrogate pair, which the database cannot store.
        text = reply.text.encode("utf-8", "replace").decode("utf-8")
        bought = PaidReply(text, reply.truncated, reply.proven)
        self.unkept = key, PAID.dump_json(bought).decode()
        return bought


def _select_complete(replies: Sequence[ParsedReply]) -> ParsedReply | None:
    """Return the complete reply, None if the last one may be truncated.

    A model that leaves out the end mark twice never writes it. Then the reply with the most records
    is returned.
    """
    last = replies[-1]
    if last.complete:
        return last
    if len(replies) < 2 or not last.ended:
        return None
    return max((one for one in replies if one.ended), key=lambda one: one.records)


def room_for(passages: Sequence[Chunk]) -> int:
    """Return the maximum tokens of a reply to some passages, by the size of these passages."""
    size = sum(len(chunk.text.encode("utf-8", "replace")) for chunk in passages)
    return next((room for bytes_, room in ROOMS if size < bytes_), MOST_ROOM)


def _find_middle(sentences: Sequence[Sentence]) -> int:
    """Return the index at which to split sentences into halves of about the same length."""
    half = (sentences[0].start + sentences[-1].end) / 2
    place = next(at for at, one in enumerate(sentences, start=1) if one.end >= half)
    return min(max(place, 1), len(sentences) - 1)


def _join_halves(first: Extraction, second: Extraction, before: int) -> Extraction:
    """Return the extractions of two halves as one extraction.

    The first half has ``before`` sentences. This number is added to the second half's sentence
    numbers.
    """

    def later(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(number + before for number in numbers)

    entities = [replace(one, sentences=later(one.sentences)) for one in second.entities]
    relations = [replace(one, sentences=later(one.sentences)) for one in second.relations]
    return Extraction(
        (*first.entities, *entities),
        (*first.relations, *relations),
        Counter(first.dropped) + Counter(second.dropped),
        first.proven and second.proven,
    )


def _add_found(found: Extraction, more: Extraction) -> Extraction:
    """Return an extraction with the additions of a later reply.

    A name keeps its first description. ``proven`` is the value for the first reply.
    """
    known = {(normalize_name(one.name), one.type) for one in found.entities}
    entities = (one for one in more.entities if (normalize_name(one.name), one.type) not in known)
    stated = {(one.source, one.target, one.keywords) for one in found.relations}
    relations = (
        one for one in more.relations if (one.source, one.target, one.keywords) not in stated
    )
    return replace(
        found,
        entities=(*found.entities, *entities),
        relations=(*found.relations, *relations),
    )
