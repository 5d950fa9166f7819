"""Engines on the test database, with a scripted model."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from tests.conftest import Endpoint


def engine_on(endpoint: Endpoint, **settings: Any) -> AbstractAsyncContextManager[PGS]:
    """An engine whose model gives the least reports that are accepted."""
    return PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        sweep_llm=ScriptedLLM(contract_reply),
        synthesis_llm=ScriptedLLM(contract_reply),
        **settings,
    )
