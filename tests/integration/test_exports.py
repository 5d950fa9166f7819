"""Exports of real answers, over HTTP and from the command: as their schemas say, and whole."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator
from dataclasses import asdict

import pytest
from pyarrow import parquet

from pgs_neo4j.cli.pages import as_json
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.export import answer_table, restore_text, runs_table, to_csv, to_parquet
from pgs_neo4j.export.tabular.rows import ROWS
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import Prompt
from tests.conftest import Endpoint
from tests.engines import answering, engine_on_papers
from tests.schemas import assert_valid
from tests.serving import Served, entry, events

OF_ANSWERS = [name for name in ROWS if name != "runs"]


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    tokens = [entry("ann", "papers"), entry("bob", "papers")]
    async with engine_on_papers(endpoint, db, token=tokens) as opened:
        await opened.partitions.build("papers")
        yield opened


def formulas(prompt: Prompt) -> str:
    """A reply whose findings and absences are formulas to a spreadsheet."""
    text = contract_reply(prompt)
    return text.replace("\n- ", "\n- =HYPERLINK(1);@SUM(1) ") if prompt.task == "sweep" else text


async def test_every_kind_of_answer_is_as_the_schemas_say(pgs: PGS) -> None:
    runs = [
        (await pgs.execute("orbital debris", graph="papers")).run,
        (await pgs.execute("orbital debris", graph="papers", session_id="b", max_calls=3)).run,
        (await pgs.layered_search("orbital debris", graph="papers", session_id="c")).answer.run,
    ]
    await pgs.search("orbital debris", graph="papers", answer=True)
    runs.append((await pgs.runs.latest("papers")).id)
    assert len({*runs}) == 4
    filled = set()
    for run in runs:
        document = await pgs.runs.document(run)
        stored = await pgs.runs.get(run)
        assert_valid("run", json.loads(json.dumps(as_json.run(stored, document))))
        assert_valid("asked", json.loads(json.dumps(as_json.answer(document.answer))))
        for name in OF_ANSWERS:
            table = answer_table(document, name)
            for row in table.rows:
                assert_valid(name, json.loads(json.dumps(asdict(row))))
            read = parquet.read_table(io.BytesIO(to_parquet(table))).to_pylist()
            assert json.loads(json.dumps([asdict(row) for row in table.rows])) == read
            filled |= {name} if read else set()
    assert filled == set(OF_ANSWERS)
    infos = runs_table(await pgs.runs("papers"))
    assert {row.run for row in infos.rows} >= set(runs)
    for row in infos.rows:
        assert_valid("runs", asdict(row))


async def test_tables_over_http_are_files_that_no_other_tenant_gets(
    pgs: PGS, server: Served
) -> None:
    answering(pgs, formulas)
    async with server.client("pgs_ann") as ann, server.client("pgs_bob") as bob:
        run = (await ann.post("/api/runs", json={"question": "orbital debris"})).json()
        await events(ann, run["events"])
        document = await pgs.runs.document(run["run"])
        for name in OF_ANSWERS:
            path = f"/api/runs/{run['run']}/tables/{name}"
            told = await ann.get(f"{path}.csv")
            assert told.content.decode("utf-8-sig") == to_csv(answer_table(document, name))
            assert told.headers["content-type"].startswith("text/csv")
            assert told.headers["content-disposition"].startswith("attachment; ")
            stored = await ann.get(f"{path}.parquet")
            rows = [asdict(row) for row in answer_table(document, name).rows]
            read = parquet.read_table(io.BytesIO(stored.content)).to_pylist()
            assert read == json.loads(json.dumps(rows))
            for kind in ("csv", "parquet"):
                assert (await bob.get(f"{path}.{kind}")).status_code == 404
        for wrong in ("nodes.csv", "runs.csv", "findings.html"):
            refused = await ann.get(f"/api/runs/{run['run']}/tables/{wrong}")
            assert refused.status_code in (404, 422)
        findings = await ann.get(f"/api/runs/{run['run']}/tables/findings.csv")
        rows = [*csv.DictReader(io.StringIO(findings.content.decode("utf-8-sig")))]
        assert {row["text"][:2] for row in rows} == {"'="}
        assert restore_text(rows[0]["text"]).startswith("=HYPERLINK(1);@SUM(1) ")
        listed = (await ann.get("/api/runs.csv")).content.decode("utf-8-sig")
        (own,) = csv.DictReader(io.StringIO(listed))
        assert (own["run"], own["session"], own["question"]) == (
            run["run"], "default", "orbital debris"
        )  # fmt: skip
        assert len((await bob.get("/api/runs.csv")).text.splitlines()) == 1
        assert (await ann.get("/api/runs.csv?limit=0")).status_code == 422
