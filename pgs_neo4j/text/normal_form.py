"""Brings texts into one form, so that the same word has the same code points everywhere.

The index of a generation, every lookup in it, the scan of its members, and the comparison of
quotations all use this form. In it, canonically equal texts are equal. Ligatures, full-width and
mathematical letters, subscripts, and digits of any script equal the plain letters or digits that
they stand for.

Some signs make no difference, because most texts leave them out: soft hyphens, signs without a
width, the vowel points of Arabic and Hebrew, the accents of Greek and Russian, and the commas of
large numbers. Letters that writers confuse count as one letter: Arabic letters with and without a
hamza, and the nasal signs of Hindi.

Other marks, such as the vowel signs of Indic scripts, are parts of words. Scripts that write words
without spaces are not divided into words, so no word in them can be proven absent.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

from pgs_neo4j.text.invisible import IGNORED

# Points that most texts omit: of Hebrew, of Arabic with its stretching sign, and of Syriac.
_POINTS = (
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0730-\u074a\u08d3-\u08e1\u08e3-\u08ff"
)
_SHAPING = r"\u180b-\u180f\u200c\u200d\ufe00-\ufe0f"  # joiners, and selectors of a letter's form
_DROPPED = re.compile(f"[{IGNORED}{_SHAPING}{_POINTS}]")
# The sign of a trade name is not part of the name.
_TRADE = re.compile("[\u2120\u2122]")
# A raised digit after a whole word is the number of a footnote. After a unit, it is a power.
_RAISED = r"[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]"
# A pattern that begins with a sign is searched quickly. So the text before is checked only after
# the sign was found.
_FOOTNOTE = re.compile(rf"{_RAISED}(?<=[^\W\d_]{{4}}{_RAISED}){_RAISED}*")
_GROUP_BLANK = re.compile(r"[\u00a0\u2009\u202f](?<=\d.)(?=\d{3}(?!\d))")
_GROUP_COMMA = re.compile(r",(?<=\d,)(?<!\d{4},)(?=\d{3}(?!\d))")
# Categories of settled signs: if NFKC keeps such a sign, its neighbors cannot change it.
_SETTLED = frozenset(("Lu", "Ll", "Nd", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "So"))
_NEAR = 64  # a gap of at most this many settled signs is not worth a cut
_LETTERS = 0x20000  # code points that may be letters with a case, or marks
_TAGS = range(0xE0000, 0xE1000)
# Turkish i with and without a dot count as one letter, because most texts confuse their capitals. A
# final sigma counts as a sigma.
_FINAL_SIGMA, _SIGMA = "\u03c2", "\u03c3"
_OTHERS = {0x130: "I", 0x131: "i", ord(_FINAL_SIGMA): _SIGMA}
# Ligatures that Unicode treats as separate letters, and letters that writers confuse.
_ALIKE = {
    **{"\u0153": "oe", "\u0152": "OE", "\u00e6": "ae", "\u00c6": "AE", "\u0451": "\u0435"},
    **{"\u0401": "\u0415", "\u0901": "\u0902", "\u0a81": "\u0a82"},
    **dict.fromkeys("\u0622\u0623\u0625\u0671", "\u0627"),  # alef
    **dict.fromkeys("\u0649\u06cc", "\u064a"),  # yeh
    **{"\u06a9": "\u0643", "\u0629": "\u0647"},  # kaf, and heh for a feminine ending
    # Malayalam letters that were written with a joiner before they had code points of their own.
    **{"\u0d7a": "\u0d23\u0d4d", "\u0d7b": "\u0d28\u0d4d", "\u0d7c": "\u0d30\u0d4d"},
    **{"\u0d7d": "\u0d32\u0d4d", "\u0d7e": "\u0d33\u0d4d", "\u0d7f": "\u0d15\u0d4d"},
}
_ACCENTS = "\u0300\u0301\u0313\u0314\u0342"  # accents of Greek, and stress marks of Russian
_ACCENTED = re.compile(f"(?<=[\u0370-\u052f\u1f00-\u1fff])[{_ACCENTS}]+")
_GREEK = (range(0x370, 0x400), range(0x1F00, 0x2000))
_DOTTED_I = "i\u0307"  # the lower case of a Turkish capital I with a dot

# Scripts without spaces between words. Korean has spaces, but they do not divide a word from its
# particles. The last planes contain rare ideographs.
_UNSEGMENTED = re.compile(
    "[\u0e01-\u0eff\u0f40-\u0fbc\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u1950-\u19df\u1a20-\u1aad"
    "\u1b00-\u1b4c\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u30fa\u30fc-\u318e"
    "\u31a0-\u31ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua9c0\ua9e0-\ua9ff\uaa60-\uaadf\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uffdc\U00016fe0-\U00018dff\U0001b000-\U0001b2ff\U00020000-\U0003ffff]"
)
_HYPHEN = re.compile(r"[-\u2010\u2011](?<=\w.)(?:[ \t]*\r?\n[ \t]*)?(?=\w)")
_HYPHENATED = re.compile(r"[^\W\d_]{1,40}\Z")
_PART = re.compile(r"[^\W\d_]{1,40}")
_MOST_PARTS = 4  # maximum number of parts of a word with hyphens; a longer chain is a phrase


def normal_form(text: str) -> str:
    """Return a text in the form in which words are compared; case is kept.

    A second call changes nothing. :func:`fold_case` keeps the length of the form. A plain text is
    returned unchanged, after a quick test.
    """
    if not text.isascii():
        text = "".join(_normalize_parts(text))
    return _GROUP_COMMA.sub("", text)


def fold_case(text: str) -> str:
    """Return a text in normal form in lower case; each letter stays one letter."""
    return text.lower() if text.isascii() else text.lower().replace(_FINAL_SIGMA, _SIGMA)


def has_unsegmented(text: str) -> bool:
    """Return whether a text has a word in a script that cannot be divided into words."""
    return not text.isascii() and _UNSEGMENTED.search(text) is not None


def count_unsegmented(text: str) -> int:
    """Return how many letters of a text belong to scripts that cannot be divided into words."""
    return 0 if text.isascii() else len(_UNSEGMENTED.findall(text))


def joined_words(text: str) -> list[str]:
    """Return the hyphenated words of a text without their hyphens, lower case, in order.

    The hyphen may be at the end of a line. Searches find both spellings of such a word, because
    neither a text nor a question shows which is meant. ``text`` is in normal form.
    """
    if "-" not in text and (text.isascii() or not ("\u2010" in text or "\u2011" in text)):
        return []
    return list(_join_hyphenated(text))


def with_joined_words(text: str) -> str:
    """Return a text in normal form with one more line: its hyphenated words without hyphens."""
    more = joined_words(text)
    return f"{text}\n{' '.join(more)}" if more else text


def join(text: str) -> str:
    """Return a text without the hyphens inside words, also at the ends of lines."""
    return _HYPHEN.sub("", text)


@cache
def dropped_signs() -> tuple[str, ...]:
    """Return the signs of the basic plane that the normal form drops, for a database search."""
    return tuple(sign for sign in map(chr, range(0x10000)) if _DROPPED.match(sign))


def alike_signs(words: Iterable[str]) -> list[list[str]]:
    """Return pairs of a sign and the letters it stands for, if ``words`` have such letters.

    All are in lower case. Unicode folds these signs differently, so a database that folds a text by
    Unicode must also replace them.
    """
    letters = {letter for word in words for letter in word}
    pairs = [[sign, form] for sign, form in _find_alike() if letters.intersection(form)]
    if any(_ACCENTED.search(f"{letter}{_ACCENTS[0]}") for letter in letters):
        pairs += [[accent, ""] for accent in _ACCENTS]
    return pairs


@cache
def _find_alike() -> tuple[tuple[str, str], ...]:
    """Return the lower-case signs that Unicode folds differently, each with its form here."""
    kept = {sign.lower() for sign in _ALIKE} | {
        chr(code)
        for code in _find_changes()
        if any(code in letters for letters in _GREEK) or unicodedata.category(chr(code)) == "Nd"
    }
    signs = sorted(sign for sign in kept if sign == sign.lower())
    return tuple(
        (sign, fold_case(_find_changes()[ord(sign)])) for sign in signs if sign != _FINAL_SIGMA
    )


def is_mark(sign: str) -> bool:
    """Return whether a character is a mark that belongs to the letter before it."""
    return sign <= "\uffff" and unicodedata.category(sign) in {"Mn", "Mc"}


@cache
def mark_class() -> str:
    """Return the ranges of a character class of marks, without its brackets.

    Marks beyond the basic plane belong to historic scripts. They are left out, because they would
    make a search ten times slower.
    """
    marks = [code for code in range(0x10000) if is_mark(chr(code))]
    return _make_class(marks)


@cache
def word_pattern() -> re.Pattern[str]:
    """Return a pattern of words with their marks; underscores count as letters."""
    return re.compile(rf"[\w{mark_class()}]+")


def find_words(text: str) -> list[str]:
    """Return the runs of letters, digits, and marks of a text in reading order."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return word_pattern().findall(text.replace("_", " "))


