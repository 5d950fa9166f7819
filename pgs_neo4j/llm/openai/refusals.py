"""Turns a refusal of any interface into the package's error for it.

An error message names the host, the model, and the settings to change, and quotes the server in one
line that is safe to show (``said_line``). It never contains text that an endpoint may have echoed.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from pgs_neo4j.errors import (
    ModelAuthError,
    ModelError,
    ModelRateLimitError,
    ModelUnavailableError,
    PromptTooLongError,
    Retry,
    UnknownModelError,
)
from pgs_neo4j.llm.lengths import LengthRefusal
from pgs_neo4j.llm.openai.limits import parse_rate_limits, reset_s
from pgs_neo4j.model import Usage
from pgs_neo4j.telemetry.redaction import MASK, SHORTEST, redacted
from pgs_neo4j.text.shown import one_line, plain

TRIES_SERVER = 5
_CODE = re.compile(r"[a-z][a-z0-9_.-]{1,60}")
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}|[0-9A-Fa-f:.]{2,45}", re.ASCII)

MOST_SAID = 200
"""Maximum characters of a server's line."""
MOST_READ = 2_000
"""Characters of an error that are examined; a page of HTML or a traceback is longer."""
MOST_DEPTH = 4
"""Levels of nested objects; servers and gateways wrap an error in two or three."""
ECHO = 4
"""If this many words in a row also occur in the request, the error repeats the request."""
ECHO_CHARACTERS = 16
"""Minimum characters of these words together, because shorter words may occur in any sentence."""
NAMES = ("message", "error", "detail", "msg", "error_message", "reason")
"""Properties that contain the sentence of an error, the most common name first."""
PARAMETERS = frozenset(("model", "role", "type", "reasoning_effort", "effort", "encoding_format"))
"""Properties of a request that contain no text of a graph."""
_HTML = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]*)</title", re.IGNORECASE)
"""The title of a gateway's error page, such as "502 Bad Gateway"."""
_KEY = re.compile(r"(?:key|secret|password|access_token)[\"']?\s*[:=]\s*\S+", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"'[^']+'|\"[^\"]+\"|`[^`]+`|“[^”]+”|" "\u2018[^\u2019]+\u2019")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointWords:
    """The terms in messages for the settings, the interface, and the input of an endpoint.

    ``shorter`` is the advice for a text that is too long, ``refused`` the advice for a request that
    was refused for an unknown reason.
    """

    url: str = "PGS_LLM_BASE_URL"
    key: str = "PGS_LLM_API_KEY (or OPENAI_API_KEY)"
    models: str = "PGS_SWEEP_MODEL, PGS_SYNTHESIS_MODEL"
    unset: str = "use the public endpoint"
    interface: str = "OpenAI-compatible"
    faster: str = "raise model_timeout_s or use a faster model"
    sent: str = "the prompt"
    shorter: str = "lower max_pass_tokens or use a model with a larger context"
    refused: str = "check the model's name and the effort and token settings"

    @property
    def for_embedding(self) -> EndpointWords:
        """The words for an embedding model behind the same endpoint."""
        return replace(
            self,
            models="PGS_EMBEDDING_MODEL",
            sent="a text",
            shorter="lower chunk_tokens or use an embedding model with a larger context",
            refused="check embedding_model and embedding_dimensions",
        )

    @property
    def setting(self) -> str:
        """The name of the setting for the address in ``pgs.toml``."""
        return self.url.removeprefix("PGS_").lower()


