"""Documents over HTTP: listed in pages, shown, and deleted by those who may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import GraphMapping
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import KNOBS
from tests.serving import Served, Told, entry, events

SECRET = "The vault below the lighthouse holds eleven copper bells and one silver horn."
QUESTION = {"question": "What does the vault hold?", "graph": "docs", "full_sweep": True}


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database, tmp_path: Path) -> AsyncIterator[PGS]:
    for name, text in (("a/hidden.md", SECRET), ("b.md", "Rivers run."), ("c.md", "Hills rise.")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    await alter(db, "CREATE (:Paper {abstract: 'It was no document.'})")
    async with PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        llm_provider="extractive",
        token=[
            entry("keeper", role="operator"),
            entry("ann", role="asker"),
            entry("elsewhere", "theirs", role="operator"),
        ],
        **KNOBS,
    ) as opened:
        await opened.ingest(tmp_path, "docs")
        yield opened


@pytest.mark.thorough
async def test_documents_are_listed_shown_and_go_with_proof_and_answers_stay_unseen(
    server: Served, pgs: PGS
) -> None:
    async with server.owner() as owner:
        first = (await owner.get("/api/graphs/docs/documents?limit=2")).json()
        assert (first["total"], first["after"]) == (3, "b.md")
        assert [one["id"] for one in first["documents"]] == ["a/hidden.md", "b.md"]
        rest = (await owner.get("/api/graphs/docs/documents?limit=2&after=b.md")).json()
        assert ([one["id"] for one in rest["documents"]], rest["after"]) == (["c.md"], None)
        shown = (await owner.get("/api/graphs/docs/document?id=a/hidden.md")).json()
        assert (shown["id"], len(shown["chunks"])) == ("a/hidden.md", 1)
        missing = await owner.get("/api/graphs/docs/document?id=../c.md")
        assert (missing.status_code, "has no document" in missing.text) == (404, True)
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
        assert again.status_code == 404
    async with server.client("pgs_ann") as ann:  # her answer does quote it
        assert "copper bells" in (await ann.get(f"/api/runs/{run['run']}/answer.json")).text
    assert {one.id for one in await pgs.ingest.documents("docs")} == {"b.md", "c.md"}


async def send(own: httpx2.AsyncClient, name: str, text: str, graph: str = "docs") -> str:
    """Send a file; returns its id."""
    path, kind = f"/api/graphs/{graph}/uploads", {"Content-Type": "application/octet-stream"}
    sent = await own.post(path, params={"name": name}, headers=kind, content=text.encode())
    assert sent.status_code == 201, sent.text
    assert (sent.json()["name"], sent.json()["size"]) == (name, len(text.encode()))
    return str(sent.json()["id"])


async def ingested(own: httpx2.AsyncClient, uploads: list[str], graph: str = "docs") -> list[Told]:
    """Ingest files that were sent; returns the events of the job."""
    body = {"uploads": uploads}
    planned = await own.post(f"/api/graphs/{graph}/ingestions/plan", json=body)
    assert (planned.status_code, planned.json()["calls"]) == (200, 0), planned.text
    started = await own.post(f"/api/graphs/{graph}/ingestions", json=body)
    assert (started.status_code, started.json()["kind"]) == (202, "ingest"), started.text
    return await events(own, started.json()["events"])


async def test_files_become_documents_and_a_second_time_cost_nothing(
    server: Served, pgs: PGS
) -> None:
    async with server.client("pgs_keeper") as keeper:
        rules = (await keeper.get("/api/uploads")).json()
        assert (".pdf" in rules["endings"], rules["most_bytes"]) == (True, 100_000_000)
        names = {"b.md": "Rivers run.\n", "new/d.txt": "Stones fall down.", "e.md": "\0" * 99}
        names["f.json"] = '{"a":' * 8000 + "1" + "}" * 8000
        uploads = [await send(keeper, name, text) for name, text in names.items()]
        told = await ingested(keeper, uploads)
        assert told[0].name == "accepted"
        assert any(one.name == "progressed" for one in told)
        end = told[-1]
        assert (end.name, end.data["outcome"]) == ("ended", "partial")
        states = {one["id"]: one["state"] for one in end.data["documents"]}
        assert states == {"b.md": "unchanged", "new/d.txt": "added", "e.md": "failed",
            "f.json#record 1": "failed",
        }  # fmt: skip
        assert end.data["documents"][0]["reason"], "what failed comes first, with its reason"
        listed = {one.id for one in await pgs.ingest.documents("docs")}
        assert listed == {"a/hidden.md", "b.md", "c.md", "new/d.txt"}, "others stay"
        shown = (await keeper.get("/api/graphs/docs/document?id=new/d.txt")).json()
        assert (shown["source"], shown["stale"]) == ("new/d.txt", [])
        again = await ingested(keeper, [await send(keeper, "new/d.txt", names["new/d.txt"])])
        assert again[-1].data["states"] == {"unchanged": 1}
        record = (await keeper.get(f"/api/jobs/{again[-1].data['record']}")).json()
        assert (record["kind"], record["outcome"], record["options"]) == ("ingest", "unchanged", {})
        taken = await keeper.post("/api/graphs/docs/ingestions", json={"uploads": uploads})
        assert (taken.status_code, "send it again" in taken.text) == (404, True)
    await pgs.graphs.add("papers", GraphMapping(labels=("Paper",), text=("abstract",)))
    async with server.owner() as owner:
        told = await ingested(owner, [await send(owner, "one.md", "Snow is cold.", "new")], "new")
        assert told[-1].data["states"] == {"added": 1}
        assert "new" in {one.name for one in await pgs.graphs()}, "a new name makes a graph"
        body = {"uploads": [await send(owner, "one.md", "Snow is cold.", "papers")]}
        started = await owner.post("/api/graphs/papers/ingestions", json=body)
        failed = (await events(owner, started.json()["events"]))[-1]
        assert failed.name == "failed"
        assert "papers is stored for other nodes" in failed.data["error"]
        assert not await pgs.ingest.documents("papers")
