"""The list of models that an endpoint offers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from pgs_neo4j.llm.openai.ceiling import limited_body
from pgs_neo4j.llm.openai.endpoint import Endpoint, timeout_error, translate
from pgs_neo4j.model.ceilings import MODEL_LIST_BYTES

if TYPE_CHECKING:
    import openai

PROBE_TIMEOUT_S = 10.0


async def listed_models(
    client: openai.AsyncOpenAI, endpoint: Endpoint, model: str
) -> tuple[str, ...]:
    """Return the model ids of the endpoint; empty if it lists none.

    Raises the typed error when it cannot be reached within 10 s or refuses the key.
    """
    import openai

    probed = replace(endpoint, timeout_s=PROBE_TIMEOUT_S)
    try:
        # The client's own timeout starts again with every byte.
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            with limited_body(MODEL_LIST_BYTES, f"{endpoint.host} (model {model})"):
                raw = await client.models.with_raw_response.list(timeout=PROBE_TIMEOUT_S)
        listed = json.loads(raw.content)
    except TimeoutError:
        raise timeout_error(probed, model) from None
    except (openai.OpenAIError, ValueError) as error:
        if isinstance(error, openai.NotFoundError):
            return ()
        raise translate(error, probed, model) from None
    entries = listed.get("data") if isinstance(listed, dict) else None
    found = [e.get("id") for e in entries or () if isinstance(e, dict)]
    return tuple(name for name in found if isinstance(name, str))
