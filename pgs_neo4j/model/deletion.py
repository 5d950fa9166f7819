"""The result of deleting documents: what went, and what still holds their text."""

from __future__ import annotations

from dataclasses import dataclass


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
