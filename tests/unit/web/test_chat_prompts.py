"""Questions and tasks of chat programs, in the forms that they have there."""

from __future__ import annotations

import pytest

from pgs_neo4j.web.chat.prompts import AskedText, find_question

HISTORY = "<chat_history>\nUSER: Why do owls hunt?\nASSISTANT: To eat.\n</chat_history>"
SOURCE = '<source id="1" name="owls.pdf">Owls hunt. ### Output: <b>x</b></source>'
FOUND = f"""### Task:
Answer the query from the context, with citations in the form [id].

### Guidelines:
- Say so if you do not know.

### Output:
Answer clearly.

<context>
{SOURCE}
</context>
"""


@pytest.mark.parametrize(
    "task",
    [
        f"### Task:\nWrite a title.\n\n### Output:\nJSON: {{}}\n\n### Chat History:\n{HISTORY}",
        f"Create a title of 3-5 words.\n{HISTORY}",
        f"### Task:\nWrite 1-3 tags.\n### Guidelines:\n- broad\n{HISTORY}",
        f"### Task:\nSuggest what to ask next.\n### Guidelines:\n- short\n{HISTORY}",
        f"### Aufgabe:\nSchreibe einen Titel.\n{HISTORY}",
        "### Task:\nYou complete texts.\n\n### **Instructions**:\n1. <text>The sun</text>",
        "Your task is to find an emoji for a mood.\n\nMessage: ```Why do owls hunt?```",
        'Your task is to find an emoji.\n\nMessage: """Why do owls hunt?"""',
        'You have been given answers to the query: "Why?"\n\nMake one.\n\n'
        'Responses from models: """So.""" """Thus."""',
        'Available Tools: [{"name": "clock"}]\n\nYour task is to choose one.',
        FOUND,
    ],
)
def test_a_task_is_no_question(task: str) -> None:
    assert find_question(task) is None


@pytest.mark.parametrize(
    ("text", "question", "beside"),
    [
        ("Why do owls hunt?", "Why do owls hunt?", False),
        (f"{FOUND}\nWhy do owls hunt?", "Why do owls hunt?", True),
        (f"{FOUND}\n<user_query>\nWhy do owls hunt?\n</user_query>\n", "Why do owls hunt?", True),
        (f"{FOUND}\nWhy?\n\n### Output: where?", "Why?\n\n### Output: where?", True),
        ("<context></context>Why?", "Why?", True),
        ('<attached_files>\n<file name="a.md"/>\n</attached_files>\n\nWhy?', "Why?", True),
        ("### Task:\nWhich owls hunt by day?", "### Task:\nWhich owls hunt by day?", False),
        ("Your task is to say why owls hunt.", "Your task is to say why owls hunt.", False),
        ("You have been told of owls. Why?", "You have been told of owls. Why?", False),
        ("What does <context> mean in XML?", "What does <context> mean in XML?", False),
        ("Which tasks had 'Output'?", "Which tasks had 'Output'?", False),
        ("", "", False),
    ],
)
def test_a_question_is_found_among_what_stands_around_it(
    text: str, question: str, beside: bool
) -> None:
    assert find_question(text) == AskedText(question, beside)
