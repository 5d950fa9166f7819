"""Finds the numbers of a text with their units, and compares them.

Two numbers are equal if their values are equal: scale words, separators, and units of one kind may
differ. A rounded number agrees with a more precise number. A number with a comma may have two
readings: the comma divides thousands, as in 1,234, or decimals, as in 3,14.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations, islice
from unicodedata import decimal, normalize

from pgs_neo4j.text.claims.amounts import CLOCK, RATIO, TIMES, Amount, find_amounts, find_factors

Readings = tuple[tuple[Decimal, Decimal], ...]
"""Ways to read a number, each with the step of its last digit."""

LONGEST = 40  # maximum number of characters of a number; a longer run is data
PERCENT = "%"
BEFORE = 20  # characters before a number in which a word may hedge it, such as "about"
BESIDE = 60  # characters around a number in which a word may say that something fell
ROUGH = 10  # step in percentage points of a fraction with a hedge, such as "about a third"

_SCALES = {
    **dict.fromkeys(("k", "thousand", "tausend", "mille", "mil"), 10**3),
    **dict.fromkeys(("million", "millions", "millionen", "mio", "mn", "mln", "millones"), 10**6),
    **dict.fromkeys(("billion", "billions", "bn", "milliard", "milliards", "milliarden"), 10**9),
    **dict.fromkeys(("mrd",), 10**9),
    **dict.fromkeys(("trillion", "trillions", "tn"), 10**12),
    **dict.fromkeys(("lakh", "lakhs"), 10**5),
    **dict.fromkeys(("crore", "crores"), 10**7),
    **{"hundred": 100, "dozen": 12},
}

# Units by their kind of quantity, each with its factor to the base unit of that kind.
_KINDS: dict[str, dict[str, str]] = {
    PERCENT: {"1": "% percent pct prozent percentage"},
    "permille": {"1": "‰ permille"},
    "g": {"0.001": "mg milligram milligrams", "1": "g gram grams", "1000": "kg kilogram kilograms"}
    | {"1000000": "t ton tons tonne tonnes"},
    "m": {"0.000000001": "nm", "0.000001": "µm μm micrometer micrometers", "0.001": "mm millimeter"}
    | {"0.01": "cm centimeter centimeters", "1": "m meter meters metre metres"}
    | {"1000": "km kilometer kilometers kilometre kilometres"},
    "ft": {"1": "ft foot feet", "5280": "mile miles mi"},
    "s": {"0.001": "ms millisecond milliseconds", "1": "s sec second seconds"}
    | {"60": "min minute minutes", "3600": "h hr hour hours"},
    "day": {"1": "day days", "7": "week weeks"},
    "month": {"1": "month months"},
    "year": {"1": "year years yr yrs", "10": "decade decades"},
    "°c": {"1": "°c celsius"},
    "°f": {"1": "°f fahrenheit"},
    "k": {"1": "kelvin kelvins"},
    "b": {"1": "byte bytes", "1000": "kb", "1000000": "mb", "1000000000": "gb"}
    | {"1000000000000": "tb"},
    "hz": {"1": "hz", "1000": "khz", "1000000": "mhz", "1000000000": "ghz"},
    "w": {"1": "w watt watts", "1000": "kw", "1000000": "mw", "1000000000": "gw"},
    "v": {"1": "v volt volts", "1000": "kv"},
    "ev": {"1": "ev", "1000": "kev", "1000000": "mev", "1000000000": "gev", "1000000000000": "tev"},
    "pa": {"1": "pa", "1000": "kpa", "1000000": "mpa", "1000000000": "gpa"},
    "l": {"0.001": "ml", "1": "l liter liters litre litres"},
    "$": {"1": "$ us$ dollar dollars usd"},
    "€": {"1": "€ euro euros eur"},
    "£": {"1": "£ pound pounds gbp"},
    "¥": {"1": "¥ yen jpy"},
    "chf": {"1": "chf francs"},
    "inr": {"1": "inr ₹ rupees"},
}
_UNITS = {
    token: (kind, Decimal(factor))
    for kind, by_factor in _KINDS.items()
    for factor, tokens in by_factor.items()
    for token in tokens.split()
}
_SMALL_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINAL_WORDS = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
"""
_SMALL, _TENS = _SMALL_WORDS.split(), _TENS_WORDS.split()
_WORDS = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
_ORDINALS = {word: value for value, word in enumerate(_ORDINAL_WORDS.split(), 1)}
_SPELLED = re.compile(
    rf"(?<![\w-])(?:{'|'.join([*_TENS, *sorted(_SMALL, key=len, reverse=True)])}|hundred|dozen"
    r"|(?<=\ba )(?<!half a )(?:thousand|million|billion|trillion))"
    rf"(?:[\s-]+(?:and\s+)?(?:{'|'.join([*_TENS, *sorted(_SMALL, key=len, reverse=True)])}"
    r"|hundred|thousand|million|billion|trillion|dozen))*(?![\w]|-[a-z])",
    re.IGNORECASE,
)
_BLANK = "[ \u00a0\u2009\u202f]"
_NUMBER = re.compile(
    rf"(?<![^\W_])(?<!\d[.,])"
    rf"(?P<currency>(?:US\$|[$€£¥]){_BLANK}?|(?:USD|EUR|GBP|JPY|CHF|INR){_BLANK})?"
    r"(?P<sign>(?:(?<![\d\w)\]%°])[-\u2212\u2013](?=\d))|\bminus\s+)?"
    r"(?P<digits>\d+(?:[.,\u066b\u066c]\d+)*(?:[\u00a0\u2009\u202f_]\d{3}(?!\d))*|[.]\d+)"
    r"(?P<power>\s?[x\u00d7·*]\s?10\^?\{?[-\u2212]?\d{1,3}\}?"
    r"|\^\{?[-\u2212]?\d{1,3}\}?|[eE][-+]?\d{1,3}(?!\w))?"
    rf"(?P<unit>{_BLANK}?(?:[%‰]|°{_BLANK}?[CFcf](?![^\W_])|[$€£¥])|{_BLANK}?[^\W\d_]+\.?"
    r"|-[^\W\d_]+)?"
)
_HEDGE = re.compile(
    r"(?:about|around|some|roughly|approximately|approx\.?|nearly|almost|circa|ca\.?|close to"
    r"|≈|~|\u223c)\W{0,3}\Z",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"(?:over|more than|above|at least|exceed(?:s|ing|ed)?|>|≥|upwards of)\W{0,3}\Z", re.IGNORECASE
)
_UNDER = re.compile(
    r"(?:under|less than|fewer than|below|at most|up to|<|≤)\W{0,3}\Z", re.IGNORECASE
)
_FALL = re.compile(
    r"\b(?:fell|falls?|fall(?:ing|en)|drop\w*|decreas\w*|declin\w*|lost|loss\w*|lower\w*|reduc\w*"
    r"|below|negative|minus|down|shrank|shrink\w*|cut|deficit|under zero)\b",
    re.IGNORECASE,
)
_GOAL = re.compile(r"\b(?:to|at)\s\W{0,3}\Z", re.IGNORECASE)
_WHEN = re.compile(
    r"\b(?:in|since|during|until|till|year|by|after|before|from|of|between|and|im|jahr|seit|bis)"
    r"\s\Z",
    re.IGNORECASE,
)
_YEAR = re.compile(r"[12]\d{3}")
_NAMED = re.compile(r"(?<![^\W_])(?=[^\W_]*[A-Z])[^\W_]+-\Z")  # a name before its number: COVID-19
_CURRENCY = re.compile(
    rf"{_BLANK}(dollars?|usd|euros?|eur|pounds?|gbp|yen|jpy|[$€£¥])(?!\w)", re.IGNORECASE
)
_LISTED = re.compile(
    r"\s?[-\u2013\u2014]\s?|,?\s(?:to|and|or|bis|und|versus|vs\.?)\s|,\s", re.IGNORECASE
)  # the signs or words between two numbers that share a unit
_NOUN = re.compile(r"\W{1,3}([^\W\d_]{3,})")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_DIGIT = re.compile("[0-9]")
_RAISED_RUN = re.compile("[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as a text states it.

    ``values`` are the ways to read it, each with the step of its last digit, in the base unit of
    its ``kind``. ``plain`` are the same readings without the unit's factor. ``kind`` is empty
    without a known unit. ``start`` and ``end`` are its place in the text. ``noun`` is the word
    after it, in lower case. ``before`` and ``beside`` are the text around it. ``rough`` means that
    any hedge counts as "about". ``shared`` means that its unit follows the next number, as in 10 to
    12 %. ``year`` means that it looks like a year.
    """

    text: str
    values: Readings
    plain: Readings
    kind: str = ""
    noun: str = ""
    start: int = 0
    end: int = 0
    before: str = ""
    beside: str = ""
    rough: bool = False
    scaled: bool = False
    spelled: bool = False
    ordinal: bool = False
    shared: bool = False
    year: bool = False

    @property
    def margin(self) -> str:
        """The hedge before it: ``about``, ``over``, ``under``, or empty."""
        margin = _find_margin(self.before)
        return "about" if margin and self.rough else margin

    @property
    def falls(self) -> bool:
        """Whether the text around it says that something fell."""
        return _FALL.search(self.beside) is not None

    @property
    def goal(self) -> bool:
        """Whether it is the level that something reached, as in "fell to 5"."""
        return _GOAL.search(self.before) is not None

    @property
    def value(self) -> Decimal:
        """The most likely reading of the number, in the base unit of its kind."""
        return self.values[0][0]


def plain_digits(text: str) -> str:
    """Return a text of the same length, with digits and full-width signs as ASCII."""
    return text if text.isascii() else _FOREIGN.sub(_make_plain, text)


def _make_plain(match: re.Match[str]) -> str:
    sign = match.group()
    if sign.isdecimal():
        return str(decimal(sign))
    return normalize("NFKC", sign) if "\uff00" < sign < "\uff5f" else sign


def has_digits(plain: str) -> bool:
    """Return whether a text has ASCII digits; pass it through :func:`plain_digits` first."""
    return _DIGIT.search(plain) is not None


def find_numbers(text: str) -> list[Number]:
    """Return the numbers of a text in order, in digits and in words.

    Digits inside a name, such as CO2, are not numbers.
    """
    plain = _RAISED_RUN.sub(_lower_power, plain_digits(text))
    if "per cent" in plain:
        plain = plain.replace("per cent", "percent ")
    amounts: list[Amount] = []
    for amount in (*find_amounts(plain), *find_factors(plain)):
        if not any(amount.start < one.end and one.start < amount.end for one in amounts):
            amounts.append(amount)
    found = [
        number
        for number in (*_find_in_digits(plain), *_find_in_words(plain))
        if not any(one.start < number.end and number.start < one.end for one in amounts)
    ]
    found += [_make_number(amount, plain) for amount in amounts]
    if not found:
        return []
    found.sort(key=lambda number: number.start)
    return _share_units(plain, found)


def _make_number(amount: Amount, text: str) -> Number:
    """Return an amount as a number, with the text around it."""
    before, beside = _get_surroundings(text, amount.start, amount.end)
    readings = amount.readings
    # "About a third" is a rough figure, so a hedged fraction gets a wide step.
    if _find_margin(before) and amount.kind == PERCENT:
        readings = tuple((value, Decimal(ROUGH)) for value, _ in readings)
    return Number(
        text=text[amount.start : amount.end].strip(),
        values=readings,
        plain=readings,
        kind=amount.kind,
        start=amount.start,
        end=amount.end,
        before=before,
        beside=beside,
        rough=True,
    )


def _get_surroundings(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the text before a number, and the text on both sides of it."""
    return text[max(0, start - BEFORE) : start], text[max(0, start - BESIDE) : end + BESIDE]


def agree(claim: Number, source: Number) -> bool:
    """Return whether a source states the number of a claim."""
    if claim.kind == source.kind:
        return _readings_agree(claim, claim.values, source.values, source)
    kinds = {claim.kind, source.kind}
    if kinds & {CLOCK, RATIO, TIMES}:
        return False
    if PERCENT not in kinds and (
        (claim.shared and not source.kind) or (source.shared and not claim.kind)
    ):
        return _readings_agree(claim, claim.plain, source.plain, source)
    if PERCENT in kinds:
        if kinds != {PERCENT, ""}:
            return False
        if claim.kind == PERCENT:
            shares = tuple((100 * value, 100 * step) for value, step in source.plain)
            return any(abs(value) <= 1 for value, _ in source.plain) and _readings_agree(
                claim, claim.values, shares, source
            )
        return False
    if claim.kind and source.kind:
        return False
    return _readings_agree(claim, claim.plain, source.plain, source)


def _readings_agree(claim: Number, said: Readings, known: Readings, source: Number) -> bool:
    """Return whether a reading of a claim agrees with a reading of its source.

    The signs may differ if a text says that something fell: "fell by 5" agrees with -5.
    """
    return any(
        _is_near(claim, value, step, true, true_step)
        # Only the likeliest of several readings may be rounded: else 13 would agree with 12,500.
        if not (place or other or source.year) or claim.kind == PERCENT
        else value == true
        for place, (value, step) in enumerate(said)
        for other, (true, true_step) in enumerate(known)
    ) or any(
        value == -true
        and value != true
        and claim.kind == source.kind
        and ((claim.falls and not claim.goal) or (source.falls and true > 0))
        for value, _ in said
        for true, _ in known
    )


def _is_near(
    claim: Number, value: Decimal, step: Decimal, true: Decimal, true_step: Decimal
) -> bool:
    """Return whether the number ``true`` of a source rounds to the ``value`` of a claim.

    A round value after "over" or "under" may differ by up to a quarter.
    """
    if value == true:
        return True
    if (value < 0) != (true < 0):
        return False
    size, real = abs(value), abs(true)
    if claim.margin in {"over", "under"} and _find_last_place(size) * 20 >= size:
        low, high = (size, real) if claim.margin == "over" else (real, size)
        if low <= high <= low * Decimal("1.25"):
            return True
    if claim.margin == "about" or claim.scaled:
        step = max(step, _find_last_place(size))
    elif _count_digits(size, step) < 2:
        return False
    return true_step < step and abs(size - real) <= step / 2


def _find_last_place(value: Decimal) -> Decimal:
    """Return the unit of the last digit that is not zero: 100 for 1,200."""
    return Decimal(1).scaleb(_get_exponent(value.normalize()))


def _count_digits(value: Decimal, step: Decimal) -> int:
    return len(str(int(value / step))) if step and value else 0


def _find_in_digits(text: str) -> Iterator[Number]:
    """Yield the numbers of a text in digits, with their currencies, scales, and units."""
    if not has_digits(text):
        return
    for match in _NUMBER.finditer(text):
        if len(match["digits"]) > LONGEST or _is_inside_name(text, match):
            continue
        readings = _read_digits(match["digits"], match["power"] or "")
        if not readings:
            continue
        sign = -1 if match["sign"] else 1
        unit = (match["unit"] or "").strip(" \u00a0\u2009\u202f-").rstrip(".")
        attached = bool(unit) and (match["unit"] or " ")[0] not in " \u00a0\u2009\u202f-"
        end = match.end("power") if match["power"] else match.end("digits")
        scale, kind, factor, ordinal = 1, "", Decimal(1), False
        folded = unit.casefold().replace(" ", "")
        if folded in {"st", "nd", "rd", "th"} and attached:
            ordinal, end = True, match.end("unit")
        elif attached and match["currency"] and folded in {"m", "b"}:
            scale, end = {"m": 10**6, "b": 10**9}[folded], match.end("unit")
        elif folded in _SCALES and (folded != "k" or attached):
            scale, end = _SCALES[folded], match.end("unit")
            more = re.match(rf"{_BLANK}(?:(?:of|US|de)\s)?(%|[$€£¥]|[^\W\d_]+)", text[end:])
            if more and more[1].casefold() in _UNITS:
                kind, factor = _UNITS[more[1].casefold()]
                end += more.end()
        elif folded == "m" and attached and _CURRENCY.match(text, match.end("unit")):
            scale, end = 10**6, match.end("unit")
            kind, factor = _UNITS[_CURRENCY.match(text, end)[1].casefold()]  # type: ignore[index]
        elif folded == "s" and attached and match["digits"].endswith("0"):
            pass  # the number is a decade, not an identifier
        elif folded in _UNITS and _is_unit(folded, unit):
            (kind, factor), end = _UNITS[folded], match.end("unit")
        elif (
            attached
            and folded not in {"s", "x"}
            and not match["unit"].startswith("-")
            and _is_identifier(match, unit, text)
        ):
            continue
        if match["currency"]:
            kind, factor = _UNITS[match["currency"].strip().casefold()]
        plain = tuple((sign * value * scale, step * scale) for value, step in readings)
        noun = _NOUN.match(text, end)
        start = match.start("currency") if match["currency"] else match.start("digits")
        start = match.start("sign") if match["sign"] and not match["currency"] else start
        yield Number(
            text=text[start:end].strip(" ."),
            values=tuple((value * factor, step * factor) for value, step in plain),
            plain=plain,
            kind=kind,
            noun=noun[1].casefold() if noun else "",
            start=start,
            end=end,
            before=text[max(0, start - BEFORE) : start],
            beside=text[max(0, start - BESIDE) : end + BESIDE],
            scaled=scale > 1,
            ordinal=ordinal,
            year=not (kind or scale > 1 or match["sign"] or match["currency"])
            and _YEAR.fullmatch(match["digits"]) is not None,
        )


def is_unit(word: str) -> bool:
    """Return whether a word is the name of a unit, a currency, or a scale."""
    folded = word.casefold()
    return folded in _UNITS or folded in _SCALES or folded in {"uhr", "fahrenheit"}


def _is_unit(folded: str, unit: str) -> bool:
    """Return whether letters after a number are its unit; short units need the right case."""
    if len(folded) > 2 or not folded.isalpha() or folded in {"kg", "km", "cm", "mm", "nm"}:
        return True
    if folded in {"w", "v"}:
        return unit.isupper()
    return unit in {
        "g",
        "m",
        "s",
        "h",
        "t",
        "l",
        "ms",
        "mg",
        "ml",
        "yr",
        "hr",
        "ft",
        "mi",
        "kB",
    } or (folded in {"kb", "mb", "gb", "tb", "hz", "kw", "mw", "gw", "kv", "ev", "pa"})


def _is_identifier(match: re.Match[str], unit: str, text: str) -> bool:
    """Return whether digits with letters after them are a name: 3D is, 7000rpm is not."""
    after = text[match.end("unit") : match.end("unit") + 1]
    return (len(unit) < 2 and len(match["digits"]) < 3) or after.isalnum() or after == "_"


def _is_inside_name(text: str, match: re.Match[str]) -> bool:
    """Return whether digits belong to a name, a version, a path, or the mark of a list."""
    start, end = match.start("digits"), match.end("digits")
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:] == "#" and end - start < 2:
        return True  # a mark of a list
    if before[-1:] in {"_", "\\", "^"} or (before[-1:] == "/" and not before[:1].isdigit()):
        return True
    if before[-1:] == "-" and _NAMED.search(text, max(0, start - 24), start):
        return True  # the number is part of a name: COVID-19, but not mid-1990s
    return after[:1] == "_" or (after[:1] == "." and after[1:].isalpha() and after[1:].islower())


