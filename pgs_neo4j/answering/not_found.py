"""Looks for what an answer says was not found, in the whole graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pgs_neo4j.checking.absences import AbsenceGroup, check_absences
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import CheckedAbsence, GraphMapping, Stated
from pgs_neo4j.partitioning.result import Partitioning
from pgs_neo4j.retrieval.lookup import look_up
from pgs_neo4j.retrieval.lookup_order import LookupOrder
from pgs_neo4j.sweeping.order import without_centroid
from pgs_neo4j.text.gist import search_terms
from pgs_neo4j.text.matching import SearchResult, SearchTerms


async def check_missing(
    db: Database,
    mapping: GraphMapping,
    partitioning: Partitioning | None,
    missing: Sequence[str],
    shown: Iterable[str],
) -> tuple[CheckedAbsence, ...]:
    """Look for each bullet of ``missing`` in all texts of the graph. Raises DatabaseError.

    ``shown`` are the element ids of the nodes that the prompt showed; they contradict a bullet that
    they hold the words of. Without partitions, no bullet can be checked.
    """
    groups = [AbsenceGroup((Stated(0, place, text),)) for place, text in enumerate(missing)]
    if partitioning is None or not missing:
        return check_absences(groups, {}, {})
    generation = partitioning.generation
    order = LookupOrder(
        mapping=mapping,
        generation=generation.id,
        partitions=tuple(map(without_centroid, partitioning.partitions)),
        # Texts may have changed since the partitions were made, so the index proves nothing.
        outdated=True,
    )
    found = await look_up(db, order, [search_terms(text) for text in missing])
    return check_absences(groups, found, _read(found, frozenset(shown)))


def _read(
    found: Mapping[SearchTerms, SearchResult], shown: frozenset[str]
) -> dict[int, frozenset[int]]:
    """Return the ranks of the nodes that hold some words and were shown, by partition."""
    ranks: dict[int, set[int]] = defaultdict(set)
    for result in found.values():
        for hit in result.hits:
            if hit.element_id in shown:
                ranks[hit.partition].add(hit.rank)
    return {partition: frozenset(own) for partition, own in ranks.items()}
