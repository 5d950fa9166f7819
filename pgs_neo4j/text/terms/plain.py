"""Removes markup and addresses from texts before their keywords are counted."""

from __future__ import annotations

import html
import re

import numpy as np

from pgs_neo4j.text.normal_form import normal_form
from pgs_neo4j.text.terms.spans import LAST_ASCII, IntArray, SplitTexts

# Each pattern begins with plain letters, because such a pattern is searched quickly.
_ADDRESSES = tuple(
    re.compile(start + r"[^\s<>\"')\]]+") for start in ("https?://", "ftp://", r"www\.(?<!\wwww\.)")
)
_BEFORE_AT = re.compile(r"[\w.+-]{1,64}\Z")
_AFTER_AT = re.compile(r"[\w-]+\.\w+")
# A text with markup or addresses contains at least one of these.
_MARKS = ("<", "```", "&", "@", "://", "www.")
_MARK_CODES = [ord(mark) for mark in "<`&@"]
_TAG = re.compile(r"</?[a-zA-Z!?][^<>]*>")
_BLOCKS = tuple(
    (re.compile(opening, re.IGNORECASE | re.MULTILINE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        (r"^[ \t]*```", r"```"),
        (r"<!--", r"-->"),
        (r"<script\b", r"</script\s*>"),
        (r"<style\b", r"</style\s*>"),
        (r"<pre\b", r"</pre\s*>"),
    )
)


def plain_text(text: str) -> str:
    """Return a text for counting keywords: without markup, in normal form.

    A quick test returns the same object if nothing has to change.
    """
    if any(mark in text for mark in _MARKS):
        text = without_markup(normal_form(text))
    return normal_form(text)


def marked_texts(split: SplitTexts) -> IntArray:
    """Return the numbers ``(k,)`` of texts that may have markup or foreign letters, ascending.

    No text with markup or foreign letters is missed, and few other texts are included.
    """
    codes = split.runs.codes
    marked = codes > LAST_ASCII
    for code in _MARK_CODES:
        marked |= codes == code
    places = [np.flatnonzero(marked)]
    for mark in ("://", "www."):
        at = np.flatnonzero(codes[: len(codes) - len(mark) + 1] == ord(mark[0]))
        for back, letter in enumerate(mark[1:], start=1):
            at = at[codes[at + back] == ord(letter)]
        places.append(at)
    texts = np.searchsorted(split.text_starts, np.concatenate(places), side="right") - 1
    return np.unique(texts)


def without_markup(text: str) -> str:
    """Return the text without markup.

    Every step takes time in proportion to the text, and is skipped if no sign calls for it.
    """
    if "```" in text or "<" in text:
        for opening, closing in _BLOCKS:
            text = _remove_blocks(text, opening, closing)
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = html.unescape(text)
    if "://" in text or "www." in text:
        for pattern in _ADDRESSES:
            text = pattern.sub(" ", text)
    return _remove_addresses(text)


def _remove_addresses(text: str) -> str:
    """Return the text without e-mail addresses.

    It checks the text around each @, which is faster than a pattern that may begin at any word.
    """
    parts, position = [], 0
    at = text.find("@")
    while at >= 0:
        before = _BEFORE_AT.search(text, max(position, at - 64), at)
        after = _AFTER_AT.match(text, at + 1)
        if before and after:
            parts.append(text[position : before.start()])
            position = after.end()
        at = text.find("@", max(at + 1, position))
    return " ".join((*parts, text[position:])) if parts else text


def _remove_blocks(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """Return the text without closed blocks; an opening that is never closed stays."""
    parts, position = [], 0
    while begin := opening.search(text, position):
        end = closing.search(text, begin.end())
        if end is None:
            break
        parts.append(text[position : begin.start()])
        position = end.end()
    return " ".join((*parts, text[position:])) if parts else text[position:]
