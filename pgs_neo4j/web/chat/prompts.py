"""Finds the question in a chat message, among texts that chat programs add.

Open WebUI puts files and knowledge before the question, and the output of tools and instructions
for running code after it. It also sends its own tasks to the same model: titles, tags, an emoji,
merged answers, a choice of tools. Tasks are recognized by their structure. Their wording is not
enough, because users can change the templates, and a question may begin with the same words.

A message may be long and hostile, so elements are found by searching for one tag after another. A
pattern that spans an element would try each opening tag with the whole rest of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TASKS: tuple[re.Pattern[str], ...] = (
    # Completions of unfinished input, prompts for pictures, and summaries of long chats.
    re.compile(
        r"\A#+ \**Task:?\**:?.*^#+ \**(Output|Guidelines|Instructions)\b", re.DOTALL | re.MULTILINE
    ),
    # An emoji for a message.
    re.compile(r"\AYour task\b.*\bMessage: (```|\"\"\")", re.DOTALL),
    # One answer merged from the answers of several models.
    re.compile(r"\AYou have been\b.*^Responses from models:", re.DOTALL | re.MULTILINE),
    # A choice of tools, in a message of its own or after a list of tools.
    re.compile(r"\AAvailable Tools:"),
    re.compile(r"\A(Query: )?History:\n[A-Z]+: \"\"\".*\"\"\"\nQuery: ", re.DOTALL),
)
NOTES, END_OF_NOTES, END_OF_CONTEXT = "<notes>", "</notes>", "</context>"
NOTES_IN_CONTEXT = re.compile(rf"{END_OF_NOTES}\s*<context>")
QUERY = "Query: "
TOOLS = re.compile(r"^Available Tools:|\"tool_calls\"", re.MULTILINE)
"""Found in a system message that lists tools; a query after it asks to choose a tool."""
HEADING = re.compile(r"^#+ ", re.MULTILINE)
CODE = '<code_interpreter type="'
TOOL_OUTPUT = re.compile(r"^Tool `[^`\n]+` Output: ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AskedText:
    """The question in a message.

    ``has_other_texts`` is true if the message also contained other texts, which are not read.
    """

    question: str
    has_other_texts: bool = False


def find_question(text: str, system: str = "") -> AskedText | None:
    """Return the question in the last message of a conversation; None if it is a task.

    ``system`` is the text of the system messages.
    """
    bare = _drop_attached_files(text).strip()
    context = _find_element(bare, "context")
    if context is not None:
        question = _drop_appended(_extract_query(bare[context[1] :]))
        if question:
            return AskedText(question, has_other_texts=True)
    if _is_task(bare, system):
        return None
    question = _drop_appended(bare)
    return AskedText(question, has_other_texts=question != text.strip())


def _is_task(text: str, system: str) -> bool:
    """Return whether a message is a task of the chat program, not a question."""
    if _find_element(text, "chat_history") is not None:
        return True
    if text.startswith(QUERY) and TOOLS.search(system):
        return True
    return _is_note(text) or any(task.search(text) for task in TASKS)


def _is_note(text: str) -> bool:
    """Return whether a message asks to rewrite a note, with or without a context."""
    if not text.startswith(NOTES):
        return False
    if text.endswith(END_OF_NOTES):
        return True
    start = NOTES_IN_CONTEXT.search(text, len(NOTES))
    return start is not None and text.endswith(END_OF_CONTEXT)


def _find_element(text: str, name: str) -> tuple[int, int] | None:
    """Return the start of the first element that begins a line, and the end of the last one.

    A closing tag at the start of a line is preferred, because chat programs write it there, while a
    question may mention a tag within a line.
    """
    start = re.compile(rf"^[ \t]*<{name}>", re.MULTILINE).search(text)
    if start is None:
        return None
    end = f"</{name}>"
    at = text.rfind(f"\n{end}", start.end())
    at = at + 1 if at >= 0 else text.rfind(end, start.end())
    return None if at < 0 else (start.start(), at + len(end))


def _drop_attached_files(text: str) -> str:
    """Remove the lists of attached files."""
    parts, place = [], 0
    for start in re.finditer(r"^<attached_files>", text, re.MULTILINE):
        end = text.find("</attached_files>", start.end()) if start.start() >= place else -1
        if end >= 0:
            parts.append(text[place : start.start()])
            place = end + len("</attached_files>")
        elif start.start() >= place:
            break  # no later list has an end
    return "".join([*parts, text[place:]])


def _extract_query(text: str) -> str:
    """Return the question within its tags, or the whole text if there are no tags."""
    _, start, rest = text.partition("<user_query>")
    quoted, end, _ = rest.partition("</user_query>")
    return quoted if start and end else text


def _drop_appended(text: str) -> str:
    """Remove instructions for running code and the output of tools.

    If nothing else is left, the text is returned unchanged.
    """
    ends = [found.start() for found in [TOOL_OUTPUT.search(text)] if found]
    code = text.find(CODE)
    if code >= 0:
        ends += [found.start() for found in HEADING.finditer(text, 0, code)][-1:]
    return text[: min(ends)].strip() or text.strip() if ends else text.strip()
