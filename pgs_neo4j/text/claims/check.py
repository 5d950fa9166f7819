"""Looks the claims of a sentence up in the texts that it cites, and says what cannot be found.

A sentence is in doubt if it states a number, a date, a name, or a quotation that no text has, or
denies what a text says in nearly the same words. Sums, differences, shares, and counts are redone
from the numbers beside them. A paraphrase that states none of these is never in doubt.
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
NEAR = 12  # characters between two counts of the same things
SMALL = 12  # a count in words up to this one may be of what the sentence itself lists
MOST_NUMBERS = 12  # of one kind among the cited texts of which sums are tried
MOST_REASONS = 3
YEARS = "year"  # the kind of a number of years
LONGEST_REASON = 80  # characters of what is quoted in a reason

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
# What a sentence may say in two directions: each pair of patterns says it up, and down.
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
_LEAST_QUOTED = 12, 3  # characters and words of the quotation of a sentence
_NUMBERED = re.compile(r"([^\W\d_]*[A-Z][^\W\d_]+)[ -]\Z")  # a name before its number
_DECORATION = re.compile(r"[*_`]|\A\W*[-•+]\s+")


@dataclass(frozen=True)
class Known:
    """What a sentence may state without a citation: the question, and what the run counted.

    ``names`` has the names of partitions and the like.
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
    """Return why a sentence is in doubt, at most ``MOST_REASONS``; empty if it is not.

    ``sources`` are the texts that it cites; ``cited`` counts the partitions and the nodes. Without
    ``quotes``, quotations were looked up elsewhere. The reasons call each source ``where``.
    Differences and shares may be of numbers that stand together in one of the ``related`` texts, by
    default the sources: among enough texts, each share is somewhere.
    """
    plain = _ALIAS.sub(" ", _PARTITION.sub(" ", GROUP.sub(" ", sentence)))
    if not any(sign.isalnum() for sign in plain):
        return ()
    rest, missing = _MARKER.sub(lambda mark: " " * len(mark.group()), plain), []
    if quotes:
        missing += [
            f"“{_short(quote)}”" for quote in _find_quotes(plain) if not _quoted(quote, sources)
        ]
    for date in find_dates(rest):
        near = chain((known.question,), sources.likely_first(date.text))
        if not any(_dated(date, one) for one in near):
            missing.append(_short(date.text))
        rest = rest[: date.start] + " " * (date.end - date.start) + rest[date.end :]
    known = replace(known, partitions=known.partitions | {cited[0]}, nodes=known.nodes | {cited[1]})
    related = sources if related is None else related
    numbers = _missing_numbers(rest, sources, known, related)
    missing += numbers
    missing += map(_short, find_unsaid(rest, sources, known.question))
    every = Sources((known.question, known.names, *sources))
    missing += map(_short, find_unknown_names(rest, every))
    reasons = [f"no {where} has {', '.join(dict.fromkeys(missing))}"] if missing else []
    if _is_denied(LABEL.sub(" ", _QUOTED.sub(" ", plain)), sources):
        reasons.append(f"a {where} says the contrary")
    # What a text says word for word is in no doubt, however its numbers and names are read. Words
    # have neither the signs nor the units of numbers.
    said = flatten(plain)
    likely = sources.likely_first(plain.strip())
    if (
        reasons
        and said.strip()
        and any(
            said in source.flat and (not numbers or _spells(plain, source.text))
            for source in likely
        )
    ):
        return ()
    return tuple(reasons)


def _spells(sentence: str, text: str) -> bool:
    """Whether a text holds a sentence with all of its signs, but for its marks and its end."""
    written, known = (
        "".join(_DECORATION.sub("", fold_case(normal_form(one))).split())
        for one in (sentence, text)
    )
    return written.rstrip(".!?:;") in known


def _is_denied(text: str, sources: Sources) -> bool:
    """Return whether a source says the contrary of one of the sentences of a text."""
    claims = map(Words.of, split_clauses(fold_case(normal_form(text))))
    return any(denies(claim, sources.find_near(claim)) for claim in claims)


def _dated(date: Date, source: Material) -> bool:
    return any(same_date(date, other) for other in source.dates)


def _missing_numbers(text: str, sources: Sources, known: Known, related: Sources) -> list[str]:
    claims = find_numbers(text)
    if not claims:
        return []
    found = [claim for claim in claims if _is_known(claim, claims, text, sources, known)]
    missing = [claim for claim in claims if claim not in found]
    beside = [[one for one in found if one is not claim] for claim in missing]
    return [
        _short(claim.text)
        for claim, others in zip(missing, beside, strict=True)
        if not _is_derived(claim, others, text, sources, related)
    ]


def _is_known(
    claim: Number, claims: Sequence[Number], text: str, sources: Sources, known: Known
) -> bool:
    whole = int(claim.value) if claim.value == int(claim.value) else None
    # What needs no source comes first: to find the numbers of hundreds of texts takes long.
    if whole is not None and _needs_no_source(claim, whole, claims, text, known):
        return True
    small = claim.spelled and not claim.kind and whole is not None and whole <= SMALL
    if small and not _same_noun(claim, sources):
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
    return not claim.kind and _decade(claim, text, sources)


def _is_contrary(text: str, source: Material, number: Number) -> bool:
    """Whether a source has a number of something that fell, where a text says that it rose."""
    own = _trends(text)
    if not any(own):
        return False
    said = _trends(source.sentence(source.sentence_at(number.start)))
    return any(one * other < 0 for one, other in zip(own, said, strict=True))


