"""Opens a client of an OpenAI-compatible endpoint for chat and embeddings, and translates errors.

An error message names the host and the model, and quotes one safe line of the server. It never
contains the key, the credentials of a URL, or text of the prompt that the server echoed.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from pgs_neo4j.config import OPENAI_URL
from pgs_neo4j.config.providers import PRESETS, Preset, ProviderName, recognize
from pgs_neo4j.errors import (
    ConfigError,
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelTimeoutError,
    ModelUnavailableError,
    Retry,
)
from pgs_neo4j.llm.lengths import LengthRefusal, parse_length_refusal
from pgs_neo4j.llm.openai.refusals import (
    MODEL_WORDS,
    TRIES_SERVER,
    EndpointWords,
    Refusal,
    refusal_error,
    said_line,
)
from pgs_neo4j.llm.pace import Pace, shared
from pgs_neo4j.llm.retry import retry_after_s
from pgs_neo4j.llm.tracing import ServedAt
from pgs_neo4j.model import Usage
from pgs_neo4j.model.ceilings import MALFORMED_TRIES, longest_wait_s

if TYPE_CHECKING:
    import ssl

    import httpx2
    import openai

PLACEHOLDER_KEY = "no-key"
CONNECT_TIMEOUT_S = 15.0
TRIES_CONNECTION = 3
ROOT = "/v1"  # the path of nearly every endpoint

# llama.cpp: "Loading model". Hugging Face: "Model X is currently loading". Others: "is not ready".
_LOADING = re.compile(
    r"\bloading\b|\bwarming up\b|\bstarting up\b|\bnot (?:yet )?ready\b", re.IGNORECASE
)
# Gemini says in its body when to ask again: "retryDelay": "34s". Hugging Face: "estimated_time".
_DELAY = re.compile(r"""["'](?:retryDelay|estimated_time)["']: ["']?(\d{1,6}(?:\.\d{1,9})?)s?\b""")
# OpenAI's error for a model that has thought until no token was left for a reply.
_RAN_OUT = re.compile(r"max_tokens or model output limit was reached", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address and the key of a server of models.

    ``timeout_s`` limits one call with all retries. ``words`` are the terms that messages use, and
    ``provider`` is the configured provider. Raises ConfigError for an address that is malformed or
    contains credentials, and ModelAuthError for a malformed key or if a key is required and
    missing.
    """

    base_url: str | None = None
    api_key: SecretStr | None = None
    timeout_s: float = 600.0
    words: EndpointWords = MODEL_WORDS
    provider: ProviderName | None = None

    def __post_init__(self) -> None:
        if holds_secrets(self.base_url or ""):
            raise ConfigError(
                f"{self.words.setting} ({self.words.url}) contains credentials or a query; take "
                f"them out, and give the key as {self.words.key} instead"
            )
        if not is_url(self.base_url or OPENAI_URL):
            raise ConfigError(
                f"{self.words.setting} ({self.words.url}) is not a URL of the form "
                f"http(s)://host/path; correct it, or unset it to {self.words.unset}"
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelAuthError(
                "the API key of the model holds characters that no key has; set "
                f"{self.words.key} again"
            )
        if self.base_url is None and not self._key:
            raise ModelAuthError(
                "no API key is configured for the model; set PGS_LLM_API_KEY (or OPENAI_API_KEY), "
                "or PGS_LLM_BASE_URL for a local server, or PGS_LLM_PROVIDER=extractive to do "
                "without a model"
            )
        variables = self.preset.variables if self.preset else ()
        if self.base_url is not None and variables and not self._key and self.recognized:
            raise ModelAuthError(
                f"no API key is configured for {self.host}; set {variables[0]}, or api_key in the "
                "model's table, or PGS_LLM_API_KEY"
            )

    @property
    def _key(self) -> str:
        return self.api_key.get_secret_value().strip() if self.api_key else ""

    @property
    def sent_key(self) -> str:
        """The key to send, or a placeholder, because the client refuses an empty one."""
        return self._key or PLACEHOLDER_KEY

    @property
    def host(self) -> str:
        """Host and port for messages, without credentials or path."""
        return host_of(self.base_url or OPENAI_URL)

    @property
    def cache_name(self) -> str:
        """The name of the endpoint in the keys of cached replies."""
        return cache_name(self.base_url or OPENAI_URL)

    @property
    def account(self) -> str:
        """The endpoint's address with a hash of its key, which does not reveal the key."""
        key = blake2b(self._key.encode(), digest_size=16).hexdigest()
        return f"{self.base_url or OPENAI_URL} {key}"

    @property
    def pace(self) -> Pace:
        """The pace of this endpoint and key, shared in this process."""
        return shared(self.account)

    @property
    def url(self) -> str:
        """The root of the interface, by default OpenAI's."""
        return self.base_url or OPENAI_URL

    @property
    def recognized(self) -> ProviderName | None:
        """The provider that owns this address, even if the settings name another one."""
        return recognize(self.url)

    @property
    def preset(self) -> Preset | None:
        """The preset of the provider, found by its address or else as configured."""
        name = self.recognized or self.provider
        return PRESETS[name] if name is not None else None

    def served_at(self, interface: str) -> ServedAt:
        """Return the provider and the host; ``interface`` replaces an unknown provider."""
        name = self.recognized or self.provider or interface
        place = urlsplit(self.url)
        port = place.port or (443 if place.scheme == "https" else 80)
        return ServedAt(name, place.hostname, port)

    @property
    def refuses(self) -> bool:
        """Whether the endpoint is known to refuse a prompt that is too long."""
        return self.recognized is not None and PRESETS[self.recognized].refuses

    def open(self) -> openai.AsyncOpenAI:
        """Return a client that never retries and follows no redirects.

        From the environment, it reads only the proxies.
        """
        import httpx2
        import openai

        from pgs_neo4j.llm.openai.body import ACCEPTED, limit_body

        key = self.sent_key
        timeout = httpx2.Timeout(self.timeout_s, connect=min(CONNECT_TIMEOUT_S, self.timeout_s))
        client = openai.AsyncOpenAI(
            api_key=key,
            admin_api_key="",
            base_url=self.base_url or OPENAI_URL,
            max_retries=0,
            timeout=timeout,
            # A redirect would send the prompt to a host that the user did not choose.
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False,
                timeout=timeout,
                verify=load_certificates(),
                event_hooks={"response": [limit_body]},
            ),
            default_headers={
                **_without_ambient_headers(openai.Omit()),
                "Accept-Encoding": ACCEPTED,
                "Authorization": f"Bearer {key}",
            },
        )
        client.organization = client.project = client.webhook_secret = None
        return client


