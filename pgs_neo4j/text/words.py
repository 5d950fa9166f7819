"""Finds the content words of a text and their stems, and lists words that name no subject.

The lists hold English function words, and remains of markup and graph exports in texts. All are
casefolded. The stop words of keywords have three letters or more, since keywords are never shorter.
``words`` also leaves out the shortest words and the words of questions.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from pgs_neo4j.text.normal_form import find_words, fold_case, mark_class, normal_form

_ENGLISH = """
able about above according across actual actually after afterwards again against ago ain all
almost alone along already also although always among amongst and another any anybody anyhow
anyone anything anyway anywhere apart are aren around aside ask asked asking away back became
because become becomes becoming been before beforehand began begin behind being below beside
besides best better between beyond both brief briefly but came can cannot case cases cause causes
certain certainly clear clearly come comes consequently consider considered considering contain
contained containing contains corresponding could couldn currently definitely described despite
did didn different does doesn doing don done down due during each either else elsewhere enough
entirely especially etc even eventually ever every everybody everyone everything everywhere
exactly example examples except far few fewer finally find finds first five follow followed
following follows for form former forms forth found four from full fully further furthermore gave
general generally get gets getting give given gives giving goes going gone got great had hadn
happen happened happens hardly has hasn have haven having hence her here hereby herein hers
herself high higher highly him himself his how however important include included includes
including indeed inside instead into isn its itself just keep keeps kept kind knew know known
knows large larger last late later latter least less let lets like likely little long longer look
looking looks lot low lower made main mainly make makes making many may maybe mean meaning means
meant meanwhile merely might mightn mine more moreover most mostly much must mustn myself namely
near nearly necessary need needed needn needs neither never nevertheless new next nine nobody non
none nor not nothing now nowhere obviously off often okay old once one ones only onto opposite
other others otherwise ought our ours ourselves out outside over overall own part particular
particularly past per perhaps place please plus possible possibly present presumably previous
previously probably provide provided provides providing put quite rather really recent recently
regarding regardless relatively respect respective respectively right said same saw say saying
says see seem seemed seeming seems seen self selves sent several shall shan she should shouldn
show showed showing shown shows similar similarly simple simply since six small smaller some
somebody somehow someone something sometime sometimes somewhat somewhere soon specific
specifically specified specify still such suggest suggested suggests sure take taken takes taking
tell ten tend tends than thank thanks that the their theirs them themselves then thence there
thereafter thereby therefore therein thereof these they thing things think third this thorough
thoroughly those though three through throughout thru thus till together too took toward towards
tried tries truly try trying turn twice two under unless unlike unlikely until upon use used
useful uses using usual usually various very via want wanted wants was wasn way ways well went
were weren what whatever when whence whenever where whereas whereby wherein wherever whether which
whichever while whilst who whoever whole whom whose why wide will willing wish with within without
won wonder work worked working works would wouldn yes yet you your yours yourself yourselves
"""

_NOISE = """
amp apos com edu false ftp gov href http https img jpeg jpg laquo ldquo lsquo mailto nan nbsp net
none null org png quot raquo rdquo rsquo src svg true undefined url utf www xmlns
"""

_GRAMMATICAL = """
a about above after again against all am an and any are aren as at be because been before being
below between both but by can cannot could couldn did didn do does doesn doing don down during each
either few for from further had hadn has hasn have haven having he her here hers herself him himself
his how i if in into is isn it its itself just ll me more most must my myself neither no nor not now
of off on once only or other our ours ourselves out over own per re same shall she should shouldn so
some such than that the their theirs them themselves then there these they this those through to
too under until up upon us ve very was wasn we were weren what when where whether which while who
whom whose why will with within without won would wouldn you your yours yourself yourselves
"""

GRAMMATICAL_WORDS = frozenset(_GRAMMATICAL.split())
"""Function words without any meaning of their own, casefolded. The other function words, such as
"high" or "use", may belong to a subject: "high voltage"."""

FUNCTION_WORDS = frozenset(_ENGLISH.split())
"""English function words, casefolded."""

KEYWORD_STOP_WORDS = FUNCTION_WORDS.union(_NOISE.split())
"""Words that are never keywords, casefolded."""

# Stop words in addition to the function words: the shortest words, and words of questions.
_MORE = """
a am an as at be by do go he if in is it me my no of on or so to up us we ll re ve eg ie
list describe explain relate related role apply applies overview summary summarize gap gaps
missing mention mentions question answer graph exist exists available kinds sort
comprehensive complete
"""
STOP_WORDS = FUNCTION_WORDS.union(_MORE.split())

# Endings by their last letter, the longest first: "ations" is removed as a whole, not only its "s".
_ENDINGS = {
    "d": ("ied", "ed"),
    "g": ("ing",),
    "n": ("ation", "ion"),
    "r": ("or", "er"),
    "s": ("ations", "ments", "ings", "ions", "ors", "ers", "ies", "es", "s"),
    "t": ("ment",),
    "y": ("edly", "ly"),
}
MIN_STEM = 4
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_BREAK = re.compile(rf"[^\w\s\-\u2010\u2011{mark_class()}]+")


def words(text: str) -> list[str]:
    """Return content words in normal form and reading order, lower case; identifiers are split.

    Stop words, single letters, and numbers are left out, but four-digit numbers (years) stay.
    """
    return [word for word in find_words(_prepare(text)) if _carries_meaning(word)]


def _prepare(text: str) -> str:
    return fold_case(_HUMP.sub(" ", normal_form(text)))


@lru_cache(maxsize=65536)
def _carries_meaning(word: str) -> bool:
    if word in STOP_WORDS:
        return False
    return len(word) == 4 if word.isdigit() else len(word) > 1 or ord(word) > 0x2E80


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return ``word`` without a common English ending.

    "parse", "parser", and "parsing" get the same stem. The method is simpler than Porter's
    algorithm: it removes one ending, a doubled last letter, and a last e.

    A stem is the beginning of its word: queries look for stems inside of texts, and the text index
    hashes them in place. Snowball's stemmer does not follow this rule: it turns "binary" into
    "binari".
    """
    if not word.isascii() or not word.isalpha():
        return word
    for ending in _ENDINGS.get(word[-1], ()):
        rest = len(word) - len(ending)
        if rest >= (3 if ending == "s" else MIN_STEM) and word.endswith(ending):
            if ending != "s" or word[-2] not in "sui":  # process, focus, and basis keep their s
                word = word[:rest]
            break
    if len(word) > MIN_STEM and word[-1] == word[-2] and word[-1] not in "sz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def phrases(text: str) -> list[tuple[str, str]]:
    """Return pairs of content words separated by a blank, hyphen, or hump."""
    pairs: list[tuple[str, str]] = []
    for run in _BREAK.split(_prepare(text)):
        row = [w if _carries_meaning(w) else "" for w in find_words(run)]
        pairs.extend((a, b) for a, b in itertools.pairwise(row) if a and b)
    return pairs


def stems(text: str) -> list[str]:
    """Return the stems of the content words of a text in reading order."""
    return [stem(word) for word in words(text)]
