"""Prepares text of the graph for a prompt: makes it harmless, and cuts it at words.

Each cut limits both characters and UTF-8 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgs_neo4j.text.citations import defuse
from pgs_neo4j.text.invisible import INVISIBLE, is_plainly_visible
from pgs_neo4j.text.thinking import ANY_MARK

_LINES = re.compile("[\u2028\u2029]")
_BRACKETS = str.maketrans("<[◁>]▷", "⟨⟨⟨⟩⟩⟩")

# Tokens of chat templates, such as <|im_start|>. Some servers obey them even inside a message.
_TEMPLATE = re.compile(r"<([|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c])>")
MARGIN = 3  # extra characters that each line of a chunk costs in a prompt
ELLIPSIS = "…"
_WORD_END = re.compile(r"\s(?=\S*$)")


def clean_text(text: str) -> str:
    """Return text as plain data, with ``\\n`` for every line end.

    It has no invisible characters and no token of a chat template. If a reply repeats it, no part
    of it counts as a citation or as the model's thinking.
    """
    plain = text
    if "\r" in plain:
        plain = plain.replace("\r\n", "\n").replace("\r", "\n")
    if not is_plainly_visible(plain):
        plain = _LINES.sub(" ", INVISIBLE.sub(" ", plain))
    if "<" in plain or "[" in plain or "◁" in plain:
        plain = ANY_MARK.sub(lambda mark: mark[0].translate(_BRACKETS), plain)
        plain = _TEMPLATE.sub(r"⟨\1⟩", plain)
    return defuse(plain)


def cut(text: str, characters: int, size_bytes: int) -> str:
    """Return the text, shortened to both limits; a shortened text ends in an ellipsis."""
    if len(text) <= characters and len(text.encode("utf-8", "replace")) <= size_bytes:
        return text
    if characters < 1 or size_bytes < len(ELLIPSIS.encode()):
        return ""
    end = _find_end(text, 0, (characters - 1, size_bytes - len(ELLIPSIS.encode())))
    space = _WORD_END.search(text, end // 2, end)
    return text[: space.start() if space else end].rstrip() + ELLIPSIS


def chunks(text: str, room: tuple[int, int]) -> Iterator[str]:
    """Split the text into chunks of at most ``room``, in characters and in bytes.

    Each line also counts ``MARGIN``. The joined chunks equal the text. A line that is too long is
    cut after a word that ends in the second half of the room, if any. ``room`` must fit at least
    one character.
    """
    chunk: list[str] = []
    characters = size = 0
    for line in text.splitlines(keepends=True):
        end = "\n" if line.endswith("\n") else ""
        *cut_off, last = _cut_line(line.removesuffix(end), (room[0] - MARGIN, room[1] - MARGIN))
        for segment in (*cut_off, last + end):
            bare = segment.removesuffix("\n")
            cost = (len(bare) + MARGIN, len(bare.encode("utf-8", "surrogatepass")) + MARGIN)
            if chunk and (characters + cost[0] > room[0] or size + cost[1] > room[1]):
                yield "".join(chunk)
                chunk, characters, size = [], 0, 0
            chunk.append(segment)
            characters += cost[0]
            size += cost[1]
    if chunk:
        yield "".join(chunk)


def _cut_line(line: str, room: tuple[int, int]) -> Iterator[str]:
    start = 0
    while (end := _find_end(line, start, room)) < len(line):
        space = _WORD_END.search(line, (start + end) // 2, end)
        end = space.end() if space else end
        yield line[start:end]
        start = end
    yield line[start:]


def _find_end(text: str, start: int, room: tuple[int, int]) -> int:
    """Return the end of the longest stretch from ``start`` within ``room``."""
    stretch = text[start : start + room[0]]
    raw = stretch.encode("utf-8", "replace")
    if len(raw) <= room[1]:
        return start + len(stretch)
    return start + len(raw[: room[1]].decode("utf-8", "ignore"))
