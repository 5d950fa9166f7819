"""Documents over HTTP: listed in pages, shown, and deleted by those who may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from tests.conftest import Endpoint
from tests.engines import KNOBS
from tests.serving import Served, events, served

SECRET = "The vault below the lighthouse holds eleven copper bells and one silver horn."
QUESTION = {"question": "What does the vault hold?", "graph": "docs", "full_sweep": True}


def entry(name: str, role: str) -> dict[str, str]:
    return {"name": name, "role": role, "sha256": sha256(f"pgs_{name}".encode()).hexdigest()}


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database, tmp_path: Path) -> AsyncIterator[PGS]:
    for name, text in (("a/hidden.md", SECRET), ("b.md", "Rivers run."), ("c.md", "Hills rise.")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    await db.call("CREATE (:Paper {abstract: 'It was no document.'})", {}, "write")
    async with PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        llm_provider="extractive",
        token=[entry("keeper", "operator"), entry("ann", "asker")],
        **KNOBS,
    ) as opened:
        await opened.ingest(tmp_path, "docs")
        yield opened


@pytest.fixture
async def server(pgs: PGS) -> AsyncIterator[Served]:
    async with served(pgs) as running:
        yield running


async def test_documents_are_listed_in_pages_and_shown(server: Served) -> None:
    async with server.owner() as owner:
        first = (await owner.get("/api/graphs/docs/documents?limit=2")).json()
        assert (first["total"], first["after"]) == (3, "b.md")
        assert [one["id"] for one in first["documents"]] == ["a/hidden.md", "b.md"]
        rest = (await owner.get("/api/graphs/docs/documents?limit=2&after=b.md")).json()
        assert ([one["id"] for one in rest["documents"]], rest["after"]) == (["c.md"], None)
        shown = (await owner.get("/api/graphs/docs/document?id=a/hidden.md")).json()
        assert (shown["id"], len(shown["chunks"])) == ("a/hidden.md", 1)
        missing = await owner.get("/api/graphs/docs/document?id=../c.md")
        assert missing.status_code == 422
        assert "has no document" in missing.json()["error"]


async def test_a_document_goes_with_proof_and_the_answers_of_others_stay_unseen(
    server: Served, pgs: PGS
) -> None:
    async with server.client("pgs_ann") as ann:
        run = (await ann.post("/api/runs", json=QUESTION)).json()
        await events(ann, run["events"])
        refused = await ann.delete("/api/graphs/docs/document?id=a/hidden.md")
        assert refused.status_code == 403
    async with server.client("pgs_keeper") as keeper:
        done = await keeper.delete("/api/graphs/docs/document?id=a/hidden.md")
        assert done.status_code == 200
        proof = done.json()
        assert (proof["documents"], proof["chunks"]) == (1, 1)
        assert proof["sentences"] > 0
        assert (proof["held"], proof["quoting"], proof["holders"]) == (0, [], [])
        assert run["run"] not in done.text
        again = await keeper.delete("/api/graphs/docs/document?id=a/hidden.md")
        assert again.status_code == 422
    async with server.client("pgs_ann") as ann:  # her answer does quote it
        assert "copper bells" in (await ann.get(f"/api/runs/{run['run']}/answer.json")).text
    assert {one.id for one in await pgs.ingest.documents("docs")} == {"b.md", "c.md"}


async def test_a_server_that_only_reads_deletes_nothing(pgs: PGS) -> None:
    async with served(pgs, read_only=True) as server, server.owner() as owner:
        refused = await owner.delete("/api/graphs/docs/document?id=b.md")
        assert refused.status_code == 403
        listed = (await owner.get("/api/graphs/docs/documents")).json()
        assert listed["total"] == 3
