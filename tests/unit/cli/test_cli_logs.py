"""`--log-format json`: everything on stderr is a record of JSON, without secrets."""

from __future__ import annotations

import gc
import json
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.cli import logs, output
from pgs_neo4j.cli.commands import serve as command
from pgs_neo4j.cli.logs import catch_library_logs
from pgs_neo4j.cli.progress import progress
from pgs_neo4j.cli.progress.lines import Lines
from pgs_neo4j.cli.run import report_fault
from pgs_neo4j.config import load, secrets
from pgs_neo4j.events import RunStarted, Warned
from pgs_neo4j.telemetry import redaction
from pgs_neo4j.telemetry.logs import log_ids
from pgs_neo4j.web import serve as serving
from tests.fakes.commands import StandIn, pgs

ROOT = Path(__file__).resolve().parents[3]
REFUSED = "bolt://ann:in-the-address@127.0.0.1:1"


@pytest.fixture(autouse=True)
def text_again(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(redaction, "_hidden", set())
    monkeypatch.delenv("PGS_LOG_FORMAT", raising=False)
    yield
    logs.stop()


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_lines_of_commands_are_records_and_there_is_no_live_display(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.start()
    logs.start()
    output.note("mind\nthis")
    output.write_error("no")
    with log_ids(run="r1"):
        Lines()(RunStarted("r1", resumed=False))
        Lines()(Warned("slow"))
    listed = records(capsys.readouterr().err)
    assert [(told["level"], told["message"], told.get("run")) for told in listed] == [
        ("info", "mind this", None),
        ("error", "no", None),
        ("info", "run: r1 begins", "r1"),
        ("info", "slow", "r1"),
    ]
    logs.stop()
    output.note("mind")
    assert capsys.readouterr().err == "note: mind\n"
    monkeypatch.setattr(output, "is_terminal", lambda _: True)
    logs.start()
    with progress(quiet=False) as listener:
        assert type(listener).__name__ == "Brief"


def test_libraries_and_warnings_are_records(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start()
    catch_library_logs(write=True)
    logging.getLogger("neo4j.io").warning("defunct %s", "connection")
    logging.getLogger("neo4j.io").info("nothing")
    logging.getLogger("uvicorn.error").info("Started")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", stacklevel=1)
    catch_library_logs(write=False)
    listed = records(capsys.readouterr().err)
    assert [told["logger"] for told in listed] == ["neo4j.io", "uvicorn.error", "py.warnings"]
    assert listed[0]["message"] == "defunct connection"


def test_a_fault_is_a_record_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    logs.start()
    error = RuntimeError("bolt://ann:secret@host")
    report_fault(RuntimeError, error, None)
    fault, end = records(capsys.readouterr().err)
    assert (fault["level"], fault["exception"]) == ("critical", "RuntimeError: bolt://***@host")
    assert (end["level"], end["kind"], end["code"]) == ("error", "RuntimeError", 1)
    assert "secret" not in end["message"] + end["error"]


@pytest.mark.parametrize("where", ["option", "variable", "file"])
def test_the_error_of_a_command_is_a_record(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = ["--log-format", "json"] if where == "option" else []
    if where == "variable":
        monkeypatch.setenv("PGS_LOG_FORMAT", "json")
    if where == "file":
        (tmp_path / "pgs.toml").write_text('log_format = "json"\n')
        monkeypatch.setenv("PGS_CONFIG", str(tmp_path / "pgs.toml"))
    monkeypatch.setenv("PGS_NEO4J_URI", REFUSED)
    monkeypatch.setenv("PGS_NEO4J_PASSWORD", "of-the-variable")
    done = pgs(*options, "graph", "list")
    last = records(done.stderr)[-1]
    assert done.exit_code == last["code"] != 0
    assert last["kind"].endswith("Error")
    assert not logs.is_on()
    assert "in-the-address" not in done.stderr
    assert "of-the-variable" not in done.stderr
    ask_and_write_text = pgs("--log-format", "text", "graph", "list").stderr
    assert ask_and_write_text.startswith(("note: ", "pgs: "))


def test_wrong_arguments_are_a_record_and_another_form_is_refused() -> None:
    done = pgs("--log-format", "json", "graph", "list", "--wrong")
    (told,) = records(done.stderr)
    assert (done.exit_code, told["kind"], told["code"]) == (2, "UsageError", 2)
    done = pgs("--log-format", "xml", "graph", "list")
    assert (done.exit_code, "'xml'" in done.stderr) == (2, True)


def test_secrets_of_all_settings_are_masked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {
        "neo4j_uri": "bolt://ann:in-uri@host",
        "neo4j_password": "of-neo4j",
        "llm_api_key": "of-models",
        "llm_base_url": "https://host.example/v1?key=in-query",
        "rerank_api_key": "of-reranker",
    }
    names = {"of-neo4j", "of-models", "of-reranker", "key=in-query", "ann:in-uri", "in-uri"}
    assert set(secrets(load(given).settings)) == names
    for name, value in given.items():
        monkeypatch.setenv(f"PGS_{name.upper()}", value)
    logs.choose("json")
    logs.apply_settings()
    for name in names:
        logging.getLogger("neo4j").error("it was %r", name)
    assert {told["message"] for told in records(capsys.readouterr().err)} == {"it was '***'"}


def test_a_server_writes_no_link(engine: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(pgs: object, options: object, ready: Any) -> None:
        ready("http://127.0.0.1:7475/#token=canary")

    monkeypatch.setattr(serving, "serve", serve)
    monkeypatch.setattr(command, "find_spec", lambda _: object())
    gc.collect()  # what asyncio says of tasks that earlier tests left, it says now
    done = pgs("--log-format", "json", "serve")
    assert [told["message"] for told in records(done.stderr)] == ["serving http://127.0.0.1:7475"]
    assert "canary" not in done.output


def test_a_process_writes_records_only(tmp_path: Path) -> None:
    program = (
        "import sys; sys.argv = ['pgs', '--log-format', 'json', 'cache', 'show']\n"
        "from pgs_neo4j.cli import connection, main\n"
        "def fail(*_, **__): raise RuntimeError('canary')\n"
        "connection.database = fail\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=60,
    )
    fault, end = records(done.stderr)
    assert done.returncode == end["code"] == 1
    assert fault["exception"].rstrip().endswith("RuntimeError: canary")
    assert "Traceback" in fault["exception"]
