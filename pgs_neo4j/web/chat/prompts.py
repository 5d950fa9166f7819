"""What a chat program writes around a question, or instead of one.

Open WebUI puts the files and the knowledge of a chat before the question, what its tools found and
how to run code behind it, and sends tasks of its own to the same model: titles, tags, an emoji, a
mixture of answers, a choice of tools. They are told apart by their parts, since the words of its
templates can be changed, and people may begin as it does.

A message may be long and hostile. Elements are therefore found by their tags, one after another: a
pattern with a gap in it would try each opening tag with the whole rest of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TASKS: tuple[re.Pattern[str], ...] = (
    # Completions of what is being typed, texts for pictures, and the summary of a long chat.
    re.compile(
        r"\A#+ \**Task:?\**:?.*^#+ \**(Output|Guidelines|Instructions)\b", re.DOTALL | re.MULTILINE
    ),
    # An emoji for a message.
    re.compile(r"\AYour task\b.*\bMessage: (```|\"\"\")", re.DOTALL),
    # One answer out of the answers of several models.
    re.compile(r"\AYou have been\b.*^Responses from models:", re.DOTALL | re.MULTILINE),
    # A choice of tools, in a message that is its own or follows on a list of them.
    re.compile(r"\AAvailable Tools:"),
    re.compile(r"\A(Query: )?History:\n[A-Z]+: \"\"\".*\"\"\"\nQuery: ", re.DOTALL),
)
NOTES, END_OF_NOTES, END_OF_CONTEXT = "<notes>", "</notes>", "</context>"
NOTES_IN_CONTEXT = re.compile(rf"{END_OF_NOTES}\s*<context>")
QUERY = "Query: "
TOOLS = re.compile(r"^Available Tools:|\"tool_calls\"", re.MULTILINE)
"""What a system message says that lists tools, so that a query chooses one of them."""
HEADING = re.compile(r"^#+ ", re.MULTILINE)
CODE = '<code_interpreter type="'
TOOL_OUTPUT = re.compile(r"^Tool `[^`\n]+` Output: ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AskedText:
    """The question in a message; ``beside``: it came with texts, which are not read."""

    question: str
    beside: bool = False


def find_question(text: str, system: str = "") -> AskedText | None:
    """Return the question in the last message of a conversation; None if it is a task.

    ``system`` is what the system messages before it say.
    """
    bare = _without_attached(text).strip()
    context = _find_element(bare, "context")
    if context is not None:
        question = _without_appended(_quoted(bare[context[1] :]))
        if question:
            return AskedText(question, beside=True)
    if _is_task(bare, system):
        return None
    question = _without_appended(bare)
    return AskedText(question, beside=question != text.strip())


def _is_task(text: str, system: str) -> bool:
    """Whether a message is for the chat program: a conversation, and what to write of it."""
    if _find_element(text, "chat_history") is not None:
        return True
    if text.startswith(QUERY) and TOOLS.search(system):
        return True
    return _is_note(text) or any(task.search(text) for task in TASKS)


def _is_note(text: str) -> bool:
    """Whether a message is a note to be written once more, with or without texts for it."""
    if not text.startswith(NOTES):
        return False
    if text.endswith(END_OF_NOTES):
        return True
    begun = NOTES_IN_CONTEXT.search(text, len(NOTES))
    return begun is not None and text.endswith(END_OF_CONTEXT)


def _find_element(text: str, name: str) -> tuple[int, int] | None:
    """Return where an element begins that has a line of its own, and where the last such ends.

    Programs put its end on a line as well, which tells it from tags that a question names.
    """
    begun = re.compile(rf"^[ \t]*<{name}>", re.MULTILINE).search(text)
    if begun is None:
        return None
    end = f"</{name}>"
    at = text.rfind(f"\n{end}", begun.end())
    at = at + 1 if at >= 0 else text.rfind(end, begun.end())
    return None if at < 0 else (begun.start(), at + len(end))


def _without_attached(text: str) -> str:
    """Leave out the lists of attached files."""
    kept, place = [], 0
    for begun in re.finditer(r"^<attached_files>", text, re.MULTILINE):
        end = text.find("</attached_files>", begun.end()) if begun.start() >= place else -1
        if end >= 0:
            kept.append(text[place : begun.start()])
            place = end + len("</attached_files>")
        elif begun.start() >= place:
            break  # no later list ends, either
    return "".join([*kept, text[place:]])


def _quoted(text: str) -> str:
    """Return the question within its tags, or the text if it has none."""
    _, begun, rest = text.partition("<user_query>")
    quoted, end, _ = rest.partition("</user_query>")
    return quoted if begun and end else text


def _without_appended(text: str) -> str:
    """Leave out how to run code, and what tools found; keep a text that is nothing else."""
    ends = [found.start() for found in [TOOL_OUTPUT.search(text)] if found]
    code = text.find(CODE)
    if code >= 0:
        ends += [found.start() for found in HEADING.finditer(text, 0, code)][-1:]
    return text[: min(ends)].strip() or text.strip() if ends else text.strip()
