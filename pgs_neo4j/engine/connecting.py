"""Opens the database and the models as configured, and closes them again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pgs_neo4j import config
from pgs_neo4j.config import EmbedderName, PGSConfig, Settings, SettingsOverrides
from pgs_neo4j.database import connection
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.core import Core
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.factory import create_llms
from pgs_neo4j.llm.protocol import LLM, Embedder


@asynccontextmanager
async def open_core(
    sweep_llm: LLM | None,
    synthesis_llm: LLM | None,
    embedder: Embedder | EmbedderName | None,
    on_event: OnEvent,
    settings: SettingsOverrides,
) -> AsyncIterator[Core]:
    """Open everything; close only what was opened here. Raises as ``PGS.connect``."""
    overrides: dict[str, object] = {**settings}
    if isinstance(embedder, str):
        overrides["embedder"], embedder = embedder, None
    loaded = config.load(overrides)
    async with _open_database(loaded.settings, loaded.config, on_event) as database:
        created = None
        if sweep_llm is None or synthesis_llm is None:
            created = create_llms(loaded.settings, loaded.config)
            sweep_llm = sweep_llm or created.sweep
            synthesis_llm = synthesis_llm or created.synthesis
        core = Core(
            db=database,
            settings=loaded.settings,
            config=loaded.config,
            sweep_llm=sweep_llm,
            synthesis_llm=synthesis_llm,
            embedder=embedder,
            on_event=on_event,
        )
        try:
            yield core
        finally:
            if created is not None:
                await created.close()
            await core.close()


@asynccontextmanager
async def _open_database(
    settings: Settings, knobs: PGSConfig, on_event: OnEvent
) -> AsyncIterator[Database]:
    uri, user = settings.neo4j_uri, settings.neo4j_user
    secret = settings.neo4j_password
    password = secret.get_secret_value() if secret is not None else None
    name = settings.neo4j_database
    if uri is None:
        # Imported here: only the managed local server needs the extra [local].
        from pgs_neo4j.local.options import options_from_environment
        from pgs_neo4j.local.server import ensure_running

        server = await ensure_running(options_from_environment(), on_event)
        uri, user, password, name = server.uri, server.user, server.password, None
    async with connection.connect(uri, user, password, name, knobs.query_timeout_s) as database:
        yield database