MODEL_WORDS = EndpointWords()
RERANKER_WORDS = EndpointWords(
    url="PGS_RERANK_BASE_URL",
    key="PGS_RERANK_API_KEY",
    models="PGS_RERANK_MODEL",
    unset="do without this reranker",
    interface="that of a /rerank interface",
    faster="use a faster model, or another reranker",
    sent="a text or the question",
    shorter="use a rerank_model with a larger context",
    refused="check rerank_model",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error of an endpoint, independent of its interface.

    ``code`` is the machine-readable reason. ``said`` is the first line of the error, already safe
    to show, or empty. ``wait_s`` is the wait in seconds that the endpoint asks for, or None.
    ``charged`` is true if the call may have cost something.
    """

    status: int
    code: str
    headers: Mapping[str, str]
    wait_s: float | None
    length: LengthRefusal | None
    unknown_model: bool = False
    no_credit: bool = False
    loading: bool = False
    charged: bool = False
    said: str = ""


def refusal_error(
    refusal: Refusal, where: str, words: EndpointWords, longest_s: float
) -> ModelError:
    """Return the error for a refusal. A transient error carries a retry.

    ``where`` names the endpoint and the model. ``longest_s`` is the longest wait of a call, in
    seconds.
    """
    status = refusal.status
    code = f", {refusal.code}" if _CODE.fullmatch(refusal.code) else ""
    said = quote_server(refusal.said)
    if 300 <= status < 400:
        host = _redirect_target(refusal.headers.get("location", ""))
        return ModelUnavailableError(
            f"the model endpoint {where} redirects{f' to {host}' if host else ''} "
            f"(HTTP {status}), and redirects are never followed; set {words.url} to the "
            "endpoint's own address",
            usage=Usage(),
        )
    if status == 401:
        return ModelAuthError(
            f"the model endpoint {where} refused the API key (HTTP 401); set {words.key} to a "
            "valid one"
        )
    if status == 403:
        return ModelAuthError(
            f"the model endpoint {where} does not let this key use the model "
            f"(HTTP 403{code}); use another key or model"
        )
    if status == 404 or refusal.unknown_model:
        return UnknownModelError(
            f"the model endpoint {where} knows no such model or path (HTTP {status}){said}; check "
            f"{words.models} and {words.url}",
            usage=Usage(),
        )
    if refusal.no_credit:
        return ModelRateLimitError(
            f"the account at {where} has no quota left (HTTP {status}){said}; add credit or use "
            "another key"
        )
    if status == 429 and refusal.length is None:
        return _rate_limit_error(refusal, where, longest_s)
    if refusal.length is not None:
        context = refusal.length.context
        limit = f" of {context:,} tokens" if context else ""
        return PromptTooLongError(
            f"{words.sent} is longer than {where} accepts{limit} (HTTP {status}{code}); "
            f"{words.shorter}",
            context=context,
            prompt=refusal.length.prompt,
        )
    if refusal.loading:
        return ModelUnavailableError(
            f"the model endpoint {where} is still loading the model (HTTP {status}{code}); ask "
            "again when it has, or raise model_timeout_s",
            # Loading a large model takes minutes, so tries are not limited. Each try is refused at
            # once and costs nothing.
            retry=Retry(refusal.wait_s, reason="the server is loading the model"),
            usage=Usage(),
        )
    if status in (408, 409) or status >= 500:
        how = "fails" if (refusal.wait_s or 0.0) > longest_s else "kept failing"
        again = "; ask again later" if how == "kept failing" else ""
        # A gateway that gave up waiting does not know whether the model has answered.
        charged = refusal.charged or status in (408, 502, 504)
        return ModelUnavailableError(
            f"the model endpoint {where} {how} (HTTP {status}{code}){said}{again}",
            retry=Retry(refusal.wait_s, TRIES_SERVER),
            usage=None if charged else Usage(),
        )
    return ModelUnavailableError(
        f"the model endpoint {where} refused the request (HTTP {status}{code}){said}; "
        f"{words.refused}",
        usage=Usage(),
    )


def _rate_limit_error(refusal: Refusal, where: str, longest_s: float) -> ModelRateLimitError:
    wait_s = refusal.wait_s
    if wait_s is None:
        wait_s = reset_s(parse_rate_limits(refusal.headers))
    if wait_s is not None and wait_s > longest_s:
        return ModelRateLimitError(
            f"the model endpoint {where} limits the rate (HTTP 429)", retry=Retry(wait_s)
        )
    return ModelRateLimitError(
        f"the model endpoint {where} kept limiting the rate (HTTP 429) until the deadline; "
        "lower max_concurrent_calls or ask again later",
        retry=Retry(wait_s),
    )


def _redirect_target(location: str) -> str:
    """Return the host of a redirect; empty if it is missing or malformed."""
    try:
        host = urlsplit(location.strip()).hostname or ""
    except ValueError:
        return ""
    return host if _HOST.fullmatch(host) else ""


def quote_server(said: str) -> str:
    """Return a safe line of a server as the end of a message; empty without a line."""
    return '; the server says "{}"'.format(said.replace('"', "'")) if said else ""


def said_line(body: object, sent: bytes = b"", secrets: tuple[str, ...] = ()) -> str:
    """Return the first line of an error, made safe to show, of at most MOST_SAID characters.

    "CUDA out of memory" or "model not found, try pulling it first" helps a user more than a status,
    and so does the title of a gateway's error page. But an endpoint may also repeat its input,
    which is text of the graph, or the key. So the result is empty if the line repeats the request,
    and secrets and control characters are removed.

    ``body`` is the parsed error, or its text. ``sent`` is the body of the request. ``secrets`` are
    masked in addition to the patterns that are masked everywhere.
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
    """Return the sentence of an error, at any place where servers and gateways put it."""
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
    """Mask quotations of a request in a line; return "" if the line repeats more of it."""
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
    """Yield the texts of a request that may come from a graph, without names of models."""
    if isinstance(value, str):
        if name not in PARAMETERS and value.strip():
            yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _sent_texts(one, str(key))
    elif isinstance(value, list):
        for one in value:
            yield from _sent_texts(one, name)
