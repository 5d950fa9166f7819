"""How a command ends when its arguments are wrong, or stdout takes no more text."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.cli import output
from pgs_neo4j.cli.pages.text import Wrapper
from pgs_neo4j.cli.progress.listen import AnswerStream, Silent, run_progress
from pgs_neo4j.errors import OutputError
from pgs_neo4j.events import RunStarted, TextStreamed, Warned
from tests.fakes.commands import pgs

ROOT = Path(__file__).resolve().parents[3]
FULL = Path("/dev/full")
full_disk = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", "--json", "--nope", "x"), "No such option: --nope"),
        (("ask", "q", "--mode", "all", "--json"), "Invalid value"),
        (("nonsense", "--json"), "No such command"),
    ],
)
def test_wrong_arguments_are_json_too(arguments: tuple[str, ...], said: str) -> None:
    done = pgs(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    error = json.loads(line)
    assert said in error["error"]
    assert error["code"] == 2
    assert set(error) == {"error", "kind", "code", "fix"}


def test_what_to_do_stands_apart() -> None:
    done = pgs("ask", "  ", "--json")
    assert json.loads(done.stderr) == {
        "error": "the question is empty; write what you want to know",
        "kind": "QuestionError", "code": 2, "fix": "write what you want to know",
    }  # fmt: skip


def test_after_two_dashes_json_is_a_word() -> None:
    done = pgs("ask", "--top-k", "1", "--idempotency-key", "k", "--", "why", "--json")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith("pgs: --idempotency-key cannot be combined")


@full_disk
@pytest.mark.parametrize("arguments", [("ask", "--help"), ("help",)])
def test_a_full_stdout_is_one_sentence(arguments: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pgs_neo4j", *arguments],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "pgs: stdout cannot be written: No space left on device; free some space or write "
        "elsewhere\n"
    )


async def test_a_full_stdout_stops_the_run_and_says_how_to_resume_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(text: str) -> None:
        raise OutputError("stdout cannot be written: full")

    monkeypatch.setattr(output, "write", full)

    async def work() -> None:
        with run_progress(quiet=True) as shown:
            stream = AnswerStream(shown, asyncio.current_task(), Wrapper(None))
            stream(RunStarted("r1", resumed=False))
            stream(TextStreamed("a"))
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                raise stream.fault or AssertionError from None

    with pytest.raises(OutputError) as raised:
        await asyncio.create_task(work())
    assert raised.value.__notes__ == ["run r1 can be resumed: pgs resume r1"]


class Heard(Silent):
    """Remembers the events, and what stdout held by then."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys, self.heard = capsys, list[tuple[str, str]]()

    def __call__(self, event: Any) -> None:
        self.heard.append((event.message, self.capsys.readouterr().out))


async def test_no_event_is_told_within_a_line_of_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    heard = Heard(capsys)
    stream = AnswerStream(heard, None, Wrapper(None))
    for event in (TextStreamed("one "), Warned("mind"), TextStreamed("line")):
        stream(event)
    assert heard.heard == []
    stream.close()
    assert heard.heard == [("mind", "one line\n")]


def test_a_message_begins_a_line_of_its_own() -> None:
    script = (
        "from pgs_neo4j.cli import output\n"
        "output.write('half a line')\n"
        "output.note('mind')\n"
        "output.write('whole\\n')\n"
        "output.note('again')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "half a line\nnote: mind\nwhole\nnote: again\n"
    apart = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (apart.stdout, apart.stderr) == ("half a linewhole\n", "note: mind\nnote: again\n")
