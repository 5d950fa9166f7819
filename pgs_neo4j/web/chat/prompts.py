"""What a chat program writes around a question, or instead of one.

Open WebUI puts the files and the knowledge of a chat before the question, and sends tasks of its
own to the same model: titles, tags, an emoji, a mixture of answers. They are told apart by their
parts, since the words of its templates can be changed, and people may begin as it does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CONTEXT = re.compile(r"<context>.*</context>", re.DOTALL)
"""The texts that a program found for a question, which stands behind them or in tags."""
ASKED = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
ATTACHED = re.compile(r"<attached_files>.*?</attached_files>", re.DOTALL)
TASKS: tuple[re.Pattern[str], ...] = (
    # Titles, tags, questions to follow, searches: a conversation, and how to write what of it.
    re.compile(r"<chat_history>.*</chat_history>", re.DOTALL),
    # Completions of what is being typed, and texts for pictures.
    re.compile(
        r"\A#+ \**Task:?\**:?.*^#+ \**(Output|Guidelines|Instructions)\b", re.DOTALL | re.MULTILINE
    ),
    # An emoji for a message.
    re.compile(r"\AYour task\b.*\bMessage: (```|\"\"\")", re.DOTALL),
    # One answer out of the answers of several models.
    re.compile(r"\AYou have been\b.*^Responses from models:", re.DOTALL | re.MULTILINE),
    # A choice of tools.
    re.compile(r"\AAvailable Tools:"),
)


@dataclass(frozen=True, slots=True)
class AskedText:
    """The question in a message; ``beside``: it came with texts, which are not read."""

    question: str
    beside: bool = False


def find_question(text: str) -> AskedText | None:
    """Return the question in the last message of a conversation; None if it is a task."""
    bare = ATTACHED.sub("", text)
    beside = bare != text
    found = CONTEXT.search(bare)
    if found is not None:
        quoted = ASKED.search(bare[found.end() :])
        question = quoted[1] if quoted else bare[found.end() :]
        if question.strip():
            return AskedText(question.strip(), beside=True)
    if any(task.search(bare) for task in TASKS):
        return None
    return AskedText(bare.strip(), beside)