def _find_margin(before: str) -> str:
    before = before.rstrip("$€£¥")
    if _HEDGE.search(before):
        return "about"
    if _OVER.search(before):
        return "over"
    return "under" if _UNDER.search(before) else ""


def _read_digits(digits: str, power: str) -> Readings:
    """Return the ways to read digits and a power of ten, the most likely first."""
    plain = (
        re.sub("[\u00a0\u2009\u202f_]", "", digits).replace("\u066b", ".").replace("\u066c", ",")
    )
    written: list[str] = []
    if _THOUSANDS.fullmatch(plain):
        written.append(plain.replace(",", ""))
        if plain.count(",") == 1 and "." not in plain and not plain.endswith("000"):
            written.append(plain.replace(",", "."))
    elif plain.count(".") > 1 and re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", plain):
        written.append(plain.replace(".", "").replace(",", "."))
    elif re.fullmatch(r"\d{1,3}\.\d{3}", plain):
        written += [plain, plain.replace(".", "")]
    elif re.fullmatch(r"\d*\.?\d+", plain):
        written.append(plain)
    elif re.fullmatch(r"\d+,\d+", plain):
        written.append(plain.replace(",", "."))
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+", plain):
        written.append(plain.replace(".", "").replace(",", "."))
    readings = [(value, Decimal(1).scaleb(_get_exponent(value))) for value in map(Decimal, written)]
    if not power:
        return tuple(readings)
    raised = int(re.sub(r"^(?:.*?10)?\^?\{?|^[eE]|\}", "", power).replace("\u2212", "-") or 0)
    if power.startswith("^"):
        return tuple((value**raised, Decimal(0)) for value, _ in readings if value)
    return tuple((value.scaleb(raised), step.scaleb(raised)) for value, step in readings)


