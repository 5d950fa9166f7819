"""`pgs repartition`, `pgs schedule`, `pgs jobs`: options that arrive, lines, JSON, and codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from pgs_neo4j.cli import connection, output
from pgs_neo4j.cli.commands import jobs
from pgs_neo4j.cli.commands.jobs import WORDS, describe, job_line
from pgs_neo4j.cli.pages import tables
from pgs_neo4j.engine import EndedJob, FailedJob, GraphState, Job, JobOrder, LeaseHolder
from pgs_neo4j.errors import BusyError, DatabaseUnavailableError, UnknownGraphError
from pgs_neo4j.pgs.runs.jobs import Outcome
from tests.fakes.commands import StandIn, ingested, on_one_line, outcomes, pgs

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
STATE = GraphState(
    graph="papers", age_s=3.0, nodes=1600, partitions=4, changed=False, drift=0.034, leased=False
)
BUSY = FailedJob("papers", BusyError("graph papers is at work"), replace(JOB, outcome="busy"))


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def engine(engine: StandIn) -> StandIn:
    """An engine whose job of a graph ends well."""
    engine.replies |= {
        "jobs": [JOB],
        "jobs.get": JOB,
        "jobs.release": None,
        "graphs.states": [STATE],
    }
    end_with(engine, JOB)
    return engine


def end_with(engine: StandIn, *ended: EndedJob) -> None:
    """Let jobs end so."""

    def attempt_all(order: JobOrder, *, on_end: Any = None) -> list[EndedJob]:
        for one in ended if on_end is not None else ():
            on_end(one)
        return [*ended]

    engine.replies |= {"jobs.attempt": ended[0] if ended else None, "jobs.attempt_all": attempt_all}


def asked(engine: StandIn) -> list[Any]:
    """What was asked for, without how to hear of the ends."""
    return [tuple(one for one in call if not (isinstance(one, dict) and "on_end" in one))
            for call in engine.asked]  # fmt: skip


def test_repartition_passes_everything_on(engine: StandIn) -> None:
    assert pgs("repartition", "-g", "papers", "--keep", "2").exit_code == 0
    assert pgs("repartition", "--if-changed").exit_code == 0
    assert pgs("repartition", "--all", "--max-drift", "0.05").exit_code == 0
    assert asked(engine) == [
        ("jobs.attempt", "papers", JobOrder(keep=2)),
        ("jobs.attempt", None, JobOrder(if_changed=True)),
        ("jobs.attempt_all", JobOrder(if_changed=True, max_drift=0.05)),
    ]


def test_metrics_of_jobs_and_of_failures_are_written_whole(
    engine: StandIn, in_an_empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = in_an_empty_folder / "pgs.prom"
    path.write_text("old")

    def told(code: int) -> str:
        assert pgs("repartition", "--metrics-file", "pgs.prom").exit_code == code
        assert [one.name for one in in_an_empty_folder.iterdir()] == ["pgs.prom"]
        assert f"pgs_repartition_exit_code {code}.0" in path.read_text()
        return path.read_text()

    text = told(0)
    assert 'pgs_repartition_outcome{graph="papers",outcome="repartitioned"} 1.0' in text
    assert 'pgs_graph_nodes{graph="papers"} 1600.0' in text
    end_with(engine, BUSY)
    assert "pgs_graph" in told(4)
    away = DatabaseUnavailableError("Neo4j does not answer; start it")
    engine.replies["graphs.states"] = away
    assert "pgs_graph" not in told(4)

    def no_database(*given: Any, **knobs: Any) -> Any:
        raise away

    monkeypatch.setattr(connection, "database", no_database)
    told(5)


def test_metrics_that_cannot_be_written_are_refused_before_the_job(
    engine: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, said in (
        ("nowhere/pgs.prom", "there is no folder nowhere"),
        (".", "is a folder"),
        ("pgs.prom", "pip install 'pgs-neo4j[serve]'"),
    ):
        if name == "pgs.prom":
            monkeypatch.setattr(jobs, "find_spec", lambda name: None)
        done = pgs("repartition", "--metrics-file", name)
        assert done.exit_code == 2
        (sentence,) = done.stderr.splitlines()
        assert said in sentence
    assert engine.asked == []


def test_a_job_is_one_line_or_one_document_and_a_busy_graph_is_4(engine: StandIn) -> None:
    done = pgs("repartition", "--quiet")
    assert (done.stdout, done.stderr) == (
        "papers: repartitioned, 4 partitions of 1,600 nodes, modularity 0.741, drift 3 %, "
        "4.2 s (job j1)\n",
        "",
    )
    end_with(engine, BUSY)
    done = pgs("repartition")
    assert (done.exit_code, done.stdout, done.stderr) == (4, "", "pgs: graph papers is at work\n")
    done = pgs("repartition", "--json")
    assert done.exit_code == 4
    (job,) = json.loads(done.stdout)["jobs"]
    assert (job["id"], job["outcome"], job["drift"]) == ("j1", "busy", 0.034)
    assert job["figures"]["steps"] == {"scan": 0.5}
    assert json.loads(done.stderr) == {
        "error": "graph papers is at work", "kind": "BusyError", "code": 4, "fix": None,
    }  # fmt: skip
    end_with(engine, FailedJob(None, UnknownGraphError("there are several graphs")))
    done = pgs("repartition", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout) == {
        "jobs": [{"graph": None, "outcome": "failed", "error": "there are several graphs"}]
    }


def test_of_all_graphs_the_worst_code_counts(engine: StandIn) -> None:
    end_with(engine, BUSY, JOB, FailedJob("c", DatabaseUnavailableError("it is gone")))
    done = pgs("repartition", "--all")
    assert done.exit_code == 5
    assert done.stdout == job_line(JOB) + "\n"
    assert done.stderr.splitlines() == [
        "pgs: papers: another job holds the lock: graph papers is at work",
        "pgs: c: failed: it is gone",
    ]
    end_with(engine)
    done = pgs("repartition", "--all", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"jobs": []})
    assert "'pgs graph add'" in done.stderr
    engine.asked.clear()
    done = pgs("repartition", "--all", "--graph", "papers")
    assert done.exit_code == 2
    assert "--graph cannot be combined with --all" in done.stderr
    assert engine.asked == []
    assert "4 another job holds the lock" in on_one_line(pgs("repartition", "--help").stdout)


def test_every_outcome_has_words_and_a_graphs_name_cannot_color_a_line(hostile: str) -> None:
    assert set(WORDS) == set(get_args(Outcome))
    assert job_line(replace(JOB, graph=hostile)).isprintable()
    assert job_line(FailedJob(hostile, BusyError(hostile))).isprintable()


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


def test_list_and_show_read_the_records(engine: StandIn) -> None:
    listed = pgs("jobs", "list", "--graph", "papers", "--limit", "5", "--json")
    assert [job["id"] for job in json.loads(listed.stdout)["jobs"]] == ["j1"]
    assert json.loads(pgs("jobs", "show", "j1", "--json").stdout)["id"] == "j1"
    assert "worker, pid 7" in pgs("jobs", "show", "j1").stdout
    engine.replies["jobs"] = []
    nothing = pgs("jobs", "list")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert "no job on record" in nothing.stderr
    assert engine.asked == [
        ("jobs", "papers", {"limit": 5}), ("jobs.get", "j1"), ("jobs.get", "j1"),
        ("jobs", None, {"limit": 20}),
    ]  # fmt: skip


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


def test_release_names_who_held_the_graph(engine: StandIn, hostile: str) -> None:
    assert pgs("jobs", "release", "papers").stdout == "no job holds the lease of graph papers\n"
    assert json.loads(pgs("jobs", "release", "papers", "--json").stdout) == {
        "graph": "papers",
        "released": None,
    }
    times = {"acquired_at": "2026-07-01T03:17:00.123Z", "expires_at": "2036-07-01T03:17:00Z"}
    holder = LeaseHolder(holder=f"worker{hostile}, pid 7", fence=4, **times)
    engine.replies["jobs.release"] = holder
    done = pgs("jobs", "release", "papers")
    assert done.exit_code == 0
    assert done.stdout.count("\n") == 1
    assert "\x1b" not in done.stdout
    assert done.stdout.endswith(", pid 7 had held its lease since 2026-07-01 03:17:00 UTC\n")
    told = json.loads(pgs("jobs", "release", "papers", "--json").stdout)["released"]
    assert (told["fence"], told["expires_at"]) == (4, times["expires_at"])
    assert engine.asked == [("jobs.release", "papers")] * 4
    assert pgs("jobs", "release").exit_code == 2


def test_the_schedule_and_the_settings_show_it(in_an_empty_folder: Path) -> None:
    (in_an_empty_folder / "pgs.toml").write_text(SCHEDULE)
    rows = json.loads(pgs("schedule", "--show", "--json").stdout)["schedule"]
    assert [(row["entry"], row["graph"], row["all"]) for row in rows] == [
        (1, "papers", False), (2, None, True),
    ]  # fmt: skip
    assert [row["next_at"][10:16] for row in rows] == ["T03:17", "T05:00"]
    shown = pgs("schedule", "--show").stdout
    assert "graph papers" in shown
    assert "17 3 * * *" in shown
    document = json.loads(pgs("config", "show", "--json").stdout)
    (setting,) = (each for each in document["settings"] if each["name"] == "schedule")
    assert [entry["cron"] for entry in setting["value"]] == ["17 3 * * *", "0 5 * * sun"]
    assert (setting["value"][0]["graph"], setting["origin"]) == ("papers", "file")
    assert "2 entries" in pgs("config", "show").stdout


def test_the_schedule_once_runs_every_entry(engine: StandIn, in_an_empty_folder: Path) -> None:
    (in_an_empty_folder / "pgs.toml").write_text(SCHEDULE)
    end_with(engine, BUSY)
    done = pgs("schedule", "--once", "--json")
    assert done.exit_code == 4
    lines = [json.loads(row) for row in done.stdout.splitlines()]
    assert [(each["entry"], each["outcome"]) for each in lines] == [(1, "busy"), (2, "busy")]
    assert asked(engine) == [
        ("jobs.attempt", "papers", JobOrder(if_changed=True)),
        ("jobs.attempt_all", JobOrder(if_changed=True, max_drift=0.05, keep=2)),
    ]
    end_with(engine, JOB)
    said = pgs("schedule", "--once")
    assert (said.exit_code, said.stdout) == (0, "")
    assert [row.endswith(job_line(JOB)) for row in said.stderr.splitlines()] == [True, True]
    assert pgs("schedule", "--once", "--show").exit_code == 2


def test_a_wrong_schedule_is_one_sentence(in_an_empty_folder: Path) -> None:
    for text, said in (
        ("", "nothing is scheduled"),
        ('[[schedule]]\ngraph = "a"\ncron = "61 3 * * *"\n', "entry 1 (graph a): cron = '61 3"),
        ('[[schedule]]\ngrph = "a"\ncron = "1 3 * * *"\n', "grph is unknown; did you mean graph?"),
        ('[[schedule]]\ngraph = "a"\nall = true\ncron = "1 3 * * *"\n', "has both graph and all"),
        ('schedule = "daily"\n', "[[schedule]]"),
    ):
        (in_an_empty_folder / "pgs.toml").write_text(text)
        done = pgs("schedule", "--show")
        assert (done.exit_code, done.stdout) == (2, "")
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


@pytest.mark.parametrize(("stopped", "code"), [("", 0), ("max_cost 2 was reached", 3)])
def test_an_entry_that_ingests_has_a_model_and_is_told_in_a_line(
    engine: StandIn, in_an_empty_folder: Path, stopped: str, code: int
) -> None:
    documents = (*outcomes("added", 1), *outcomes("deleted", 1))
    engine.replies["ingest"] = ingested(*documents, seconds=2.0, stopped=stopped)
    (in_an_empty_folder / "pgs.toml").write_text(INGESTING)
    told = pgs("schedule", "--once")
    assert (told.exit_code, told.stdout) == (code, "")
    limit = f", stopped: {stopped}" if stopped else ""
    assert told.stderr.rstrip().endswith(f"notes: 1 added, 1 deleted{limit}, 2.0 s")
    ((_, paths, graph, wanted),) = engine.asked
    assert (paths, graph, wanted["sync"]) == (("notes/",), "notes", True)
    assert engine.opened == [("engine", {})]
    (row,) = pgs("schedule", "--once", "--json").stdout.splitlines()
    data = json.loads(row)
    assert (data["entry"], data["kind"], data["counts"]["added"]) == (1, "ingest", 1)
    assert "files of graph notes" in pgs("schedule", "--show").stdout


def test_a_json_line_is_one_line(capsys: pytest.CaptureFixture[str], hostile: str) -> None:
    output.write_json_line({"a": f"two  \nlines {hostile}", "b": [1, {"c": None}]})
    written = capsys.readouterr().out
    assert len(written.splitlines()) == 1
    assert json.loads(written) == {"a": f"two  \nlines {hostile}", "b": [1, {"c": None}]}
