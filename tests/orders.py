"""Orders and sweeps with defaults, for tests that vary one field of them."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.model import (
    Absence,
    Citation,
    Finding,
    Flag,
    GraphMapping,
    Partition,
    PromptNeighbor,
    Report,
    Sweep,
    SweepStatus,
    Unit,
)
from pgs_neo4j.pgs.sweeping.order import SweepOrder
from pgs_neo4j.pgs.synthesis.reply import SynthesisOrder


def sweep_order(
    question: str,
    partition: Partition,
    neighbors: Sequence[PromptNeighbor] = (),
    known: str | None = None,
) -> SweepOrder:
    """A sweep of one partition for a question."""
    return SweepOrder(
        question=question,
        partition=partition,
        neighbors=tuple(neighbors),
        partition_ids=frozenset({partition.id}),
        mapping=GraphMapping(),
        generation="g1",
        config=PGSConfig(),
        search_answer=known,
    )


def synthesis_order(
    question: str,
    sweeps: Sequence[Sweep],
    partitions: Sequence[Partition],
    config: PGSConfig,
    known: str | None = None,
    units: Sequence[Unit] = (),
) -> SynthesisOrder:
    """A synthesis of sweeps for a question."""
    return SynthesisOrder(
        question=question,
        sweeps=tuple(sweeps),
        partitions=tuple(partitions),
        config=config,
        search_answer=known,
        units=tuple(units),
    )


def cited(partition: int, rank: int, *, valid: bool = True) -> Citation:
    """Return a citation of the node at a rank."""
    return Citation(
        alias=f"n{rank + 1}",
        partition=partition,
        node=f"k{rank}",
        title="T",
        rank=rank,
        valid=valid,
    )


def swept(
    partition: int,
    findings: Sequence[tuple[str, Sequence[int]]] = (),
    flags: Sequence[tuple[str, int | None]] = (),
    absences: Sequence[str] = (),
    status: SweepStatus = SweepStatus.ACCEPTED,
    state: str = "",
) -> Sweep:
    """Return a sweep of ten nodes.

    A finding is a text with the ranks that it cites; a flag is a text with a target. A failed sweep
    has read nothing and has no report.
    """
    report = Report(
        partition=partition,
        domain_state=state,
        findings=tuple(
            Finding(text=text, citations=tuple(cited(partition, rank) for rank in ranks))
            for text, ranks in findings
        ),
        flags=tuple(
            Flag(text=text, target=target, citations=(cited(partition, 0),))
            for text, target in flags
        ),
        absences=tuple(Absence(text=text) for text in absences),
    )
    failed = status is SweepStatus.FAILED
    return Sweep(
        partition=partition,
        status=status,
        nodes=10,
        read=() if failed else ((0, 10),),
        report=None if failed else report,
    )
