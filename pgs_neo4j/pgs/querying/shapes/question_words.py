"""The words by which questions are recognized without a model, one value per language.

A phrase of several words is written with blanks. All phrases are lower case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal


def _list(text: str) -> frozenset[str]:
    """Return the phrases of a text, which are divided by commas."""
    return frozenset(" ".join(phrase.split()) for phrase in text.split(",") if phrase.strip())


def _map(**phrases: str) -> Mapping[str, str]:
    """Return the key of each phrase; the phrases of one key are divided by commas."""
    return MappingProxyType({one: key for key, text in phrases.items() for one in _list(text)})


Direction = Literal["most", "least"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a superlative compares: the highest or lowest value of a property with such a name.

    Without names, it compares the only time that nodes have.
    """

    direction: Direction
    properties: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWords:
    """The phrases of one language that show the shape of a question.

    ``comparisons``, ``time_comparisons``, and ``after_number`` (phrases that follow a number) map a
    phrase to ``same``, ``above``, ``below``, ``least``, or ``most``. ``superlatives`` map a phrase
    to ``most`` or ``least``, and ``adjectives`` to all that it may compare. Whole numbers in a
    property that has one of ``events`` as its name are years, and ``lives`` are times that a phrase
    such as "in 2020" never means. Behind a label, the ``neutral`` ones of ``prepositions`` may say
    any connection. Behind a verb, ``verb_prepositions`` may, and ``inside`` says a place; so do
    ``places`` behind a verb that ends with ``ongoing``. ``functions`` map a phrase to a function of
    Cypher. ``irregular`` maps forms of verbs and plural nouns to their base.
    """

    negations: frozenset[str]
    politeness: frozenset[str]
    counting: frozenset[str]
    numbering: frozenset[str]
    listing: frozenset[str]
    who: frozenset[str]
    what: frozenset[str]
    determiners: frozenset[str]
    best: frozenset[str]
    first: frozenset[str]
    relative: frozenset[str]
    be: frozenset[str]
    have: frozenset[str]
    do: frozenset[str]
    joiners: frozenset[str]
    fillers: frozenset[str]
    called: frozenset[str]
    owning: frozenset[str]
    by: frozenset[str]
    making: frozenset[str]
    about: frozenset[str]
    prepositions: frozenset[str]
    neutral: frozenset[str]
    verb_prepositions: frozenset[str]
    inside: frozenset[str]
    places: frozenset[str]
    ongoing: str
    any_one: frozenset[str]
    of: frozenset[str]
    ordered_by: frozenset[str]
    ranked_by: frozenset[str]
    number_of: frozenset[str]
    per: frozenset[str]
    each: frozenset[str]
    between: frozenset[str]
    and_: frozenset[str]
    years: frozenset[str]
    dated: frozenset[str]
    events: frozenset[str]
    lives: frozenset[str]
    empty_type_words: frozenset[str]
    topics: frozenset[str]
    comparisons: Mapping[str, str]
    after_number: Mapping[str, str]
    time_comparisons: Mapping[str, str]
    superlatives: Mapping[str, str]
    adjectives: Mapping[str, tuple[Comparison, ...]]
    functions: Mapping[str, str]
    numbers: Mapping[str, int]
    multipliers: Mapping[str, int]
    irregular: Mapping[str, str]
    paths: tuple[tuple[frozenset[str], frozenset[str], frozenset[str]], ...]
    """Phrases before, between, and after two names that the question asks to connect."""
    function_words: frozenset[str]


def _compare(*entries: tuple[str, Direction, str]) -> Mapping[str, tuple[Comparison, ...]]:
    """Return the comparisons of each phrase; the phrases of an entry are divided by commas."""
    found: dict[str, tuple[Comparison, ...]] = {}
    for phrases, direction, properties in entries:
        for phrase in _list(phrases):
            found[phrase] = (*found.get(phrase, ()), Comparison(direction, _list(properties)))
    return MappingProxyType(found)


