"""Finds the errors that servers and gateways report in a reply with HTTP status 200.

Gateways such as OpenRouter begin a reply before they know whether its model answers. If it does
not, the body, an event of the stream, or a choice contains an ``error`` object. Its code or its
words show which status the error would usually have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pgs_neo4j.llm.lengths import parse_length_refusal

if TYPE_CHECKING:
    import openai

UNKNOWN_STATUS = 502  # the model behind a gateway failed, and may have answered before
# Words of codes and types in lower case, and the status that other servers send for the same error.
STATUSES = {
    "insufficient_quota": 429,
    "rate_limit": 429,
    "rate limit": 429,
    "too_many_requests": 429,
    "too many requests": 429,
    "resource_exhausted": 429,
    "overloaded": 529,
    "unauthorized": 401,
    "invalid_api_key": 401,
    "authentication": 401,
    "unauthenticated": 401,
    "permission": 403,
    "model_not_found": 404,
    "not_found": 404,
    "loading model": 503,
    "unavailable": 503,
    "timeout": 504,
}
REFUSED = ("invalid_request", "invalid_argument", "invalid-argument", "badrequest")  # status 400


def find_error(body: object) -> object:
    """Return the error in a parsed reply or event; None without one.

    The error is an object or a sentence. An empty error does not count.
    """
    if isinstance(body, list) and len(body) == 1:  # Gemini wraps its errors in a list
        body = body[0]
    if not isinstance(body, Mapping):
        return None
    found = body.get("error")
    choices = body.get("choices")
    if not found and isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        found = choices[0].get("error")
    return found if isinstance(found, Mapping | str) and found else None


def parse_error(content: bytes | str) -> object:
    """Return the error in the content of a reply; None without one, or if it is not JSON."""
    try:
        return find_error(json.loads(content))
    except (ValueError, RecursionError):
        return None


def status_error(error: object, response: Any) -> openai.APIStatusError:
    """Turn an error of a body into the error that the client raises for an error status.

    ``response`` is the response of that body. Its headers may say how long to wait.
    """
    import httpx2
    import openai

    said = json.dumps(error, default=str)
    fields = error if isinstance(error, Mapping) else {}
    status = error_status(error)
    message = str(fields.get("message") or said)
    refused = httpx2.Response(status, headers=response.headers, request=response.request)
    code = fields.get("code")
    body = {**fields, "code": code if isinstance(code, str) else None} if fields else said
    return openai.APIStatusError(f"{message} {said}", response=refused, body=body)


def error_status(error: object) -> int:
    """Return the status that an error of a body would usually have.

    A numeric code decides, then the words of codes and types, then the words of the message.
    """
    fields = error if isinstance(error, Mapping) else {}
    for name in ("code", "status", "status_code"):
        if (status := _parse_status(fields.get(name))) is not None:
            return status
    said = json.dumps(error, default=str)
    named = " ".join(str(fields.get(name) or "") for name in ("code", "type", "status")).lower()
    if status := _find_status(named):
        return status
    code = fields.get("code")
    if parse_length_refusal(400, code if isinstance(code, str) else None, said):
        return 400
    if status := _find_status(str(fields.get("message") or said).lower()):
        return status
    return 400 if any(word in named for word in REFUSED) else UNKNOWN_STATUS


def _find_status(words: str) -> int | None:
    return next((status for word, status in STATUSES.items() if word in words), None)


def _parse_status(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 400 <= value < 600 else None
