"""Arguments in: help that is light, options that arrive, usage errors with code 2."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j import config as settings
from pgs_neo4j.cli.app import COMMANDS as COMMAND_TABLE
from pgs_neo4j.cli.commands import config, demo, doctor
from pgs_neo4j.cli.commands import graph as graphs
from pgs_neo4j.cli.knob_options import QUESTION, help_of
from pgs_neo4j.database import local
from pgs_neo4j.database.local import lockfile
from pgs_neo4j.database.local.options import paths_of
from pgs_neo4j.engine.demo.packages import PACKAGE_QUESTIONS
from pgs_neo4j.engine.doctor import Check
from pgs_neo4j.errors import DatabaseUnavailableError, UsageError
from pgs_neo4j.model import Answer, GraphMapping
from pgs_neo4j.model.ingest import DocumentOutcome
from pgs_neo4j.text.commands import add_command
from tests.fakes.commands import StandIn, ingested, on_one_line, outcomes, pgs
from tests.thorough import tries

ROOT = Path(__file__).resolve().parents[3]
HEAVY = (
    "numpy",
    "neo4j",
    "openai",
    "pandas",
    "graphdatascience",
    "rich",
    "jgo",
    "apscheduler",
    "fastapi",
    "opentelemetry",
    "prometheus_client",
    "markdown_it",
    "mcp",
)
FETCHING = (("demo",), ("local", "start"))
COMMANDS = (
    "analogies", "ask", "cache", "cache clear", "cache show", "config", "config show", "cypher",
    "demo",
    "doctor", "documents", "documents delete", "documents list", "documents show", "entities",
    "entities list", "entities merge", "entities show", "entities split",
    "export", "feedback", "graph",
    "graph add", "graph list", "graph remove", "graph show", "help", "index", "index create",
    "index drop", "index list", "ingest", "inspect", "jobs", "jobs list", "jobs show", "load",
    "local", "local import", "local log", "local reset", "local shell", "local start",
    "local status", "local stop", "mcp", "partition", "partitions", "plan", "purge",
    "repartition", "resume", "route", "runs", "schedule", "search", "serve", "sessions",
    "sessions delete", "sessions list", "sessions show", "show", "token",
)  # fmt: skip


@cache
def help_page(*words: str) -> str:
    """The help of a command."""
    done = pgs(*words, "--help")
    assert done.exit_code == 0
    return done.output


def test_help_imports_nothing_heavy() -> None:
    """In one process: what a page imports stays for those after it."""
    pages = (
        "",
        "ask",
        "export",
        "local import",
        "mcp",
        "plan",
        "repartition",
        "resume",
        "schedule",
    )
    script = (
        "import sys\n"
        "from pgs_neo4j.cli import main\n"
        f"for words in {pages!r}:\n"
        "    sys.argv = ['pgs', *words.split(), '--help']\n"
        "    try: main()\n"
        "    except SystemExit as left: assert not left.code\n"
        f"    print('LOADED', words, sorted(set({HEAVY!r}) & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    assert done.stdout.count("Usage: pgs") == len(pages)
    loaded = [line for line in done.stdout.splitlines() if line.startswith("LOADED")]
    assert loaded == [f"LOADED {words} []" for words in pages]


def test_the_first_page_imports_no_values_of_the_engine() -> None:
    """They are a hundred dataclasses, which would take as long as all else on that page."""
    script = (
        "import sys\n"
        "from pgs_neo4j.cli import main\n"
        "sys.argv = ['pgs', '--help']\n"
        "try: main()\n"
        "except SystemExit: print('LOADED', 'pgs_neo4j.model' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    assert done.stdout.endswith("LOADED False\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_in_80_columns_as_the_list_does(command: str) -> None:
    page = help_page(*command.split())
    assert f"Usage: pgs {command}" in page
    assert all(len(line) <= 80 for line in page.splitlines())
    if command in COMMAND_TABLE:
        summary = COMMAND_TABLE[command][1]
        assert f" {summary} " in on_one_line(page)
        assert len(summary) <= 60


def test_the_first_page_groups_the_commands_and_cuts_no_sentence() -> None:
    assert pgs("--version").output.startswith("pgs 0.")
    page = pgs("--help").output
    assert "..." not in page.partition("Start:")[2]
    lines = page.splitlines()
    panels = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert panels == ["Options:", "Start:", "Ask:", "Answers:", "Partitions:", "Serve:", "Setup:"]
    # A panel of its own for every few commands; all texts begin in one column.
    rows = [line for line in lines if line.startswith("  ") and line.split()[0] in COMMAND_TABLE]
    assert sorted(line.split()[0] for line in rows) == sorted({one.split()[0] for one in COMMANDS})
    assert {line.index(COMMAND_TABLE[line.split()[0]][1]) for line in rows} == {15}


def test_the_options_that_matter_most_come_first() -> None:
    first, _, rest = help_page("ask").partition("Limits of the run:")
    shown = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", first.partition("Options:")[2], re.MULTILINE)
    assert shown == [
        "--graph", "--continue", "--mode", "--session", "--full-sweep",
        "--structure-only", "--top-k", "--search-mode", "--idempotency-key", "--model", "--json",
        "--quiet", "--verbose", "--help",
    ]  # fmt: skip
    for panel in ("Which partitions are read:", "Model calls:", "How the graph is partitioned:"):
        assert panel in rest


@pytest.mark.parametrize(
    "wrong",
    [
        ("nonsense",), ("ask", "q", "--mode", "all"), ("ask", "q", "--top-k", "0"),
        ("load",), ("partitions", "--wrong"), ("graph", "add"),
        ("ask", "q", "--threshold", "much"), ("repartition", "--max-drift", "1.5"),
        ("repartition", "--keep", "0"), ("jobs", "list", "--limit", "0"), ("jobs", "show"),
        ("export", "r1"), ("export",), ("export", "r1", "--to", "-", "--format", "pdf"),
        ("plan", "q", "--top-k", "0"), ("cache",), ("cache", "clear", "now"),
    ],
)  # fmt: skip
def test_wrong_usage_is_2(wrong: tuple[str, ...]) -> None:
    done = pgs(*wrong)
    assert done.exit_code == 2
    assert "Usage: pgs" in done.stderr
    assert done.stdout == ""


DEFAULTS = {"mode": "full", "session_id": "default"}


def test_ask_passes_everything_on(engine: StandIn, answer_of: Callable[..., Answer]) -> None:
    engine.replies |= {"execute": answer_of(), "runs.document": DatabaseUnavailableError("gone")}
    line = (
        "ask why? -g papers --mode targeted --session s --full-sweep --sweep-fraction 0.5 "
        "--idempotency-key k1 --structure-only --max-sweep-partitions 7 --min-sweep-partitions 2 "
        "--threshold 0.4 --max-concurrent-sweeps 3 --sweep-max-tokens 900 "
        "--synthesis-max-tokens 800 --min-community-size 5 --target-partition-max 50 "
        "--max-partition-tokens 20000 --max-flag-sweeps 0 --max-calls 9 --max-tokens 10000 "
        "--max-cost 0.5 --timeout none --no-cache --hedge --strict --route-by centroids "
        "--max-unmatched-tokens 5 --json -q"
    )
    assert pgs(*shlex.split(line)).exit_code == 3
    knobs = {
        "sweep_fraction": 0.5, "max_sweep_partitions": 7, "min_sweep_partitions": 2,
        "partition_relevance_threshold": 0.4, "max_concurrent_sweeps": 3, "sweep_max_tokens": 900,
        "synthesis_max_tokens": 800, "min_community_size": 5, "target_partition_max": 50,
        "max_partition_tokens": 20000,
        "max_flag_sweeps": 0, "max_calls": "9", "max_tokens": "10000", "max_cost": "0.5",
        "run_timeout_s": "none", "cache": False, "hedge": True, "route_by": "centroids",
        "max_unmatched_tokens": "5", "strict": True,
    }  # fmt: skip
    assert engine.opened == [("engine", knobs)]
    asked = {"graph": "papers", "mode": "targeted", "session_id": "s", "full_sweep": True}
    asked |= {"idempotency_key": "k1", "structure_only": True}
    assert engine.asked[0] == ("execute", "why?", asked)
    engine.raising = UsageError("nothing is searched here")
    pgs("ask", "why?", "--top-k", "9", "--search-mode", "local")
    assert engine.asked[-1] == (
        "layered_search",
        "why?",
        DEFAULTS | {"top_k": 9, "search_mode": "local"},
    )
    pgs("ask", "why?")  # leaves all to the settings
    assert (engine.opened[-1], engine.asked[-1]) == (("engine", {}), ("execute", "why?", DEFAULTS))
    engine.raising = UsageError("nothing is partitioned here")
    line = "partition -g p --force --algorithm louvain --random-seed 3 --min-community-size 4"
    assert pgs(*line.split()).exit_code == 2
    knobs = {"algorithm": "louvain", "random_seed": 3, "min_community_size": 4}
    assert engine.opened[-1][1] == knobs
    assert engine.asked[-1] == ("partitions.build", "p", {"force": True})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ask", "  "), "pgs: the question is empty"),
        (("plan", "  "), "pgs: the question is empty"),
        (("route", "  "), "pgs: the question is empty"),
        (("ask", "why?", "--idempotency-key", "k", "--top-k", "3"), "--top-k; leave one of them"),
        (("ask", "why?", "--max-calls", "ten"), "max_calls"),
        (("ask", "why?", "--max-calls", "0"), "max_calls"),
        (("ask", "why?", "--max-cost", "-1"), "max_cost"),
        (("ask", "why?", "--timeout", "0"), "run_timeout_s"),
        (("ask", "why?", "--sweep-fraction", "3"), "sweep_fraction"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name_before_anything_is_opened(
    words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGS_NEO4J_URI", "bolt://127.0.0.1:1")
    done = pgs(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


def test_what_is_fetched_is_as_large_as_they_say() -> None:
    lock = json.loads((ROOT / "pgs_neo4j/database/local/artifacts.lock.json").read_text("utf-8"))
    said = f"about {sum(each['size_bytes'] for each in lock['artifacts']) / 1e6:.0f} MB"
    texts = [on_one_line(help_page(*words)) for words in FETCHING]
    for text in (*texts, " ".join((ROOT / "README.md").read_text("utf-8").split())):
        assert said in text
    current = sum(jar.size_bytes for jar in lockfile.load("2026").artifacts)
    assert f"Release 2026 is about {current / 1e6:.0f} MB" in texts[1]


NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)
LISTS = st.lists(NAMES, max_size=3).map(tuple)
PLAIN = NAMES.filter(lambda name: "." not in name)
LABELED = st.lists(st.tuples(PLAIN, PLAIN).map(".".join), max_size=3).map(tuple)
MAPPED = {
    one.name: LISTS if "tuple" in str(one.type) else st.none() | NAMES
    for one in fields(GraphMapping)
} | {"title": st.none() | PLAIN, "key": st.none() | PLAIN, "titles": LABELED, "keys": LABELED}


@hypothesis.settings(max_examples=tries(25, 100))
@given(st.builds(GraphMapping, **MAPPED))
def test_the_proposed_command_stores_the_proposed_mapping(mapping: GraphMapping) -> None:
    stored: list[GraphMapping] = []

    async def heard(
        name: str,
        given_mapping: GraphMapping,
        *,
        replace: bool,
        allow_missing: bool,
        as_json: bool,
    ) -> None:
        assert (name, replace, allow_missing, as_json) == ("g", False, False, False)
        stored.append(given_mapping)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphs, "_add", heard)
        words = shlex.split(add_command("g", mapping))
        assert words[0] == "pgs"
        assert pgs(*words[1:]).exit_code == 0
    assert stored == [mapping]


def test_config_show_masks_secrets_and_tells_origins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pgs.toml").write_text('neo4j_user = "reader"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGS_NEO4J_PASSWORD", "hunter-one")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter")
    monkeypatch.setenv("PGS_NEO4J_URI", "bolt://u:hid@hidden@host")
    monkeypatch.setenv("PGS_LLM_BASE_URL", "https://host/v1?key=hidden")
    done = pgs("config", "show", "--json")
    document = json.loads(done.stdout)
    shown = {each["name"]: (each["value"], each["origin"]) for each in document["settings"]}
    assert shown["neo4j_password"] == ("***", "environment")
    assert shown["llm_api_key"] == ("***", "environment")
    assert shown["neo4j_user"] == ("reader", "file")
    assert shown["neo4j_uri"] == ("bolt://***@host", "environment")
    assert shown["llm_base_url"] == ("https://host/v1?***", "environment")
    assert shown["sweep_fraction"] == (None, "default")
    assert document["file"] == str(tmp_path / "pgs.toml")
    for text in (done.output, pgs("config", "show").output):
        assert "hunter" not in text
        assert "hidden" not in text
    assert config.masked("http://host/v1", address=True) == "http://host/v1"
    assert config.masked("a@b?c") == "a@b?c"
    (tmp_path / "pgs.toml").write_text("neo4j_usr = 1\n")
    done = pgs("config", "show")
    assert (done.exit_code, "did you mean neo4j_user?" in done.stderr) == (2, True)


def test_doctor_leaves_with_the_code_of_what_failed_first_and_ends_with_a_verdict() -> None:
    checks = [Check("address", "ok", "fine"), Check("graphs", "warning", "none", "add one")]
    assert doctor.code_of(checks) == 0
    assert doctor.verdict(checks) == ("Ready, with 1 warning.", "warn")
    assert doctor.verdict(checks[:1]) == ("Ready: everything works.", "ok")
    failed = Check("model", "failed", "bad")
    for name, code in {"configuration": 2, "GDS": 5, "Neo4j version": 5, "sweep model": 6}.items():
        assert doctor.code_of([*checks, Check(name, "failed", "bad", "mend"), failed]) == code
    said = "1 check failed and 1 warning; each says how to fix it."
    assert doctor.verdict([*checks, failed]) == (said, "failed")


def test_doctor_prints_a_check_on_its_line_and_a_fix_below() -> None:
    check = Check("GDS", "failed", "it is\nmissing", "install it")
    assert doctor.describe(check) == ["FAIL GDS: it is missing", "     fix: install it"]
    check = Check("graph \x1b[2Ja\nb", "ok", "fine")
    assert doctor.describe(check) == ["ok   graph a b: fine"]


def test_the_demo_ends_with_commands_that_reach_its_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    plain = demo.next_steps(settings.load())
    assert plain[1] == "What to try now:"
    assert plain[2].startswith("  pgs ask --graph stdlib")
    monkeypatch.setenv("PGS_NEO4J_URI", "bolt://elsewhere")
    assert demo.next_steps(settings.load())[2].startswith("  env -u PGS_NEO4J_URI pgs ask ")
    monkeypatch.delenv("PGS_NEO4J_URI")
    (tmp_path / "pgs.toml").write_text('neo4j_uri = "bolt://elsewhere"\n')
    assert "neo4j_uri removed from pgs.toml" in demo.next_steps(settings.load())[1]


@pytest.mark.parametrize("words", [(), ("--reset",), ("--question", "Which parse files?")])
def test_the_demo_of_documents_ingests_without_a_model_and_asks(
    engine: StandIn,
    words: tuple[str, ...],
    answer_of: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    async def ensure_running(*given: Any) -> Any:
        return SimpleNamespace(uri="bolt://here", user="u", password="p", data_dir=tmp_path)

    gone = DocumentOutcome(id="gone.md", state="elsewhere")
    engine.replies |= {
        "ingest": ingested(*outcomes("unchanged", 3), gone), "ingest.delete": None,
        "partitions.build": None, "execute": answer_of(),
    }  # fmt: skip
    monkeypatch.setattr(local, "ensure_running", ensure_running)
    monkeypatch.chdir(tmp_path)
    done = pgs("demo", "--documents", "--quiet", *words)
    assert done.exit_code == 3  # as of the answer
    assert [kind for kind, _ in engine.opened] == ["database", "engine"]
    assert {given["neo4j_uri"] for _, given in engine.opened} == {"bolt://here"}
    (_, sources, *ingest), second, *_, asked = engine.asked
    assert sources
    assert ingest == ["packages", {"label": "DemoPackage"}]
    assert second == ("ingest.delete", "packages", ["gone.md"])
    question = words[1] if len(words) > 1 else PACKAGE_QUESTIONS[0]
    request = {"graph": "packages", "session_id": "demo", "mode": "full"}
    assert asked == ("execute", question, request)
    assert (("partitions.build", "packages", {"force": True}) in engine.asked) is (
        "--reset" in words
    )
    assert "pgs documents list --graph packages" in done.stdout
    assert "pgs ask --graph packages --session demo" in done.stdout


def test_the_demo_loads_again_without_its_marker(tmp_path: Path) -> None:
    marker = tmp_path / "demo"
    assert demo._read_marker(marker) is None
    demo._write_marker(marker, demo._loaded_versions())
    assert demo._read_marker(marker) == demo._loaded_versions()


def test_a_shell_is_opened_with_the_password_or_the_way_to_connect_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "password"
    secret.write_text("hunter2\n")
    found = local.LocalStatus(
        running=True, data_dir=tmp_path, size_bytes=1, version="5.26", gds_version="2.13",
        release="5.26", uri="bolt://127.0.0.1:7700",
    )  # fmt: skip
    monkeypatch.setattr(local, "status", lambda _: found)
    monkeypatch.setattr(local, "password_file", lambda _: secret)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = pgs("local", "shell")
    assert done.exit_code == 0
    assert all(said in done.stdout for said in ("bolt://127.0.0.1:7700", "neo4j", str(secret)))
    assert "hunter2" not in done.stdout + done.stderr
    piped = pgs("local", "shell", stdin="RETURN 1;\n")
    assert piped.exit_code == 2
    assert "the statements piped into 'pgs local shell' did not run" in piped.stderr
    program = tmp_path / "cypher-shell"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    opened: list[Any] = []
    monkeypatch.setattr(os, "execve", lambda *given: opened.append(given))
    assert pgs("local", "shell").exit_code == 0
    ((name, words, environment),) = opened
    assert (name, words) == (str(program), [str(program), "-a", "bolt://127.0.0.1:7700"])
    assert environment["NEO4J_PASSWORD"] == "hunter2"
    monkeypatch.setattr(local, "status", lambda _: replace(found, running=False))
    assert "'pgs local start' starts it" in pgs("local", "shell").stderr


def test_without_a_local_server_status_and_stop_say_so_and_name_the_release(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PGS_LOCAL_DATA_DIR", str(tmp_path / "none"))
    for command, told in (("status", "running"), ("stop", "stopped")):
        assert json.loads(pgs("local", command, "--json").stdout)[told] is False
        done = pgs("local", command)
        assert (done.exit_code, "not running" in done.stdout) == (0, True)
    assert not os.path.lexists(tmp_path / "none")
    done = pgs("local", "status", "--release", "2026")
    assert "'pgs local start --release 2026' starts it" in done.stdout
    assert "release  2026 (Neo4j 2026.08.1, GDS 2.26.0)" in done.stdout
    monkeypatch.setenv("PGS_LOCAL_RELEASE", "2026")
    assert json.loads(pgs("local", "status", "--json").stdout)["release"] == "2026"
    for command in ("start", "stop", "status", "log", "reset"):
        refused = pgs("local", command, "--release", "2031")
        assert refused.exit_code == 2
        assert "choose 5.26 or 2026" in refused.stderr


def test_a_server_that_other_commands_would_not_find_is_noted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def started(options: local.LocalOptions, listener: object) -> local.LocalServer:
        folder = paths_of(options).data_dir
        return local.LocalServer("bolt://x:1", "neo4j", "secret", 1, folder, True, "2026.08.1", "2")

    monkeypatch.setattr(local, "ensure_running", started)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    cases: list[tuple[dict[str, str], tuple[str, ...], bool]] = [
        ({}, ("--release", "2026"), True),
        ({"PGS_LOCAL_RELEASE": "2026"}, ("--release", "2026"), False),
        ({"PGS_LOCAL_DATA_DIR": "here"}, ("--release", "2026"), False),
        ({}, ("--release", "5.26"), False),
        ({}, (), False),
    ]
    for environment, flags, noted in cases:
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            done = pgs("local", "start", "--quiet", *flags)
        assert done.exit_code == 0
        told = "set PGS_LOCAL_RELEASE=2026; otherwise, other commands" in done.stderr
        assert told is noted, (environment, flags)


@pytest.mark.parametrize("name", [*QUESTION, "algorithm", "random_seed", "keep_generations"])
def test_an_option_says_what_the_setting_says(name: str) -> None:
    knob = next(each for each in settings.declarations(settings.PGSConfig) if each.name == name)
    text = help_of(knob)
    assert (knob.about.help or knob.description) in text[0].lower() + text[1:]
    assert text.endswith(".")
    default = knob.field.default
    if knob.about.topic == "limits":
        assert text.endswith(", or 'none'.")
    elif not isinstance(default, bool):
        assert f"[{'none' if default is None else default}]." in text
    command = {"keep_generations": "repartition"} | dict.fromkeys(
        ("algorithm", "random_seed"), "partition"
    )
    shown = on_one_line(help_page(command.get(name, "ask")))
    assert knob.flag in shown
    assert text in shown


def test_without_its_extra_the_mcp_server_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("pgs_neo4j.mcp_server.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    done = pgs("mcp")
    assert done.exit_code == 2
    assert "pip install 'pgs-neo4j[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_word_of_an_option_has_a_suggestion() -> None:
    said = on_one_line(pgs("search", "q", "--mode", "sumary").stderr)
    assert "'sumary' is not one of 'naive', " in said
    assert said.endswith("Did you mean 'summary'?")
    assert "Value error" not in said
    done = pgs("ask", "q", "--mode", "contine", "--json")
    assert "Did you mean 'continue'?" in json.loads(done.stderr)["error"]
    assert "Did you mean" not in pgs("ask", "q", "--mode", "zzz").stderr


def test_help_of_a_command_is_as_with_its_option() -> None:
    assert pgs("help", "ask").stdout == help_page("ask")
    assert pgs("help", "graph", "add").stdout == help_page("graph", "add")
    assert pgs("help", "partitions").stdout.startswith("#")  # a page of the manual
    assert pgs("help", "nonsense").exit_code == 2


@pytest.mark.parametrize(
    "words",
    [("ask", "why?"), ("plan", "why?"), ("search", "why?", "--answer"), ("analogies",),
     ("resume", "r1")],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_model_of_the_command_line_does_all_tasks(
    engine: StandIn, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGS_LLM_PROVIDER", "ollama")
    pgs(*words, "--model", "llama9")
    (_, settings) = engine.opened[0]
    assert {value for name, value in settings.items() if name.endswith("_model")} == {"llama9"}
    assert len(settings) == 5
