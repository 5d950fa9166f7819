"""An ingestion with an endpoint that refuses some texts."""

from __future__ import annotations

from pathlib import Path

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.engines import with_model
from tests.fakes.openai_server import (
    Answer,
    Body,
    FakeOpenAI,
    Recorded,
    Scripted,
)

NAMES = ("Marie Curie", "Pierre Curie", "Irene Curie")


def extract(body: Body) -> str:
    """Name the people of each sentence."""
    lines = [
        f"entity<|#|>{name}<|#|>Person<|#|>{text}<|#|>{number[1:]}"
        for number, _, text in (
            line.partition("] ") for line in body["messages"][-1]["content"].splitlines()
        )
        for name in NAMES
        if name in text
    ]
    return "\n".join([*lines, "<|COMPLETE|>", ""])


async def test_what_an_endpoint_refuses_is_told_and_the_rest_goes_on(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "allowed.txt").write_text("Marie Curie met Pierre Curie.\n")
    (tmp_path / "refused.txt").write_text("Irene Curie met a refusal.\n")
    with FakeOpenAI(default=Answer(extract)) as fake:
        fake.refuse = refuse
        async with with_model(endpoint, fake) as pgs:
            done = await pgs.ingest(tmp_path, "docs")
            states = {one.id: one.state for one in done.outcomes}
            assert states == {"allowed.txt": "added", "refused.txt": "failed"}
            (reason,) = (one.reason for one in done.outcomes if one.state == "failed")
            assert "refus" in reason
            assert not done.complete
            fake.refuse = lambda request: None
            done = await pgs.ingest(tmp_path, "docs")
    assert {one.id: one.state for one in done.outcomes} == {
        "allowed.txt": "unchanged", "refused.txt": "added",
    }  # fmt: skip


def refuse(request: Recorded) -> Scripted | None:
    """Refuse whatever has a refusal in it."""
    return Answer("", refusal="I cannot help.") if "met a refusal" in str(request.body) else None
