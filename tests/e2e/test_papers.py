"""README and manual do what they say: every block of code in them runs."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pgs_neo4j import PGS
from pgs_neo4j.database.connection import Database, connect
from pgs_neo4j.database.queries import parse
from tests.conftest import Endpoint
from tests.database import DELETE, drop_projections, explain
from tests.forks import Forks
from tests.graphs import papers
from tests.papers import PAGES, ROOT, SCHEMA, UNTRIED, Block, blocks

WAIT_S = 300.0
QUESTION = "What do the papers say about sleep?"
HEADER = "// As in the manual.\n// mode: read\n"
WITH_CODE = [
    page
    for page in PAGES
    if any(block.tried and block.language != "text" for block in blocks(page))
]
# Last those that make or drop indexes, after which the database plans all its statements again.
WITH_CODE.sort(key=lambda page: page.stem in ("commands", "operations"))
# ``pgs`` as a fork: it gets the streams, folder, and environment of this program.
ORDER = """
import json, os, socket, sys

report, report_end = os.pipe()
order = {"arguments": sys.argv[2:], "folder": os.getcwd(), "environment": dict(os.environ)}
with socket.socket(fileno=int(sys.argv[1])) as orders:
    socket.send_fds(orders, [json.dumps(order).encode()], [0, 1, 2, report_end])
os.close(report_end)
with open(report) as reported:
    number, code = map(int, reported)
sys.exit(code % 256)
"""
SOON_READ = 'pgs() { command pgs "$@" || [ $? = 7 ]; }\n'
"""A graph as small as that of the tests is soon read, and to continue then ends with 7."""
LANGUAGES = {"sh", "python", "toml", "cypher", "text"}


class Shell:
    """A folder with ``pgs`` on the path, pointed at the test database; no model, no key."""

    def __init__(self, folder: Path, endpoint: Endpoint, run: str, forks: Forks) -> None:
        self.folder, self.run, self.orders = folder, run, forks.orders.fileno()
        programs = folder / "bin"
        programs.mkdir()
        order, script = programs / "order.py", programs / "pgs"
        order.write_text(ORDER)
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {order} {self.orders} "$@"\n')
        script.chmod(0o755)
        self.environment = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "PGS_LOCAL_DATA_DIR": str(folder / "data"),
            "PGS_EMBEDDER": "none",
            **endpoint.environment(),
        }

    async def __call__(self, *command: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.folder,
            env=self.environment,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            pass_fds=[self.orders],
        )
        try:
            async with asyncio.timeout(WAIT_S):
                printed, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, printed.decode()
        return printed.decode()

    async def try_block(self, block: Block) -> None:
        """Run a block as a reader would; RUN stands for the id of a run."""
        if block.language == "sh":
            await self("bash", "-euc", f"{SOON_READ}{block.code.replace('RUN', self.run)}")
        elif block.language == "python" and block.page == "README":  # from nothing
            await self(sys.executable, "-W", "error", "-c", block.code)
        elif block.language == "python":
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(self.folder)
                for name, value in self.environment.items():
                    patch.setenv(name, value)
                await asyncio.to_thread(exec, block.code, {})
        elif SCHEMA in block.marks:
            (self.folder / "types.toml").write_text(block.code, encoding="utf-8")
            (self.folder / "note.md").write_text("Earth circles the Sun.", encoding="utf-8")
            await self("pgs", "ingest", "note.md", "--graph", "sky", "--schema", "types.toml")
        elif block.language == "toml":
            (self.folder / "pgs.toml").write_text(block.code, encoding="utf-8")
            await self("pgs", "config", "show")
            (self.folder / "pgs.toml").unlink()


@pytest.fixture
async def db(endpoint: Endpoint) -> AsyncIterator[Database]:
    """The test database without data, and with the schema that the page before left."""
    async with connect(endpoint.uri, endpoint.user, endpoint.password) as opened:
        await opened.call(DELETE, {}, "write")
        await drop_projections(opened)
        yield opened


async def ask_about_papers(endpoint: Endpoint, db: Database) -> str:
    """Papers were asked about once, by the extractive reader; the id of that run."""
    async with PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        embedder="none",
    ) as pgs:
        await pgs.graphs.add("papers", await papers(db))
        return (await pgs.execute(QUESTION, graph="papers", session_id="reading")).run


@pytest.mark.thorough
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[] if page.stem == "README" else pytest.mark.nightly)
        for page in WITH_CODE
    ],
)
async def test_every_block_of_a_page_runs(
    page: Path, tmp_path: Path, endpoint: Endpoint, db: Database, forks: Forks
) -> None:
    tried = [block for block in blocks(page) if block.tried]
    lines = [line for block in tried for line in block.code.splitlines()]
    asks = any("papers" in block.code for block in tried if block.language in ("sh", "python"))
    run = await ask_about_papers(endpoint, db) if asks else ""
    shell = Shell(tmp_path, endpoint, run, forks)
    for line in lines:
        if line.startswith("pgs graph add papers "):  # a reader has no other graph of that name
            await shell("bash", "-euc", f"{line} --replace")
    for block in tried:
        if block.language == "cypher":
            kind, columns = await explain(db, parse(block.page, f"{HEADER}{block.code}"))
            assert kind == "r"
            assert columns
        else:
            await shell.try_block(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_block_has_a_known_language_and_known_marks(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, block
        assert block.marks <= UNTRIED | {SCHEMA}, block


def test_what_no_test_runs_is_what_needs_a_key_or_an_extra_or_is_run_by_ci() -> None:
    untried = [block for page in PAGES for block in blocks(page) if not block.tried]
    assert [
        block for block in untried if "needs=install" in block.marks and block.page != "README"
    ] == []
    # test_graphrag runs GraphRAG by hand, test_taggers a stand-in for GLiNER's model, and
    # test_serve_process the server, which does not end by itself. test_cli_jobs writes metrics,
    # test_frameworks runs LangChain, test_mcp the server that LlamaIndex starts, and
    # test_map_module the widget.
    reasons = (
        *("pgs demo", "KEY", "GraphRAG", "GlinerExtractor", "pgs serve", "--metrics"),
        *("PGSDocuments", "BasicMCPClient", "map_widget"),
    )
    assert all(any(reason in block.code for reason in reasons) for block in untried)
