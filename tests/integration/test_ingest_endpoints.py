"""An ingestion with an endpoint that fails, stalls, refuses, and cuts its replies off."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import ModelAuthError
from tests.conftest import Endpoint
from tests.engines import with_model
from tests.fakes.extractors import named_records
from tests.fakes.openai_server import (
    Answer,
    Body,
    Drop,
    FakeOpenAI,
    Hang,
    Recorded,
    Scripted,
    Status,
)
from tests.killed_ingest import graph_without_name

PASSING = (
    *(Status(429, {"Retry-After": "0"}), Status(500), Drop()),
    *(Answer("entity<|#|>Marie Cur", finish_reason="length"), Answer("I would rather not.")),
    *(Answer("entity<|#|>Marie Cur"), Answer("entity<|#|>Marie Cur", finish_reason=None)),
    Answer('{"entities": [{"name": "Marie Curie", "sentences": [1]}, {"na'),
)
NAMES = ("Marie Curie", "Pierre Curie", "Irene Curie")


def extract(body: Body) -> str:
    """Name the people of each sentence."""
    return named_records(body["messages"][-1]["content"], dict.fromkeys(NAMES, "Person"))


@pytest.mark.thorough
async def test_faults_that_pass_leave_no_trace(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    """One before each document, and all documents at once without any."""
    with FakeOpenAI(default=Answer(extract)) as fake:
        async with with_model(endpoint, fake) as pgs:
            for number, fault in enumerate(PASSING):
                text = f"In {1890 + number} {NAMES[number % 3]} met {NAMES[(number + 1) % 3]}.\n"
                (tmp_path / f"{number}.txt").write_text(text)
                asked = len(fake.chats)
                fake.script(fault)
                done = await pgs.ingest(tmp_path, "faulty")
                assert (done.complete, done.count("added")) == (True, 1), (fault, done.outcomes)
                assert len(fake.chats) > asked + 1, fault
            assert (await pgs.ingest(tmp_path, "whole")).count("added") == len(PASSING)
    assert await graph_without_name(db, "faulty") == await graph_without_name(db, "whole")


async def test_what_an_endpoint_stalls_or_refuses_is_told_and_the_rest_goes_on(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "allowed.txt").write_text("Marie Curie met Pierre Curie.\n")
    (tmp_path / "refused.txt").write_text("Irene Curie met a refusal.\n")
    with FakeOpenAI(default=Answer(extract)) as fake:
        fake.refuse = lambda request: Hang()
        async with with_model(endpoint, fake, model_timeout_s=1.0) as impatient:
            done = await impatient.ingest(tmp_path / "allowed.txt", "docs")
            (outcome,) = done.outcomes
            assert (outcome.state, done.complete) == ("failed", False)
            assert "1 s" in outcome.reason
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


@pytest.mark.thorough
async def test_a_refused_key_ends_the_ingestion_and_keeps_what_was_published(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("Marie Curie met Pierre Curie.\n")
    with FakeOpenAI(default=Answer(extract)) as fake:
        async with with_model(endpoint, fake) as pgs:
            await pgs.ingest(tmp_path, "docs")
            for number in range(40):
                text = f"In {1890 + number} Irene Curie met Marie Curie. " * 40
                (tmp_path / f"{number}.txt").write_text(text)
            (tmp_path / "a.txt").unlink()
            asked = len(fake.chats)
            fake.refuse = lambda request: Status(401)
            with pytest.raises(ModelAuthError) as caught:
                await pgs.ingest(tmp_path, "docs", sync=True)
            assert len(fake.chats) - asked < 20
            (job, *_) = await pgs.jobs()
            assert job.outcome == "failed"
            assert f"pgs resume {job.id}" in caught.value.__notes__[0]
            assert [one.id for one in await pgs.ingest.documents("docs")] == ["a.txt"]
            fake.refuse = lambda request: None
            done = await pgs.ingest.resume(job.id)
    assert (done.count("added"), done.count("deleted"), len(done.outcomes)) == (40, 1, 41)
