"""`pgs repartition`, `pgs schedule`, `pgs jobs`: options that arrive, lines, JSON, and codes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from pgs_neo4j.cli import connection, output
from pgs_neo4j.cli.app import app
from pgs_neo4j.cli.commands.operations import config, metrics_file
from pgs_neo4j.cli.commands.operations.jobs import describe
from pgs_neo4j.cli.pages import tables
from pgs_neo4j.cli.pages.job_words import WORDS, line
from pgs_neo4j.config.schedule_table import ScheduleEntry
from pgs_neo4j.engine import EndedJob, FailedJob, GraphState, Job, JobOrder, LeaseHolder
from pgs_neo4j.errors import BusyError, DatabaseUnavailableError, PGSError, UnknownGraphError
from pgs_neo4j.model.ingest import DocumentOutcome, Ingested
from pgs_neo4j.runs.jobs import Outcome

JOB = Job(
    id="j1",
    graph="papers",
    outcome="repartitioned",
    started_at="2026-07-01T03:17:00.123Z",
    finished_at="2026-07-01T03:17:04Z",
    drift=0.034,
    generation="g1",
    figures={
        "partitions": 4,
        "nodes": 1600,
        "modularity": 0.7412,
        "seconds": 4.2,
        "steps": {"scan": 0.5},
    },
    holder="worker, pid 7",
)
BUSY = FailedJob("papers", BusyError("graph papers is at work"), replace(JOB, outcome="busy"))


def pgs(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


@dataclass(slots=True)
class FakedJobs:
    """Stands in for ``pgs.jobs``: what it was asked for, and the ends and records it gives."""

    asked: list[Any] = field(default_factory=list)
    ends: tuple[EndedJob, ...] = ()
    records: list[Job] = field(default_factory=list)
    holder: LeaseHolder | None = None

    async def attempt(self, graph: str | None, order: JobOrder) -> EndedJob:
        self.asked.append((graph, order))
        return self.ends[0]

    async def attempt_all(self, order: JobOrder, *, on_end: Any = None) -> list[EndedJob]:
        self.asked.append(("all", order))
        for ended in self.ends if on_end is not None else ():
            on_end(ended)
        return list(self.ends)

    async def __call__(self, graph: str | None, *, limit: int) -> list[Job]:
        self.asked.append((graph, limit))
        return self.records

    async def get(self, job: str) -> Job:
        self.asked.append(job)
        return self.records[0]

    async def release(self, graph: str) -> LeaseHolder | None:
        self.asked.append(graph)
        return self.holder


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> FakedJobs:
    """The jobs of the engine that commands open."""
    faked = FakedJobs()

    @asynccontextmanager
    async def database(*given: Any, **knobs: Any) -> AsyncIterator[SimpleNamespace]:
        yield SimpleNamespace(jobs=faked, graphs=FakedGraphs())

    monkeypatch.setattr(connection, "database", database)
    return faked


@pytest.fixture
def asked(jobs: FakedJobs) -> list[Any]:
    """What the jobs were asked for."""
    return jobs.asked


@pytest.fixture
def ends(jobs: FakedJobs) -> Any:
    """Lets jobs end as given."""

    def set_ends(*ended: EndedJob) -> None:
        jobs.ends = ended

    return set_ends


def test_repartition_passes_everything_on(ends: Any, asked: list[Any]) -> None:
    ends(JOB)
    assert pgs("repartition", "-g", "papers", "--keep", "2").exit_code == 0
    assert pgs("repartition", "--if-changed").exit_code == 0
    assert pgs("repartition", "--all", "--max-drift", "0.05").exit_code == 0
    assert asked == [
        ("papers", JobOrder(keep=2)),
        (None, JobOrder(if_changed=True)),
        ("all", JobOrder(if_changed=True, max_drift=0.05)),
    ]


STATE = GraphState(
    graph="papers", age_s=3.0, nodes=1600, partitions=4, changed=False, drift=0.034, leased=False
)


class FakedGraphs:
    """Stands in for ``pgs.graphs``: how they stand, or that the database is away."""

    error: PGSError | None = None

    async def states(self) -> list[GraphState]:
        if self.error is not None:
            raise self.error
        return [STATE]


def test_metrics_of_a_job_are_written_whole(ends: Any, in_an_empty_folder: Path) -> None:
    ends(JOB)
    path = in_an_empty_folder / "pgs.prom"
    path.write_text("old")
    assert pgs("repartition", "--metrics-file", "pgs.prom").exit_code == 0
    text = path.read_text()
    assert "pgs_repartition_exit_code 0.0" in text
    assert 'pgs_repartition_outcome{graph="papers",outcome="repartitioned"} 1.0' in text
    assert 'pgs_graph_nodes{graph="papers"} 1600.0' in text
    assert [one.name for one in in_an_empty_folder.iterdir()] == ["pgs.prom"]


def test_metrics_of_failures_have_their_code(
    ends: Any, in_an_empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(BUSY)
    path = in_an_empty_folder / "pgs.prom"
    assert pgs("repartition", "--metrics-file", "pgs.prom").exit_code == 4
    assert "pgs_repartition_exit_code 4.0" in path.read_text()
    away = DatabaseUnavailableError("Neo4j does not answer; start it")
    monkeypatch.setattr(FakedGraphs, "error", away)
    assert pgs("repartition", "--metrics-file", "pgs.prom").exit_code == 4
    assert "pgs_graph" not in path.read_text()

    def no_database(*given: Any, **knobs: Any) -> Any:
        raise away

    monkeypatch.setattr(connection, "database", no_database)
    assert pgs("repartition", "--metrics-file", "pgs.prom").exit_code == 5
    assert "pgs_repartition_exit_code 5.0" in path.read_text()


@pytest.mark.parametrize(
    ("name", "missing", "said"),
    [
        ("nowhere/pgs.prom", False, "there is no folder nowhere"),
        (".", False, "is a folder"),
        ("pgs.prom", True, "pip install 'pgs-neo4j[serve]'"),
    ],
)
def test_metrics_that_cannot_be_written_are_refused_before_the_job(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch, name: str, missing: bool, said: str
) -> None:
    if missing:
        monkeypatch.setattr(metrics_file, "find_spec", lambda name: None)
    done = pgs("repartition", "--metrics-file", name)
    assert done.exit_code == 2
    (sentence,) = done.stderr.splitlines()
    assert said in sentence
    assert asked == []


def test_a_job_that_went_well_is_one_line_on_stdout(ends: Any) -> None:
    ends(JOB)
    done = pgs("repartition", "--quiet")
    assert done.stdout == (
        "papers: repartitioned, 4 partitions of 1,600 nodes, modularity 0.741, drift 3 %, "
        "4.2 s (job j1)\n"
    )
    assert done.stderr == ""


def test_a_busy_graph_is_4_and_one_line_on_stderr(ends: Any) -> None:
    ends(BUSY)
    done = pgs("repartition")
    assert (done.exit_code, done.stdout, done.stderr) == (4, "", "pgs: graph papers is at work\n")


def test_json_is_one_document_also_when_a_job_fails(ends: Any) -> None:
    ends(BUSY)
    done = pgs("repartition", "--json")
    assert done.exit_code == 4
    (job,) = json.loads(done.stdout)["jobs"]
    assert (job["id"], job["outcome"], job["drift"]) == ("j1", "busy", 0.034)
    assert job["figures"]["steps"] == {"scan": 0.5}
    assert json.loads(done.stderr) == {
        "error": "graph papers is at work", "kind": "BusyError", "code": 4, "fix": None,
    }  # fmt: skip


def test_a_job_without_a_record_is_in_the_document_too(ends: Any) -> None:
    ends(FailedJob(None, UnknownGraphError("there are several graphs")))
    done = pgs("repartition", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout) == {
        "jobs": [{"graph": None, "outcome": "failed", "error": "there are several graphs"}]
    }


def test_of_all_graphs_the_worst_code_counts(ends: Any) -> None:
    ends(BUSY, JOB, FailedJob("c", DatabaseUnavailableError("it is gone")))
    done = pgs("repartition", "--all")
    assert done.exit_code == 5
    assert done.stdout == line(JOB) + "\n"
    assert done.stderr.splitlines() == [
        "pgs: papers: another job holds the lock: graph papers is at work",
        "pgs: c: failed: it is gone",
    ]


def test_no_graph_at_all_is_said(ends: Any) -> None:
    ends()
    done = pgs("repartition", "--all", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"jobs": []})
    assert "'pgs graph add'" in done.stderr


def test_both_graph_and_all_is_refused(ends: Any, asked: list[Any]) -> None:
    ends(JOB)
    done = pgs("repartition", "--all", "--graph", "papers")
    assert done.exit_code == 2
    assert "--graph cannot be combined with --all" in done.stderr
    assert asked == []


def test_the_help_tells_the_exit_codes() -> None:
    said = " ".join(pgs("repartition", "--help").stdout.split())
    assert "4 another job holds the lock" in said


def test_every_outcome_has_words() -> None:
    assert set(WORDS) == set(get_args(Outcome))


def test_a_graphs_name_cannot_color_a_line(hostile: str) -> None:
    assert line(replace(JOB, graph=hostile)).isprintable()
    assert line(FailedJob(hostile, BusyError(hostile))).isprintable()


def test_jobs_are_listed_and_shown_as_text(
    hostile: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    silent = Job(id="j2", graph="b", started_at="2026-07-01T04:00:00Z", error=hostile, silent=True)
    output.write_table(tables.jobs([JOB, silent]))
    rows = capsys.readouterr().out.splitlines()
    assert rows[1].split() == [
        "j1", "papers", "repartitioned", "3", "%", "2026-07-01", "03:17", "4.2", "s",
    ]  # fmt: skip
    assert "running (silent)" in rows[2]
    shown = describe(replace(JOB, error=hostile))
    assert shown[0] == "job               j1, a repartition of graph papers"
    assert "took              4.2 s" in shown
    assert "steps             scan 0.5" in shown
    assert all(row.isprintable() for row in shown)


def test_a_job_lists_the_documents_that_failed_or_wait(hostile: str) -> None:
    left = [
        {"id": "a.md", "state": "failed", "reason": "it is empty"},
        {"id": hostile, "state": "waiting", "reason": "max_calls is reached"},
    ]
    figures = {"documents": {"failed": 1}, "unfinished": left, "unfinished_more": 1200}
    shown = describe(replace(JOB, kind="ingest", figures=figures))
    assert shown[-4:-2] == ["documents         failed 1", "failed            a.md: it is empty"]
    assert shown[-2].startswith("waiting           ")
    assert shown[-2].endswith(": max_calls is reached")
    assert shown[-2].isprintable()
    assert shown[-1] == "                  and 1,200 more"
    whole = describe(replace(JOB, figures={**figures, "unfinished_more": 0}))
    assert whole[-1] == shown[-2]


def test_list_and_show_read_the_records(jobs: FakedJobs) -> None:
    jobs.records = [JOB]
    listed = pgs("jobs", "list", "--graph", "papers", "--limit", "5", "--json")
    assert [job["id"] for job in json.loads(listed.stdout)["jobs"]] == ["j1"]
    assert json.loads(pgs("jobs", "show", "j1", "--json").stdout)["id"] == "j1"
    assert "worker, pid 7" in pgs("jobs", "show", "j1").stdout
    jobs.records = []
    nothing = pgs("jobs", "list")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert "no job on record" in nothing.stderr
    assert jobs.asked == [("papers", 5), "j1", "j1", (None, 20)]


SCHEDULE = """
[[schedule]]
graph = "papers"
cron = "17 3 * * *"
timezone = "Europe/Oslo"

