"""Finds pairs of names that are close, though not variants by their letters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain, combinations
from types import ModuleType

from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.resolution import Resolution
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.text.variants.abbreviations import MINOR_WORDS, abbreviates
from pgs_neo4j.text.variants.forms import is_number
from pgs_neo4j.text.variants.likeness import PresentName

LEAST_LIKENESS = 75.0
"""Percent of likeness from which a pair is close."""
MOST_PAIRS = 500
"""Pairs that one ingestion asks about, the closest ones."""
MOST_SHARING = 50
"""Names of a type that share a word; a commoner word tells little."""
FIRST_LETTERS = 4

Pair = tuple[Named, Named]


def close_pairs(
    leaders: Iterable[PresentName],
    resolution: Resolution,
    known: Container[Pair],
    most: int = MOST_PAIRS,
    near: Mapping[Pair, float] | None = None,
) -> list[Pair]:
    """Return close pairs of names that lead entities, the closest first.

    ``near`` are pairs that are close by what is said of them, with their cosines. Names by
    statistics, names that people ruled on, and pairs that are ``known`` are left out. Raises
    ConfigError without rapidfuzz.
    """
    pinned = resolution.pinned
    names = {one.named: one for one in leaders if one.sure and one.named not in pinned}
    meant = {pair: cosine for pair, cosine in (near or {}).items() if names.keys() >= {*pair}}
    found: dict[Pair, float] = {}
    for pair in chain(_sharing(names.values()), meant):
        if pair in found or pair in known:
            continue
        one, other = names[pair[0]], names[pair[1]]
        if _same_numbers(one, other) and resolution.resolver.variant_kind(one, other) is None:
            found[pair] = max(likeness(one, other), 100 * meant.get(pair, 0.0))
    close = [(-score, pair) for pair, score in found.items() if score >= LEAST_LIKENESS]
    return [pair for _, pair in sorted(close)[:most]]


def likeness(one: PresentName, other: PresentName) -> float:
    """Return how alike two names are, in percent.

    All of the words of one, or letters that abbreviate them, make two names alike.
    """
    fuzz = _fuzz()
    first, second = (" ".join(name.form.words) for name in (one, other))
    if any(
        short.brief and abbreviates(short.form.letters, long.form.words)
        for short, long in ((one, other), (other, one))
    ):
        return 100.0
    return float(max(fuzz.ratio(first, second), fuzz.token_set_ratio(first, second)))


def _sharing(names: Iterable[PresentName]) -> Iterator[Pair]:
    """Yield pairs of names of one type that share a word, its first letters, or initials."""
    blocks: dict[tuple[str, str], list[Named]] = defaultdict(list)
    for name in names:
        for block in _blocks(name):
            blocks[name.type, block].append(name.named)
    for _, sharing in sorted(blocks.items()):
        if len(sharing) <= MOST_SHARING:
            yield from combinations(sorted(sharing), 2)


def _blocks(name: PresentName) -> set[str]:
    words = [word for word in name.form.words if word not in MINOR_WORDS]
    own = {word for word in words if len(word) >= FIRST_LETTERS}
    starts = {word[:FIRST_LETTERS] + "-" for word in own}
    initials = "".join(word[0] for word in words) if len(words) > 1 else ""
    letters = name.form.letters if name.brief else initials
    return own | starts | ({f"={letters}"} if len(letters) > 1 else set())


def _same_numbers(one: PresentName, other: PresentName) -> bool:
    """Whether both names have the same numbers: Apollo 11 is not Apollo 13."""
    numbers = [Counter(filter(is_number, name.form.words)) for name in (one, other)]
    return numbers[0] == numbers[1]


def _fuzz() -> ModuleType:
    try:
        from rapidfuzz import fuzz
    except ModuleNotFoundError as error:
        raise ConfigError(
            "--arbiter needs the package rapidfuzz; install pgs-neo4j with its extra: "
            "pip install 'pgs-neo4j[documents]'"
        ) from error
    return fuzz
