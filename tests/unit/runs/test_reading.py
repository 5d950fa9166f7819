"""What a session has read, and which part of it an answer has read."""

from __future__ import annotations

from pgs_neo4j.model import Partition, Sweep, SweepStatus
from pgs_neo4j.runs.session import Read

READ = Read(
    {1: frozenset(range(10)), 2: frozenset({0, 1})},
    {1: frozenset({0, 1, 2}), 2: frozenset({0})},
)
PARTITIONS = (Partition(id=1, size=10, tokens=9), Partition(id=2, size=4, tokens=9))


def test_coverage_counts_nodes_and_texts() -> None:
    coverage = READ.coverage(PARTITIONS, texts=5)
    assert (coverage.partitions_swept, coverage.nodes_read, coverage.nodes_total) == (1, 12, 14)
    assert (coverage.texts_read, coverage.texts_total, coverage.fraction) == (4, 5, 0.8)


def test_the_part_of_an_answer_is_what_its_sweeps_read_with_text() -> None:
    status = SweepStatus.ACCEPTED
    first = Sweep(partition=1, status=status, nodes=4, read=((1, 5),), without_text=(3, 4))
    again = Sweep(partition=1, status=status, nodes=1, read=((1, 2),))
    unread = Sweep(partition=2, status=SweepStatus.UNREAD, nodes=4)
    part = READ.of_sweeps((first, again, unread))
    assert part.ranks == {1: frozenset({1, 2, 3, 4})}
    assert part.texts == {1: frozenset({1, 2})}


def test_a_text_that_was_empty_in_the_prompt_does_not_count() -> None:
    blank = Sweep(
        partition=1, status=SweepStatus.ACCEPTED, nodes=2, read=((0, 2),), without_text=(0, 1)
    )
    assert READ.of_sweeps([blank]).texts == {}
    assert (blank.nodes_read, blank.texts_read) == (2, 0)