def is_url(text: str) -> bool:
    """Return whether a text is an HTTP URL with a host."""
    try:
        url = urlsplit(text)
        return url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # an invalid port or IPv6 address
        return False


def holds_secrets(text: str) -> bool:
    """Return whether a URL, which may be malformed, has more than scheme, host, and path."""
    rest = text.partition("://")[2] or text
    return "@" in rest or "?" in rest or "#" in rest


def host_of(url: str) -> str:
    """Return host and port for messages, without credentials or path."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def cache_name(url: str) -> str:
    """Return the name of an endpoint in the keys of cached replies.

    Any two deployments have different names. At the usual root a host has only one deployment, so
    the host alone is its name, and replies cached under it remain usable.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    usual = path == ROOT and (parts.scheme == "https" or parts.port is not None)
    return host_of(url) if usual else f"{parts.scheme}://{host_of(url)}{path or '/'}"


@cache
def load_certificates() -> ssl.SSLContext:
    """Load the certificates that this machine trusts, once for the clients of all endpoints.

    That takes longer than all other steps of opening a client, and an engine opens several.
    """
    import httpx2

    return httpx2.create_ssl_context()


def _without_ambient_headers(omit: Any) -> dict[str, Any]:
    """Return headers that cancel OPENAI_CUSTOM_HEADERS.

    The headers in that variable are meant for another program's endpoint.
    """
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    names = (line.partition(":")[0].strip() for line in lines)
    return {name: omit for name in names if name and name.lower() != "authorization"}


