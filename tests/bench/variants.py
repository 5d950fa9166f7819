"""Plants names, variants of them, and traps: names that look alike and must stay apart.

``python -m tests.bench.variants`` prints how many variants are found, and what is joined wrongly.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import ascii_lowercase

from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.resolution import Resolution, resolve
from pgs_neo4j.model.documents import GroundedEntity, GroundedExtraction
from pgs_neo4j.text.extraction.additions import add_definitions
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.name_variants import PresentName, present_name

Spelled = tuple[str, str]
"""A spelling and its type."""

_FIRST_WORDS = """
Amelia Bernard Caroline Dmitri Eleanor Ferdinand Gloria Harold Ingrid Joaquin Katarina Leopold
Marguerite Nathaniel Olympia Patrick Quentin Rosalind Sebastian Theodora Ulrich Valentina Wilhelm
Xavier Yolanda Zachary Benedict Clementine Desmond Felicity
"""
FIRST = _FIRST_WORDS.split()
_LAST_WORDS = """
Abernathy Blackwood Castellano Davenport Eastwick Fairbanks Greenfield Hawthorne Iverson Jankowski
Kowalczyk Lindqvist Montgomery Nakamura Oppenheim Pemberton Quackenbush Rutherford Sutherland
Trevelyan Underhill Vandermeer Whitaker Yamaguchi Zimmerman Okonkwo Delacroix Featherstone Galbraith
Holloway
"""
LAST = _LAST_WORDS.split()
_PLACES_WORDS = """
Auckland Bergamo Calcutta Dortmund Edinburgh Florence Granada Helsinki Istanbul Jakarta Kingston
Lisbon Montevideo Nairobi Oslo Palermo Quito Rotterdam Stuttgart Toronto Utrecht Valencia Warsaw
Yokohama Zanzibar
"""
PLACES = _PLACES_WORDS.split()
_FIELDS_WORDS = """
Agriculture Biology Chemistry Dentistry Economics Forestry Geology Hydrology Immunology Journalism
Linguistics Metallurgy Navigation Oceanography Philosophy Robotics Sociology Transport Viticulture
Zoology
"""
FIELDS = _FIELDS_WORDS.split()
BODIES = (
    "Institute",
    "Association",
    "Federation",
    "Laboratory",
    "Commission",
    "Academy",
    "Foundation",
    "Council",
)
_FIRMS_WORDS = """
Albatross Borealis Cobalt Dynamo Evergreen Falconer Gossamer Halcyon Ironwood Juniper Kestrel
Lodestar Meridian Northwind Obsidian Paragon Quicksilver Redstone Silverline Tamarind
"""
FIRMS = _FIRMS_WORDS.split()
TRADES = (
    "Shipping",
    "Instruments",
    "Pharmaceuticals",
    "Textiles",
    "Airways",
    "Foods",
    "Robotics",
    "Optics",
)
TOOLS = [
    "Data-Driven",
    "Event-Based",
    "Graph-Aware",
    "Cross-Platform",
    "Real-Time",
    "Self-Hosted",
    "Open-Source",
]
UNIQUE = ("acronym", "initials", "definition")
"""Kinds of variants that several names may have."""
THINGS = (
    "Compiler",
    "Scheduler",
    "Database",
    "Toolkit",
    "Debugger",
    "Renderer",
    "Profiler",
    "Notebook",
)


@dataclass(frozen=True, slots=True)
class Planted:
    """Names with their variants by kind, and pairs that must stay apart."""

    variants: tuple[tuple[str, Spelled, Spelled], ...]
    traps: tuple[tuple[str, Spelled, Spelled], ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What became of planted names. ``found`` and ``missed`` count variants by kind."""

    found: Counter[str]
    missed: Counter[str]
    right_pairs: int
    wrong_pairs: tuple[tuple[Named, Named], ...]
    merged_traps: tuple[tuple[Spelled, Spelled], ...]

    @property
    def recall(self) -> float:
        """The share of variants that are joined with their name."""
        return self.found.total() / (self.found.total() + self.missed.total())

    @property
    def precision(self) -> float:
        """The share of joined pairs that are one entity."""
        return self.right_pairs / max(1, self.right_pairs + len(self.wrong_pairs))