_ASCII_WORD = re.compile(r"[^\W_]+", re.ASCII)


def flatten(text: str) -> str:
    """Return the words of a text in normal form, lower case, with one blank around each.

    A flattened quotation is part of a flattened text exactly if its words follow each other there
    as whole words.
    """
    return f" {' '.join(find_words(fold_case(normal_form(text))))} "


def _normalize_parts(text: str) -> Iterator[str]:
    """Yield a text in normal form, in parts, with the commas of numbers kept.

    In most texts, few signs need a change. Only the text around such a sign, up to the next blanks,
    affects it. So only these parts are normalized, since all the rest would take most of the time.
    """
    done = 0
    while run := _unsettled_pattern().search(text, done):
        start = max(done, text.rfind(" ", done, run.start()))
        end = text.find(" ", run.end())
        yield text[done:start]
        done = end if end >= 0 else len(text)
        yield _normalize(text[start:done])
    yield text[done:]


def _normalize(text: str) -> str:
    """Return a stretch of text in normal form, with the commas of numbers kept."""
    plain = _GROUP_BLANK.sub("", text)
    plain = _FOOTNOTE.sub(r" \g<0>", _TRADE.sub(" ", plain))
    while True:
        # Removing a sign can bring letters together that must be composed, so repeat the steps.
        composed = unicodedata.normalize("NFKC", plain)
        # Few signs of a text change, and ``str.translate`` would take ten times longer.
        changed = _changing_pattern().sub(_replace_sign, composed).replace(_DOTTED_I, "i")
        changed = _lone_mark_pattern().sub("", _ACCENTED.sub("", changed))
        if changed in (composed, plain):
            return changed
        plain = changed


