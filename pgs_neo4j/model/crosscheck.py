"""What is found among all reports by looking and counting, not by a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from pgs_neo4j.model.report import Citation

Kinship = Literal["neighbors", "words"]


class AbsenceStatus(StrEnum):
    """Where in the graph the words of an absence were found."""

    CONFIRMED = "confirmed"  # in none of the nodes searched
    ELSEWHERE = "elsewhere"  # only in nodes that were not read
    CONTRADICTED = "contradicted"  # in a node that was read
    UNCHECKED = (
        "unchecked"  # it has no words to look for, or not all that might hold it was searched
    )


@dataclass(frozen=True, slots=True)
class Stated:
    """One bullet of the report on a partition; ``place`` counts from 0 within its section.

    ``run`` is the id of the earlier run whose report it is, empty for the run at hand: both may
    have a report on the same partition.
    """

    partition: int
    place: int
    text: str
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A node that holds what was reported absent; ``read`` in this session."""

    partition: int
    rank: int
    node: str
    title: str
    read: bool
    element_id: str | None = field(default=None, repr=False, compare=False)

    @property
    def alias(self) -> str:
        """The name of the node in prompts on its partition."""
        return f"n{self.rank + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAbsence:
    """An absence, who reports it, and what became of looking for it.

    ``terms`` were looked for in ``searched`` nodes by ``method``; ``count`` nodes hold them, of
    which ``sightings`` are the first, those read before the others.
    """

    text: str
    reported: tuple[Stated, ...]
    status: AbsenceStatus
    terms: tuple[str, ...] = ()
    searched: int = 0
    method: str = ""
    count: int = 0
    sightings: tuple[Sighting, ...] = ()

    @property
    def partitions(self) -> tuple[int, ...]:
        """The partitions whose reports miss it, each once."""
        return tuple(dict.fromkeys(stated.partition for stated in self.reported))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChasedFlag:
    """An outbound flag beside what its target's report says.

    ``swept``: the target was. ``answers`` are findings of the target that speak of the same,
    the closest first; ``absent`` an absence of the target that does: an opportunity.
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
    """Findings of different partitions that meet.

    ``neighbors``: relationships connect nodes that they cite, which are ``citations``;
    ``words``: they say nearly the same.
    """

    kind: Kinship
    findings: tuple[Stated, ...]
    citations: tuple[Citation, ...] = ()

    @property
    def partitions(self) -> tuple[int, ...]:
        """The partitions that meet, each once."""
        return tuple(dict.fromkeys(stated.partition for stated in self.findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosscheck:
    """Absences looked for, flags chased, and convergences, the strongest first."""

    absences: tuple[CheckedAbsence, ...] = ()
    flags: tuple[ChasedFlag, ...] = ()
    convergences: tuple[Convergence, ...] = ()

    @property
    def opportunities(self) -> tuple[ChasedFlag, ...]:
        """Flags whose target reports the very thing absent."""
        return tuple(flag for flag in self.flags if flag.absent is not None)
