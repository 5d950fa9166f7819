"""Extracts terms and relations from one chunk without a model.

Only the chunk and its headings decide, never other documents. So documents can be added or removed
without effect on the rest. The form of the chunk states some relations: definitions, headings, and
links. Other relations are pairs of terms that share sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice
from typing import NamedTuple

from pgs_neo4j.model.documents import Chunk, ExtractedEntity, ExtractedRelation, Extraction
from pgs_neo4j.text.extraction.names import name_fault, normalize_name
from pgs_neo4j.text.line_labels import blank_labels
from pgs_neo4j.text.local_extraction.candidates import Candidate, count_candidates
from pgs_neo4j.text.local_extraction.ranks import best_terms, specificity
from pgs_neo4j.text.local_extraction.tokens import MONTHS, TOKEN, WORD, key_of, word_of

MOST_TERMS = 80
"""Maximum number of terms of a chunk."""

MOST_PAIRS = 60
"""Maximum number of pairs of terms of a chunk that share sentences; the strongest pairs stay."""

SHARED = 2
"""Minimum number of sentences that a pair of terms must share."""

PER_SENTENCE = 12
"""Maximum number of terms that are paired in a sentence; the best stay. Rows of data have more."""

MOST_STATED = 40
"""Maximum number of links of a chunk; only lists of links have more."""

MOST_SENTENCES = 24
"""Maximum number of sentences that are cited for a term; the first sentences stay."""

LONGEST_DESCRIPTION = 300
LONGEST_TITLE = 80
LONGEST_SUBJECT = 5
"""Maximum number of words of a term that a sentence defines."""

OCCURS_WITH = "occurs with"
IS_A, PART_OF, LINKS_TO = "is a", "part of", "links to"

_ORGANIZATION = re.compile(
    r"\b(?:Inc|Corp|Corporation|Ltd|LLC|GmbH|Company|University|Institute|College|School|Foundation"
    r"|Association|Committee|Council|Agency|Ministry|Department|Bank|Society|Academy)\b"
)
_PERSON = re.compile(r"^(?:Mr|Mrs|Ms|Dr|Prof|Sir|Lady|Saint|President|King|Queen)\b")
_PLACE = re.compile(
    r"\b(?:City|River|Lake|Mount|Mountains|Island|Islands|Street|County|Province|Ocean|Sea|Bay)\b"
    r"|^(?:Kingdom|Republic|State|Gulf|Strait) of\b"
)
_DATE = re.compile(rf"^(?:\d{{1,2}} )?(?:{'|'.join(MONTHS)})(?: \d{{1,4}})?$")
_EVENT = re.compile(r"\b(?:War|Battle|Revolution|Olympics|Conference|Championship|Treaty)\b")
_TYPES = (
    ("Date", _DATE),
    ("Organization", _ORGANIZATION),
    ("Person", _PERSON),
    ("Event", _EVENT),
    ("Location", _PLACE),
)

_IS = re.compile(r"\s(?:is|are|was|were)\s+(?:an?|the|one of(?: the)?)\s", re.IGNORECASE)
_BRACKETS = re.compile(r"\s*\([^()]{0,200}\)")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{2,80})\](?:\([^()\s]{1,500}\)|\[[^\[\]\n]{0,80}\])")
_EMPHASIS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")
_EDGES = re.compile(r"^[\s#>:.,-]+|[^\w)+#\]!?]+$|\s+#+$")
_SUBJECT = re.compile(r"[^.,;:!?\n]{2,120}")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)


class StatedRelation(NamedTuple):
    """A relation between two names, with the number of its sentence."""

    source: str
    keyword: str
    target: str
    sentence: int


def extract_terms(chunk: Chunk, most: int = MOST_TERMS) -> Extraction:
    """Return the terms of a chunk, at most ``most``, and their relations.

    Terms are proper names, words, and phrases. A sentence that defines a term becomes its
    description. A relation is stated by a sentence, a heading, or a link, or its two terms share at
    least ``SHARED`` sentences.
    """
    chunk = blank_labels(chunk)
    candidates = count_candidates(chunk)
    terms = best_terms({key: one for key, one in candidates.items() if _is_name(one.name)}, most)
    stated = [*find_headings(chunk), *islice(find_links(chunk), MOST_STATED)]
    named = dict.fromkeys(
        normalize_name(name)
        for one in stated
        for name in (one.source, one.target)
        if _is_name(name)
    )
    own = {normalize_name(one.name) for one in terms}
    room = most - len(list(islice((name for name in named if name not in own), most // 2)))
    terms = terms[:room]
    definitions = list(find_definitions(chunk, {one.key: one.name for one in terms}))
    described = {one.source: _get_sentence(chunk, one.sentence) for one in reversed(definitions)}
    entities = {normalize_name(one.name): _make_entity(one, described) for one in terms}
    for one in stated:
        for name in (one.source, one.target):
            if len(entities) < most and _is_name(name):
                entities.setdefault(normalize_name(name), _make_named_entity(name, one.sentence))
    relations = [*map(_make_relation, (*definitions, *stated)), *_find_pairs(terms, chunk)]
    return Extraction(tuple(entities.values()), tuple(_drop_repeats(relations, entities)))


@lru_cache(maxsize=32768)
def type_of(name: str) -> str:
    """Return the type of a name. Only its words decide, so the type is the same in any chunk."""
    return next((type_ for type_, words in _TYPES if words.search(name)), "Concept")


def _is_name(name: str) -> bool:
    return name_fault(name) is None


def _make_entity(one: Candidate, described: dict[str, str]) -> ExtractedEntity:
    return ExtractedEntity(
        name=one.name,
        type=type_of(one.name),
        description=described.get(one.name, ""),
        sentences=tuple(one.sentences[:MOST_SENTENCES]),
    )


def _make_named_entity(name: str, sentence: int) -> ExtractedEntity:
    return ExtractedEntity(name=name, type=type_of(name), sentences=(sentence,))


def _make_relation(one: StatedRelation) -> ExtractedRelation:
    return ExtractedRelation(
        source=one.source, target=one.target, keywords=(one.keyword,), sentences=(one.sentence,)
    )


def _find_pairs(terms: Sequence[Candidate], chunk: Chunk) -> Iterator[ExtractedRelation]:
    """Yield pairs of terms that share sentences of prose, strongest first.

    Each sentence adds the product of both specificities to the weight of its pairs.
    """
    inside: dict[int, list[int]] = {}
    for place, one in enumerate(terms):
        for number in one.sentences if len(one.sentences) >= SHARED else ():
            if chunk.sentences[number - 1].kind != "code":
                inside.setdefault(number, []).append(place)
    shared: Counter[tuple[int, int]] = Counter()
    for places in inside.values():
        longest = _keep_longest(places, terms)
        shared.update(combinations(longest[:PER_SENTENCE], 2))
    specific = [specificity(one) for one in terms]
    strong = [
        (-count * specific[first] * specific[second], (first, second))
        for (first, second), count in shared.items()
        if count >= SHARED
    ]
    yielded = 0
    for weight, (first, second) in sorted(strong):
        one, other = terms[first], terms[second]
        if yielded == MOST_PAIRS:
            return
        if set(one.key.split(" ")) & set(other.key.split(" ")):
            continue  # terms that share a word are variants of one phrase
        source, target = sorted((one.name, other.name), key=normalize_name)
        both = sorted(set(one.sentences) & set(other.sentences))
        yielded += 1
        yield ExtractedRelation(
            source=source,
            target=target,
            keywords=(OCCURS_WITH,),
            sentences=tuple(both[:MOST_SENTENCES]),
            weight=-weight,
        )


def _keep_longest(places: Sequence[int], terms: Sequence[Candidate]) -> list[int]:
    """Return the terms of a sentence that are not part of a longer term in it."""
    phrases = "|".join(f" {terms[place].key} " for place in places if terms[place].words > 1)
    return [
        place
        for place in places
        if phrases.count(f" {terms[place].key} ") <= (terms[place].words > 1)
    ]


def _drop_repeats(
    relations: Iterable[ExtractedRelation], names: Iterable[str]
) -> Iterator[ExtractedRelation]:
    """Yield relations between two different entities in ``names``, each relation once."""
    allowed = set(names)
    seen: set[tuple[str, str, tuple[str, ...]]] = set()
    for relation in relations:
        ends = (normalize_name(relation.source), normalize_name(relation.target))
        kind = (*ends, relation.keywords)
        if ends[0] != ends[1] and allowed.issuperset(ends) and kind not in seen:
            seen.add(kind)
            yield relation


def _get_sentence(chunk: Chunk, number: int) -> str:
    one = chunk.sentences[number - 1]
    return " ".join(chunk.text[one.start : one.end].split())[:LONGEST_DESCRIPTION]


def find_definitions(chunk: Chunk, terms: Mapping[str, str]) -> Iterator[StatedRelation]:
    """Yield "is a" relations from sentences that define a term; ``terms`` maps keys to names."""
    for number, one in enumerate(chunk.sentences, 1):
        if one.kind != "prose":
            continue
        text = chunk.text[one.start : one.end]
        verb = _IS.search(text, 0, 200)
        if verb is None:
            continue
        subject = _ARTICLE.sub("", _BRACKETS.sub("", text[: verb.start()]).strip(" \n-*>`\"'"))
        if not _SUBJECT.fullmatch(subject) or subject.count(" ") >= LONGEST_SUBJECT:
            continue
        source = terms.get(_make_key(subject))
        target = _find_class(text[verb.end() : verb.end() + 120], terms)
        if source and target and source != target:
            yield StatedRelation(source, IS_A, target, number)


def find_headings(chunk: Chunk) -> Iterator[StatedRelation]:
    """Yield "part of" relations between each heading of a chunk and the heading above it."""
    above: list[tuple[int, str]] = [(0, title) for title in chunk.path[-1:]]
    for number, one in enumerate(chunk.sentences, 1):
        if one.kind != "heading":
            continue
        title = title_of(chunk.text[one.start : one.end])
        while above and above[-1][0] >= one.level:
            above.pop()
        if title and above and above[-1][1] != title:
            yield StatedRelation(title, PART_OF, above[-1][1], number)
        if title:
            above.append((one.level, title))


def find_links(chunk: Chunk) -> Iterator[StatedRelation]:
    """Yield "links to" relations, from the heading above each link to the text of the link."""
    title = chunk.path[-1] if chunk.path else ""
    for number, one in enumerate(chunk.sentences, 1):
        text = chunk.text[one.start : one.end]
        if one.kind == "heading":
            title = title_of(text) or title
        elif (title and "](" in text) or "][" in text:
            for match in _LINK.finditer(text):
                name = _strip_marks(match[1])
                if name.lower() != title.lower() and any(map(str.isalpha, name)):
                    yield StatedRelation(title, LINKS_TO, name, number)


def title_of(text: str) -> str:
    """Return the words of a heading, or an empty text if it is too long for a name."""
    line = text.strip().partition("\n")[0]
    title = _strip_marks(_LINK.sub(r"\1", line))
    return title if len(title) <= LONGEST_TITLE else ""


def _strip_marks(text: str) -> str:
    """Return a title without marks inside and around its words."""
    return _EDGES.sub("", " ".join(_EMPHASIS.sub("", text).split()))


def _find_class(text: str, terms: Mapping[str, str]) -> str | None:
    """Return the first term in the words after the verb of a definition, or None."""
    words = [word_of(piece) for piece in TOKEN.split(text)[1::2]][:8]
    for first, word in enumerate(words):
        if word.kind < WORD:
            if first > 2:
                return None
            continue
        for last in range(min(len(words), first + 3), first, -1):
            name = terms.get(" ".join(one.key for one in words[first:last]))
            if name is not None:
                return name
    return None


def _make_key(text: str) -> str:
    return key_of(" ".join(TOKEN.split(text)[1::2]))
