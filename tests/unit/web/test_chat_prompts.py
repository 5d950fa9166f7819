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
CODE = """
#### Code

You can run it: `<code_interpreter type="code" lang="python"></code_interpreter>`

- Print what counts.
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
        'History:\nUSER: """Hello"""\nASSISTANT: """Hi"""\nQuery: Why do owls hunt?',
        'Query: History:\nUSER: """Why?"""\nQuery: Why?',
        "### Task:\nSum up.\n\n### Instructions:\n- short\n\n### Previous Summary:\n",
        "<notes>Owls hunt.</notes>",
        f"<notes>Owls hunt.</notes>\n<context>owls.md: {SOURCE}</context>",
        f"<notes>See </notes> there.</notes><context>{SOURCE}</context></context>\n",
        FOUND,
    ],
)
def test_a_task_is_no_question(task: str) -> None:
    assert find_question(task) is None


@pytest.mark.parametrize(
    ("text", "question", "has_other_texts"),
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
        ("Is <context>a</context> valid?", "Is <context>a</context> valid?", False),
        (f"{FOUND}\nWhy is </context> there?", "Why is </context> there?", True),
        ("Does </x> end <chat_history> </x>?", "Does </x> end <chat_history> </x>?", False),
        (
            "Is <chat_history></chat_history> a tag?",
            "Is <chat_history></chat_history> a tag?",
            False,
        ),
        (f"Why do owls hunt?\n{CODE}", "Why do owls hunt?", True),
        (f"{FOUND}\n# Why?\nDo owls hunt?\n{CODE}", "# Why?\nDo owls hunt?", True),
        (f"Why?\n{CODE}\n\nTool `clock` Output: ## Noon\n<b>12</b>", "Why?", True),
        ("Why?\n\nTool `clock` Output: 12", "Why?", True),
        ("Tool `clock` Output: 12", "Tool `clock` Output: 12", False),
        ("Query: Why do owls hunt?", "Query: Why do owls hunt?", False),
        ("Which tasks had 'Output'?", "Which tasks had 'Output'?", False),
        ("<notes>Owls hunt. Why?", "<notes>Owls hunt. Why?", False),
        (
            "<notes>Owls.</notes> Is <context> a tag, as </context>?",
            "<notes>Owls.</notes> Is <context> a tag, as </context>?",
            False,
        ),
        ("<notes>a</context>", "<notes>a</context>", False),
        ("", "", False),
    ],
)
def test_a_question_is_found_among_what_stands_around_it(
    text: str, question: str, has_other_texts: bool
) -> None:
    assert find_question(text) == AskedText(question, has_other_texts)


@pytest.mark.parametrize(
    "system", ['Available Tools: [{"name": "clock"}]', 'Choose:\n{\n  "tool_calls": []\n}']
)
def test_a_query_that_follows_on_a_list_of_tools_is_a_task(system: str) -> None:
    assert find_question("Query: Why do owls hunt?", system) is None
    assert find_question("Why do owls hunt?", system) == AskedText("Why do owls hunt?")
    assert find_question("Query: Why?", "You know owls.") == AskedText("Query: Why?")


@pytest.mark.parametrize(
    "piece",
    [
        "<context>",
        "\n<context>",
        "\n<attached_files>",
        "<user_query>",
        "\n<chat_history>",
        "<notes></notes>",
        "\n# ",
        '"""\nQuery:',
        "\nTool `a",
        '<code_interpreter type="',
    ],
)
def test_a_megabyte_of_tags_without_ends_is_a_question_like_any_other(piece: str) -> None:
    """A pattern that looks for the end of every tag takes a quarter of an hour and more."""
    text = (piece * (1_000_000 // len(piece)) + "\nWhy?").strip()
    assert find_question(text) == AskedText(text)
    assert find_question(f"<context>\nOwls.\n</context>\n{text}") == AskedText(
        text, has_other_texts=True
    )


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        ("<notes>", "</notes><context>"),
        ("<notes>", "</notes>\n"),
        ("### Task:\n", "\n### *Outpu"),
        ("Your task", " Message: ``"),
        ("You have been", "\nResponses from models"),
        ('History:\nUSER: """', '"""\nQuery'),
    ],
)
def test_a_megabyte_that_begins_as_a_task_is_read_in_linear_time(begin: str, piece: str) -> None:
    """Two gaps in a pattern, one after the other, take minutes in which nobody is served."""
    text = f"{begin}{piece * (1_000_000 // len(piece))} Why?"
    assert find_question(text) == AskedText(text)
