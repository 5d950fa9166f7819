"""A document whose prompts a server refuses or cuts is extracted in parts, to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.database import fetch
from tests.engines import with_model
from tests.fakes.extractors import named_records
from tests.fakes.openai_server import (
    Decide,
    FakeOpenAI,
    Recorded,
    Scripted,
    counted,
    receipts_in,
)
from tests.fakes.windows import Cut, Window

NAMES = [f"{word}{number:03}" for number in range(40) for word in ("Zorvath", "Quendal")]
ENTITIES = (
    "MATCH (e) WHERE any(label IN labels(e) WHERE label ENDS WITH 'Entity') RETURN e.name AS name"
)


def serve(window: Window) -> Decide:
    """Extract the names that a window shows."""

    def answer(request: Recorded) -> Scripted | None:
        if not request.path.endswith("/chat/completions"):
            return None
        messages = [str(message["content"]) for message in request.body["messages"]]
        tokens = window.tokens(messages)
        if tokens > window.context and window.cut == "refuse":
            return window.refusal(tokens, window.context)
        seen, read = window.read(messages)
        text = receipts_in(seen) + named_records(seen, dict.fromkeys(NAMES, "Concept"))
        return counted(text, {"prompt_tokens": read, "completion_tokens": len(text) // 4})

    return answer


@pytest.mark.parametrize("context", [1_024, 1_536, 4_096])
@pytest.mark.parametrize("cut", ["refuse", "head", "system"])
async def test_every_name_of_a_document_is_found_in_windows_that_do_not_hold_it(
    endpoint: Endpoint, db: Database, tmp_path: Path, cut: Cut, context: int
) -> None:
    text = "\n\n".join(
        f"The {name} stood in hall {place} of the old kiln, and its clay was fired at dawn by "
        f"potters of the third guild. Nobody else touched it for {place} years."
        for place, name in enumerate(NAMES)
    )
    (tmp_path / "long.md").write_text(text)
    with FakeOpenAI() as fake:
        fake.refuse = serve(Window(context, cut))
        async with with_model(endpoint, fake) as pgs:
            done = await pgs.ingest(tmp_path, "halls", gleaning="0")
    found = {row["name"] for row in await fetch(db, ENTITIES)}
    assert done.complete
    assert set(NAMES) <= found
