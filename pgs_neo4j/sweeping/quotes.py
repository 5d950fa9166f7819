"""Looks up a finding's quotations in the nodes that it cites."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from pgs_neo4j.model import Citation, Node, Quote
from pgs_neo4j.text.clean import clean_text

# Shorter ones are names or words in scare quotes, not quotations.
LEAST_CHARACTERS = 12
LEAST_WORDS = 3
LONGEST = 1000

_QUOTED = re.compile(
    rf"“([^“”]{{1,{LONGEST}}})”|„([^„“”]{{1,{LONGEST}}})[“”]|«([^«»]{{1,{LONGEST}}})»"
    rf"|(?<![\w\"])\"([^\"]{{1,{LONGEST}}})\"(?![\w\"])"
)
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?|\[[^\[\]]{0,40}\]")  # an ellipsis, or an insertion
_NO_WORD = re.compile(r"[\W_]+")


def find_quotes(text: str) -> list[str]:
    """Return the quotations of a text, in order, each once."""
    quotes = (next(group for group in match.groups() if group) for match in _QUOTED.finditer(text))
    return [quote for quote in dict.fromkeys(quotes) if _is_quotation(quote)]


def check_quotes(
    text: str, citations: Iterable[Citation], shown: Mapping[str, Node]
) -> tuple[Quote, ...]:
    """Return a finding's quotations, checked in its valid citations.

    A quotation is found when a cited node says the same words. Letter case, white space, and
    punctuation do not count; an ellipsis matches any text.
    """
    quotes = find_quotes(text)
    if not quotes:
        return ()
    cited = dict.fromkeys(citation.alias for citation in citations if citation.valid)
    nodes = [shown[alias] for alias in cited if alias in shown]
    texts = [_words(f"{node.title}\n{clean_text(node.text)}") for node in nodes]
    return tuple(Quote(quote, any(_says(words, quote) for words in texts)) for quote in quotes)


def _is_quotation(quote: str) -> bool:
    return len(quote) >= LEAST_CHARACTERS and len(quote.split()) >= LEAST_WORDS


def _says(words: str, quote: str) -> bool:
    """Return whether the parts between ellipses occur in sequence."""
    start = 0
    for part in filter(None, (_words(part).strip() for part in _GAP.split(quote))):
        at = words.find(f" {part} ", start)
        if at < 0:
            return False
        start = at + len(part) + 1
    return True


def _words(text: str) -> str:
    """Return the words of a text between blanks, for whole-word search."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return f" {_NO_WORD.sub(' ', plain).strip()} "
