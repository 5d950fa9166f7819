"""Asks a server whether it is Ollama. Others show what they are by what they say of models."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.llm.openai.ceiling import limited_body
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.openai.served import root_of
from pgs_neo4j.model.ceilings import MODEL_LIST_BYTES

ASKING_S = 3.0
SILENCE_S = 60.0
"""How long a server that does not answer is not asked again, since calls wait for that."""
TRANSIENT = (408, 425, 429)
"""Statuses below 500 with which a server says that it cannot answer now."""

Kind = Literal["ollama", "other", "busy", "silent"]
"""``busy``: it answers with an error that may pass, such as 503 while it starts."""


@dataclass(slots=True)
class AskedServer:
    """A server that is asked once, for all of its models, whether it is Ollama.

    One that does not answer is asked again after ``silence_s``, a busy one by the next call.
    """

    endpoint: Endpoint
    silence_s: float = SILENCE_S
    _found: bool | None = None
    _silent_until: float = 0.0
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def is_ollama(self) -> bool | None:
        """Return whether it is; None while that is unknown. Raises nothing."""
        async with self._asking:
            loop = asyncio.get_running_loop()
            if self._found is None and loop.time() >= self._silent_until:
                match await ask_kind(self.endpoint):
                    case "silent":
                        self._silent_until = loop.time() + self.silence_s
                    case "busy":
                        pass
                    case kind:
                        self._found = kind == "ollama"
            return self._found


async def ask_kind(endpoint: Endpoint) -> Kind:
    """Return whether Ollama or something else answers at an address, if anything does.

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
        return "silent"
    except openai.APIStatusError as error:
        return "busy" if error.status_code >= 500 or error.status_code in TRANSIENT else "other"
    except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError):
        return "other"
    finally:
        await client.close()
    # Open WebUI has the same path, and says more there.
    ours = isinstance(told, dict) and set(told) == {"version"} and isinstance(told["version"], str)
    return "ollama" if ours else "other"
