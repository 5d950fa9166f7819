"""`pgs resume`, `show`, `export`, `cache`, and what `sessions show` says of runs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyarrow import parquet

from pgs_neo4j.cli import connection
from pgs_neo4j.cli.commands.runs import _describe
from pgs_neo4j.cli.pages.runs_page import next_step
from pgs_neo4j.errors import (
    BudgetError,
    DatabaseUnavailableError,
    UnknownRunError,
    UnmatchedQuestionError,
    UsageError,
)
from pgs_neo4j.events import RunStarted, TextStreamed
from pgs_neo4j.export import Area, AreaState, Document
from pgs_neo4j.llm.calls.replies import Kept
from pgs_neo4j.model import Answer
from pgs_neo4j.pgs.runs.runs import StoredRun
from pgs_neo4j.text.shown import counted
from tests.fakes.commands import StandIn, pgs
from tests.unit.cli.test_cli_latest import info

Make = Callable[..., Answer]
AREAS = (Area(partition=1, nodes=40, nodes_read=40, state=AreaState.READ, keywords=("a",)),)


@pytest.fixture
def engine(engine: StandIn, answer_of: Make, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """An engine with one run on record, whose answer is partial."""
    monkeypatch.setenv("COLUMNS", "80")
    store(engine, answer_of())
    engine.replies |= {"kept_replies": Kept(3, 4500), "clear_cache": Kept(3, 4500)}
    engine.have({"config": SimpleNamespace(cache_mb=64.0)})
    return engine


def store(engine: StandIn, answer: Answer | None, **changed: Any) -> None:
    """Put the run r1 on record, with an answer or without."""
    properties = {
        "status": "partial", "details": "{}" if answer else None, "question": "what?",
        "mode": "full", "started_at": "2026-01-02T03:04:05Z",
    } | changed  # fmt: skip

    def read(run: str) -> StoredRun:
        if run != "r1":
            raise UnknownRunError(f"there is no run {run}")
        return StoredRun("r1", "papers", "default", "g1", True, False, properties)

    def document(run: str) -> Document:
        if read(run) and answer is None:
            raise UsageError(f"run {run} has no answer ({properties['status']})")
        return Document(answer=answer, asked_at="2026-01-02T03:04:05Z", areas=AREAS)

    engine.replies |= {
        "runs.get": read, "runs.document": document, "resume": streams(answer), "execute": answer,
    }  # fmt: skip


def streams(answer: Answer | Exception | None) -> Any:
    """Resumes a run, and streams its answer, or ends with an error."""

    def resume(run: str, *, on_event: Any, **knobs: Any) -> Any:
        on_event(RunStarted(run, resumed=True))
        if isinstance(answer, Answer):
            on_event(TextStreamed(answer.text))
            return answer
        raise answer or AssertionError

    return resume


def test_resume_writes_as_ask_does_within_its_bounds(
    engine: StandIn, answer_of: Make, whole: Any
) -> None:
    line = "resume r1 --max-calls 50 --max-tokens none --max-cost 0.5 --timeout 60 -q"
    done = pgs(*line.split(), "--max-unmatched-tokens", "none")
    bounds = {
        "max_calls": "50", "max_tokens": "none", "max_cost": "0.5", "run_timeout_s": "60",
        "max_unmatched_tokens": "none",
    }  # fmt: skip
    assert engine.asked == [("resume", "r1", bounds)]
    assert (done.exit_code, done.stderr) == (3, "")
    assert done.stdout.startswith("### Thesis\nA claim [P1:n2].\n\nSources\n")
    assert done.stdout.endswith("\n  pgs resume r1\n")
    store(engine, answer_of(sweeps=whole))
    done = pgs("resume", "r1", "-q")
    assert done.exit_code == 0
    assert "pgs ask --continue --graph papers" in done.stdout
    assert "To complete" not in pgs("show", "r1").stdout


def test_an_answer_as_json_has_keywords_and_is_printed_also_without_them(
    engine: StandIn, answer_of: Make
) -> None:
    done = pgs("resume", "r1", "--json", "-q")
    assert done.exit_code == 3
    document = json.loads(done.stdout)
    assert (document["run"], document["sweeps"][0]["keywords"]) == ("r1", ["a"])
    engine.replies["runs.document"] = DatabaseUnavailableError("Neo4j is gone")
    done = pgs("resume", "r1", "--json", "-q")
    assert done.exit_code == 3
    document = json.loads(done.stdout)
    assert (document["answer"], document["sweeps"][0]["keywords"]) == (answer_of().text, [])
    assert "Neo4j is gone" in done.stderr


def test_a_resumed_run_that_is_stopped_again_is_3_and_says_how_it_goes_on(engine: StandIn) -> None:
    why = "1 call (max_calls) does not cover it"
    fix = "run r1 can be resumed: pgs resume r1; its limits start over, and can be changed"
    engine.replies["resume"] = streams(BudgetError(why))
    done = pgs("resume", "r1", "--json")
    assert (done.exit_code, done.stdout) == (3, "")
    begun, error = done.stderr.splitlines()
    assert begun == "run: r1 resumes"
    told = {"error": why, "kind": "BudgetError", "code": 3, "fix": fix}
    assert json.loads(error) == told
    engine.replies["resume"] = streams(BudgetError(why))
    told_lines = pgs("resume", "r1").stderr.splitlines()
    assert told_lines == ["run: r1 resumes", f"pgs: {why}", f"note: {fix}"]


def test_show_is_the_answer_as_it_was_given(engine: StandIn, answer_of: Make, hostile: str) -> None:
    done = pgs("show", "r1")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:6] == [
        "Question  what?",
        "Asked     2026-01-02 03:04 UTC, graph papers, mode full",
        "Status    partial",
        "",
        "### Thesis",
        "A claim [P1:n2].",
    ]
    assert "  P1:n2  Second (doi/2)" in lines
    assert lines[-1] == "  pgs resume r1"
    unknown = pgs("show", "r2")
    assert (unknown.exit_code, unknown.stderr) == (2, "pgs: there is no run r2\n")
    store(engine, answer_of(question=hostile))
    shown = pgs("show", "r1").stdout
    store(engine, None, question=hostile, error=hostile)
    assert all(line.isprintable() for line in (shown + pgs("show", "r1").stdout).splitlines())


@pytest.mark.parametrize(
    ("status", "advised"), [("stopped", "Resume it with:"), ("running", "killed")]
)
def test_show_of_a_run_without_an_answer(engine: StandIn, status: str, advised: str) -> None:
    store(engine, None, status=status, error="2 calls\nare over")
    done = pgs("show", "r1")
    assert done.exit_code == 0
    assert f"Status    {status}, without an answer\nError     2 calls are over" in done.stdout
    assert advised in done.stdout
    assert done.stdout.endswith("  pgs resume r1\n")
    document = json.loads(pgs("show", "r1", "--json").stdout)
    assert (document["status"], document["answer"]) == (status, None)


@pytest.mark.parametrize(("suffix", "begins"), [("md", "# "), ("html", "<!"), ("json", "{")])
def test_export_takes_the_format_from_the_suffix_and_overwrites_only_with_force(
    engine: StandIn, tmp_path: Path, suffix: str, begins: str
) -> None:
    target = tmp_path / f"answer.{suffix.upper()}"
    done = pgs("export", "r1", "--to", str(target))
    assert done.exit_code == 0
    assert done.stdout.startswith(f"the answer of run r1 is in {target}, ")
    assert done.stdout.rstrip().endswith("kB")
    written = target.read_text("utf-8")
    assert written.startswith(begins)
    assert "A claim" in written
    printed = pgs("export", "r1", "--to", "-", "--format", suffix)
    assert (printed.stdout, printed.stderr) == (written, "")
    target.write_text("before")
    refused = pgs("export", "r1", "--to", str(target))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--force" in refused.stderr
    assert target.read_text() == "before"
    named = ("--format", "md", "--force")  # counts more than the suffix
    assert pgs("export", "r1", "--to", str(target), *named).exit_code == 0
    assert target.read_text().startswith("# what?")


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("answer.pdf", "does not end in .md, .html, .json, .csv, or .parquet"),
        ("answer", "does not end in .md, .html, .json, .csv, or .parquet"),
        ("-", "add --format md, html, json, or csv"),
        ("none/answer.md", "there is no folder"),
        ("whole.md", "has no answer"),
    ],
)
def test_export_to_where_it_cannot_be_or_of_no_answer_is_2(
    engine: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if to == "whole.md":
        store(engine, None)
    done = pgs("export", "r1", "--to", to)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("table", ["findings", "absences", "connections", "coverage", "sources"])
def test_a_part_of_an_answer_is_exported_as_a_table(
    engine: StandIn, tmp_path: Path, table: str
) -> None:
    printed = pgs("export", "r1", "--table", table, "--to", "-", "--format", "csv")
    rows = [*csv.DictReader(io.StringIO(printed.stdout))]
    assert (printed.exit_code, printed.stderr) == (0, "")
    name = tmp_path / f"{table}.csv"
    done = pgs("export", "r1", "--table", table, "--to", str(name))
    count = counted(len(rows), "row")
    assert done.stdout.startswith(f"{count} of run r1 are in {name}, ")
    assert name.read_text("utf-8") == f"\ufeff{printed.stdout}"
    stored = tmp_path / f"{table}.parquet"
    assert pgs("export", "r1", "--table", table, "--to", str(stored)).exit_code == 0
    assert len(parquet.read_table(stored)) == len(rows)


def test_the_runs_are_exported_as_a_table(engine: StandIn, tmp_path: Path) -> None:
    engine.replies["runs"] = lambda graph, limit: [info("r9", question="=cmd"), info("r8")]
    printed = pgs("export", "--table", "runs", "--to", "-", "--format", "csv", "-g", "papers")
    assert printed.exit_code == 0
    first, second = csv.DictReader(io.StringIO(printed.stdout))
    assert (first["run"], first["question"], first["answered"]) == ("r9", "'=cmd", "true")
    assert (second["run"], second["cost"], second["error"]) == ("r8", "0.0", "")
    name = tmp_path / "all.parquet"
    done = pgs("export", "--table", "runs", "--to", str(name))
    assert done.stdout.startswith(f"2 runs are in {name}, ")
    assert parquet.read_table(name)["question"].to_pylist() == ["=cmd", "who's there?"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("r1",), "Invalid value for '--to': name a file that ends in .md, .html, .json, .csv, or"),
        (("r1", "--to", "a.csv"), "csv holds one table; name one with --table: findings, "),
        (("r1", "--to", "a.md", "--table", "findings"), "md holds a whole answer; leave out"),
        (("r1", "--to", "a.csv", "--table", "runs"), "leave out RUN"),
        (("r1", "--to", "a.csv", "--table", "finding"), "'finding' is not one of"),
        (("--to", "-", "--format", "parquet", "--table", "runs"), "name a file with --to"),
        (("--schema", "--to", "a.json"), "leave out --to"),
    ],
)
def test_an_export_that_is_not_clear_says_what_is_missing(
    engine: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Any, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = pgs("export", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert [*tmp_path.iterdir()] == []


def test_the_schema_of_an_export_is_printed_without_a_database() -> None:
    assert json.loads(pgs("export", "--schema").stdout)["$id"] == "urn:pgs_neo4j:export:run"
    row = json.loads(pgs("export", "--schema", "--table", "sources").stdout)
    assert {"citation", "text", "gone"} <= set(row["properties"])


def test_the_cache_is_shown_and_cleared(engine: StandIn) -> None:
    assert pgs("cache", "show").stdout == "3 replies stored, 4.5 kB of at most 64 MB\n"
    assert json.loads(pgs("cache", "show", "--json").stdout) == {
        "replies": 3, "size_bytes": 4500, "cache_mb": 64.0,
    }  # fmt: skip
    refused = pgs("cache", "clear")
    assert refused.exit_code == 2
    assert "this deletes 3 stored replies; pass --yes" in refused.stderr
    assert ("clear_cache",) not in engine.asked
    assert pgs("cache", "clear", "--yes").stdout == "3 stored replies deleted, 4.5 kB\n"
    engine.replies |= {"kept_replies": Kept(0, 0), "clear_cache": Kept(0, 0)}
    assert json.loads(pgs("cache", "clear", "--json").stdout) == {"replies": 0, "size_bytes": 0}


def test_sessions_show_says_how_a_run_goes_on() -> None:
    for status, hint in {
        "complete": "",
        "partial": "  try     pgs resume r1",
        "interrupted": "  try     pgs resume r1",
        "running": "  try     pgs resume r1, if its process was killed",
    }.items():
        made = {"id": "r1", "mode": "full", "status": status, "started_at": "2026-01-02T03:04:05Z"}
        lines = _describe(made)
        assert lines[1] == f"2026-01-02 03:04  r1  full  {status}"
        assert lines[-1] == hint or not hint
        assert bool(next_step("r1", status)) is bool(hint)


ANYWAY = "no text in the graph matches the question; reading it would buy much"


@pytest.fixture
def unmatched(engine: StandIn) -> StandIn:
    """Nothing in the graph speaks to the question; it is answered only without a limit."""
    answer = engine.replies["execute"]

    def execute(question: str, **asked: Any) -> Answer:
        if "max_unmatched_tokens" not in asked:
            raise UnmatchedQuestionError(ANYWAY)
        return cast(Answer, answer)

    engine.replies["execute"] = execute
    return engine


@pytest.mark.parametrize(
    ("agreed", "options", "code", "limits"),
    [
        (True, (), 3, [None, "none"]),
        (False, (), 2, [None]),
        (None, (), 2, [None]),  # there is nobody to ask
        (None, ("--json",), 2, [None]),
    ],
)
def test_a_person_decides_about_a_question_that_nothing_speaks_to(
    unmatched: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    agreed: bool | None,
    options: tuple[str, ...],
    code: int,
    limits: list[str | None],
) -> None:
    if agreed is not None:
        monkeypatch.setattr(connection, "can_ask", lambda: True)
        monkeypatch.setattr(connection, "ask_to_continue", lambda what: what == ANYWAY and agreed)
    done = pgs("ask", "why?", "-q", *options)
    assert done.exit_code == code
    assert [asked.get("max_unmatched_tokens") for *_, asked in unmatched.asked] == limits
    assert ("you did not agree" in done.stderr) is (agreed is False)
    assert (ANYWAY in done.stderr) is (agreed is None)
    assert "Continue?" not in done.stderr
