"""The result of an ingestion or a deletion, and the documents of a graph."""

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
"""Times that a model is asked again for what it missed; ``auto``: where the text has more names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentOutcome:
    """What became of one document. ``reason`` says why it failed, ``note`` what was guessed.

    ``unread`` says what of its file is not in the graph, as in ``page 3 is a picture``.
    ``stale``: another model, prompt, or schema extracted it. ``moved``: it had the id ``former``,
    whose file is gone. ``missing``: its file is gone from a folder that was read in full.
    ``elsewhere``: it is not of such a folder, and stays as it is. ``empty``: its file was read and
    has nothing in it. ``waiting``: a limit ended the ingestion before it.
    ``extracted`` counts the chunks that were not known, and ``unproven`` those for which nothing
    shows that the model was given all of the text.
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

    ``outcomes`` are in the order of the ids. ``skipped`` counts files that no reader takes, by
    ending. ``dropped`` counts what replies said that is not in the text, by reason. ``described``
    counts entities that a model described from what many chunks say, ``undescribed`` those that
    wait for it, and ``undescribed_why`` is the reason. ``judged`` counts pairs of close names that
    a model judged, ``joined`` those that name the same thing, ``unjudged`` those left open, and
    ``unjudged_why`` is the reason. ``unjudged_places`` are the first of these pairs that are too
    long for the model. ``embedded``, ``unembedded``, and ``unembedded_why`` say the
    same of texts and their vectors, of which an ingestion that makes none only counts the missing
    ones. ``unembedded_places`` are the first nodes and facts that the embedder failed on.
    ``embedded_unproven`` counts other texts with a vector, of which nothing proves that the model
    read all, and ``embedding_notes`` say what was learned of its endpoint. ``uncounted`` are calls
    for which nothing proves that the model was given all of the prompt, also of earlier ingestions
    whose replies it used. ``stopped`` says which limit ended it early. ``deletion`` is that of
    documents whose files are gone. ``job`` is the id of its record.
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
        """Return how many documents ended in one of these states."""
        return sum(outcome.state in states for outcome in self.outcomes)

    @property
    def partly_read(self) -> int:
        """How many documents are in the graph without something that their files hold.

        Running it again changes nothing about them.
        """
        return sum(bool(outcome.unread) for outcome in self.outcomes)

    @property
    def chunks_unproven(self) -> int:
        """How many chunks of its documents nothing proves to have been read as a whole.

        Running it again changes nothing about them, unless it extracts them again.
        """
        return sum(outcome.unproven for outcome in self.outcomes)

    @property
    def complete(self) -> bool:
        """Whether the graph is as its files are: nothing failed, waits, or is still held.

        Documents may still be read only in part: ``partly_read``.
        """
        deletion = self.deletion
        held = deletion is not None and not (deletion.proven or deletion.unsearched)
        waiting = self.undescribed or self.unjudged_why or self.unembedded_why
        return not (self.stopped or waiting or held or self.count("failed"))

    @property
    def failed(self) -> bool:
        """Whether nothing came of it: documents failed, and the graph has none."""
        return bool(self.count("failed")) and not (
            self.has_documents or self.stopped or self.deletion
        )

    @property
    def has_documents(self) -> bool:
        """Whether the graph is known to have documents, so that it can be asked."""
        return len(self.outcomes) > self.count("failed", "deleted", "empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionForecast:
    """The calls for some chunks, and the most that asking again for missed names may add."""

    calls: PlannedCalls = field(default_factory=PlannedCalls)
    gleaning: PlannedCalls = field(default_factory=PlannedCalls)

    def __add__(self, other: ExtractionForecast) -> ExtractionForecast:
        return ExtractionForecast(
            calls=self.calls + other.calls, gleaning=self.gleaning + other.gleaning
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingForecast:
    """The texts to embed by ``model``, and the calls for them; none for a ``free`` embedder.

    ``texts`` are chunks, and what waits in the graph. ``found`` is a guess at the names and facts
    that are still to be extracted, and ``more`` are the calls for these.
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
    """The calls for descriptions of what many chunks describe.

    ``calls`` are for entities that wait in the graph. ``more`` is a guess at those for entities of
    chunks that are still to be extracted, from how many of these have each proper name.
    """

    calls: PlannedCalls = field(default_factory=PlannedCalls)
    more: PlannedCalls = field(default_factory=PlannedCalls)


@dataclass(frozen=True, slots=True, kw_only=True)
class DivisionForecast:
    """The calls for the vectors of sentences by ``model``, which may have no price."""

    model: str
    priced: bool
    calls: PlannedCalls


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPlan:
    """What an ingestion would do and cost, known before its first call.

    ``outcomes`` are in the order of the ids; ``extracted`` counts the chunks to extract. ``low``
    and ``high`` bound the cost in the unit of the configured prices, with gleaning in ``high``;
    both are None if a model has no price. ``judging`` are calls about close names that are in the
    graph already, and ``dividing`` those for vectors to divide documents by; chunks are then an
    estimate.
    ``describing`` are calls for descriptions, None if a part of your own makes them: their cost is
    then not known. ``seconds`` is a rough guess. ``budget`` says what a limit would leave out; it
    is empty if nothing is left out. ``embedding`` is what would be embedded, None if that is not
    wanted. ``contexts`` are what the models can take, in words by their names, and
    ``context_advice`` a sentence where that is little; both are empty without a call.
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
    """A document of a graph, as the graph holds it; ``size`` is in bytes.

    ``unread`` says what its file holds beside that, and ``unproven`` counts the chunks that nothing
    proves to have been read as a whole.
    """

    id: str
    name: str
    chunks: int
    size: int
    unread: tuple[str, ...] = ()
    unproven: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChunk:
    """A chunk of a document: where it stands, and what was extracted from it.

    ``dropped`` counts what was said of it and left out, by reason. It is not ``proven`` if nothing
    shows that the model was given all of it.
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

    ``source`` is the file or URL that it is of, and ``ingested_at`` when it was last written.
    ``schema`` is the hash of its schema, which has ``types``. ``stale`` lists what differs from how
    an ingestion with the current model and settings would make it. ``unread`` says what its file
    holds beside its chunks. Documents of the first releases lack what these did not store.
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
        """What was said of its chunks and left out, by reason."""
        total: Counter[str] = Counter()
        for chunk in self.chunks:
            total.update(chunk.dropped)
        return dict(total.most_common())


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHolder:
    """A stored thing that still holds text of deleted documents.

    ``kind`` is a label, the type of a relationship, or ``index``; ``place`` is a property.
    """

    kind: str
    id: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotingRun:
    """A run whose records quote deleted documents. ``forgotten``: that text was removed."""

    run: str
    session: str
    graph: str
    question: str
    forgotten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What went with some documents, and the search for what still holds their text.

    ``replies`` counts stored replies, ``descriptions`` those of partitions and nodes. ``sentences``
    were looked for in ``scanned`` characters and the full-text ``indexes``; ``short`` ones are said
    everywhere, so they were not. ``scanned`` is 0 if nothing was left to look for. ``holders`` are
    the first ones of ``held``. ``resumed`` counts other documents, those of deletions that broke
    off; their text is looked for as well, but not in indexes, since it is not known any more.
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
        """Whether there was text, but none that could be searched for."""
        return self.short > 0 and not self.scanned

    @property
    def proven(self) -> bool:
        """Whether a search found nothing that still holds the text, or there was no text."""
        if self.unsearched or self.held:
            return False
        return all(run.forgotten for run in self.quoting)
