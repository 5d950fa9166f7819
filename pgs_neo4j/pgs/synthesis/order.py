"""Describes the content of one synthesis, and the connections it uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.purchases import claim_purchases, wait_for_purchase
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import CheckedAbsence, Completion, Partition, Sweep, Unit

CheckDeleted = Callable[[object], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisOrder:
    """One question, and everything else in its synthesis prompt.

    ``search_answer`` is an answer to go beyond, ``checks`` is the text of the checks on the
    reports. Reports that exceed one prompt are condensed along ``units``. ``absences`` are the
    checked ones, from which bullets of the answer get verdicts; None: it gets none. ``texts`` are
    those of the nodes that the reports cite, by partition and rank, in which the sentences of the
    answer are looked up; None: they are not.
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
    ``check_deleted`` raises TextDeletedError for text of a document that was deleted since.
    """

    llm: LLM
    calls: Calls
    replies: Replies | None
    on_event: OnEvent
    warn: Callable[[str], None]
    check_deleted: CheckDeleted
    reducing_llm: LLM | None = None


async def find_or_claim(tools: SynthesisTools, key: str | None) -> Completion | None:
    """Return a cached reply; None once this run is to buy it.

    While another run is buying it, waits for that. Raises DatabaseError.
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