def plant(seed: int = 1, count: int = 1000) -> Planted:
    """Return ``count`` variants, a sixth of each kind, and all traps."""
    random = Random(seed)
    makers: list[tuple[str, list[Spelled], Callable[[Random, str], str]]] = [
        ("acronym", _bodies(random), _acronym),
        ("initials", _persons(random), _initials),
        ("spelling", [*_tools(random), *_persons(random)], _respelled),
        ("company form", _firms(random), _company_form),
        ("typing error", [*_bodies(random), *_persons(random), *_firms(random)], _mistyped),
        ("definition", _systems(random), _acronym),
    ]
    variants: list[tuple[str, Spelled, Spelled]] = []
    for kind, bases, vary in makers:
        made: dict[tuple[Spelled, str], None] = {}  # in order, so that a seed decides all
        unclear = _unclear(bases, vary) if kind in UNIQUE else set()
        usable = [base for base in bases if vary(Random(0), base[0]) not in unclear]
        while len(made) < count // len(makers):
            base = random.choice(usable)
            varied = vary(random, base[0])
            if normalize_name(varied) != normalize_name(base[0]):
                made[base, varied] = None
        variants += [(kind, base, (varied, base[1])) for base, varied in made]
    return Planted(tuple(variants), TRAPS)


def measure(planted: Planted) -> Measured:
    """Resolve all variants among each other, and each trap by itself."""
    truth: dict[Named, set[str]] = defaultdict(set)
    spellings: dict[Named, list[str]] = defaultdict(list)
    for _, base, varied in planted.variants:
        for spelled in (base, varied):
            named = normalize_name(spelled[0]), spelled[1]
            truth[named].add(base[0])
            spellings[named].append(spelled[0])
    shorts = {
        _named(base): defined_short(base, varied[0])
        for kind, base, varied in planted.variants
        if kind == "definition"
    }
    entities = resolve(
        [
            present_name(*named, written, sure=True, short=shorts.get(named, ""))
            for named, written in spellings.items()
        ],
        Resolution(),
    )
    found, missed = Counter[str](), Counter[str]()
    for kind, base, varied in planted.variants:
        joined = entities[_named(base)] == entities[_named(varied)]
        (found if joined else missed)[kind] += 1
    members: dict[Named, list[Named]] = defaultdict(list)
    for named, entity in entities.items():
        members[entity].append(named)
    pairs = [(named, entity) for entity, own in members.items() for named in own if named != entity]
    wrong = tuple(pair for pair in pairs if not truth[pair[0]] & truth[pair[1]])
    return Measured(
        found,
        missed,
        len(pairs) - len(wrong),
        wrong,
        tuple(
            (one, other)
            for kind, one, other in planted.traps
            if are_joined(one, other, beside=kind == "beside")
        ),
    )


def are_joined(one: Spelled, other: Spelled, *, beside: bool = False) -> bool:
    """Whether two names are one entity when no others are present.

    ``beside``: a text has one behind the other in brackets.
    """
    short = defined_short(one, other[0]) if beside else ""
    entities = resolve([present(one, short), present(other)], Resolution())
    return entities[_named(one)] == entities[_named(other)]


def present(spelled: Spelled, short: str = "") -> PresentName:
    """A name that a model gave."""
    return present_name(*_named(spelled), [spelled[0]], sure=True, short=short)


def defined_short(full: Spelled, beside: str) -> str:
    """Return the abbreviation that is read from a text with something in brackets, normalized."""
    name, kind = full
    entity = GroundedEntity(name=name, type=kind, spans=((4, 4 + len(name)),))
    said = add_definitions(GroundedExtraction((entity,)), f"The {name} ({beside}) is there.")
    return normalize_name(said.definitions[0].short) if said.definitions else ""


def _named(spelled: Spelled) -> Named:
    return normalize_name(spelled[0]), spelled[1]


def _unclear(bases: Iterable[Spelled], vary: Callable[[Random, str], str]) -> set[str]:
    """Return the short forms that several names have: nothing tells whose they are."""
    counts = Counter(vary(Random(0), name) for name, _ in bases)
    return {short for short, count in counts.items() if count > 1}


