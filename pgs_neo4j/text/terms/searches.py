"""Decides which terms of the index a text must contain to match a search.

A text matches (:mod:`pgs_neo4j.text.matching`) if, for enough terms, it contains all words of one
of the term's forms, each in a stem with the same root. The index does not know whether words are
side by side. So it finds too many texts, never too few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pgs_neo4j.text.matching import SearchTerms, forms
from pgs_neo4j.text.terms.postings import terms_of, terms_of_stems
from pgs_neo4j.text.terms.spans import LONGEST_WORD, PLANE, UNSPACED_RANGES
from pgs_neo4j.text.words import MIN_STEM

_RANGES = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED_RANGES)
_UNSPACED = re.compile(f"[{_RANGES}{chr(PLANE)}-\U0010ffff]+")

Word = tuple[int, ...]
"""The terms of a word's possible stems; a text with the word contains one of them."""


@dataclass(frozen=True, slots=True)
class SoughtTerm:
    """A term of a search: the words of each of its forms."""

    forms: tuple[tuple[Word, ...], ...]

    @property
    def index_terms(self) -> Iterable[int]:
        """All terms of the index that the search term may need."""
        return (term for form in self.forms for word in form for term in word)


def sought_terms(search: SearchTerms) -> tuple[SoughtTerm, ...] | None:
    """Return the usable terms of a search; None if the index cannot find one of them.

    The index contains no words of more than ``LONGEST_WORD`` letters.
    """
    spelled = [forms(term) for term in search.usable]
    if any(len(root) > LONGEST_WORD for term in spelled for form in term for root in form):
        return None
    return tuple(
        SoughtTerm(
            tuple(tuple(word for root in form for word in _find_words(root)) for form in term)
        )
        for term in spelled
    )


def _find_words(root: str) -> Iterable[Word]:
    """Yield the index terms of a root: its possible stems, or each pair of its letters."""
    signs = " ".join(_UNSPACED.findall(root))
    if signs:
        yield from ((term,) for term in terms_of(signs))
    else:
        yield tuple(terms_of_stems(_find_stems(root)))


def _find_stems(root: str) -> list[str]:
    """Return all stems with this root; see :func:`pgs_neo4j.text.matching.root`."""
    stems = [root]
    if root.isascii() and len(root) >= MIN_STEM:
        stems += [f"{root}i", f"{root}y"]
        if len(root) == MIN_STEM and root.endswith("i"):
            stems.append(f"{root[:-1]}y")
    return stems