def _get_exponent(value: Decimal) -> int:
    return int(value.as_tuple().exponent)


def _find_in_words(text: str) -> Iterator[Number]:
    """Yield the numbers of a text in words, with their units."""
    for match in _SPELLED.finditer(text):
        value = _read_words(match.group())
        if value is None:
            continue
        end = match.end()
        unit = re.match(r"[\s-](%|[^\W\d_]+)", text[end:])
        kind, factor = "", Decimal(1)
        if unit and unit[1].casefold() in _UNITS and len(unit[1]) > 2:
            (kind, factor), end = _UNITS[unit[1].casefold()], end + unit.end()
        noun = _NOUN.match(text, end)
        before, beside = _get_surroundings(text, match.start(), end)
        readings = ((Decimal(value), Decimal(1)),)
        yield Number(
            text=text[match.start() : end],
            values=tuple((one * factor, step * factor) for one, step in readings),
            plain=readings,
            kind=kind,
            noun=noun[1].casefold() if noun else "",
            start=match.start(),
            end=end,
            before=before.removesuffix("a ") if before.endswith(" a ") else before,
            beside=beside,
            spelled=True,
        )


def _read_words(words: str) -> int | None:
    """Return the value of a number in words, or None if a word is not part of a number."""
    total = current = 0
    for word in re.split(r"[\s-]+", words.casefold()):
        if word in _WORDS:
            current += _WORDS[word]
        elif word in {"hundred", "dozen"}:
            current = max(current, 1) * _SCALES[word]
        elif word in _SCALES:
            total, current = total + max(current, 1) * _SCALES[word], 0
        elif word != "and":
            return None
    return total + current