def _persons(random: Random) -> list[Spelled]:
    firsts = [f"{a} {b}" if random.random() < 0.2 else a for a in FIRST for b in FIRST[:4]]
    return sorted(
        {(f"{random.choice(firsts)} {last}", "Person") for last in LAST for _ in range(9)}
    )


def _bodies(random: Random) -> list[Spelled]:
    made = [
        f"{random.choice(('National', 'Royal', 'International', place))} {body} "
        f"{random.choice(('of', 'for'))} {field} {random.choice(('and', 'in'))} {other}"
        for place in PLACES
        for body in BODIES
        for field, other in [random.sample(FIELDS, 2) for _ in "abc"]
    ]
    return sorted({(name, "Organization") for name in made})


def _firms(random: Random) -> list[Spelled]:
    made = [f"{firm} {random.choice(TRADES)}" for firm in FIRMS for _ in range(7)]
    endings = ("Inc.", "Ltd", "Corporation", "GmbH", "Limited", "Incorporated", "Company")
    return [(f"{name} {random.choice(endings)}", "Organization") for name in sorted({*made})]


def _tools(random: Random) -> list[Spelled]:
    return sorted({(f"{tool} {thing}", "Technology") for tool in TOOLS for thing in THINGS})


def _systems(random: Random) -> list[Spelled]:
    made = {
        f"{tool.replace('-', ' ')} {field} {thing}"
        for tool in TOOLS for field in random.sample(FIELDS, 9) for thing in THINGS
    }  # fmt: skip
    parts = {f"{field} of {thing}s" for field in FIELDS for thing in THINGS}
    return sorted((name, "Method") for name in made | parts)


def _acronym(random: Random, name: str) -> str:
    return "".join(word[0] for word in name.split() if word[0].isupper())


def _initials(random: Random, name: str) -> str:
    *given, last = name.split()
    style = random.choice(("{}. ", "{} "))
    return "".join(style.format(word[0]) for word in given) + last


def _respelled(random: Random, name: str) -> str:
    if "-" in name:
        return name.replace("-", random.choice((" ", "", "\u2010", "\u2013 ".strip())))
    *given, last = name.split()
    marked = last.replace("a", "\u00e1", 1).replace("o", "\u00f6", 1)
    return random.choice(
        (f"{last}, {' '.join(given)}", f"Dr. {name}", f"{' '.join(given)} {marked}")
    )


def _company_form(random: Random, name: str) -> str:
    *words, ending = name.split()
    others = {
        "Inc.": ("Incorporated", ", Inc."),
        "Ltd": ("Limited", "Ltd."),
        "Corporation": ("Corp.", "Corp"),
        "GmbH": ("G.m.b.H.", ""),
        "Limited": ("Ltd.", ", Ltd."),
        "Incorporated": ("Inc", ", Inc"),
        "Company": ("Co.", "Co"),
    }
    return f"{' '.join(words)} {random.choice((*others[ending], ''))}".replace(" ,", ",").strip()


def _mistyped(random: Random, name: str) -> str:
    """Return a name with one error at any letter of a word of at least four letters."""
    words = name.split()
    place = random.choice([at for at, word in enumerate(words) if len(word) > 3])
    word = words[place]
    at = random.randrange(len(word) - 1)
    words[place] = random.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + random.choice(ascii_lowercase) + word[at:],
            word[: at + 1] + word[at:],
            word[:at] + random.choice(ascii_lowercase) + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
    )
    return " ".join(words)


def _trap_pairs() -> Iterator[tuple[str, Spelled, Spelled]]:
    path = Path(__file__).with_name("traps.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, types, *pairs = (part.strip() for part in line.split("|"))
        first, _, second = types.partition("/")
        for pair in pairs:
            one, _, other = pair.partition(" = ")
            yield kind, (one, first), (other, second or first)


TRAPS = tuple(_trap_pairs())


def main() -> None:
    """Print what is found and what is joined wrongly, for three seeds."""
    for seed in (1, 2, 3):
        found = measure(plant(seed))
        sys.stdout.write(
            f"seed {seed}: recall {found.recall:.3f}, precision {found.precision:.4f}\n"
            f"  found {dict(found.found)}\n  missed {dict(found.missed)}\n"
            f"  wrong {found.wrong_pairs[:5]}, traps {found.merged_traps} of {len(TRAPS)}\n"
        )


if __name__ == "__main__":
    main()
