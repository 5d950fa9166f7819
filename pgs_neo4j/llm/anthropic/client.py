"""The client of an endpoint with Anthropic's Messages API, and its errors.

Messages name the host and the model, never the key, the credentials of a URL, or anything an
endpoint may have echoed from the prompt.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Mapping
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pgs_neo4j.errors import (
    ConfigError,
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelUnavailableError,
    PromptTooLongError,
    Retry,
    UnknownModelError,
)
from pgs_neo4j.llm.lengths import LengthRefusal, parse_length_refusal
from pgs_neo4j.llm.openai.address import redirect_target
from pgs_neo4j.llm.openai.endpoint import (
    CONNECT_TIMEOUT_S,
    PLACEHOLDER_KEY,
    TRIES_CONNECTION,
    TRIES_SERVER,
    Endpoint,
    timeout_error,
)
from pgs_neo4j.llm.openai.limits import reset_s
from pgs_neo4j.llm.retry import retry_after_s
from pgs_neo4j.model import Left, Usage
from pgs_neo4j.model.ceilings import MALFORMED_TRIES, longest_wait_s

if TYPE_CHECKING:
    import anthropic

PUBLIC_URL = "https://api.anthropic.com"
API_VERSION = "2026-10-21"
# The last version with a temperature; the newer one refuses every request that names it.
SAMPLING_VERSION = "2023-06-01"
# An error in the middle of a stream has no status of its own, only a type.
STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "api_error": 500,
    "overloaded_error": 529,
}
_NO_CREDIT = re.compile(r"credit balance|spend(?:ing)?[ _]limit", re.IGNORECASE)
_CODE = re.compile(r"[a-z][a-z0-9_.-]{1,60}")


def require_sdk() -> None:
    """Raise ConfigError if the package that this provider needs is not installed."""
    if find_spec("anthropic") is None:
        raise ConfigError(
            "the provider anthropic needs its package; run pip install 'pgs-neo4j[anthropic]' or "
            "choose another provider"
        )


async def load_sdk() -> None:
    """Import the client in another thread: its thousand types take a second or more."""
    await asyncio.to_thread(import_module, "anthropic")


def client_failures() -> tuple[type[Exception], ...]:
    """Return the errors of the client, and those of reading what it received."""
    import anthropic
    import httpx2

    # Deeply nested JSON exhausts the parser's stack.
    return (anthropic.AnthropicError, httpx2.HTTPError, ValueError, RecursionError)


def is_official(endpoint: Endpoint) -> bool:
    """Return whether Anthropic itself answers; compatible servers differ."""
    host = urlsplit(endpoint.url).hostname or ""
    return host == "anthropic.com" or host.endswith(".anthropic.com")


def open_client(endpoint: Endpoint) -> anthropic.AsyncAnthropic:
    """Return a client that never retries and follows no redirects.

    It reads only proxies from the environment.
    """
    import anthropic
    import httpx2

    from pgs_neo4j.llm.openai.body import limit_body

    timeout = httpx2.Timeout(endpoint.timeout_s, connect=min(CONNECT_TIMEOUT_S, endpoint.timeout_s))
    client = anthropic.AsyncAnthropic(
        api_key=_key(endpoint),  # without one, the client looks for profiles and tokens
        # The client adds /v1 to each path, and many write it into the address as well.
        base_url=endpoint.url.rstrip("/").removesuffix("/v1"),
        max_retries=0,
        timeout=timeout,
        open_telemetry=False,  # its spans may carry the prompt
        # A redirect would hand the prompt to a host that nobody has chosen.
        http_client=anthropic.DefaultAsyncHttpxClient(
            follow_redirects=False, timeout=timeout, event_hooks={"response": [limit_body]}
        ),
        default_headers=_without_ambient_headers(anthropic.Omit()),
    )
    client.webhook_key = None
    return client


def request_options(
    endpoint: Endpoint, *, version: str = API_VERSION, timeout_s: float | None = None
) -> anthropic.RequestOptions:
    """Return the options of every request.

    Its headers have the last word over those of the client and of the environment.
    """
    import anthropic

    from pgs_neo4j.llm.openai.body import ACCEPTED

    options: anthropic.RequestOptions = {
        "headers": {
            "X-Api-Key": _key(endpoint),
            "Authorization": anthropic.Omit(),
            "Accept-Encoding": ACCEPTED,
            "Content-Type": "application/json",
            "anthropic-version": version,
        }
    }
    return {**options, "timeout": timeout_s} if timeout_s is not None else options


def _key(endpoint: Endpoint) -> str:
    key = endpoint.api_key.get_secret_value().strip() if endpoint.api_key else ""
    return key or PLACEHOLDER_KEY


def _without_ambient_headers(omit: Any) -> dict[str, Any]:
    """Cancel ANTHROPIC_CUSTOM_HEADERS, which were meant for another program's endpoint."""
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    names = (line.partition(":")[0].strip() for line in lines if ":" in line)
    return {name: omit for name in names if name}