def _share_units(text: str, found: list[Number]) -> list[Number]:
    """Return the numbers; a number gets the unit of the next one in its list, as in 10 to 12 %."""
    numbers: list[Number] = []
    after: Number | None = None
    for one in reversed(found):
        number = one
        if (
            after
            and not number.kind
            and after.kind
            and after.kind not in {CLOCK, RATIO, TIMES}
            and not (number.year and _is_year(number, after, text))
            and _LISTED.fullmatch(text, number.end, after.start)
        ):
            factor = after.values[0][0] / after.plain[0][0] if after.plain[0][0] else Decimal(1)
            values = tuple((value * factor, step * factor) for value, step in number.plain)
            number = replace(number, kind=after.kind, shared=True, values=values, year=False)
        numbers.append(number)
        after = number
    return numbers[::-1]


def _is_year(number: Number, after: Number, text: str) -> bool:
    """Return whether a number before another is a year: 1987 to 18,750 tons, or 1987, 12 %."""
    if after.kind == PERCENT:
        return True
    return _WHEN.search(text[max(0, number.start - 10) : number.start]) is not None and not (
        after.plain[0][0] and Decimal("0.5") <= number.value / after.plain[0][0] <= 2
    )


def _lower_power(run: re.Match[str]) -> str:
    return "^" + run.group().translate(_RAISED)


def ordinals(text: str) -> frozenset[int]:
    """Return the values of the ordinals that a text spells out, such as third."""
    return frozenset(
        _ORDINALS[word] for word in re.findall(r"[a-z]+", text.casefold()) if word in _ORDINALS
    )


def sums(numbers: Iterable[Decimal], size: int | None) -> set[Decimal]:
    """Return the sum of all numbers, and the sums of groups of ``size``, at most 2,000 groups."""
    every = list(numbers)
    found = {sum(every, Decimal(0))} if len(every) > 1 else set()
    if size and 1 < size <= len(every):
        found |= {sum(some, Decimal(0)) for some in islice(combinations(every, size), 2_000)}
    return found
