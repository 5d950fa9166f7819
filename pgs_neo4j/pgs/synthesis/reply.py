"""Reads and streams one reply of a synthesis, from the cache or from the model.

The text is streamed as events piece by piece. Before each piece, a check makes sure that it
contains no deleted text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import DatabaseError, TextDeletedError
from pgs_neo4j.events import OnEvent, TextStreamed
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.receipts import ReceiptFilter, without_receipts
from pgs_neo4j.llm.calls.replies import Replies, claim_purchases, wait_for_purchase
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import CheckedAbsence, Completion, Effort, Partition, Prompt, Sweep, Unit
from pgs_neo4j.pgs.order import RunTools
from pgs_neo4j.text.thinking import ThinkingFilter

CheckDeleted = Callable[[object], Awaitable[None]]
REMEMBERED = 2_000
"""Number of characters before a piece that are checked with it, since a deleted sentence may arrive
in several pieces.
"""
PAUSE = 2.0
"""Time between two checks, as a multiple of the duration of the last check.

With a distant database, a check of each word would take longer than the word itself.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisOrder:
    """One question, and everything else in its synthesis prompt.

    ``search_answer`` is a search's answer, which the synthesis should go beyond. ``checks`` is the
    text of the checks on the reports. Reports that exceed one prompt are condensed along ``units``.
    ``absences`` are the checked absences that give bullets of the answer their verdicts; with None,
    bullets get no verdicts. ``texts`` are the texts of cited nodes, by partition and rank, to
    compare the sentences of the answer with; with None, sentences are not checked.
    """

    question: str
    sweeps: tuple[Sweep, ...]
    partitions: tuple[Partition, ...]
    config: PGSConfig
    units: tuple[Unit, ...] = ()
    search_answer: str | None = None
    checks: str = ""
    absences: tuple[CheckedAbsence, ...] | None = None
    texts: Mapping[tuple[int, int], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisTools:
    """The connections that write a synthesis.

    ``reducing_llm`` condenses reports; without it, content that does not fit is dropped.
    ``check_deleted`` raises TextDeletedError for text of a document that was deleted since the
    run began to read.
    """

    llm: LLM
    calls: Calls
    replies: Replies | None
    on_event: OnEvent
    warn: Callable[[str], None]
    check_deleted: CheckDeleted
    reducing_llm: LLM | None = None

    @classmethod
    def of_run(
        cls, tools: RunTools, llm: LLM, replies: Replies, *, reducing_llm: LLM | None = None
    ) -> SynthesisTools:
        """Return the connections of a run for the replies of ``llm``, one of its models."""
        return cls(
            llm=llm,
            calls=tools.calls,
            replies=replies,
            on_event=tools.log.on_event,
            warn=tools.log.warn,
            check_deleted=tools.db.check_deleted,
            reducing_llm=reducing_llm,
        )


async def read_reply(
    tools: SynthesisTools,
    prompt: Prompt,
    send: Callable[[str], Awaitable[None]],
    *,
    room: int,
    effort: Effort | None,
) -> Completion:
    """Return the reply, and pass its text to ``send`` piece by piece, without the thinking.

    The codes that the prompt asks to repeat are removed from both. Raises the errors of
    ``Calls.stream``, the errors of ``send``, and DatabaseError.
    """
    filtering, receipts = ThinkingFilter(), ReceiptFilter(prompt.receipts)

    async def take_piece(piece: str) -> None:
        await send(receipts.pass_on(filtering.pass_on(piece)))

    llm, replies = tools.llm, tools.replies
    key = replies.key(llm, prompt, room, effort) if replies else None
    cached = await find_or_claim(tools, key)
    if cached is not None:
        tools.calls.count_cached(cached)
        await take_piece(cached.text)
        reply = cached
    else:
        reply = await tools.calls.stream(llm, prompt, take_piece, room=room, effort=effort)
    await send(receipts.pass_on(filtering.end()) + receipts.end())
    return replace(reply, text=without_receipts(reply.text, prompt.receipts))


async def keep_reply(
    tools: SynthesisTools, prompt: Prompt, reply: Completion, *, room: int, effort: Effort | None
) -> None:
    """Cache an accepted reply, unless it was cut off or came from the cache."""
    replies = tools.replies
    key = replies.key(tools.llm, prompt, room, effort) if replies else None
    if replies and key and not reply.usage.cached and not reply.truncated:
        await replies.keep([replies.row(key, reply)])


async def find_or_claim(tools: SynthesisTools, key: str | None) -> Completion | None:
    """Return a cached reply; None if this run must buy it.

    If another run is buying the same reply, waits for that run. Raises DatabaseError.
    """
    replies = tools.replies
    if replies is None or key is None:
        return None
    cached = (await replies.find([key])).get(key)
    if cached is not None or not replies.shared:
        return cached
    claims = await claim_purchases(replies.db, replies.run, [key])
    if buyer := claims.busy.get(key):
        replies.note_wait(buyer, tools.on_event)
        await wait_for_purchase(replies.db, replies.run, key, lambda: False)
    return None if key in claims.own else (await replies.find([key])).get(key)


@dataclass(slots=True)
class CheckedStream:
    """Streams text piece by piece, but no text that was deleted since it was read.

    Listeners may belong to other programs, where a deletion cannot find the text again. So each
    piece is checked before it leaves, in addition to the check of the stored answer.
    """

    on_event: OnEvent
    check_deleted: CheckDeleted
    sent: bool = False
    _before: str = field(default="", repr=False)
    _held: str = field(default="", repr=False)
    _due: float = 0.0

    async def send(self, text: str) -> None:
        """Stream a piece, or hold it back until the next check is due. Raises TextDeletedError.

        Pieces also wait while the database does not answer, because the reply is paid for, and the
        database may be back before the reply ends.
        """
        self._held += text
        now = asyncio.get_running_loop().time
        begun = now()
        if begun < self._due:
            return
        try:
            await self.finish()
        except TextDeletedError:
            raise
        except DatabaseError:
            pass
        self._due = now() + PAUSE * (now() - begun)

    async def finish(self, text: str = "") -> None:
        """Stream the last piece and all pieces that were held back. Raises DatabaseError."""
        self._held += text
        if not self._held:
            return
        recent = self._before + self._held
        await self.check_deleted(recent)
        self.on_event(TextStreamed(self._held))
        self.sent = True
        self._before, self._held = recent[-REMEMBERED:], ""