def parse_rate_limits(headers: Mapping[str, str], now: float | None = None) -> Left | None:
    """Return the remaining capacity that an endpoint reports; None without any.

    Its limits reset at times in RFC 3339, which are compared with ``now`` (Unix time). The limit of
    tokens is the tightest of several, else that of the input.
    """
    named = "anthropic-ratelimit"
    kind = "tokens" if f"{named}-tokens-remaining" in headers else "input-tokens"
    requests = _count(headers.get(f"{named}-requests-remaining"))
    tokens = _count(headers.get(f"{named}-{kind}-remaining"))
    if requests is None and tokens is None:
        return None
    at = time.time() if now is None else now
    return Left(
        requests=requests,
        tokens=tokens,
        requests_reset_s=_seconds_until(headers.get(f"{named}-requests-reset"), at),
        tokens_reset_s=_seconds_until(headers.get(f"{named}-{kind}-reset"), at),
    )


def _count(value: str | None) -> int | None:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 16 else None


def _seconds_until(value: str | None, now: float) -> float | None:
    try:
        moment = datetime.fromisoformat((value or "")[:40])
        return max(0.0, moment.timestamp() - now) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def translate(error: Exception, endpoint: Endpoint, model: str) -> ModelError:
    """Translate an error of the client; transient ones may be retried."""
    import anthropic
    import httpx2

    where = f"{endpoint.host} (model {model})"
    cause = error.__cause__
    if isinstance(cause, ModelError):  # the body was longer than its ceiling
        return cause
    connecting = isinstance(cause, httpx2.ConnectTimeout | httpx2.ConnectError)
    late = isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException)
    if late and not connecting:
        return timeout_error(endpoint, model, Retry(tries=TRIES_CONNECTION))
    if isinstance(error, anthropic.APIConnectionError | httpx2.HTTPError):
        return ModelUnavailableError(
            f"the model endpoint {where} could not be reached; check that it runs and that "
            f"{endpoint.words.url} is right",
            retry=Retry(tries=TRIES_CONNECTION),
            usage=Usage() if connecting else None,
        )
    if isinstance(error, anthropic.APIStatusError):
        return _status_error(error, endpoint, where)
    return malformed(endpoint, model)


def malformed(endpoint: Endpoint, model: str) -> ModelOutputError:
    """Return the error for a reply that breaks the interface."""
    return ModelOutputError(
        f"the model endpoint {endpoint.host} (model {model}) sent a reply that is not that of "
        f"Anthropic's Messages API; check that {endpoint.words.url} is the API's root, without /v1",
        retry=Retry(tries=MALFORMED_TRIES),
    )


def refusal_status(error: anthropic.APIStatusError) -> int:
    """Return the status of an error, or what its type stands for within a stream."""
    if error.status_code != 200:
        return error.status_code
    return STATUSES.get(_text_at(error, "type"), 500)


