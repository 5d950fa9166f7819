"""Reports in the form that the extractive synthesis uses: claims with citations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.llm.extractive.sentences import quote, without_citations
from pgs_neo4j.model import Citation, Finding, Prompt, PromptReport
from pgs_neo4j.text.ranking import Corpus, Terms, terms_of
from pgs_neo4j.text.words import phrases, stem, stems, words

_SUBJECT = re.compile(r"^[^\s:]{1,100}: ")


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding of one partition without aliases; ``cited`` qualifies them.

    ``stems`` are the stems of the statement, ``subject`` those of the title before it. ``place``
    counts the findings of its report from 0.
    """

    partition: int
    place: int
    text: str
    subject: frozenset[str]
    stems: frozenset[str]
    cited: tuple[str, ...]

    @property
    def statement(self) -> str:
        """The text without the title that names its subject."""
        return _SUBJECT.sub("", self.text)

    @property
    def all_stems(self) -> frozenset[str]:
        """Stems of title and statement."""
        return self.subject | self.stems

    def line(self, limit: int) -> str:
        """Return the quote and at most two citations."""
        return f"{quote(self.text, limit)}{''.join(f' {c}' for c in self.cited[:2])}"


@dataclass(frozen=True, slots=True)
class Material:
    """All reports of a run as the synthesis uses them."""

    terms: Terms
    reports: tuple[PromptReport, ...]
    claims: tuple[Claim, ...]
    corpus: Corpus

    def of(self, partition: int) -> tuple[Claim, ...]:
        """Return the claims of one partition, best first as reported."""
        return tuple(claim for claim in self.claims if claim.partition == partition)


def material_of(prompt: Prompt) -> Material:
    """Return the claims of all reports of ``prompt``, in reading order.

    Findings in doubt are left out, because a quotation of one would carry no mark.
    """
    claims = tuple(
        _claim(entry.report.partition, place, finding)
        for entry in prompt.reports
        for place, finding in enumerate(entry.report.findings)
        if not finding.failures
    )
    corpus = Corpus.of(claim.all_stems for claim in claims)
    return Material(terms_of(prompt.question), prompt.reports, claims, corpus)


def _claim(partition: int, place: int, finding: Finding) -> Claim:
    text = without_citations(finding.text)
    subject = _SUBJECT.match(text)
    return Claim(
        partition=partition,
        place=place,
        text=text,
        subject=frozenset(stems(subject.group())) if subject else frozenset(),
        stems=frozenset(stems(_SUBJECT.sub("", text))),
        cited=_qualified(finding.citations),
    )


def _qualified(citations: Sequence[Citation]) -> tuple[str, ...]:
    valid = (f"[P{c.partition}:{c.alias}]" for c in citations if c.valid)
    return tuple(dict.fromkeys(valid))


def written(claim: Claim, terms: Sequence[str]) -> str:
    """Return the claim's words with stems in ``terms``, adjacent ones joined."""
    sought = tuple(terms)
    for pair in phrases(claim.statement):
        if stemmed(pair) == sought:
            return " ".join(pair)
    content = words(claim.text)
    return " ".join(next((w for w in content if stem(w) == term), term) for term in sought)


def stemmed(pair: tuple[str, str]) -> tuple[str, ...]:
    """Return the stems of a phrase of two words."""
    return stem(pair[0]), stem(pair[1])