def translate(error: Exception, endpoint: Endpoint, model: str) -> ModelError:
    """Translate an error of the client. A transient error carries a retry."""
    import httpx2
    import openai

    where = f"{endpoint.host} (model {model})"
    connecting = isinstance(error.__cause__, httpx2.ConnectTimeout | httpx2.ConnectError)
    if isinstance(error, openai.APITimeoutError) and not connecting:
        return timeout_error(endpoint, model, Retry(tries=TRIES_CONNECTION))
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailableError(
            f"the model endpoint {where} could not be reached; check that it runs and that "
            f"{endpoint.words.url} is right",
            retry=Retry(tries=TRIES_CONNECTION),
            usage=Usage() if connecting else None,
        )
    if isinstance(error, openai.APIStatusError):
        return _status_error(error, endpoint, where)
    if isinstance(error, openai.APIError) and not isinstance(
        error, openai.APIResponseValidationError
    ):
        return ModelUnavailableError(
            f"the model endpoint {where} reported an error while answering; ask again later",
            retry=Retry(tries=TRIES_SERVER),
        )
    return malformed(endpoint, model)


def malformed(endpoint: Endpoint, model: str) -> ModelOutputError:
    """Return the error for a reply that breaks the interface."""
    return ModelOutputError(
        f"the model endpoint {endpoint.host} (model {model}) sent a reply that is "
        f"not {endpoint.words.interface}; check that {endpoint.words.url} is the API's root, "
        "often /v1",
        retry=Retry(tries=MALFORMED_TRIES),
    )


def timeout_error(endpoint: Endpoint, model: str, retry: Retry | None = None) -> ModelTimeoutError:
    """Return the error for a call past its deadline."""
    return ModelTimeoutError(
        f"the model endpoint {endpoint.host} (model {model}) did not answer within "
        f"{endpoint.timeout_s:g} s; {endpoint.words.faster}",
        retry=retry,
    )


def _status_error(error: openai.APIStatusError, endpoint: Endpoint, where: str) -> ModelError:
    status, code = error.status_code, error.code or ""
    refusal = Refusal(
        status=status,
        code=code,
        headers=error.response.headers,
        wait_s=_wait_s(error),
        length=length_refusal(error),
        unknown_model=code == "model_not_found",
        no_credit=status == 429 and code == "insufficient_quota",
        loading=status == 503 and bool(_LOADING.search(error_text(error))),
        said=server_line(error, endpoint),
    )
    return refusal_error(refusal, where, endpoint.words, longest_wait_s(endpoint.timeout_s))


def server_line(error: Exception, endpoint: Endpoint) -> str:
    """Return the server's words about an error in one line that is safe to show; else ""."""
    import openai

    if not isinstance(error, openai.APIStatusError):
        return ""
    return said_line(error.body, sent_body(error.request), (endpoint.sent_key,))


def sent_body(request: httpx2.Request) -> bytes:
    """Return the body of a request; empty if it was streamed."""
    import httpx2

    try:
        return request.content
    except httpx2.RequestNotRead:
        return b""


def length_refusal(error: openai.APIStatusError) -> LengthRefusal | None:
    """Return the limit that an error reports for the prompt; None for any other error."""
    return parse_length_refusal(error.status_code, error.code, error_text(error))


def ran_out(error: openai.APIStatusError) -> bool:
    """Return whether a model spent all tokens of its reply before it wrote any text."""
    return error.status_code == 400 and bool(_RAN_OUT.search(error_text(error)))


def error_text(error: openai.APIStatusError) -> str:
    """Return the message and the body of an error for searching; they may echo the prompt."""
    body = error.body if isinstance(error.body, str) else json.dumps(error.body, default=str)
    return f"{error.message} {body}"


def _wait_s(error: openai.APIStatusError) -> float | None:
    """Return the seconds to wait before the next try; None if the endpoint does not name them."""
    wait_s = retry_after_s(error.response.headers)
    if wait_s is None and (found := _DELAY.search(error_text(error))):
        return float(found[1])
    return wait_s