def length_refusal(error: anthropic.APIStatusError) -> LengthRefusal | None:
    """Return what an error says of the prompt's length; None if it has another reason."""
    body = error.body if isinstance(error.body, str) else json.dumps(error.body, default=str)
    said = f"{_text_at(error, 'message')} {body}"
    return parse_length_refusal(refusal_status(error), _text_at(error, "type"), said)


def _text_at(error: anthropic.APIStatusError, name: str) -> str:
    body = error.body if isinstance(error.body, Mapping) else {}
    inner = body.get("error")
    value = inner.get(name) if isinstance(inner, Mapping) else None
    return value if isinstance(value, str) else ""


def refusal_text(error: anthropic.APIStatusError) -> str:
    """Return the message of an error, which may repeat the prompt."""
    return _text_at(error, "message") or (error.body if isinstance(error.body, str) else "")


def _status_error(error: anthropic.APIStatusError, endpoint: Endpoint, where: str) -> ModelError:
    status, words = refusal_status(error), endpoint.words
    # Free text is left out, since it may echo the prompt.
    code = error.error_code or _text_at(error, "type")
    code = f", {code}" if _CODE.fullmatch(code) else ""
    if 300 <= status < 400:
        host = redirect_target(error.response.headers.get("location", ""))
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
    if status == 404:
        return UnknownModelError(
            f"the model endpoint {where} knows no such model or path (HTTP {status}); check "
            f"{words.models} and {words.url}",
            usage=Usage(),
        )
    if status == 402 or (
        status in (400, 429) and _NO_CREDIT.search(f"{error.error_code} {refusal_text(error)}")
    ):
        return ModelRateLimitError(
            f"the account at {where} has no quota left (HTTP {status}); add credit or use another "
            "key"
        )
    if status == 429:
        return _rate_limit_error(error, where, longest_wait_s(endpoint.timeout_s))
    if refusal := length_refusal(error):
        limit = f" of {refusal.context:,} tokens" if refusal.context else ""
        return PromptTooLongError(
            f"the prompt is longer than {where} accepts{limit} (HTTP {status}{code}); lower "
            "max_pass_tokens or use a model with a larger context",
            context=refusal.context,
            prompt=refusal.prompt,
        )
    if status in (408, 409) or status >= 500:
        return _server_error(error, status, code, where, longest_wait_s(endpoint.timeout_s))
    return ModelUnavailableError(
        f"the model endpoint {where} refused the request (HTTP {status}{code}); check the model's "
        "name and the effort and token settings",
        usage=Usage(),
    )


def _server_error(
    error: anthropic.APIStatusError, status: int, code: str, where: str, longest_s: float
) -> ModelError:
    wait_s = retry_after_s(error.response.headers)
    how = "fails" if wait_s is not None and wait_s > longest_s else "kept failing"
    again = "; ask again later" if how == "kept failing" else ""
    # A gateway that gave up waiting does not know whether the model has answered, and what a broken
    # stream has cost is unknown.
    unknown = status in (408, 502, 504) or error.status_code == 200
    return ModelUnavailableError(
        f"the model endpoint {where} {how} (HTTP {status}{code}){again}",
        retry=Retry(wait_s, TRIES_SERVER),
        usage=None if unknown else Usage(),
    )


def _rate_limit_error(error: anthropic.APIStatusError, where: str, longest_s: float) -> ModelError:
    headers = error.response.headers
    wait_s = retry_after_s(headers)
    wait_s = reset_s(parse_rate_limits(headers)) if wait_s is None else wait_s
    if wait_s is not None and wait_s > longest_s:
        return ModelRateLimitError(
            f"the model endpoint {where} limits the rate (HTTP 429)", retry=Retry(wait_s)
        )
    return ModelRateLimitError(
        f"the model endpoint {where} kept limiting the rate (HTTP 429) until the deadline; "
        "lower max_concurrent_calls or ask again later",
        retry=Retry(wait_s),
    )