[[schedule]]
all = true
cron = "0 5 * * sun"
timezone = "UTC"
max_drift = 0.05
keep = 2
"""


def test_release_names_who_held_the_graph(jobs: FakedJobs, hostile: str) -> None:
    assert pgs("jobs", "release", "papers").stdout == "no job holds the lease of graph papers\n"
    assert json.loads(pgs("jobs", "release", "papers", "--json").stdout) == {
        "graph": "papers",
        "released": None,
    }
    times = {"acquired_at": "2026-07-01T03:17:00.123Z", "expires_at": "2036-07-01T03:17:00Z"}
    jobs.holder = LeaseHolder(holder=f"worker{hostile}, pid 7", fence=4, **times)
    done = pgs("jobs", "release", "papers")
    assert done.exit_code == 0
    assert done.stdout.count("\n") == 1
    assert "\x1b" not in done.stdout
    assert done.stdout.endswith(", pid 7 had held its lease since 2026-07-01 03:17:00 UTC\n")
    told = json.loads(pgs("jobs", "release", "papers", "--json").stdout)["released"]
    assert (told["fence"], told["expires_at"]) == (4, times["expires_at"])
    assert jobs.asked == ["papers"] * 4
    assert pgs("jobs", "release").exit_code == 2


def test_the_schedule_can_be_shown(in_an_empty_folder: Path) -> None:
    (in_an_empty_folder / "pgs.toml").write_text(SCHEDULE)
    rows = json.loads(pgs("schedule", "--show", "--json").stdout)["schedule"]
    assert [(row["entry"], row["graph"], row["all"]) for row in rows] == [
        (1, "papers", False), (2, None, True),
    ]  # fmt: skip
    assert [row["next_at"][10:16] for row in rows] == ["T03:17", "T05:00"]
    shown = pgs("schedule", "--show").stdout
    assert "graph papers" in shown
    assert "17 3 * * *" in shown


def test_the_schedule_once_runs_every_entry(
    in_an_empty_folder: Path, ends: Any, asked: list[Any]
) -> None:
    (in_an_empty_folder / "pgs.toml").write_text(SCHEDULE)
    ends(BUSY)
    done = pgs("schedule", "--once", "--json")
    assert done.exit_code == 4
    lines = [json.loads(row) for row in done.stdout.splitlines()]
    assert [(each["entry"], each["outcome"]) for each in lines] == [(1, "busy"), (2, "busy")]
    assert asked == [
        ("papers", JobOrder(if_changed=True)),
        ("all", JobOrder(if_changed=True, max_drift=0.05, keep=2)),
    ]
    ends(JOB)
    said = pgs("schedule", "--once")
    assert (said.exit_code, said.stdout) == (0, "")
    assert [row.endswith(line(JOB)) for row in said.stderr.splitlines()] == [True, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing is scheduled"),
        ('[[schedule]]\ngraph = "a"\ncron = "61 3 * * *"\n', "entry 1 (graph a): cron = '61 3"),
        ('[[schedule]]\ngrph = "a"\ncron = "1 3 * * *"\n', "grph is not one of its keys"),
        ('[[schedule]]\ngraph = "a"\nall = true\ncron = "1 3 * * *"\n', "has both graph and all"),
        ('schedule = "daily"\n', "[[schedule]]"),
    ],
)
def test_a_wrong_schedule_is_one_sentence(in_an_empty_folder: Path, text: str, said: str) -> None:
    (in_an_empty_folder / "pgs.toml").write_text(text)
    done = pgs("schedule", "--show")
    assert done.exit_code == 2
    assert done.stdout == ""
    (sentence,) = done.stderr.splitlines()
    assert said in sentence


INGESTING = """
[[schedule]]
kind = "ingest"
graph = "notes"
paths = ["notes/"]
cron = "7 * * * *"
sync = true
"""


class Ingesting:
    """An engine that ingests, and ends as it is told."""

    def __init__(self, done: Ingested) -> None:
        self.done = done

    async def ingest(self, paths: Any, graph: str, **wanted: Any) -> Ingested:
        assert (paths, graph, wanted["sync"]) == (("notes/",), "notes", True)
        return self.done


@pytest.mark.parametrize(("stopped", "code"), [("", 0), ("max_cost 2 was reached", 3)])
def test_an_entry_that_ingests_has_a_model_and_is_told_in_a_line(
    in_an_empty_folder: Path, monkeypatch: pytest.MonkeyPatch, stopped: str, code: int
) -> None:
    outcomes = (DocumentOutcome(id="a.md", state="added"), DocumentOutcome(id="b", state="deleted"))
    done = Ingested(graph="notes", label="Notes", outcomes=outcomes, seconds=2.0, stopped=stopped)

    @asynccontextmanager
    async def engine() -> AsyncIterator[Ingesting]:
        yield Ingesting(done)

    monkeypatch.setattr(connection, "engine", engine)
    (in_an_empty_folder / "pgs.toml").write_text(INGESTING)
    told = pgs("schedule", "--once")
    assert (told.exit_code, told.stdout) == (code, "")
    limit = f", stopped: {stopped}" if stopped else ""
    assert told.stderr.rstrip().endswith(f"notes: 1 added, 1 deleted{limit}, 2.0 s")
    (row,) = pgs("schedule", "--once", "--json").stdout.splitlines()
    data = json.loads(row)
    assert (data["entry"], data["kind"], data["counts"]["added"]) == (1, "ingest", 1)
    assert "files of graph notes" in pgs("schedule", "--show").stdout


def test_once_and_show_exclude_each_other(in_an_empty_folder: Path) -> None:
    assert pgs("schedule", "--once", "--show").exit_code == 2


def test_config_show_tells_the_schedule(in_an_empty_folder: Path) -> None:
    (in_an_empty_folder / "pgs.toml").write_text(SCHEDULE)
    document = json.loads(pgs("config", "show", "--json").stdout)
    (shown,) = (each for each in document["settings"] if each["name"] == "schedule")
    assert [entry["cron"] for entry in shown["value"]] == ["17 3 * * *", "0 5 * * sun"]
    assert shown["origin"] == "file"
    assert "2 entries" in pgs("config", "show").stdout
    assert config.masked((ScheduleEntry(graph="a", cron="1 1 * * *"),))[0]["graph"] == "a"  # type: ignore[index]


def test_a_json_line_is_one_line(capsys: pytest.CaptureFixture[str], hostile: str) -> None:
    output.write_json_line({"a": f"two  \nlines {hostile}", "b": [1, {"c": None}]})
    written = capsys.readouterr().out
    assert len(written.splitlines()) == 1
    assert json.loads(written) == {"a": f"two  \nlines {hostile}", "b": [1, {"c": None}]}
