"""Results of checking reports against each other and against the graph, without a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from pgs_neo4j.model.report import Citation

Kinship = Literal["neighbors", "words"]


class AbsenceStatus(StrEnum):
    """Where the words of an absence occur in the graph."""

    CONFIRMED = "confirmed"  # in none of the nodes searched
    ELSEWHERE = "elsewhere"  # only in nodes that were not read
    CONTRADICTED = "contradicted"  # in a node that was read
    UNCHECKED = "unchecked"  # no words to search for, or not every node was searched


@dataclass(frozen=True, slots=True)
class Stated:
    """One bullet of a partition's report.

    ``place`` counts from 0 within its section. ``run`` is the id of the earlier run that made the
    report, empty for the current run. An earlier run and the current run may both have a report on
    the partition.
    """

    partition: int
    place: int
    text: str
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A node that contains the words of an absence.

    ``read``: the session has read the node. ``element_id`` is the database's current handle for the
    node; it is never stored or compared.
    """

    partition: int
    rank: int
    node: str
    title: str
    read: bool
    element_id: str | None = field(default=None, repr=False, compare=False)

    @property
    def alias(self) -> str:
        """The node's name in prompts on its partition."""
        return f"n{self.rank + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAbsence:
    """An absence, the bullets that report it, and the result of searching for it.

    ``searched`` counts the nodes that were searched for ``terms`` by ``method``. Of these,
    ``texts`` have text (None if not known), and ``count`` contain the terms. ``sightings`` are the
    first nodes that contain them, read nodes first.
    """

    text: str
    reported: tuple[Stated, ...]
    status: AbsenceStatus
    terms: tuple[str, ...] = ()
    searched: int = 0
    method: str = ""
    count: int = 0
    sightings: tuple[Sighting, ...] = ()
    texts: int | None = None

    @property
    def partitions(self) -> tuple[int, ...]:
        """The partitions that report it, each once; empty if an answer from a search states it."""
        numbers = (stated.partition for stated in self.reported)
        return tuple(dict.fromkeys(number for number in numbers if number))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChasedFlag:
    """An outbound flag, and what the report on its target says about the same matter.

    ``place`` counts from 0 among the flags of the source. ``swept``: the target was swept.
    ``answers`` are the target's findings on the same matter, the most similar first. ``absent`` is
    the target's absence on the same matter, None without one; it makes the flag an opportunity.
    """

    source: int
    place: int
    text: str
    target: int | None
    swept: bool
    citations: tuple[Citation, ...] = ()
    answers: tuple[Stated, ...] = ()
    absent: Stated | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """Findings of different partitions that say the same or cite connected nodes.

    ``kind`` is ``words`` if they say nearly the same. It is ``neighbors`` if relationships connect
    the nodes that they cite, which ``citations`` lists.
    """

    kind: Kinship
    findings: tuple[Stated, ...]
    citations: tuple[Citation, ...] = ()

    @property
    def partitions(self) -> tuple[int, ...]:
        """The partitions of the findings, each once."""
        return tuple(dict.fromkeys(stated.partition for stated in self.findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosscheck:
    """Checked absences, followed-up flags, and convergences, the strongest first."""

    absences: tuple[CheckedAbsence, ...] = ()
    flags: tuple[ChasedFlag, ...] = ()
    convergences: tuple[Convergence, ...] = ()

    @property
    def opportunities(self) -> tuple[ChasedFlag, ...]:
        """Flags whose target reports the same thing missing."""
        return tuple(flag for flag in self.flags if flag.absent is not None)
