"""Sentences that a text supports, and corrupted copies of them, made from texts with a seed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

KINDS = ("number", "date", "name", "quotation", "negation")
_NUMBER = re.compile(r"(?<![\w.,$€£-])\d{1,6}(?:[.,]\d{1,4})?(?![\w]|[.,]\d)")
_ISO = re.compile(r"(?<![\w-])(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d)(?![\d])")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}(?: [A-Z][a-z]{2,})*(?![\w-])")
_VERB = re.compile(r"\b(is|are|was|were|has been|can|does|did)\b(?! not)")
_MONTHS = "January February March April May June July August September October November December"
MONTHS = _MONTHS.split()
INTRODUCTIONS = (
    "{}",
    "According to the node, {}",
    "As reported there, {}",
    "{} This is what it says.",
)


MADE = [
    f"The oven number {7 * place + 100} of {town} was built of {stone} in the spring. Its owner, "
    f"Madame {name}, says that {place + 13}.{place} percent of the tiles are {color}. The walls of "
    f"the workshop are painted {color} every year. The river near {town} does bring {stone} to the "
    f"workshop. In the winter of {1850 + 3 * place} the masters of {town} were {color} with cold."
    for place, (town, stone, name, color) in enumerate(
        (town, stone, name, color)
        for town, name in zip(
            ("Arlon", "Bergen", "Cadiz", "Delft", "Evora", "Faenza"),
            ("Quill", "Ravel", "Satie", "Tallis", "Uhland", "Varese"),
            strict=True,
        )
        for stone, color in zip(
            ("basalt", "gneiss", "marl", "slate", "tuff"),
            ("azure", "brown", "crimson", "dun", "ecru"),
            strict=True,
        )
    )
]
"""Texts in which nearly every sentence has a number, a name, or a color."""


@dataclass(frozen=True)
class Claim:
    """A sentence, its kind, the text that it cites, and whether the text supports it."""

    sentence: str
    text: str
    kind: str
    true: bool


def sentences_of(text: str) -> list[str]:
    """Return the plain sentences of a text that are neither too short nor too long."""
    parts = re.split(r"(?<=[a-z0-9)%][.!?])\s+(?=[A-Z])|\n+", text)
    return [
        " ".join(part.split())
        for part in parts
        if 40 <= len(part) <= 260
        and part.rstrip().endswith(".")
        and "|" not in part
        and "{" not in part
    ]


def make_claims(texts: Sequence[str], count: int, seed: int) -> list[Claim]:
    """Make ``count`` true sentences and as many corrupted ones, with all kinds in turn."""
    random = Random(seed)
    pool = [(sentence, text) for text in texts for sentence in sentences_of(text)]
    random.shuffle(pool)
    names = sorted({name for text in texts for name in _NAME.findall(text)})
    claims: list[Claim] = []
    for kind in KINDS:
        makers = {"number": _number, "date": _date, "name": _name, "quotation": _quote}
        wanted = count // len(KINDS)
        for sentence, text in pool:
            if not wanted:
                break
            maker = makers.get(kind, _negation)
            pair = maker(sentence, text, names, random)
            if pair is None:
                continue
            wanted -= 1
            frame = random.choice(INTRODUCTIONS)
            claims += [
                Claim(frame.format(words), own, kind, true)
                for words, own, true in ((pair[0], pair[2], True), (pair[1], pair[2], False))
            ]
    return claims


Pair = tuple[str, str, str] | None
"""A true sentence, its corrupted copy, and the text of both."""


def _number(sentence: str, text: str, names: Sequence[str], random: Random) -> Pair:
    matches = list(_NUMBER.finditer(sentence))
    if not matches:
        return None
    match = random.choice(matches)
    digits = match.group()
    place = random.choice([at for at, sign in enumerate(digits) if sign.isdigit()])
    other = digits
    while other == digits or other in text:
        changed = (
            str(random.randrange(1, 10))
            if random.random() < 0.8
            else str(random.randrange(100, 999))
        )
        other = digits[:place] + changed + digits[place + 1 :]
        place = random.choice([at for at, sign in enumerate(digits) if sign.isdigit()])
    true = sentence
    if re.fullmatch(r"\d{4,6}", digits) and not re.fullmatch(r"(?:19|20)\d\d", digits):
        true = sentence[: match.start()] + f"{int(digits):,}" + sentence[match.end() :]
    return true, sentence[: match.start()] + other + sentence[match.end() :], text


def _date(sentence: str, text: str, names: Sequence[str], random: Random) -> Pair:
    match = _ISO.search(sentence)
    if match:
        year, month, day = map(int, match.group().split("-"))
    else:  # most texts have no date, so the sentence gets one
        year, month, day = (
            random.randrange(1900, 2030),
            random.randrange(1, 13),
            random.randrange(1, 28),
        )
        own = f"{sentence[:-1]} on {year}-{month:02}-{day:02}."
        text, sentence = text.replace(sentence, own) if sentence in text else f"{text}\n{own}", own
        match = _ISO.search(sentence)
    assert match is not None
    forms = (
        "{day} {name} {year}",
        "{name} {day}, {year}",
        "{year}/{month:02}/{day:02}",
        "{name} {year}",
        "{day:02}.{month:02}.{year}",
    )
    form = random.choice(forms)

    def dated(y: int, m: int, d: int) -> str:
        written = form.format(year=y, month=m, day=d, name=MONTHS[m - 1])
        return sentence[: match.start()] + written + sentence[match.end() :]

    wrong = random.choice(
        [(year + random.choice((-1, 1, 10)), month, day), (year, month % 12 + 1, day)]
        + ([(year, month, day % 27 + 1)] if "day" in form else [])
    )
    return dated(year, month, day), dated(*wrong), text


def _name(sentence: str, text: str, names: Sequence[str], random: Random) -> Pair:
    matches = list(_NAME.finditer(sentence))
    lowered = text.lower()
    others = [
        name
        for name in names
        if not any(word.lower()[:4] in lowered or word in MONTHS for word in name.split())
    ]
    if not matches or not others:
        return None
    match = random.choice(matches)
    other = random.choice(others)
    return sentence, sentence[: match.start()] + other + sentence[match.end() :], text


def _quote(sentence: str, text: str, names: Sequence[str], random: Random) -> Pair:
    words = sentence.split()
    if len(words) < 8 or any(sign in sentence for sign in '“”"«»…[]'):
        return None
    first = random.randrange(len(words) - 6)
    quoted = words[first : first + 6]
    place = random.randrange(1, 5)
    wrong = [*quoted[:place], random.choice(("barely", "green", "seldom")), *quoted[place + 1 :]]
    true, false = (f"It says “{' '.join(some)}” there." for some in (quoted, wrong))
    return true, false, text


def _negation(sentence: str, text: str, names: Sequence[str], random: Random) -> Pair:
    if re.search(r"\b(?:not|no|never|none|without|nor|neither|cannot)\b|n't", sentence):
        return None
    match = _VERB.search(sentence)
    if not match or len(sentence.split()) < 7:
        return None
    denied = f"{sentence[: match.end()]} not{sentence[match.end() :]}"
    if random.random() < 0.5:
        return sentence, denied, text
    # The text denies, and the corrupted sentence does not.
    own = text.replace(sentence, denied) if sentence in text else f"{text}\n{denied}"
    if sentence in " ".join(own.split()):
        return None
    return denied, sentence, own
