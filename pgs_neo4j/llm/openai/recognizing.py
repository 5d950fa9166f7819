"""Asks a server whether it is Ollama. Others show what they are by what they say of models."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

from pgs_neo4j.llm.openai.ceiling import limited_body
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.openai.served import root_of
from pgs_neo4j.model.ceilings import MODEL_LIST_BYTES

ASKING_S = 3.0


@dataclass(slots=True)
class AskedServer:
    """A server that is asked once, for all of its models, whether it is Ollama."""

    endpoint: Endpoint
    _found: bool | None = None
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def is_ollama(self) -> bool | None:
        """Return whether it is; None while nothing answers. Raises nothing."""
        async with self._asking:
            if self._found is None:
                self._found = await is_ollama(self.endpoint)
            return self._found


async def is_ollama(endpoint: Endpoint) -> bool | None:
    """Return whether Ollama answers at an address; None if nothing answers.

    Takes at most 3 s, and raises nothing.
    """
    import httpx2
    import openai

    client = endpoint.open()
    try:
        async with asyncio.timeout(ASKING_S):
            with limited_body(MODEL_LIST_BYTES, endpoint.host):
                url = f"{root_of(endpoint.url)}/api/version"
                raw = await client.get(url, cast_to=httpx2.Response)
        told = json.loads(raw.content)
    except (TimeoutError, openai.APIConnectionError):
        return None
    except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError):
        return False
    finally:
        await client.close()
    # Open WebUI has the same path, and says more there.
    return isinstance(told, dict) and set(told) == {"version"} and isinstance(told["version"], str)