def _trends(text: str) -> tuple[int, ...]:
    """Return the directions of a sentence: 1 for up, -1 for down, 0 for none or both."""
    return tuple(bool(up.search(text)) - bool(down.search(text)) for up, down in _TRENDS)


def _needs_no_source(
    claim: Number, whole: int, claims: Sequence[Number], text: str, known: Known
) -> bool:
    """Whether a number is a count of the run, or of what its own sentence lists."""
    if claim.spelled and whole <= 1:
        return True
    if claim.kind:
        return False
    noun = claim.noun if claim.noun in _OWN_NOUNS else _next_noun(claim, claims)
    counts = known.partitions if noun in _PARTITION_NOUNS else known.partitions | known.nodes
    if noun in _OWN_NOUNS and (whole in counts or whole <= min(SMALL, max(counts, default=0))):
        return True
    return claim.spelled and whole <= SMALL and _lists(text[claim.end :], whole)


def _next_noun(claim: Number, claims: Sequence[Number]) -> str:
    """Return the noun of the number that follows, as in three of five partitions."""
    behind = (other for other in claims if 0 < other.start - claim.end <= NEAR)
    return next((other.noun for other in behind), "")


def _decade(claim: Number, text: str, sources: Sources) -> bool:
    """Whether a number is the decade of a year that a text has, or a century."""
    after = text[claim.end : claim.end + 14].casefold()
    value = int(claim.value)
    if after.startswith("s") and not value % 10:
        return any(year - year % 10 == value for one in sources for year in years(one))
    # A century is looked up with the ordinals.
    return claim.ordinal and after.lstrip(" -").startswith("centur")


def _lists(after: str, count: int) -> bool:
    """Whether a sentence lists as many things behind their count."""
    parts = len(re.findall(r",(?!\d)|;|\band\b|\bor\b|&", after))
    return count - 1 <= parts <= 2 * count


def _same_noun(claim: Number, sources: Sources) -> bool:
    """Whether a text counts the same things."""
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
    """Whether a number follows from others by a sum, a difference, a share, or a mean."""
    alike = (claim.kind, "" if claim.kind == YEARS else claim.kind)
    beside = [one for one in found if one.kind in alike or claim.kind == PERCENT]
    values = [one.value for one in beside if one.year == (claim.year or claim.kind == YEARS)]
    if _SUM.search(text):
        if _is_one_of(claim, sums(values, None)):
            return True
        size = next((int(one.value) for one in found if one.spelled and 1 < one.value <= 6), None)
        size = size or _word_count(text)
        if any(_is_one_of(claim, sums(some, size)) for some in _same_kind(claim, sources)):
            return True
    if not _DERIVED.search(text[max(0, claim.start - BESIDE) : claim.end + BESIDE]):
        return False
    pairs = [*combinations(values, 2), *_find_pairs(claim, related)]
    if claim.kind == PERCENT:
        plain = [one.plain[0][0] for one in found if not one.year]
        return _is_one_of(claim, _percents([*pairs, *combinations(plain, 2)], text))
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
    """Return pairs of numbers of which a claim may be the difference or the quotient.

    They stand in one sentence, and years only make years.
    """
    found: list[tuple[Decimal, Decimal]] = []
    for source in sources:
        if claim.kind == YEARS:
            years = [one.value for one in source.numbers if one.year]
            found += pairwise(years)
        for _, group in _by_sentence(source):
            kinds: dict[str, list[Number]] = {}
            for one in group:
                alike = claim.kind in (PERCENT, one.kind) and not one.year and not one.ordinal
                if alike and (one.kind == claim.kind or one.kind not in (PERCENT, TIMES)):
                    kinds.setdefault(one.kind, []).append(one)
            for some in kinds.values():
                found += [
                    (one.value, other.value)
                    for one, other in pairwise(some)
                    # Different things that are counted have no difference.
                    if one.kind or not one.noun or not other.noun or one.noun == other.noun
                ]
    return found


def _by_sentence(source: Material) -> Iterator[tuple[int, Iterator[Number]]]:
    return groupby(source.numbers, key=lambda one: source.sentence_at(one.start))


def _percents(pairs: Iterable[tuple[Decimal, Decimal]], text: str) -> Iterator[Decimal]:
    """Yield what a share or a change of pairs may be, as a sentence words it."""
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


def _word_count(text: str) -> int | None:
    match = re.search(r"\b(both|two|three|four|five|six)\b", text, re.IGNORECASE)
    if match is None:
        return None
    return {"both": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}[match[1].casefold()]


def _same_kind(claim: Number, sources: Sources) -> list[list[Decimal]]:
    """Return the numbers of a claim's kind: all if few, and the first of each text."""
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
        for _, group in _by_sentence(source)
    ]
    few = every if len(every) <= MOST_NUMBERS else []
    return [some for some in (few, firsts, *listed) if some]


def _is_one_of(claim: Number, made: Iterable[Decimal]) -> bool:
    """Whether a claim is one of some results, rounded as the claim is."""
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


def _quoted(quote: str, sources: Sources) -> bool:
    parts = [part for part in _GAP.split(quote) if part.strip()]
    spellings = ([flatten(part) for part in parts], [flatten(join(part)) for part in parts])
    return any(
        all(part.strip() and part in source.flat for part in spelling)
        for source in sources.likely_first(max(parts, key=len, default="").strip())
        for spelling in spellings
    )


def _short(text: str) -> str:
    plain = " ".join(text.split()).translate({ord("("): "[", ord(")"): "]"})
    return plain if len(plain) <= LONGEST_REASON else plain[: LONGEST_REASON - 1].rstrip() + "…"
