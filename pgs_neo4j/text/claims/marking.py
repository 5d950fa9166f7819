"""Divides a text into sentences with their citations, and marks the sentences that are in doubt.

A mark is a remark at the end of its sentence. It can be read back from a stored text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pgs_neo4j.text.citations import GROUP
from pgs_neo4j.text.sentences import split_sentences

_MARK = re.compile(r" ?\(in doubt: ([^()]*)\)")
_ROUND = {ord("("): "[", ord(")"): "]"}  # a mark ends at its first parenthesis
_BULLET = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+")
_SIGNS = re.compile(r"\s*#{1,6}\s*")
_TITLE = re.compile(
    r"\s*(?:#{1,6}\s+[^:\[\n]{1,60}:|\*\*[^*:\[\n]{1,60}(?::\*\*|\*\*:|:(?=\s)))\s*"
)
_CLOSING = re.compile(r"[\s*_]*(?:[.!?]['\"\u201d)]?\s*)?")

Doubting = Callable[[str, str], Sequence[str]]
"""Returns why a sentence is in doubt; its second argument is the text whose citations count."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A doubted sentence with its mark removed, and the reason that the mark gave."""

    text: str
    reason: str


def spans(text: str) -> list[tuple[int, int]]:
    """Return the places of the sentences in a line or bullet, with the citations after them."""
    found: list[tuple[int, int]] = []
    for sentence in split_sentences(text):
        start, end = sentence.start, sentence.end
        # Citations after a period belong to the sentence before it.
        while found and (group := GROUP.match(text, start, end)):
            closing = _CLOSING.match(text, group.end(), end)
            start = closing.end() if closing else group.end()
            found[-1] = found[-1][0], start
        for group in GROUP.finditer(text, start, end):
            if text[start : group.start()].rstrip(' *_"\u201d)')[-1:] in {".", "!", "?"}:
                closing = _CLOSING.match(text, group.end(), end)
                stop = closing.end() if closing else group.end()
                found.append((start, stop))
                start = stop
        if start < end:
            found.append((start, end))
    return found


def mark(text: str, doubting: Doubting) -> str:
    """Return a line or a bullet with a mark after each sentence that is in doubt.

    A sentence without citations uses the citations of the whole line. A sentence with a mark is not
    marked again.
    """
    parts: list[str] = []
    end = 0
    for start, stop in spans(text):
        sentence = text[start:stop]
        reasons = (
            [] if _MARK.search(sentence) else doubting(sentence, _choose_cited(sentence, text))
        )
        body = sentence.rstrip()
        parts += [text[end:start], body, _write_remark(reasons), sentence[len(body) :]]
        end = stop
    return "".join((*parts, text[end:]))


def mark_heading(line: str, doubting: Doubting) -> str:
    """Return a heading, with a mark after it if it is in doubt."""
    signs = _SIGNS.match(line)
    start = signs.end() if signs else 0
    return line[:start] + mark(line[start:], doubting)


def doubts_of(text: str, doubting: Doubting) -> list[str]:
    """Return why sentences in a line or bullet are in doubt, each reason once."""
    every = (
        reason
        for start, stop in spans(text)
        for reason in doubting(text[start:stop], _choose_cited(text[start:stop], text))
    )
    return list(dict.fromkeys(every))


def drop_sentences(block: str, drops: Callable[[str], bool]) -> str:
    """Return a paragraph or bullet without the sentences that ``drops`` selects; may be empty."""
    begin = _find_begin(block)
    if drops(block[begin:]):
        return ""
    places = [(begin + start, begin + stop) for start, stop in spans(block[begin:])]
    kept = [(start, stop) for start, stop in places if not drops(block[start:stop])]
    if len(kept) == len(places):
        return block
    rest = "".join(block[start:stop] for start, stop in kept).rstrip()
    if not any(map(str.isalnum, rest)):
        return ""
    return block[:begin] + rest + ("\n" if block.endswith("\n") else "")


def begins_block(line: str) -> bool:
    """Return whether a line begins a bullet, a heading, or a row, or is empty."""
    return not line.strip() or line.lstrip()[0] in "#|>" or _BULLET.match(line) is not None


def find_marked(text: str) -> Iterator[Marked]:
    """Yield the marked sentences of a text in order."""
    for block in _split_blocks(text):
        begin = _find_begin(block)
        for match in _MARK.finditer(block):
            before = block[begin : match.start()]
            places = spans(before)
            first = places[-1][0] if places else 0
            yield Marked(" ".join(before[first:].split()), match[1])
            begin = match.end()


def remark(text: str, reasons: Sequence[str]) -> str:
    """Return a text with a mark at its end that gives the reasons; unchanged without reasons."""
    plain = [reason.translate(_ROUND) for reason in reasons]
    return text + _write_remark(plain)


def unmark(text: str) -> str:
    """Return a text without its marks."""
    return _MARK.sub("", text)


def strike(text: str) -> str:
    """Return a text without its marked sentences, and without bullets that are then empty."""
    blocks: list[str] = []
    for block in _split_blocks(text):
        if not _MARK.search(block):
            blocks.append(block)
            continue
        begin = _find_begin(block)
        kept, end = [], begin
        for match in _MARK.finditer(block):
            places = spans(block[end : match.start()])
            first = places[-1][0] if places else 0
            kept.append(block[end : end + first])
            end = match.end()
        rest = "".join((*kept, block[end:])).strip()
        # The title of a section stays, because what follows it belongs to it.
        if rest.strip("*_# ") or _TITLE.match(block):
            bold = "" if block[:begin].count("**") % 2 == rest.count("**") % 2 else "**"
            blocks.append((block[:begin] + rest).rstrip() + bold if bold else block[:begin] + rest)
    return "\n".join(blocks)


def _find_begin(block: str) -> int:
    """Return where the sentences of a block begin, after its bullet or title."""
    start = _BULLET.match(block) or _TITLE.match(block) or _SIGNS.match(block)
    return start.end() if start else 0


def _split_blocks(text: str) -> list[str]:
    """Split a text into bullets, paragraphs, and other lines, without line breaks between them."""
    blocks: list[str] = []
    open_ = False
    for line in text.split("\n"):
        if open_ and not begins_block(line):
            blocks[-1] += f"\n{line}"
        else:
            blocks.append(line)
        open_ = bool(line.strip()) and line.lstrip()[0] not in "#|>"
    return blocks


def _choose_cited(sentence: str, text: str) -> str:
    """Return the text whose citations count for a sentence: itself, or else its whole line."""
    return sentence if GROUP.search(sentence) else text


def _write_remark(reasons: Sequence[str]) -> str:
    return f" (in doubt: {'; '.join(reasons)})" if reasons else ""
