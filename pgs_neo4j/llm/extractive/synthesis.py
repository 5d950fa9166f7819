"""Writes the synthesis from flags, absences, and convergences of reports, by comparing words.

First, the findings of all reports become claims with citations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from pgs_neo4j.llm.extractive.sentences import quote, without_citations
from pgs_neo4j.model import Citation, Finding, Flag, Prompt, PromptReport, Report
from pgs_neo4j.text.claims.marking import unmark
from pgs_neo4j.text.ranking import Corpus, Terms, bm25, coverage, same, substance, terms_of
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.words import phrases, stem, stems, words

LEAD = (
    "Extracted without a language model: the sentences are quoted from the graph and counted, "
    "not reasoned over."
)
SHORT_QUOTE = 140
MAX_ABSENCES = 8

_QUOTED = re.compile(r"[“\"]([^”\"]{2,80})[”\"]")
_SUBJECT = re.compile(r"^[^\s:]{1,100}: ")


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding of one partition, without aliases in its text.

    ``cited`` are its citations with the partition, such as [P3:n2]. ``stems`` are the stems of the
    statement, and ``subject`` the stems of the title before it. ``place`` counts the findings of a
    report from 0.
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
        """The stems of title and statement."""
        return self.subject | self.stems

    def line(self, limit: int) -> str:
        """Return the quote and at most two citations."""
        return f"{quote(self.text, limit)}{''.join(f' {c}' for c in self.cited[:2])}"


@dataclass(frozen=True, slots=True)
class Material:
    """The reports of a run in the form that the synthesis uses."""

    terms: Terms
    reports: tuple[PromptReport, ...]
    claims: tuple[Claim, ...]
    corpus: Corpus

    def of(self, partition: int) -> tuple[Claim, ...]:
        """Return the claims of one partition in the order of its report, the best first."""
        return tuple(claim for claim in self.claims if claim.partition == partition)


def synthesis(prompt: Prompt, bullets: int) -> str:
    """Write the four sections in order, with at most ``bullets`` entries each."""
    material = material_of(prompt)
    convergences = [f"- {line}" for line in _list_convergences(material, bullets)]
    sections = (
        ("Thesis", [_write_thesis(material)]),
        ("Connections", [f"- {line}" for line in _list_connections(material, bullets)]),
        ("Absences", [f"- {line}" for line in _list_absences(material)[:bullets]]),
        ("Convergences", convergences),
    )
    return "\n\n".join(f"## {title}\n" + "\n".join(lines or ["None."]) for title, lines in sections)


def reduction(prompt: Prompt, bullets: int) -> str:
    """Return the most relevant claims of several reports, a few from each."""
    material = material_of(prompt)
    count = len(material.reports)
    chosen = _choose_strongest(material, max(1, bullets * count // 4))
    findings = [f"- {claim.line(SHORT_QUOTE)}" for claim in chosen]
    claims, reports = counted(len(material.claims), "finding"), counted(count, "report")
    state = f"{claims} of {reports}, of which the closest follow."
    return "\n\n".join(
        (f"## Domain State\n{state}", "## Findings\n" + "\n".join(findings or ["None."]))
    )


def material_of(prompt: Prompt) -> Material:
    """Return the claims of all reports of ``prompt``, in reading order.

    Findings in doubt are left out, because their quotations would not show the doubt.
    """
    claims = tuple(
        _make_claim(entry.report.partition, place, finding)
        for entry in prompt.reports
        for place, finding in enumerate(entry.report.findings)
        if not finding.failures
    )
    corpus = Corpus.of(claim.all_stems for claim in claims)
    return Material(terms_of(prompt.question), prompt.reports, claims, corpus)


def _make_claim(partition: int, place: int, finding: Finding) -> Claim:
    text = without_citations(finding.text)
    subject = _SUBJECT.match(text)
    return Claim(
        partition=partition,
        place=place,
        text=text,
        subject=frozenset(stems(subject.group())) if subject else frozenset(),
        stems=frozenset(stems(_SUBJECT.sub("", text))),
        cited=_qualify_citations(finding.citations),
    )


def _qualify_citations(citations: Sequence[Citation]) -> tuple[str, ...]:
    valid = (f"[P{c.partition}:{c.alias}]" for c in citations if c.valid)
    return tuple(dict.fromkeys(valid))


def _write_thesis(material: Material) -> str:
    """Return a thesis of the three claims that best cover the question.

    Claims of different partitions are preferred.
    """
    count = len(material.reports)
    partitions = counted(count, "partition")
    chosen = _choose_strongest(material, 3)
    if not chosen:
        asked = material.terms.shown(material.terms.stems[:6]) or "the question"
        if count == 1:
            return f"{LEAD} The partition that was read holds no sentence on {asked}."
        return f"{LEAD} None of the {partitions} read holds a sentence on {asked}."
    first, *rest = (claim.line(240) for claim in chosen)
    findings = counted(len(material.claims), "finding")
    text = f"{LEAD} Closest to the question, of {findings} in {partitions}: "
    text += first + ("" if first.endswith(".") else ".")
    if rest:
        text += f" Beside it stand: {'; and '.join(rest)}."
    return text


def _choose_strongest(material: Material, limit: int) -> list[Claim]:
    """Return the strongest claims, from different partitions as far as possible.

    A claim is strong if it is relevant to the question, is early in its report, has several
    citations, and is repeated by other partitions.
    """
    terms = material.terms.stems

    def strength(claim: Claim) -> float:
        claim_stems = list(claim.all_stems)
        repeated = sum(
            same(claim.stems, other.stems)
            for other in material.claims
            if other.partition != claim.partition
        )
        support = 1 + 0.1 * min(3, max(0, len(claim.cited) - 1)) + 0.2 * min(3, repeated)
        support /= 1 + 0.1 * claim.place
        asked = bm25(terms, claim_stems, material.corpus) if terms else 1.0
        covered = coverage(terms, claim.all_stems, material.corpus) or 0.1
        return asked * covered * support * substance(list(claim.stems))

    ranked = sorted(
        enumerate(material.claims), key=lambda item: (-round(strength(item[1]), 9), item[0])
    )
    chosen: list[Claim] = []
    for fresh_only in (True, False):
        for _, claim in ranked:
            seen = {c.partition for c in chosen}
            if len(chosen) < limit and not any(same(claim.stems, c.stems) for c in chosen):
                if fresh_only and claim.partition in seen:
                    continue
                chosen.append(claim)
    return chosen


def _list_connections(material: Material, limit: int) -> list[str]:
    """Return a line for each flagged pair of partitions, the confirmed pairs first."""
    reports = {entry.report.partition: entry.report for entry in material.reports}
    met: dict[frozenset[int], str] = {}
    open_ends: dict[frozenset[int], str] = {}
    uses: Counter[Claim] = Counter()
    for source, report in reports.items():
        for flag in report.flags:
            pair = frozenset((source, flag.target or source))
            if len(pair) < 2 or pair in met or flag.text != unmark(flag.text):
                continue
            ends = _find_ends(material, source, flag, uses)
            if ends is None:
                open_ends.setdefault(pair, _describe_open_flag(source, flag, reports))
                continue
            uses.update(ends[:2])
            met[pair] = _describe_meeting(*ends)
    left = [text for pair, text in open_ends.items() if pair not in met]
    return [*met.values(), *left][:limit]


def _find_ends(
    material: Material, source: int, flag: Flag, uses: Counter[Claim]
) -> tuple[Claim, Claim, tuple[str, ...]] | None:
    """Return the best claims at both ends of a flag, and the stems in which they meet.

    Returns None if no claims share a word that the flag names. Claims that were used before count
    less, so the list has fewer repetitions.
    """
    named = frozenset(stem(word) for word in _find_named_words(flag))
    best: tuple[float, Claim, Claim, tuple[str, ...]] | None = None
    for here in material.of(source):
        for there in material.of(flag.target or 0):
            shared = here.all_stems & there.all_stems & named
            if not shared:
                continue
            weight = sum(material.corpus.idf(term) for term in here.stems & there.stems)
            weight += sum(material.corpus.idf(term) for term in shared)
            weight /= 1 + uses[here] + uses[there]
            if best is None or weight > best[0] + 1e-9:
                best = (weight, here, there, _find_meeting_point(material, here, there, shared))
    return best[1:] if best else None


def _find_meeting_point(
    material: Material, here: Claim, there: Claim, shared: frozenset[str]
) -> tuple[str, ...]:
    """Return the rarest phrase that both claims contain, or else the rarest ``shared`` stem."""
    common = [frozenset(map(stemmed, phrases(claim.statement))) for claim in (here, there)]
    candidates = [pair for pair in common[0] & common[1] if pair[0] != pair[1]]
    order = candidates or [(term,) for term in shared]
    return min(order, key=lambda terms: (-sum(map(material.corpus.idf, terms)), terms))


def _describe_meeting(here: Claim, there: Claim, terms: Sequence[str]) -> str:
    return (
        f"P{here.partition} and P{there.partition} meet in “{written(here, terms)}”: "
        f"{here.line(SHORT_QUOTE)} — {there.line(SHORT_QUOTE)}"
    )


def _describe_open_flag(source: int, flag: Flag, reports: dict[int, Report]) -> str:
    """Return a line about a flag that no finding of its target confirms, with the reason."""
    named = (
        ", ".join(f"“{quote(word, 40)}”" for word in _find_named_words(flag)[:3]) or "a connection"
    )
    target = reports.get(flag.target or 0)
    if target is None:
        return f"P{source} points to P{flag.target} for {named}; P{flag.target} was not read."
    denied = {stem(w) for absence in target.absences for w in _find_terms(absence.text)}
    if any(stem(word) in denied for word in _find_named_words(flag)):
        return (
            f"P{source} points to P{flag.target} for {named}, but P{flag.target} reports it as "
            "absent: a place to look further."
        )
    return f"P{source} points to P{flag.target} for {named}; no finding there confirms it."


def _find_named_words(flag: Flag) -> list[str]:
    """Return the quoted words of a flag, or else all its content words."""
    text = without_citations(flag.text)
    return list(dict.fromkeys(_find_terms(text)))


def _find_terms(text: str) -> list[str]:
    return [word for part in _QUOTED.findall(text) for word in words(part)] or words(text)


def _list_absences(material: Material) -> list[str]:
    """Return lines about reported absences by frequency, with findings that contradict them."""
    total = len(material.reports)
    reporters: dict[str, list[int]] = {}
    for entry in material.reports:
        for absence in entry.report.absences:
            quoted = _QUOTED.search(absence.text)
            key = quoted.group(1) if quoted else quote(absence.text, SHORT_QUOTE)
            partitions = reporters.setdefault(key, [])
            if entry.report.partition not in partitions:
                partitions.append(entry.report.partition)
    lines: list[tuple[bool, int, str]] = []
    for key, partitions in reporters.items():
        holders = _cite_holders(material, key)
        count = len(partitions)
        # An absence that few partitions report is left out in two cases: if a finding contains the
        # words after all, or if it is a pair of words, which may just not occur together.
        if 2 * count < total and (holders or len(words(key)) == 2):
            continue
        where = f"; but see {' '.join(holders)}" if holders else ""
        extent = f"all {total}" if count == total and total > 1 else f"{count} of {total}"
        noun = "partition" if total == 1 else "partitions"
        text = f"“{quote(key, 80)}”: absent from {extent} {noun}{where}."
        lines.append((bool(holders), -count, text))
    return [text for *_, text in sorted(lines, key=lambda line: line[:2])[:MAX_ABSENCES]]


def _cite_holders(material: Material, key: str) -> list[str]:
    """Return citations of up to two findings that contain all words of ``key``."""
    needed = frozenset(stems(key))
    citations = (
        c.cited[0] for c in material.claims if c.cited and needed and needed <= c.all_stems
    )
    return list(dict.fromkeys(citations))[:2]


def _list_convergences(material: Material, limit: int) -> list[str]:
    """Return lines about claims of different partitions that agree or share rare words."""
    agreements: list[str] = []
    used: set[int] = set()
    for one, other in combinations(range(len(material.claims)), 2):
        here, there = material.claims[one], material.claims[other]
        if here.partition == there.partition or {one, other} & used:
            continue
        if same(here.stems, there.stems):
            used |= {one, other}
            agreements.append(
                f"P{here.partition} and P{there.partition} say much the same: "
                f"{here.line(SHORT_QUOTE)} — {there.line(SHORT_QUOTE)}"
            )
    return [*agreements[:limit], *_list_shared_terms(material, max(0, limit - len(agreements)))]


def _list_shared_terms(material: Material, limit: int) -> list[str]:
    """Return lines about phrases in findings of several partitions that the question lacks."""
    spread: dict[tuple[str, str], dict[int, Claim]] = {}
    for claim in material.claims:
        for one, other in phrases(claim.statement):
            pair = (stem(one), stem(other))
            spread.setdefault(pair, {}).setdefault(claim.partition, claim)
    asked = set(material.terms.stems)
    scores = {
        pair: sum(material.corpus.idf(term) for term in pair) * len(claims)
        for pair, claims in spread.items()
        if len(claims) > 1 and not asked.issuperset(pair) and min(map(len, pair)) > 2
    }
    lines: list[str] = []
    used: set[Claim] = set()
    for pair in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        claims = list(spread[pair].values())
        if len(lines) >= limit or not used.isdisjoint(claims[:2]):
            continue
        used.update(claims[:2])
        phrase = written(claims[0], pair)
        names = ", ".join(f"P{claim.partition}" for claim in claims)
        quotes = " — ".join(claim.line(SHORT_QUOTE) for claim in claims[:2])
        lines.append(f"“{phrase}” comes up independently in {names}: {quotes}")
    return lines


def written(claim: Claim, terms: Sequence[str]) -> str:
    """Return the words of a claim whose stems are ``terms``, as a phrase if they are adjacent."""
    sought = tuple(terms)
    for pair in phrases(claim.statement):
        if stemmed(pair) == sought:
            return " ".join(pair)
    content = words(claim.text)
    return " ".join(next((w for w in content if stem(w) == term), term) for term in sought)


def stemmed(pair: tuple[str, str]) -> tuple[str, ...]:
    """Return the stems of a phrase of two words."""
    return stem(pair[0]), stem(pair[1])
