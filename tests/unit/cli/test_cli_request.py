"""The question: words of the command line, or the text on stdin."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pgs_neo4j.cli.commands.request import MOST_BYTES, question_of
from pgs_neo4j.errors import QuestionError

ROOT = Path(__file__).resolve().parents[3]


class Stdin(io.TextIOWrapper):
    """Stands in for stdin, as a pipe or a terminal."""

    terminal = False

    def isatty(self) -> bool:
        return self.terminal


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], Stdin]:
    def pipe(content: bytes) -> Stdin:
        stdin = Stdin(io.BytesIO(content))
        monkeypatch.setattr(sys, "stdin", stdin)
        return stdin

    return pipe


def test_several_words_are_one_question(
    capsys: pytest.CaptureFixture[str], piped: Callable[[bytes], Stdin]
) -> None:
    stdin = piped(b"something else")
    assert question_of(["what", "is", "missing?"]) == "what is missing?"
    assert capsys.readouterr().err == "note: the question: what is missing?\n"
    assert question_of(["what", "is"], quiet=True) == "what is"
    assert question_of(["what is missing?"]) == "what is missing?"
    assert capsys.readouterr().err == ""
    assert stdin.read() == "something else"


def test_a_dash_or_nothing_reads_stdin_and_refuses_what_is_no_question(
    piped: Callable[[bytes], Stdin],
) -> None:
    for words in (["-"], list[str]()):
        piped("\ufeff  What is known\nabout “sleep”?\n".encode())
        assert question_of(words) == "What is known\nabout “sleep”?"
    for content, said in (
        (b" \n", "stdin holds no question; write it"),
        (b"\xff\xfe", "not valid UTF-8"),
        (b"x" * (MOST_BYTES + 1), "longer than 1,000,000 bytes"),
    ):
        piped(content)
        with pytest.raises(QuestionError, match=said):
            question_of(["-"])


def test_at_a_terminal_the_quotes_are_shown_and_a_closed_stdin_is_no_fault(
    piped: Callable[[bytes], Stdin], monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(b"").terminal = True
    with pytest.raises(QuestionError, match='as in pgs ask "What is missing'):
        question_of([])
    monkeypatch.setattr(sys, "stdin", None)
    for words in (["-"], list[str]()):
        with pytest.raises(QuestionError):
            question_of(words)


def test_a_wait_for_stdin_is_told() -> None:
    script = (
        "from pgs_neo4j.cli.commands import request as q\n"
        "q.WAIT_S = 0.05\n"
        "print(q.question_of(['-']))\n"
    )
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdin=reading,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(reading)
        assert process.stderr is not None
        assert process.stdout is not None
        assert b"waiting for the question on stdin" in process.stderr.readline()
        os.write(writing, b"why?")
        os.close(writing)
        assert process.stdout.read() == b"why?\n"
