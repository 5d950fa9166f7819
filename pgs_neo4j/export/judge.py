"""Finds the checked absence that a bullet of an answer states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.export.wording import NO_REPORT, absence_verdict
from pgs_neo4j.model import CheckedAbsence
from pgs_neo4j.text.gist import ROUNDING, SAME, Rarity, gist, named
from pgs_neo4j.text.markdown import bullets

NAMED = 2  # Minimum roots of an absence to recognize it inside a longer bullet.


@dataclass(frozen=True, slots=True)
class _Subject:
    """A checked absence, and the roots of its words."""

    absence: CheckedAbsence
    gist: frozenset[str]
    terms: frozenset[str]


class Judge:
    """Finds the checked absence that a bullet of the answer states."""

    def __init__(self, absences: Sequence[CheckedAbsence]) -> None:
        self._subjects = [
            _Subject(absence, gist(absence.text), gist(" ".join(absence.terms)))
            for absence in absences
        ]
        self._rarity = Rarity.of(subject.gist for subject in self._subjects)

    def verdict(self, bullet: str, *, listed: bool) -> str:
        """Return the verdict to append to a bullet; may be empty.

        ``listed`` marks a list item, which gets a note if no report states its absence. A paragraph
        that is not a list item gets a verdict only if it states a checked absence.
        """
        if not bullets(bullet) or bullet.rstrip(" *_\n").endswith(":"):
            return ""
        found = self.find(bullet)
        if found is not None:
            return f" ({absence_verdict(found)})"
        return f" ({NO_REPORT})" if listed else ""

    def find(self, bullet: str) -> CheckedAbsence | None:
        """Return the checked absence that a bullet states; None if it states no checked absence."""
        about, words = gist(bullet), named(bullet)
        best, found = 0.0, None
        for subject in self._subjects:
            near = self._compare(subject, about, words)
            if near > best:
                best, found = near, subject
        return found.absence if found is not None and best >= SAME - ROUNDING else None

    def _compare(self, subject: _Subject, about: frozenset[str], words: frozenset[str]) -> float:
        contained = len(subject.gist) >= NAMED and subject.gist <= about
        return max(
            self._rarity.alike(about, subject.gist),
            self._rarity.alike(words, subject.terms),
            SAME if contained else 0.0,
        )
