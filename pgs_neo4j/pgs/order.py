"""The order of a run, and the tools that carry it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.errors import NoTextError, UsageError
from pgs_neo4j.export.wording import EXTRACTIVE
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.protocol import LLM, is_free
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.partitioning.kept_settings import ChosenSettings
from pgs_neo4j.pgs.partitioning.order import OpenGDS
from pgs_neo4j.pgs.partitioning.result import KnownGenerations
from pgs_neo4j.pgs.querying.schema.known import KnownSchema
from pgs_neo4j.pgs.request import Request
from pgs_neo4j.search.space import Space
from pgs_neo4j.text.commands import text_command
from pgs_neo4j.text.shown import counted

NO_TEXT = "its definition names no text"
GRACE_S = 0.5  # time after the deadline of a run to record the last replies


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """A request, with the graph's mapping and the settings in force.

    ``search_answer`` is an answer from a search; the run looks for what that answer lacks.
    ``identity`` is the JSON data by which a repeated request is recognized. ``chosen`` says which
    settings of partitioning a person chose; None means all of them. ``redefined`` means that the
    graph has no partitions of its present definition.
    """

    request: Request
    graph: str
    mapping: GraphMapping
    config: PGSConfig
    search_answer: str | None = None
    identity: dict[str, Any] = field(default_factory=dict)
    chosen: ChosenSettings | None = None
    redefined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTools:
    """The connections that a run uses, and its log.

    For an answer from a search, ``answer_llm`` writes the answer, ``keyword_llm`` names keywords,
    and ``ordering_llm`` orders the nodes found.
    """

    db: Database
    open_gds: OpenGDS
    space: Space
    sweep_llm: LLM
    synthesis_llm: LLM
    answer_llm: LLM
    keyword_llm: LLM
    ordering_llm: LLM
    calls: Calls
    log: RunLog
    known: KnownGenerations = field(default_factory=KnownGenerations)
    schema: KnownSchema = field(default_factory=KnownSchema)

    async def fenced(self) -> RunTools:
        """Return the same tools with a fenced database, for a run that is about to read.

        The fence keeps the run from storing text of documents that are deleted from now on. Raises
        DatabaseError.
        """
        await ensure_schema(self.db)
        return replace(self, db=await self.db.fenced())

    def with_answer_llm(self) -> RunTools:
        """Return the same tools with ``answer_llm`` as the model of the synthesis."""
        return replace(self, synthesis_llm=self.answer_llm)

    async def ask_contexts(self, llms: Sequence[LLM] = ()) -> None:
        """Ask the models' servers for their context lengths, before any prompt is made.

        ``llms`` defaults to the models of the sweeps and of the synthesis.
        """
        for llm in llms or self.readers:
            await self.calls.ask_context(llm)
        self.report_contexts(llms)

    def report_contexts(self, llms: Sequence[LLM] = ()) -> None:
        """Report the context lengths of models, and warn of short context lengths.

        Only changes are reported again. ``llms`` has the same default as in ``ask_contexts``.
        """
        contexts = self.calls.contexts
        self.log.note_contexts(contexts.describe(llms or self.readers))
        for advice in contexts.advise(llms or self.readers):
            if advice not in self.log.warnings:
                self.log.warn(advice)

    @property
    def readers(self) -> tuple[LLM, LLM]:
        """The models of the sweeps and of the synthesis."""
        return self.sweep_llm, self.synthesis_llm

    @property
    def models(self) -> dict[str, bool]:
        """Whether each model is free, by its name."""
        return {llm.name: is_free(llm) for llm in self.readers}

    @property
    def model_names(self) -> str:
        """The names of both models, or one name if they are the same."""
        return " / ".join(self.models)

    @property
    def end(self) -> float | None:
        """The time when the run must end: ``GRACE_S`` after the deadline.

        It is in seconds on the event loop's clock; None without a deadline.
        """
        deadline = self.calls.scheduler.deadline
        return None if deadline is None else deadline + GRACE_S


def check_texts(order: RunOrder, nodes: int, texts: int) -> None:
    """Raise NoTextError for a graph without text, unless ``structure_only`` is set.

    ``nodes`` is the number of the graph's nodes, and ``texts`` the number of nodes with text.
    Raises UsageError when ``structure_only`` is set for a graph with text, because its text would
    be read.
    """
    name, mapping = order.graph, order.mapping
    named = (*mapping.text, *filter(None, (mapping.relationship_text,)))
    properties = ", ".join(named)
    if order.request.structure_only and texts:
        raise UsageError(
            f"{counted(texts, 'node')} of graph {name} {'has' if texts == 1 else 'have'} text, "
            "which would be read; leave out --structure-only (structure_only=True)"
        )
    if not order.request.structure_only and not texts:
        why = (
            f"none of its {counted(nodes, 'node')} has text in {properties}"
            if properties
            else NO_TEXT
        )
        raise NoTextError(
            f"graph {name} has nothing to read: {why}; name a property that holds text with "
            f"{text_command(name, order.mapping)}, or ask about the structure alone with "
            "--structure-only (structure_only=True)"
        )


def extractive_warning(sweep_model: str, synthesis_model: str) -> str:
    """Return a warning if the extractive reader does one half of a run and a model the other.

    The result is empty unless both take part. This happens when a program passes only one model and
    the settings name none.
    """
    if (sweep_model == EXTRACTIVE) == (synthesis_model == EXTRACTIVE):
        return ""
    if synthesis_model == EXTRACTIVE:
        return (
            f"{sweep_model} reads the partitions, and the extractive reader writes the answer, "
            "which quotes its reports; pass synthesis_llm as well, or configure a model"
        )
    return (
        f"the extractive reader reads the partitions, which quotes sentences, and only the answer "
        f"is by {synthesis_model}; pass sweep_llm as well, or configure a model"
    )
