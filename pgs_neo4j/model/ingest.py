"""Results of ingestions and deletions, plans of ingestions, and the documents of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.model.plan import PlannedCalls
from pgs_neo4j.model.report import Usage

DocumentState = Literal[
    "added",
    "changed",
    "moved",
    "unchanged",
    "stale",
    "deleted",
    "missing",
    "elsewhere",
    "empty",
    "failed",
    "waiting",
]

Gleaning = Literal["auto", "0", "1", "2", "3"]
"""How often a model is asked again for missed names; ``auto``: only if the text has more names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentOutcome:
    """The result of an ingestion for one document.

    ``reason`` says why it failed, and ``note`` what was guessed, such as an encoding. ``unread``
    lists the parts of its file that are not in the graph, such as ``page 3 is a picture``.
    ``extracted`` counts the chunks that were new, and ``unproven`` the chunks for which nothing
    proves that the model was given the whole text.

    Some values of ``state`` need an explanation. ``stale``: another model, prompt, or schema
    extracted the document. ``moved``: it had the id ``former``, whose file no longer exists.
    ``missing``: its file is no longer in a folder that was read completely. ``elsewhere``: it does
    not belong to such a folder, and stays unchanged. ``empty``: its file has no content.
    ``waiting``: a limit ended the ingestion before this document.
    """

    id: str
    state: DocumentState
    chunks: int = 0
    extracted: int = 0
    reason: str = ""
    note: str = ""
    former: str = ""
    unread: tuple[str, ...] = ()
    unproven: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """The result of an ingestion.

    ``outcomes`` are sorted by document id. ``skipped`` counts files that no reader can read, by
    file name ending. ``dropped`` counts statements of replies that the text does not support, by
    reason.

    ``described`` counts entities that a model described from many chunks, ``undescribed`` counts
    entities that still wait for a description, and ``undescribed_why`` says why.

    ``judged`` counts pairs of close names that a model judged, and ``joined`` how many of these
    pairs name the same thing. ``unjudged`` counts pairs that are still open, and ``unjudged_why``
    says why. ``unjudged_places`` are the first open pairs that are too long for the model.

    ``embedded`` counts texts that got a vector, and ``unembedded`` counts texts without a vector;
    ``unembedded_why`` says why. An ingestion that makes no vectors only counts the missing vectors.
    ``unembedded_places`` are the first nodes and facts for which the embedder failed.
    ``embedded_unproven`` counts further texts that got a vector, without proof that the model read
    all of the text. ``embedding_notes`` are remarks on the endpoint of the embedder.

    ``uncounted`` counts calls without proof that the model was given the whole prompt, including
    calls of earlier ingestions whose replies were used. ``stopped`` says which limit ended the
    ingestion early. ``deletion`` reports on the deleted documents, whose files no longer exist.
    ``job`` is the id of the job's record.
    """

    graph: str
    label: str
    outcomes: tuple[DocumentOutcome, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    described: int = 0
    undescribed: int = 0
    undescribed_why: str = ""
    judged: int = 0
    joined: int = 0
    unjudged: int = 0
    unjudged_why: str = ""
    unjudged_places: tuple[str, ...] = ()
    embedded: int = 0
    embedded_unproven: int = 0
    embedding_notes: tuple[str, ...] = ()
    unembedded: int = 0
    unembedded_why: str = ""
    unembedded_places: tuple[str, ...] = ()
    uncounted: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    seconds: float = 0.0
    stopped: str = ""
    deletion: Deletion | None = None
    job: str = ""

    def count(self, *states: DocumentState) -> int:
        """Return how many documents are in one of these states."""
        return sum(outcome.state in states for outcome in self.outcomes)

    @property
    def partly_read(self) -> int:
        """How many documents are in the graph without some content of their files.

        Another ingestion does not change that.
        """
        return sum(bool(outcome.unread) for outcome in self.outcomes)

    @property
    def chunks_unproven(self) -> int:
        """How many chunks of its documents lack proof that the model was given the whole chunk.

        Another ingestion does not change that, unless it extracts them again.
        """
        return sum(outcome.unproven for outcome in self.outcomes)

    @property
    def complete(self) -> bool:
        """Whether the graph matches the files: nothing failed, waits, or still has deleted text.

        Some documents may still be read only in part: see ``partly_read``.
        """
        deletion = self.deletion
        held = deletion is not None and not (deletion.proven or deletion.unsearched)
        waiting = self.undescribed or self.unjudged_why or self.unembedded_why
        return not (self.stopped or waiting or held or self.count("failed"))

    @property
    def failed(self) -> bool:
        """Whether the ingestion had no result: documents failed, and the graph has none."""
        return bool(self.count("failed")) and not (
            self.has_documents or self.stopped or self.deletion
        )

    @property
    def has_documents(self) -> bool:
        """Whether the graph is known to have documents, so that questions can be asked."""
        return len(self.outcomes) > self.count("failed", "deleted", "empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionForecast:
    """The calls to extract some chunks, and the maximum that gleaning may add."""

    calls: PlannedCalls = field(default_factory=PlannedCalls)
    gleaning: PlannedCalls = field(default_factory=PlannedCalls)

    def __add__(self, other: ExtractionForecast) -> ExtractionForecast:
        return ExtractionForecast(
            calls=self.calls + other.calls, gleaning=self.gleaning + other.gleaning
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingForecast:
    """The texts to embed with ``model``, and the calls for them; no calls if it is ``free``.

    ``texts`` counts chunks and the texts in the graph that wait for a vector. ``found`` is a guess
    at the number of names and facts that are still to be extracted, and ``more`` are the calls for
    these names and facts. ``priced``: the model has a price.
    """

    model: str
    free: bool = False
    priced: bool = True
    texts: int = 0
    found: int = 0
    calls: PlannedCalls = field(default_factory=PlannedCalls)
    more: PlannedCalls = field(default_factory=PlannedCalls)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptionForecast:
    """The calls that describe entities from many chunks.

    ``calls`` are for entities that already wait in the graph. ``more`` is a guess at the calls for
    entities of chunks that are still to be extracted, based on how many of these chunks contain
    each proper name.
    """

    calls: PlannedCalls = field(default_factory=PlannedCalls)
    more: PlannedCalls = field(default_factory=PlannedCalls)


@dataclass(frozen=True, slots=True, kw_only=True)
class DivisionForecast:
    """The calls that embed sentences with ``model``, so that documents are divided by meaning.

    ``priced``: the model has a price.
    """

    model: str
    priced: bool
    calls: PlannedCalls


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPlan:
    """What an ingestion would do and cost, known before its first call.

    ``outcomes`` are sorted by document id; their ``extracted`` counts the chunks to extract.
    ``low`` and ``high`` bound the cost in the unit of the configured prices, and ``high`` includes
    gleaning; both are None if a model has no price. ``judging`` are the calls about close names
    that are already in the graph. ``dividing`` are the calls that embed sentences so that documents
    are divided by meaning, None if there are none; with them, numbers of chunks are estimates.
    ``describing`` are the calls for descriptions, None if a custom part makes them, whose cost is
    not known. ``embedding`` describes what would be embedded, None if no vectors are wanted.
    ``seconds`` is a rough guess. ``budget`` says what a limit would leave out; it is empty if
    nothing is left out. ``contexts`` pairs the name of each model with its context, in words.
    ``context_advice`` has a sentence for each short context. Both are empty without a call.
    """

    graph: str
    label: str
    model: str
    outcomes: tuple[DocumentOutcome, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)
    forecast: ExtractionForecast = field(default_factory=ExtractionForecast)
    judging: PlannedCalls = field(default_factory=PlannedCalls)
    dividing: DivisionForecast | None = None
    describing: DescriptionForecast | None = None
    low: float | None = None
    high: float | None = None
    seconds: float = 0.0
    budget: str = ""
    embedding: EmbeddingForecast | None = None
    contexts: tuple[tuple[str, str], ...] = ()
    context_advice: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        """Model calls to pay for, without gleaning."""
        return self.forecast.calls.calls

    def count(self, *states: DocumentState) -> int:
        """Return how many documents would end in one of these states."""
        return sum(outcome.state in states for outcome in self.outcomes)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestedDocument:
    """A document as stored in a graph; ``size`` is in bytes.

    ``unread`` lists the parts of its file that are not in the graph. ``unproven`` counts the chunks
    without proof that the model was given the whole chunk.
    """

    id: str
    name: str
    chunks: int
    size: int
    unread: tuple[str, ...] = ()
    unproven: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChunk:
    """A chunk of a document: its place, and the number of entities and relations extracted.

    ``path`` are the headings above it. ``dropped`` counts records of the model's reply that were
    left out, by reason. ``proven`` is False if nothing proves that the model was given the whole
    chunk.
    """

    id: str
    index: int
    characters: int
    page: int | None = None
    path: tuple[str, ...] = ()
    entities: int = 0
    relations: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDetails:
    """A document of a graph with its chunks; ``size`` is in bytes.

    ``source`` is its file or URL, and ``ingested_at`` the time when it was last written. ``schema``
    is the hash of its schema, and ``types`` are the entity types of that schema. ``stale`` says why
    an ingestion with the current model and settings would make it differently. ``unread`` lists the
    parts of its file that are not in its chunks. Fields that were not stored with it are empty.
    """

    graph: str
    id: str
    name: str
    size: int
    hash: str
    source: str = ""
    loader: str = ""
    media_type: str = ""
    ingested_at: str = ""
    schema: str = ""
    types: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    entities: int = 0
    relations: int = 0
    chunks: tuple[DocumentChunk, ...] = ()

    @property
    def dropped(self) -> dict[str, int]:
        """How many records about its chunks were left out, by reason, most frequent first."""
        total: Counter[str] = Counter()
        for chunk in self.chunks:
            total.update(chunk.dropped)
        return dict(total.most_common())


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHolder:
    """A place in the database that still contains text of deleted documents.

    ``kind`` is a label, a relationship type, or ``index``; ``place`` is a property.
    """

    kind: str
    id: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotingRun:
    """A run whose records quote deleted documents; ``forgotten``: the quotes were removed."""

    run: str
    session: str
    graph: str
    question: str
    forgotten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What was deleted with some documents, and the result of searching for remains of their text.

    ``replies`` counts deleted cached replies, and ``descriptions`` deleted descriptions of
    partitions and nodes. ``sentences`` counts the sentences that were searched for, in ``scanned``
    characters and in the full-text ``indexes``. ``short`` counts sentences that were not searched
    for, because they are so short that they occur everywhere. ``scanned`` is 0 if there was nothing
    to search for. ``held`` counts the places that still contain text, and ``holders`` are the first
    of these places. ``resumed`` counts further documents, whose deletion was interrupted before.
    Their text is also searched for, but not in indexes, because only hashes of it are left.
    """

    documents: int = 0
    resumed: int = 0
    chunks: int = 0
    entities: int = 0
    relations: int = 0
    replies: int = 0
    descriptions: int = 0
    sentences: int = 0
    short: int = 0
    scanned: int = 0
    indexes: int = 0
    held: int = 0
    holders: tuple[TextHolder, ...] = ()
    quoting: tuple[QuotingRun, ...] = ()
    seconds: float = 0.0

    @property
    def unsearched(self) -> bool:
        """Whether there was text, but only sentences too short to search for."""
        return self.short > 0 and not self.scanned

    @property
    def proven(self) -> bool:
        """Whether a search proved that no place still contains the text, or there was no text."""
        if self.unsearched or self.held:
            return False
        return all(run.forgotten for run in self.quoting)
