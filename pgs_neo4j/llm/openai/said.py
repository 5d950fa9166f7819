"""Shows what a server itself says of an error: its first line, safe to show and store.

"CUDA out of memory" or "model not found, try pulling it first" tells a user more than a status
does, and so does the title of the page that a gateway sends. An endpoint may also repeat what it
was sent, which is text of the graph, or the key. So the line is left out where it repeats the
request, and secrets and control characters are removed.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pgs_neo4j.telemetry.redaction import MASK, SHORTEST, redacted
from pgs_neo4j.text.shown import one_line, plain

MOST_SAID = 200
"""Characters of a line of a server."""
MOST_READ = 2_000
"""Characters of an error that are read at all; a page of HTML or a traceback is longer."""
ECHO = 4
"""Words in a row that a server has from the request, not from itself."""
ECHO_CHARACTERS = 16
"""Characters that such words have at least; a shorter line may be any sentence."""
MOST_DEPTH = 4
"""Objects in each other; servers and gateways wrap an error in two or three."""
NAMES = ("message", "error", "detail", "msg", "error_message", "reason")
"""Properties that hold the sentence, by how often servers call it so."""
_HTML = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]*)</title", re.IGNORECASE)
"""What a page of a gateway says of itself, such as "502 Bad Gateway"."""
_KEY = re.compile(r"(?:key|secret|password|access_token)[\"']?\s*[:=]\s*\S+", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"'[^']+'|\"[^\"]+\"|`[^`]+`|“[^”]+”|" "\u2018[^\u2019]+\u2019")
PARAMETERS = frozenset(("model", "role", "type", "reasoning_effort", "effort", "encoding_format"))
"""Properties of a request that hold no text of a graph."""


def said_line(body: object, sent: bytes = b"", secrets: tuple[str, ...] = ()) -> str:
    """Return what an error says in its first line, of at most MOST_SAID characters; else "".

    ``body`` is the error as parsed, or its text. ``sent`` is the body of the request, of which
    nothing is repeated. ``secrets`` are masked beside those that are hidden everywhere.
    """
    text = plain(_find_sentence(body)[:MOST_READ])
    if _HTML.match(text):
        titled = _TITLE.search(text)
        text = plain(html.unescape(titled[1])) if titled else ""
    line = next((line for line in text.splitlines() if line.strip()), "")
    for secret in secrets:
        if len(secret) >= SHORTEST:
            line = line.replace(secret, MASK)
    line = _without_echo(_KEY.sub(MASK, redacted(line)), sent)
    line = one_line(line, MOST_SAID).rstrip(" .;:,")
    return line if _WORD.search(line) else ""


def _find_sentence(body: object, depth: int = 0) -> str:
    """Return the sentence of an error, wherever a server or gateway has put it."""
    if isinstance(body, str):
        if body[:1] in "{[" and body and depth < MOST_DEPTH:
            try:
                return _find_sentence(json.loads(body), depth + 1)
            except (ValueError, RecursionError):
                return ""
        return body
    if depth >= MOST_DEPTH:
        return ""
    if isinstance(body, list):
        return _find_sentence(body[0], depth + 1) if body else ""
    if isinstance(body, Mapping):
        for name in NAMES:
            if found := _find_sentence(body.get(name), depth + 1):
                return found
    return ""


def _without_echo(line: str, sent: bytes) -> str:
    """Return a line without what it quotes of a request; empty if it repeats more of it."""
    if not sent:
        return line
    try:
        texts = [" ".join(text.casefold().split()) for text in _sent_texts(json.loads(sent))]
    except (ValueError, RecursionError):
        texts = [sent.decode("utf-8", "replace").casefold()]

    def mask(quoted: re.Match[str]) -> str:
        inner = " ".join(quoted[0][1:-1].casefold().split())
        return "…" if any(inner in text for text in texts) else quoted[0]

    line = _QUOTED.sub(mask, line)
    plainly = line.casefold()
    words = _WORD.findall(plainly)
    runs = [" ".join(words[at : at + ECHO]) for at in range(max(1, len(words) - ECHO + 1))]
    runs = [f" {run} " for run in runs if len(run) >= ECHO_CHARACTERS]
    for text in texts:
        spaced = f" {' '.join(_WORD.findall(text))} "
        if (len(text) >= SHORTEST and text in plainly) or any(run in spaced for run in runs):
            return ""
    return line


def _sent_texts(value: Any, name: str = "") -> Iterator[str]:
    """Yield the texts of a request that may come from a graph; the name of a model does not."""
    if isinstance(value, str):
        if name not in PARAMETERS and value.strip():
            yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _sent_texts(one, str(key))
    elif isinstance(value, list):
        for one in value:
            yield from _sent_texts(one, name)