def _replace_sign(match: re.Match[str]) -> str:
    return _find_changes()[ord(match.group())]


@cache
def _lone_mark_pattern() -> re.Pattern[str]:
    """Return a pattern of marks without a letter, because accents alone are not words."""
    marks = mark_class()
    return re.compile(rf"[{marks}](?<!(?:[^\W_]|[{marks}]).)[{marks}]*", re.DOTALL)


@cache
def _find_changes() -> dict[int, str]:
    """Return the replacements of signs, by code point; a dropped sign has an empty one.

    After these replacements, ``str.lower`` maps each letter to one letter.
    """
    letters = "".join(map(chr, range(_LETTERS)))
    changes = {
        ord(letter): letter.casefold().lower()
        for letter in letters
        if letter.casefold() != letter.lower() and letter.casefold().lower() != letter.lower()
    }
    changes |= {ord(sign): other for sign, other in _ALIKE.items()}
    for code in chain.from_iterable(_GREEK):
        bare = _strip_accents(changes.get(code, chr(code)))
        if bare != chr(code):
            changes[code] = bare
    changes |= {
        ord(sign): str(unicodedata.decimal(sign))
        for sign in letters
        if not sign.isascii() and unicodedata.category(sign) == "Nd"
    }
    dropped = _DROPPED.findall(letters + "".join(map(chr, _TAGS)))
    return changes | dict.fromkeys(map(ord, dropped), "") | _OTHERS


def _strip_accents(text: str) -> str:
    plain = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(sign for sign in plain if sign not in _ACCENTS))


@cache
def _changing_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_make_class(sorted(_find_changes()))}]")


@cache
def _unsettled_pattern() -> re.Pattern[str]:
    """Return a pattern of stretches of signs that may change, with short gaps between them.

    Marks may change, and letters without a case, such as parts of Korean syllables. All signs
    beyond the basic plane are included, because they are rare.
    """
    changing = _find_changes()
    plane = map(chr, range(0x80, 0x10000))
    signs = _make_class(
        ord(sign)
        for sign in plane
        if unicodedata.category(sign) not in _SETTLED
        or not unicodedata.is_normalized("NFKC", sign)
        or ord(sign) in changing
    )
    signs += "\U00010000-\U0010ffff"
    return re.compile(f"[{signs}]+(?:[^{signs}]{{1,{_NEAR}}}[{signs}]+)*+")


def _make_class(codes: Iterable[int]) -> str:
    """Return ascending code points as the ranges of a character class."""
    return "".join(f"{chr(one)}-{chr(last)}" for one, last in _find_ranges(codes))


def _find_ranges(codes: Iterable[int]) -> list[tuple[int, int]]:
    """Return the ranges of ascending numbers, each as its first and last number."""
    found: list[tuple[int, int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1] = found[-1][0], code
        else:
            found.append((code, code))
    return found


def _join_hyphenated(text: str) -> Iterator[str]:
    """Yield hyphenated words without hyphens; texts have few hyphens, so each is checked."""
    parts: list[str] = []
    end = -1
    for hyphen in _HYPHEN.finditer(text):
        if hyphen.start() != end:
            yield from _join_parts(parts)
            before = _HYPHENATED.search(text, max(0, hyphen.start() - 41), hyphen.start())
            parts = [before.group()] if before else []
        after = _PART.match(text, hyphen.end())
        if not (parts and after):
            parts, end = [], -1
            continue
        parts.append(after.group())
        end = after.end()
    yield from _join_parts(parts)


def _join_parts(parts: list[str]) -> Iterator[str]:
    if 2 <= len(parts) <= _MOST_PARTS:
        yield fold_case("".join(parts))
