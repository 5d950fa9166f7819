"""Says in the package's errors why an endpoint refused a call, whatever interface it has.

Messages name the host and the model, and what the server says in a line that is safe to show
(``said``); never anything that an endpoint may have echoed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
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
from pgs_neo4j.llm.openai.wording import EndpointWords
from pgs_neo4j.model import Usage

TRIES_SERVER = 5
_CODE = re.compile(r"[a-z][a-z0-9_.-]{1,60}")
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}|[0-9A-Fa-f:.]{2,45}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What an error of an endpoint says, as a wire has read it.

    ``code`` is the machine-readable reason. ``said`` is its first line, already made safe to show,
    or empty. ``wait_s`` is how long to wait, if it says so. ``charged``: the call may have cost
    something.
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


def quote_server(said: str) -> str:
    """Return a safe line of a server as a part of a message; empty without one."""
    return '; the server says "{}"'.format(said.replace('"', "'")) if said else ""


def refusal_error(
    refusal: Refusal, where: str, words: EndpointWords, longest_s: float
) -> ModelError:
    """Return the error for a refusal; a transient one may be retried.

    ``where`` names the endpoint and the model. No wait is longer than ``longest_s`` seconds.
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
            # A large model takes minutes, and each try is answered at once and costs nothing.
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
    """Return the host that a redirect names; empty if it names none or an odd one."""
    try:
        host = urlsplit(location.strip()).hostname or ""
    except ValueError:
        return ""
    return host if _HOST.fullmatch(host) else ""
