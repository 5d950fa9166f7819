"""Looks up the claims of a sentence in the texts that it cites, and reports what cannot be found.

A sentence is in doubt if it states a number, a date, a name, or a quotation that no text has. It is
also in doubt if it denies what a text says in nearly the same words. Sums, differences, shares, and
counts are recomputed from the numbers around them. A paraphrase without any of these is never in
doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain, combinations, groupby, pairwise

from pgs_neo4j.text.citations import GROUP
from pgs_neo4j.text.claims.amounts import TIMES, states_factor
from pgs_neo4j.text.claims.dates import Date, find_dates, same_date
from pgs_neo4j.text.claims.names import LABEL, find_unknown_names
from pgs_neo4j.text.claims.negations import Words, denies, split_clauses
from pgs_neo4j.text.claims.numbers import (
    PERCENT,
    Number,
    agree,
    find_numbers,
    sums,
)
from pgs_neo4j.text.claims.ranks import find_unsaid, years
from pgs_neo4j.text.claims.sources import Material, Sources
from pgs_neo4j.text.matching import root
from pgs_neo4j.text.normal_form import (
    flatten,
    fold_case,
    has_unsegmented,
    join,
    normal_form,
)
from pgs_neo4j.text.words import STOP_WORDS

BESIDE = 25  # characters around a number in which a word says how it was computed
NEAR = 12  # maximum number of characters between two counts of the same things
SMALL = 12  # a number word up to this value may count a list in the same sentence
MOST_NUMBERS = 12  # maximum numbers of one kind in the cited texts whose sums are tried
MOST_REASONS = 3
YEARS = "year"  # the kind of a number of years
LONGEST_REASON = 80  # maximum characters of a quoted text in a reason

_SUM = re.compile(
    r"\b(?:totals?|totall?ing|totall?ed|sums?|summing|together|combined|altogether|jointly|in all"
    r"|adds? up|overall|insgesamt|zusammen|au total|en total)\b",
    re.IGNORECASE,
)
_DERIVED = re.compile(
    r"\b(?:took|takes|last(?:s|ed)|within|differences?|gap"
    r"|more than|less than|fewer than|higher|lower|larger|smaller|increas\w*"
    r"|decreas\w*|ris(?:e|es|en|ing)|rose|fell|falls?|fallen|drop\w*|grew|grow\w*|gain\w*|by|times"
    r"|twice|double[ds]?|half|halved|triple[ds]?|ratio|share|average|mean|averag\w*|percent|apart"
    r"|later|earlier|after|span\w*|remain\w*|rest)\b|%",
    re.IGNORECASE,
)
_RATIO = re.compile(
    r"\b(?:times|twice|double[ds]?|triple[ds]?|half|halved|ratio|fold|average|mean)\b",
    re.IGNORECASE,
)
_UP = re.compile(
    r"\b(?:ris(?:e|es|en|ing)|rose|increas\w*|gain\w*|grew|grow\w*|up|more|higher|larger|climb\w*"
    r"|jump\w*|surg\w*|expan\w*)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"\b(?:of|share|rate|fraction|proportion|average|part|percentage)\b", re.IGNORECASE
)
_DOWN = re.compile(
    r"\b(?:fell|falls?|fallen|drop\w*|decreas\w*|declin\w*|reduc\w*|down|less|fewer|lower|smaller"
    r"|shrank|shrink\w*|cut|cuts)\b",
    re.IGNORECASE,
)
# Trends that a sentence may state in either direction: each pair of patterns is up, then down.
_TRENDS = tuple(
    (re.compile(rf"\b(?:{up})\b", re.IGNORECASE), re.compile(rf"\b(?:{down})\b", re.IGNORECASE))
    for up, down in (
        (r"profit\w*|surplus\w*", r"loss|losses|lost|deficit\w*"),
        (
            r"rise|rises|risen|rising|rose|increas\w*|grew|grow|grows|grown|growing|growth|climb\w*",
            r"fell|fall|falls|fallen|falling|decreas\w*|declin\w*|drop|drops|dropped|dropping"
            r"|shrank|shrink\w*|shrunk|reduc\w*",
        ),
    )
)
_OWN_WORDS = """
partition partitions node nodes report reports finding findings source sources citation
citations community communities domain domains passage passages document documents text texts
item items entry entries statement statements
"""
_OWN_NOUNS = frozenset(_OWN_WORDS.split())
_PARTITION_NOUNS = frozenset(
    ("partition", "partitions", "domain", "domains", "community", "communities")
)
_MARKER = re.compile(r"\A\s*(?:[-*•+]\s+)?(?:\(?\d{1,2}[.)]\s+)|(?<!\w)\(\d\)(?=\s)")
_PARTITION = re.compile(
    r"(?<![^\W_])P\d{1,9}(?:\s?[:.]\s?n\d{1,9})?(?![^\W_])|(?<![^\W_])[Pp]artitions?\s+\d{1,4}(?![\w.,]\d)"
)
_ALIAS = re.compile(r"(?<![^\W_])[nt]\d{1,9}(?![^\W_])")
_QUOTED = re.compile(
    r"“([^“”]{1,1000})”|„([^„“”]{1,1000})[“”]|«([^«»]{1,1000})»|»([^«»]{1,1000})«"
    r"|\u2039([^\u2039\u203a]{1,1000})\u203a|\u203a([^\u2039\u203a]{1,1000})\u2039|[「『]([^「」『』]{1,1000})[」』]"
    r"|(?<!\w)\u2018([^\u2018\u2019]{1,1000}(?:\u2019\w[^\u2018\u2019]{0,1000})*)\u2019(?!\w)|(?<![\w'])'([^'\n]{12,300})'(?![\w'])"
    r"|(?<![\w\"])\"([^\"]{1,1000})\"(?![\w\"])"
)
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?|\[[^\[\]]{0,40}\]")
_LEAST_QUOTED = 12, 3  # minimum characters and words of a quotation; anything shorter may be a term
_NUMBERED = re.compile(r"([^\W\d_]*[A-Z][^\W\d_]+)[ -]\Z")  # a name before its number
_DECORATION = re.compile(r"[*_`]|\A\W*[-•+]\s+")


@dataclass(frozen=True)
class Known:
    """Facts that a sentence may state without a source: the question, and counts of the run.

    ``names`` are known names, such as names of partitions. ``partitions`` and ``nodes`` are counts
    of the run that a sentence may repeat.
    """

    question: Material = field(default_factory=lambda: Material(""))
    names: Material = field(default_factory=lambda: Material(""))
    partitions: frozenset[int] = frozenset()
    nodes: frozenset[int] = frozenset()


def find_doubts(
    sentence: str,
    sources: Sources,
    known: Known,
    *,
    cited: tuple[int, int] = (0, 0),
    quotes: bool = True,
    where: str = "cited node",
    related: Sources | None = None,
) -> tuple[str, ...]:
    """Return why a sentence is in doubt; empty if it is not.

    ``sources`` are the texts that the sentence cites, and ``cited`` is how many partitions and
    nodes it cites. Without ``quotes``, quotations are not looked up. The reasons call each source
    ``where``. Differences and shares are computed from numbers that occur together in one of the
    ``related`` texts, by default the sources. There must be few related texts, because any share
    can be found in enough texts.
    """
    plain = _ALIAS.sub(" ", _PARTITION.sub(" ", GROUP.sub(" ", sentence)))
    if not any(sign.isalnum() for sign in plain):
        return ()
    rest, missing = _MARKER.sub(lambda mark: " " * len(mark.group()), plain), []
    if quotes:
        missing += [
            f"“{_shorten(quote)}”"
            for quote in _find_quotes(plain)
            if not _has_quote(quote, sources)
        ]
    for date in find_dates(rest):
        near = chain((known.question,), sources.likely_first(date.text))
        if not any(_has_date(date, one) for one in near):
            missing.append(_shorten(date.text))
        rest = rest[: date.start] + " " * (date.end - date.start) + rest[date.end :]
    known = replace(known, partitions=known.partitions | {cited[0]}, nodes=known.nodes | {cited[1]})
    related = sources if related is None else related
    numbers = _find_missing_numbers(rest, sources, known, related)
    missing += numbers
    missing += map(_shorten, find_unsaid(rest, sources, known.question))
    every = Sources((known.question, known.names, *sources))
    missing += map(_shorten, find_unknown_names(rest, every))
    reasons = [f"no {where} has {', '.join(dict.fromkeys(missing))}"] if missing else []
    if _is_denied(LABEL.sub(" ", _QUOTED.sub(" ", plain)), sources):
        reasons.append(f"a {where} says the contrary")
    # A sentence that a text contains word for word is not in doubt, even if its numbers and names
    # are misread. But words alone have no signs or units, so numbers need the exact spelling.
    flat = flatten(plain)
    likely = sources.likely_first(plain.strip())
    if (
        reasons
        and flat.strip()
        and any(
            flat in source.flat and (not numbers or _has_spelling(plain, source.text))
            for source in likely
        )
    ):
        return ()
    return tuple(reasons)


def _has_spelling(sentence: str, text: str) -> bool:
    """Return whether a text has a sentence with all of its signs, except Markdown and the last."""
    written, known = (
        "".join(_DECORATION.sub("", fold_case(normal_form(one))).split())
        for one in (sentence, text)
    )
    return written.rstrip(".!?:;") in known


def _is_denied(text: str, sources: Sources) -> bool:
    """Return whether a source contradicts one of the sentences of a text."""
    claims = map(Words.of, split_clauses(fold_case(normal_form(text))))
    return any(denies(claim, sources.find_near(claim)) for claim in claims)


def _has_date(date: Date, source: Material) -> bool:
    return any(same_date(date, other) for other in source.dates)


def _find_missing_numbers(text: str, sources: Sources, known: Known, related: Sources) -> list[str]:
    """Return the numbers of a sentence that no text has and that do not follow from others."""
    claims = find_numbers(text)
    if not claims:
        return []
    found = [claim for claim in claims if _is_known(claim, claims, text, sources, known)]
    missing = [claim for claim in claims if claim not in found]
    beside = [[one for one in found if one is not claim] for claim in missing]
    return [
        _shorten(claim.text)
        for claim, others in zip(missing, beside, strict=True)
        if not _is_derived(claim, others, text, sources, related)
    ]


def _is_known(
    claim: Number, claims: Sequence[Number], text: str, sources: Sources, known: Known
) -> bool:
    """Return whether the question, a source, or the run has the number of a claim."""
    whole = int(claim.value) if claim.value == int(claim.value) else None
    # Check first whether the number needs a source: finding the numbers of hundreds of texts is
    # slow.
    if whole is not None and _needs_no_source(claim, whole, claims, text, known):
        return True
    small = claim.spelled and not claim.kind and whole is not None and whole <= SMALL
    if small and not _is_counted(claim, sources):
        return True
    if claim.kind == TIMES and any(states_factor(claim.value, one.folded) for one in sources):
        return True
    near = chain((known.question,), sources.likely_first(claim.text))
    if any(
        agree(claim, other) and not _is_contrary(text, one, other)
        for one in near
        for other in one.numbers
    ):
        return True
    named = _NUMBERED.search(text, max(0, claim.start - 24), claim.start)
    if (
        named
        and not claim.kind
        and named[1].casefold() not in STOP_WORDS
        and any(flatten(f"{named[1]} {claim.text}").rstrip() + " " in one.flat for one in sources)
    ):
        return True
    if whole is None:
        return False
    if claim.ordinal and any(whole in source.ordinals for source in sources):
        return True
    return not claim.kind and _is_known_decade(claim, text, sources)


def _is_contrary(text: str, source: Material, number: Number) -> bool:
    """Return whether a text and the source of a number state opposite trends: rose and fell."""
    trends = _find_trends(text)
    if not any(trends):
        return False
    known = _find_trends(source.sentence(source.sentence_at(number.start)))
    return any(one * other < 0 for one, other in zip(trends, known, strict=True))


def _find_trends(text: str) -> tuple[int, ...]:
    """Return the directions of a sentence: 1 for up, -1 for down, 0 for none or both."""
    return tuple(bool(up.search(text)) - bool(down.search(text)) for up, down in _TRENDS)


def _needs_no_source(
    claim: Number, whole: int, claims: Sequence[Number], text: str, known: Known
) -> bool:
    """Return whether a number is a count of the run, or counts a list in its own sentence."""
    if claim.spelled and whole <= 1:
        return True
    if claim.kind:
        return False
    noun = claim.noun if claim.noun in _OWN_NOUNS else _find_next_noun(claim, claims)
    counts = known.partitions if noun in _PARTITION_NOUNS else known.partitions | known.nodes
    if noun in _OWN_NOUNS and (whole in counts or whole <= min(SMALL, max(counts, default=0))):
        return True
    return claim.spelled and whole <= SMALL and _has_list(text[claim.end :], whole)


def _find_next_noun(claim: Number, claims: Sequence[Number]) -> str:
    """Return the noun of the next number, as in "three of five partitions"."""
    behind = (other for other in claims if 0 < other.start - claim.end <= NEAR)
    return next((other.noun for other in behind), "")


def _is_known_decade(claim: Number, text: str, sources: Sources) -> bool:
    """Return whether a number is a century, or the decade of a year in a text."""
    after = text[claim.end : claim.end + 14].casefold()
    value = int(claim.value)
    if after.startswith("s") and not value % 10:
        return any(year - year % 10 == value for one in sources for year in years(one))
    # The ranks module looks up centuries, with the ordinals.
    return claim.ordinal and after.lstrip(" -").startswith("centur")


def _has_list(after: str, count: int) -> bool:
    """Return whether a list of about ``count`` items follows in the rest of a sentence."""
    parts = len(re.findall(r",(?!\d)|;|\band\b|\bor\b|&", after))
    return count - 1 <= parts <= 2 * count


def _is_counted(claim: Number, sources: Sources) -> bool:
    """Return whether a text counts the same things as a claim."""
    if not claim.noun:
        return False
    wanted = root(fold_case(normal_form(claim.noun)))
    return any(
        root(fold_case(normal_form(other.noun))) == wanted and not other.kind
        for source in sources.holding(wanted.removesuffix("i"))
        for other in source.numbers
        if other.noun
    )


def _is_derived(
    claim: Number,
    found: Sequence[Number],
    text: str,
    sources: Sources,
    related: Sources,
) -> bool:
    """Return whether a number is the sum, difference, share, ratio, or mean of other numbers."""
    alike = (claim.kind, "" if claim.kind == YEARS else claim.kind)
    beside = [one for one in found if one.kind in alike or claim.kind == PERCENT]
    values = [one.value for one in beside if one.year == (claim.year or claim.kind == YEARS)]
    if _SUM.search(text):
        if _is_one_of(claim, sums(values, None)):
            return True
        size = next((int(one.value) for one in found if one.spelled and 1 < one.value <= 6), None)
        size = size or _read_word_count(text)
        if any(_is_one_of(claim, sums(some, size)) for some in _group_same_kind(claim, sources)):
            return True
    if not _DERIVED.search(text[max(0, claim.start - BESIDE) : claim.end + BESIDE]):
        return False
    pairs = [*combinations(values, 2), *_find_pairs(claim, related)]
    if claim.kind == PERCENT:
        plain = [one.plain[0][0] for one in found if not one.year]
        return _is_one_of(claim, _compute_percents([*pairs, *combinations(plain, 2)], text))
    if claim.kind == TIMES:
        plain = [one.plain[0][0] for one in found if not one.year]
        pairs += [*combinations(plain, 2), *_find_pairs(replace(claim, kind=""), related)]
    made: set[Decimal] = set()
    if claim.kind != TIMES:
        made |= {abs(a - b) for a, b in pairs}
        made |= {sum(values, Decimal(0)) / len(values)} if values else set()
    if claim.kind == TIMES or _RATIO.search(text):
        made |= {a / b for a, b in pairs if b} | {b / a for a, b in pairs if a}
    return _is_one_of(claim, made)


def _find_pairs(claim: Number, sources: Sources) -> list[tuple[Decimal, Decimal]]:
    """Return pairs of numbers whose difference or quotient a claim may be.

    Both numbers of a pair are in one sentence. Only a number of years may be a difference between
    calendar years.
    """
    found: list[tuple[Decimal, Decimal]] = []
    for source in sources:
        if claim.kind == YEARS:
            years = [one.value for one in source.numbers if one.year]
            found += pairwise(years)
        for _, group in _group_by_sentence(source):
            kinds: dict[str, list[Number]] = {}
            for one in group:
                alike = claim.kind in (PERCENT, one.kind) and not one.year and not one.ordinal
                if alike and (one.kind == claim.kind or one.kind not in (PERCENT, TIMES)):
                    kinds.setdefault(one.kind, []).append(one)
            for some in kinds.values():
                found += [
                    (one.value, other.value)
                    for one, other in pairwise(some)
                    # Counts of different things have no difference.
                    if one.kind or not one.noun or not other.noun or one.noun == other.noun
                ]
    return found


def _group_by_sentence(source: Material) -> Iterator[tuple[int, Iterator[Number]]]:
    return groupby(source.numbers, key=lambda one: source.sentence_at(one.start))


def _compute_percents(pairs: Iterable[tuple[Decimal, Decimal]], text: str) -> Iterator[Decimal]:
    """Yield the changes of pairs in percent, or their shares, depending on a sentence's words."""
    up, down = _UP.search(text), _DOWN.search(text)
    for a, b in pairs:
        low, high = sorted((abs(a), abs(b)))
        if not low or low == high:
            continue
        if up:
            yield 100 * high / low - 100
        if down:
            yield 100 - 100 * low / high
        if not (up or down) and _SHARE.search(text):
            yield 100 * low / high