_BIRTH = "born, birth, birthday, birth date, birth year, date of birth, year of birth"
_LENGTH = "runtime, length, duration"

ENGLISH = QuestionWords(
    negations=_list(
        """
        no, not, never, without, except, excluding, exclude, excludes, excluded, neither, nor,
        none, unless, lacking, lack, lacks, missing, nobody, nothing, nowhere, cannot, besides,
        non, other than, apart from, rather than, instead of, but, only, fail, fails, failed
        """
    ),
    politeness=_list("please, can you, could you, i want to know, i would like to know, kindly"),
    counting=_list("how many, count, count of, count all, count the"),
    numbering=_list(
        """
        number of, total number of, the number of, the total number of, what is the number of,
        what is the total number of, what's the number of, show the number of, give the number of,
        give me the number of, tell me the number of, find the number of, show me the number of,
        the count of, what is the count of, what is the total count of, find the total number of
        """
    ),
    listing=_list(
        """
        list, show, show me, find, find me, give, give me, name, identify, display, get, return,
        retrieve, tell me, which, what, what are, who are, what is, who is, what were, which are,
        which is, who was, what was
        """
    ),
    who=_list("who"),
    what=_list("what"),
    determiners=_list("the, all, all the, all of the, all of, every, any"),
    best=_list("top"),
    first=_list("first"),
    relative=_list("that, which, who"),
    be=_list("is, are, was, were, be, been, being, has been, have been, had been, got"),
    have=_list("have, has, had"),
    do=_list("did, does, do, has, have, had"),
    joiners=frozenset(("and", ",", ", and")),
    fillers=_list(
        """
        are there, exist, exists, do we have, are in the database, are in the graph,
        are there in the database, are there in the graph, in the database, in the graph,
        there are, are stored, in total, associated with them, associated with it
        """
    ),
    called=_list("called, named, titled, entitled, with the name, with the title, with name"),
    owning=_list("with, having, whose, where, have, has, had, where the, with a total"),
    by=_list("by"),
    making=_list(
        """
        write, make, create, produce, author, publish, direct, compose, post, ask, provide, supply,
        develop, paint, issue, file, design, invent, record, perform, build, edit, sell, manufacture
        """
    ),
    about=_list("about, on, regarding, concerning"),
    prepositions=_list("of, from, in, with, at, for, to, on, about, into, as, under"),
    neutral=_list("of, from, in, with, at"),
    verb_prepositions=_list("of, in, with, at"),
    inside=_list("in"),
    places=_list("in, on, at"),
    ongoing="ing",
    any_one=_list("a, an, any, some, at least one, the"),
    of=_list("of, for"),
    ordered_by=_list("ordered by, sorted by"),
    ranked_by=_list("by, based on, in terms of, according to, ranked by, with respect to"),
    number_of=_list("number of, total number of, count of"),
    per=_list("per, by, for each, in each, of each, for every, in every, grouped by, by each"),
    each=_list("each, every"),
    between=_list("between"),
    and_=_list("and"),
    years=_list("the year, year"),
    dated=_list(
        "published, released, made, produced, issued, created, dated, posted, written, appeared"
    ),
    events=_list("released, published, born, died, founded, established, created, issued"),
    lives=_list("born, birth, died, death, founded, established"),
    empty_type_words=_list("in, of, by, has, have, is, to, from, with, at, on, for, as, the, a"),
    topics=_list("topic, subject, keyword, tag, concept, theme, genre, category, field, hashtag"),
    comparisons=_map(
        above="""
                above, over, greater than, more than, higher than, larger than, exceeding, exceeds,
                exceed, that exceeds, bigger than, better than
                """,
        below="below, under, less than, lower than, smaller than, fewer than",
        least="at least, greater than or equal to, a minimum of, minimum of",
        most="at most, less than or equal to, up to, a maximum of, maximum of",
        same="equal to, equals, exactly, equal, of exactly, =",
    ),
    after_number=_map(
        least="or more, or higher, or above, or greater, and above, or better, or over",
        most="or less, or fewer, or lower, or below, or under",
    ),
    time_comparisons=_map(
        same="in, during, of, from, in the year, during the year, of the year, from the year",
        above="after",
        below="before, prior to, earlier than",
        least="since",
        most="until",
    ),
    superlatives=_map(
        most="""
        the most, most, the highest, highest, the largest, largest, the greatest, greatest,
        the maximum, the biggest
        """,
        least="the least, least, the lowest, lowest, the smallest, smallest, the fewest, fewest",
    ),
    adjectives=_compare(
        ("oldest", "least", _BIRTH),
        ("youngest", "most", _BIRTH),
        ("oldest, eldest", "most", "age"),
        ("youngest", "least", "age"),
        ("newest, latest, most recent, most recently", "most", ""),
        ("oldest, earliest", "least", ""),
        ("longest", "most", _LENGTH),
        ("shortest", "least", _LENGTH),
        ("cheapest, least expensive", "least", "price, unit price, cost"),
        ("most expensive", "most", "price, unit price, cost"),
        ("tallest", "most", "height"),
        ("heaviest", "most", "weight"),
        ("most popular", "most", "popularity"),
        ("least popular", "least", "popularity"),
    ),
    functions=_map(
        avg="average, mean, the average, the mean, avg",
        sum="total, the total, sum of, the sum of, the combined",
        min="minimum, the minimum, the lowest, lowest, the smallest, smallest",
        max="maximum, the maximum, the highest, highest, the largest, largest",
    ),
    numbers=MappingProxyType(
        {
            word: number
            for number, word in enumerate(
                [
                    "one",
                    "two",
                    "three",
                    "four",
                    "five",
                    "six",
                    "seven",
                    "eight",
                    "nine",
                    "ten",
                    "eleven",
                    "twelve",
                ],
                1,
            )
        }
    ),
    multipliers=MappingProxyType(
        {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
    ),
    irregular=_map(
        write="wrote, written, writes, writing",
        make="made",
        buy="bought",
        sell="sold",
        give="gave, given",
        take="took, taken",
        hold="held",
        lead="led",
        know="knew, known",
        teach="taught",
        speak="spoke, spoken",
        win="won",
        send="sent",
        build="built",
        find="found",
        lose="lost",
        own="owned",
        choose="chose, chosen",
        draw="drew, drawn",
        drive="drove, driven",
        grow="grew, grown",
        bear="bore, born",
        see="saw, seen",
        sing="sang, sung",
        begin="began, begun",
        meet="met",
        pay="paid",
        run="ran",
        fly="flew, flown",
        person="people, persons",
        child="children",
        man="men",
        woman="women",
        movie="movies",
        mouse="mice",
        criterion="criteria",
        index="indices",
        series="series",
    ),
    paths=(
        (
            _list("how are, how were"),
            _list("and"),
            _list("connected, related, linked, connected to each other, related to each other"),
        ),
        (
            _list("how is, how was"),
            _list("connected to, related to, linked to, connected with, linked with"),
            _list(""),
        ),
        (
            _list("what connects, what links, what relates"),
            _list("with, and, to"),
            _list(""),
        ),
        (
            _list(
                """
                shortest path between, path between, paths between, shortest path from, path from,
                paths from, shortest paths between, shortest paths from, connection between,
                connections between, connection from
                """
            ),
            _list("and, to"),
            _list(""),
        ),
    ),
    function_words=_list(
        """
        a, an, the, of, by, in, on, at, to, from, with, for, and, or, is, are, was, were, be, been,
        do, does, did, has, have, had, that, which, who, whom, whose, what, where, when, how, why,
        many, much, there, per, each, every, all, any, some, most, more, than, least, less, fewest,
        highest, lowest, after, before, since, until, between, above, over, under, below, their,
        its, his, her, this, these, those, it, they, named, called, titled, about, both, also, same
        """
    ),
)
