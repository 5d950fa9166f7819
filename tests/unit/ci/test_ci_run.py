"""When `.ci/run` is green, with stand-ins for the commands that it calls."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]
STANDINS = {
    # Makes an "environment" of stand-ins. There is no other Python of the system.
    "python3": """
case "$*" in
"-m venv "*) mkdir -p "$3/bin" && cp "$STANDINS"/* "$3/bin" ;;
"-m tests.failed "*) exec "$PYTHON" "$@" ;;
esac
""",
    # Fails as told in its first run, and as told when it runs the failed tests once more.
    "pytest": """
case "$*" in
*failed-README*--last-failed*) exit "${AGAIN:-0}" ;;
*failed-README*)
    echo "$TMPDIR" >"$NOTES/folder"
    echo "$*" >"$NOTES/arguments"
    [ -z "${HANG:-}" ] || { echo $$ >"$NOTES/pid"; exec sleep 60; }
    cache=$(printf '%s\\n' "$@" | sed -n 's/^cache_dir=//p')
    mkdir -p "$cache/v/cache" && echo "${FAILED:-{\\}}" >"$cache/v/cache/lastfailed"
    echo "1 passed in 0.01s"
    exit "${FIRST:-0}"
    ;;
esac
""",
    "ruff": 'exit "${LINT:-0}"',
    "getconf": 'echo "$STANDINS"',
    # Notes what it installs, unless that is MISSING.
    "pip": """
case "$*" in *"${MISSING:-nothing}"*) exit 1 ;; esac
echo "$*" >>"$NOTES/installed"
""",
    # Like pip, unless it is the installer that is missing.
    "uv": """
[ -z "${NO_UV:-}" ] || exit 127
case "$*" in *"${MISSING:-nothing}"*) exit 1 ;; esac
echo "uv $*" >>"$NOTES/installed"
""",
    "mypy": "",
    "lint-imports": "",
    "npm": "exit 1",
    "chromium": "",
    "apt-get": "exit 1",
}


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """The environment in which `.ci/run` finds the stand-ins."""
    folder = tmp_path / "standins"
    folder.mkdir()
    for name, script in {**STANDINS, "python": STANDINS["python3"]}.items():
        (folder / name).write_text(f"#!/usr/bin/env bash\n{script}\n")
        (folder / name).chmod(0o755)
    return {
        "PATH": f"{folder}:/usr/bin:/bin",
        "STANDINS": str(folder),
        "PYTHON": sys.executable,
        "NOTES": str(tmp_path),
        "TMPDIR": str(tmp_path),
    }


def run(environment: dict[str, str], *arguments: str, **more: str) -> tuple[int, list[str]]:
    ended = subprocess.run(
        ["bash", ROOT / ".ci/run", *arguments],
        env=environment | more,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stdout.splitlines()


@pytest.mark.parametrize(
    ("more", "code", "last"),
    [
        ({}, 0, "lint passed as well."),
        ({"FIRST": "1", "FAILED": '{"a": true}'}, 0, "unsteady: failed, and passed alone: a"),
        ({"FIRST": "1", "FAILED": '{"a": 1, "b": 1}'}, 0, "unsteady: failed, and passed alone: b"),
        ({"FIRST": "1", "FAILED": '{"a": true, "b": true, "c": true}'}, 1, "failed: c"),
        ({"FIRST": "1", "FAILED": '{"t.py::a": true}', "AGAIN": "1"}, 1, "failed: t.py::a"),
        ({"FIRST": "1"}, 1, None),  # pytest names no failed test
        ({"FIRST": "2"}, 1, None),  # interrupted, or a file that cannot be imported
        ({"LINT": "1"}, 1, None),
    ],
    ids=["green", "one", "two", "three", "twice", "unnamed", "interrupted", "lint"],
)
def test_a_failure_that_does_not_repeat_is_named_and_up_to_two_are_green(
    surroundings: dict[str, str], more: dict[str, str], code: int, last: str | None
) -> None:
    ended, lines = run(surroundings, **more)
    assert ended == code, lines
    assert "1 passed in 0.01s" in lines
    if last is not None:
        assert last in (lines[-1], *(line for line in lines if line.startswith("lint")))


@pytest.mark.parametrize("no_uv", ["", "1"])
def test_libraries_that_cannot_be_installed_keep_no_others_away(
    surroundings: dict[str, str], no_uv: str
) -> None:
    ended, lines = run(surroundings, MISSING="fuzz", NO_UV=no_uv)
    assert ended == 0, lines
    installed = (Path(surroundings["NOTES"]) / "installed").read_text()
    assert ("uv pip" in installed) == (not no_uv)
    expected = ("lint", "browser", "site", "graphrag", "langchain", "notebook", "suites", "test")
    assert [f".[{extra}]" in installed for extra in expected] == [True] * len(expected)
    assert "fuzz" not in installed


@pytest.mark.parametrize(("arguments", "all_tests"), [((), False), (("--nightly",), True)])
def test_what_repeats_for_minutes_runs_at_night(
    surroundings: dict[str, str], arguments: tuple[str, ...], all_tests: bool
) -> None:
    ended, lines = run(surroundings, *arguments)
    assert ended == 0, lines
    asked = (Path(surroundings["NOTES"]) / "arguments").read_text()
    assert "--thorough" in asked
    assert ("-m not nightly" not in asked) == all_tests


def test_an_option_that_it_does_not_have_is_refused(surroundings: dict[str, str]) -> None:
    assert run(surroundings, "--nightyl")[0] == 2


def test_without_what_all_tests_need_nothing_is_tested(surroundings: dict[str, str]) -> None:
    ended, lines = run(surroundings, MISSING="lint")
    assert ended != 0
    assert "1 passed in 0.01s" not in lines


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_leaves_no_folders(surroundings: dict[str, str], ending: int) -> None:
    notes = Path(surroundings["NOTES"])
    with subprocess.Popen(
        ["bash", ROOT / ".ci/run"],
        env=surroundings | {"HANG": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as running:
        wait_until(lambda: (notes / "pid").exists() and (notes / "pid").read_text() != "")
        hanging = psutil.Process(int((notes / "pid").read_text()))
        folder = Path((notes / "folder").read_text().strip())
        assert folder.is_dir()
        running.send_signal(ending)
        if ending == signal.SIGKILL:  # what it started is not killed with it, and ends later
            assert running.wait() == -signal.SIGKILL
            hanging.kill()
        running.wait()
    wait_until(lambda: not hanging.is_running())
    wait_until(lambda: not list(notes.glob("tmp.*")))
    if folder != notes:  # there was room in memory
        wait_until(lambda: not folder.exists())