def _read_word_count(text: str) -> int | None:
    match = re.search(r"\b(both|two|three|four|five|six)\b", text, re.IGNORECASE)
    if match is None:
        return None
    return {"both": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}[match[1].casefold()]


def _group_same_kind(claim: Number, sources: Sources) -> list[list[Decimal]]:
    """Return groups of numbers of a claim's kind whose sums are tried.

    The groups are all numbers, if they are few; the numbers of texts that have only one; and the
    numbers of each sentence.
    """
    own = [
        [one.value for one in source.numbers if one.kind == claim.kind and not one.spelled]
        for source in sources
    ]
    every = [value for values in own for value in values]
    firsts = [values[0] for values in own if len(values) == 1]
    listed = [
        [
            one.value
            for one in group
            if one.kind == claim.kind and not (one.year or one.ordinal or one.spelled)
        ]
        for source in sources
        for _, group in _group_by_sentence(source)
    ]
    few = every if len(every) <= MOST_NUMBERS else []
    return [some for some in (few, firsts, *listed) if some]


def _is_one_of(claim: Number, made: Iterable[Decimal]) -> bool:
    """Return whether a claim equals one of the results in ``made``, at the claim's precision."""
    return any(
        abs(abs(value) - abs(one)) <= max(step / 2, Decimal("1e-9"))
        for value, step in claim.values
        for one in made
    )


def _find_quotes(text: str) -> list[str]:
    quotes = (next(group for group in match.groups() if group) for match in _QUOTED.finditer(text))
    least, words = _LEAST_QUOTED
    return [
        quote
        for quote in dict.fromkeys(quotes)
        if has_unsegmented(quote) or (len(quote) >= least and len(quote.split()) >= words)
    ]


def _has_quote(quote: str, sources: Sources) -> bool:
    parts = [part for part in _GAP.split(quote) if part.strip()]
    spellings = ([flatten(part) for part in parts], [flatten(join(part)) for part in parts])
    return any(
        all(part.strip() and part in source.flat for part in spelling)
        for source in sources.likely_first(max(parts, key=len, default="").strip())
        for spelling in spellings
    )


def _shorten(text: str) -> str:
    plain = " ".join(text.split()).translate({ord("("): "[", ord(")"): "]"})
    return plain if len(plain) <= LONGEST_REASON else plain[: LONGEST_REASON - 1].rstrip() + "…"
