"""Describes the content of one synthesis, and the connections it uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.calls.replies import Replies
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Partition, Sweep, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisOrder:
    """One question, and everything else in its synthesis prompt.

    ``search_answer`` is an answer to go beyond, ``checks`` is the text of the checks on the
    reports. Reports that exceed one prompt are condensed along ``units``.
    """

    question: str
    sweeps: tuple[Sweep, ...]
    partitions: tuple[Partition, ...]
    config: PGSConfig
    units: tuple[Unit, ...] = ()
    search_answer: str | None = None
    checks: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisTools:
    """The connections that write a synthesis.

    ``reducing_llm`` condenses reports; without it, content that does not fit is dropped.
    """

    llm: LLM
    calls: Calls
    replies: Replies | None
    on_event: OnEvent
    warn: Callable[[str], None]
    reducing_llm: LLM | None = None
