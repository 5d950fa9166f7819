"""Opens a client of Anthropic's Messages API, and translates its errors.

An error message names the host and the model, and quotes one safe line of the server. It never
contains the key, the credentials of a URL, or text of the prompt that the server echoed.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pgs_neo4j.config.providers import PRESETS
from pgs_neo4j.errors import (
    ConfigError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    Retry,
)
from pgs_neo4j.llm.lengths import LengthRefusal, parse_length_refusal
from pgs_neo4j.llm.openai.endpoint import (
    CONNECT_TIMEOUT_S,
    TRIES_CONNECTION,
    Endpoint,
    load_certificates,
    sent_body,
    timeout_error,
)
from pgs_neo4j.llm.openai.refusals import Refusal, refusal_error, said_line
from pgs_neo4j.llm.retry import retry_after_s
from pgs_neo4j.model import Usage
from pgs_neo4j.model.ceilings import MALFORMED_TRIES, longest_wait_s

if TYPE_CHECKING:
    import anthropic

PUBLIC_URL = PRESETS["anthropic"].url
API_VERSION = "2026-10-21"
# The last version that accepts a temperature. The newer version refuses any request with one.
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


def require_sdk() -> None:
    """Raise ConfigError if the package ``anthropic`` is not installed."""
    if find_spec("anthropic") is None:
        raise ConfigError(
            "the provider anthropic needs its package; run pip install 'pgs-neo4j[anthropic]' or "
            "choose another provider"
        )


async def load_sdk() -> None:
    """Import the client in another thread, because importing it takes a second or more."""
    await asyncio.to_thread(import_module, "anthropic")


def client_failures() -> tuple[type[Exception], ...]:
    """Return the types of errors that a call or the parsing of its reply may raise."""
    import anthropic
    import httpx2

    # Deeply nested JSON exhausts the parser's stack.
    return (anthropic.AnthropicError, httpx2.HTTPError, ValueError, RecursionError)


def open_client(endpoint: Endpoint) -> anthropic.AsyncAnthropic:
    """Return a client that never retries and follows no redirects.

    From the environment, it reads only the proxies.
    """
    import anthropic
    import httpx2

    from pgs_neo4j.llm.openai.body import limit_body

    timeout = httpx2.Timeout(endpoint.timeout_s, connect=min(CONNECT_TIMEOUT_S, endpoint.timeout_s))
    client = anthropic.AsyncAnthropic(
        api_key=endpoint.sent_key,  # without one, the client looks for profiles and tokens
        # The client adds /v1 to each path, and many users also write it into the address.
        base_url=endpoint.url.rstrip("/").removesuffix("/v1"),
        max_retries=0,
        timeout=timeout,
        open_telemetry=False,  # its spans may carry the prompt
        # A redirect would send the prompt to a host that the user did not choose.
        http_client=anthropic.DefaultAsyncHttpxClient(
            follow_redirects=False,
            timeout=timeout,
            verify=load_certificates(),
            event_hooks={"response": [limit_body]},
        ),
        default_headers=_without_ambient_headers(anthropic.Omit()),
    )
    client.webhook_key = None
    return client


def request_options(
    endpoint: Endpoint, *, version: str = API_VERSION, timeout_s: float | None = None
) -> anthropic.RequestOptions:
    """Return the options of a request.

    Its headers override the headers of the client and of the environment.
    """
    import anthropic

    from pgs_neo4j.llm.openai.body import ACCEPTED

    options: anthropic.RequestOptions = {
        "headers": {
            "X-Api-Key": endpoint.sent_key,
            "Authorization": anthropic.Omit(),
            "Accept-Encoding": ACCEPTED,
            "Content-Type": "application/json",
            "anthropic-version": version,
        }
    }
    return {**options, "timeout": timeout_s} if timeout_s is not None else options


def _without_ambient_headers(omit: Any) -> dict[str, Any]:
    """Return headers that cancel ANTHROPIC_CUSTOM_HEADERS.

    The headers in that variable are meant for another program's endpoint.
    """
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    names = (line.partition(":")[0].strip() for line in lines if ":" in line)
    return {name: omit for name in names if name}


def translate(error: Exception, endpoint: Endpoint, model: str) -> ModelError:
    """Translate an error of the client. A transient error carries a retry."""
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
    """Return the status of an error. Within a stream, its type determines the status."""
    if error.status_code != 200:
        return error.status_code
    return STATUSES.get(_text_at(error, "type"), 500)


def length_refusal(error: anthropic.APIStatusError) -> LengthRefusal | None:
    """Return the limit that an error reports for the prompt; None for any other error."""
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
    status = refusal_status(error)
    said = f"{error.error_code} {refusal_text(error)}"
    refusal = Refusal(
        status=status,
        code=error.error_code or _text_at(error, "type"),
        headers=error.response.headers,
        wait_s=retry_after_s(error.response.headers),
        length=length_refusal(error),
        no_credit=status == 402 or (status in (400, 429) and bool(_NO_CREDIT.search(said))),
        # The cost of a broken stream is unknown.
        charged=error.status_code == 200,
        said=said_line(refusal_text(error), sent_body(error.request), (endpoint.sent_key,)),
    )
    return refusal_error(refusal, where, endpoint.words, longest_wait_s(endpoint.timeout_s))
