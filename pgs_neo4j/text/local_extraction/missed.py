"""Tells which proper names of a text an extraction lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pgs_neo4j.model.documents import Chunk
from pgs_neo4j.text.extraction.names import name_fault, normalize_name
from pgs_neo4j.text.local_extraction.candidates import Candidate, count_candidates
from pgs_neo4j.text.local_extraction.capitals import capital_runs
from pgs_neo4j.text.local_extraction.ranks import best_terms

MOST_TERMS, MOST_MISSED = 80, 30
"""Terms of a chunk that are looked at, and names that are told."""


def missed_names(chunks: Sequence[Chunk], found: Iterable[str]) -> list[str]:
    """Return proper names of some chunks that no found name contains, or is contained in.

    Scripts without capitals have none, so nothing of theirs is missed. Only a chunk with capitals
    outside of found names has its terms counted, which takes as long as all else of an extraction.
    """
    known = [f"_{key}_" for key in map(normalize_name, found) if key]
    missed: dict[str, str] = {}
    for chunk in chunks:
        if all(_holds(known, run) for run in capital_runs(chunk)):
            continue
        for one in best_terms(count_candidates(chunk), MOST_TERMS):
            key = f"_{normalize_name(one.name)}_"
            if _holds(known, one.name) or any(other in key for other in known):
                known.append(key)
            elif one.mostly_proper and _is_name(one) and not any(key in other for other in missed):
                missed[key] = one.name
    return list(missed.values())[:MOST_MISSED]


def _holds(known: Iterable[str], name: str) -> bool:
    key = f"_{normalize_name(name)}_"
    return any(key in other for other in known)


def _is_name(one: Candidate) -> bool:
    return not one.part and name_fault(one.name) is None
