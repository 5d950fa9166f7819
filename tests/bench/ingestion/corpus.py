"""Documents with planted entities and relations, as many as are wanted, determined by a seed.

A planted sentence has the form NAME VERB NAME, so that code can tell what any text states.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.extraction.schema import relation_name

_SYLLABLES = "ba do fi ge hu ja ko li mo nu pe ra so tu vi wa xe yo za bri cla dre flo gra"
KINDS = {"Institute": "Organization", "River": "Location", "Treaty": "Law", "Protocol": "Method"}
_VERBS = "advises founded visited supplies opposes joined succeeds translated financed"
_WORDS = """
the quiet morning brought several careful notes about weather and prices while older records kept
their usual order because nobody had asked for another list of goods that could be stored near walls
"""
SYLLABLES, VERBS, WORDS = _SYLLABLES.split(), _VERBS.split(), _WORDS.split()
NAME = r"[A-Z][A-Za-z]+ [A-Z][A-Za-z]+"
STATED = re.compile(rf"({NAME})(?:'s house)? ({'|'.join(VERBS)}) (?:the )?({NAME})")
HUB = "Meridian Institute"


@dataclass(frozen=True, slots=True)
class Fact:
    """A relation between two entities, by their usual names."""

    source: str
    verb: str
    target: str

    @property
    def place(self) -> tuple[str, str, str]:
        """What tells it from others: normalized names, and the name of the relation."""
        named = relation_name(self.verb) or ""
        return normalize_name(self.source), named, normalize_name(self.target)


@dataclass(frozen=True, slots=True)
class World:
    """Entities by their usual names, and the relations between them."""

    names: Sequence[str]
    facts: Sequence[Fact]


def make_world(entities: int, relations: int, seed: int = 1) -> World:
    """Return as many entities and relations; each entity has a relation where these suffice."""
    random = Random(seed)
    names: dict[str, None] = {}
    while len(names) < entities:
        second = random.choice((*KINDS, _word(random), _word(random), _word(random)))
        names[f"{_word(random)} {second}"] = None
    order = [*names]
    facts: dict[tuple[str, str, str], Fact] = {}
    while len(facts) < relations:
        source = order[len(facts) % len(order)]
        fact = Fact(source, random.choice(VERBS), random.choice(order))
        if fact.source != fact.target:
            facts[fact.place] = fact
    return World(order, [*facts.values()])


def type_of(name: str) -> str:
    """Return the type that a name's last word tells."""
    return KINDS.get(name.rpartition(" ")[2].capitalize(), "Person")


def facts_in(text: str) -> list[Fact]:
    """Return the relations that a text states, with the names as it has them."""
    return [Fact(*match.groups()) for match in STATED.finditer(text)]


def write_texts(
    facts: Iterable[Fact], per_document: int, size: int, seed: int = 1, *, aliases: bool = False
) -> Iterator[str]:
    """Yield documents of about ``size`` characters that state as many relations each.

    ``aliases``: names come in capitals, with an article, and in the genitive as well.
    """
    random = Random(seed)
    waiting: list[Fact] = []
    for fact in facts:
        waiting.append(fact)
        if len(waiting) == per_document:
            yield _text(waiting, size, random, aliases=aliases)
            waiting = []
    if waiting:
        yield _text(waiting, size, random, aliases=aliases)


def write_files(folder: Path, texts: Iterable[str]) -> int:
    """Write texts as files, a hundred to a folder, and return how many."""
    count = 0
    for count, text in enumerate(texts, 1):
        below = folder / f"{count // 100:04}"
        below.mkdir(parents=True, exist_ok=True)
        (below / f"{count:06}.txt").write_text(text, encoding="utf-8")
    return count


def filler(random: Random, size: int) -> str:
    """Return sentences without names, of about ``size`` characters."""
    sentences: list[str] = []
    length = 0
    while length < size:
        words = random.choices(WORDS, k=random.randint(9, 16))
        sentence = " ".join(words).capitalize() + "."
        sentences.append(sentence)
        length += len(sentence) + 1
    return " ".join(sentences)


def _text(facts: Sequence[Fact], size: int, random: Random, *, aliases: bool) -> str:
    stated = [_sentence(fact, random, aliases=aliases) for fact in facts]
    room = max(0, size - sum(map(len, stated))) // len(stated)
    return "\n\n".join(f"{sentence} {filler(random, room)}".strip() for sentence in stated) + "\n"


def _sentence(fact: Fact, random: Random, *, aliases: bool) -> str:
    if not aliases:
        return f"{fact.source} {fact.verb} {fact.target}."
    source = random.choice((fact.source, fact.source.upper(), f"{fact.source}'s house"))
    target = random.choice((fact.target, fact.target.upper(), f"the {fact.target}"))
    return f"{random.choice(('', 'Later ', 'In those years '))}{source} {fact.verb} {target}."


def _word(random: Random) -> str:
    return "".join(random.choices(SYLLABLES, k=random.randint(3, 4))).capitalize()
