"""The question of a command: its words, or the text on stdin."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pgs_neo4j.cli import output
from pgs_neo4j.errors import QuestionError
from pgs_neo4j.text.shown import one_line

STDIN = "-"
MOST_BYTES = 1_000_000  # of stdin; far more than the longest question
WAIT_S = 2.0  # before saying that stdin is awaited
SHOWN = 200  # characters of a question in a note


def question_of(words: Sequence[str], *, quiet: bool = False) -> str:
    """Return the question that a command was given.

    Several words are one question. ``-``, and no word at all where stdin is not a terminal, stand
    for the text on stdin. Raises QuestionError.
    """
    if list(words) == [STDIN]:
        return read_stdin()
    if words:
        if len(words) > 1 and not quiet:
            output.note(f"the question: {one_line(' '.join(words), SHOWN)}")
        return " ".join(words)
    if sys.stdin is None or sys.stdin.isatty():
        raise QuestionError(
            'there is no question; write it in quotes after the command, as in pgs ask "What is '
            'missing?", or write - and pipe it in'
        )
    return read_stdin()


def read_stdin() -> str:
    """Return the text on stdin, without the white space around it. Raises QuestionError."""
    if sys.stdin is None:
        raise QuestionError("stdin is closed; write the question after the command")
    with output.patience("waiting for the question on stdin; end it with Ctrl-D", WAIT_S):
        content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise QuestionError(
            f"the text on stdin is longer than {MOST_BYTES:,} bytes; pipe in the question alone"
        )
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise QuestionError("the text on stdin is not valid UTF-8; write it again") from None
    if not text:
        raise QuestionError("stdin holds no question; write it after the command, or pipe it in")
    return text
