"""Opens the configured database and models, and closes them again."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import SecretStr

from pgs_neo4j import config
from pgs_neo4j.config import (
    EmbedderName,
    PGSConfig,
    ServerAccess,
    Settings,
    SettingsOverrides,
    model_access,
    server_access,
)
from pgs_neo4j.database import connection
from pgs_neo4j.database import server as database_server
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.given_parts import EMBEDDER, MODEL, check_given
from pgs_neo4j.events import OnEvent, Warned, ignore
from pgs_neo4j.llm.factory import choose_llms, configured_models, create_llms, require_models
from pgs_neo4j.llm.protocol import LLM, Embedder
from pgs_neo4j.model.scope import make_scope
from pgs_neo4j.pgs.partitioning.kept_settings import ChosenSettings
from pgs_neo4j.telemetry.redaction import hide
from pgs_neo4j.text.restriction import make_restriction

ARGUMENTS = ("sweep_llm", "synthesis_llm", "embedder", "on_event")
"""The arguments of ``PGS.connect`` that are not settings."""


@asynccontextmanager
async def open_core(
    sweep_llm: LLM | None,
    synthesis_llm: LLM | None,
    embedder: Embedder | EmbedderName | None,
    on_event: OnEvent,
    settings: SettingsOverrides,
) -> AsyncIterator[Core]:
    """Open the database and the models, and close them at the end.

    Models and embedders that were passed stay open. Raises the errors of ``PGS.connect``.
    """
    for argument, given in (("sweep_llm", sweep_llm), ("synthesis_llm", synthesis_llm)):
        if given is not None:
            check_given(argument, given, MODEL)
    if embedder is not None and not isinstance(embedder, str):
        check_given("embedder", embedder, EMBEDDER)
    overrides: dict[str, object] = {**settings}
    if isinstance(embedder, str):
        overrides["embedder"], embedder = embedder, None
    loaded = config.load(overrides, ARGUMENTS)
    hide(config.secrets(loaded.settings))
    _send_notices(loaded.settings, on_event)
    if None in (sweep_llm, synthesis_llm) and loaded.settings.uses_models:
        for model in configured_models(loaded.settings):
            model_access(loaded.settings, model)  # raises before anything is started or sent
        if sweep_llm is synthesis_llm is None:
            await require_models(loaded.settings, loaded.config)
    async with _open_database(loaded.settings, loaded.config, on_event) as database:
        created = None
        if sweep_llm is None or synthesis_llm is None:
            created = create_llms(loaded.settings, loaded.config)
        core = Core(
            db=database.scoped(make_scope(loaded.settings.scope)),
            settings=loaded.settings,
            config=loaded.config,
            llms=choose_llms(loaded.settings, created, sweep_llm, synthesis_llm),
            embedder=embedder,
            on_event=on_event,
            chosen=ChosenSettings(standing=loaded.standing).of_call(overrides),
        )
        restriction = make_restriction(loaded.settings.where, loaded.settings.as_of)
        try:
            yield core.within(core.db.scope, restriction) if restriction else core
        finally:
            if created is not None:
                await created.close()
            await core.close()


def _send_notices(settings: Settings, on_event: OnEvent) -> None:
    """Send warnings about the settings as events, or as Python warnings without a listener."""
    for notice in config.notices(settings):
        if on_event is ignore:
            warnings.warn(notice, stacklevel=1)
        else:
            on_event(Warned(notice))


@asynccontextmanager
async def _open_database(
    settings: Settings, knobs: PGSConfig, on_event: OnEvent
) -> AsyncIterator[Database]:
    access = server_access(settings)
    require_room: database_server.RequireRoom = database_server.allow
    if access is None:
        # Import here, because only the managed local server needs the extra [local].
        from pgs_neo4j.database.local.options import options_from_environment
        from pgs_neo4j.database.local.server import ensure_running

        server = await ensure_running(options_from_environment(), on_event)
        hide([server.password])
        require_room = database_server.room_guard(server.data_dir)
        password = SecretStr(server.password)
        access = ServerAccess(uri=server.uri, user=server.user, password=password)
    async with connection.connect(
        access.uri,
        access.user,
        access.password.get_secret_value() if access.password is not None else None,
        access.database,
        knobs.query_timeout_s,
        ca=access.ca,
        require_room=require_room,
    ) as database:
        yield database
