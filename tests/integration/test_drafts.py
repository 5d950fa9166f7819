"""What a model drafts before it answers is no finding, and stands in no answer."""

from __future__ import annotations

import json

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.events import Event, TextStreamed
from pgs_neo4j.export import to_json
from pgs_neo4j.text.thinking import MARKS
from tests.conftest import Endpoint
from tests.engines import model_on_papers
from tests.fakes.openai_server import Answer as Reply
from tests.fakes.openai_server import Body, FakeOpenAI, contract_answer

DRAFT = (
    "Let me draft.\n\n## Domain State\ndraft\n\n## Findings\n- WRONGDRAFT the kiln exploded [n1]\n"
    "\n## Thesis\nWRONGDRAFT it did [P1:n1].\n\n## Absences\n- WRONGABSENCE no kiln at all\n"
)
HARMONY = "<|start|>assistant<|channel|>"
UNMARKED = ["</think>"]
FORMS = [
    *MARKS,
    ("", "</think>"),  # the beginning is in the template
    ("[THINK]", "[/THINK]"),
    ("<Thinking>", "</THINKING>"),
    ("<|channel|>analysis<|message|>", f"<|end|>{HARMONY}final<|message|>"),
    (f"{HARMONY}commentary<|message|>", f"<|end|>{HARMONY}final<|message|>"),
    ("analysisWe need it. ", "assistantfinal"),  # without its special tokens
]


@pytest.mark.usefixtures("no_waits")
async def test_no_draft_of_any_family_of_models_is_a_finding_or_an_answer(
    endpoint: Endpoint, db: Database, fake: FakeOpenAI
) -> None:
    heard: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, TextStreamed):
            heard.append(event.text)

    said: dict[str, str] = {}
    streamed: dict[str, str] = {}
    async with model_on_papers(endpoint, db, fake, topics=1, size=12) as pgs:
        for begin, end in FORMS:

            def think(body: Body, begin: str = begin, end: str = end) -> str:
                return f"{begin}\n{DRAFT}\n{end}\n\n{contract_answer(body)}"

            fake.default = Reply(think, pieces=40)
            answer = await pgs.execute("Why?", full_sweep=True, cache=False, on_event=hear)
            (sweep,) = answer.sweeps
            assert sweep.report is not None
            assert [one.text for one in sweep.report.findings] != []
            document = json.dumps(to_json(await pgs.runs.document(answer.run)))
            said[begin + end] = document + str(answer) + str(sweep)
            streamed[begin + end] = "".join(heard)
            heard.clear()
            assert answer.text.strip().startswith("## Thesis\nThe fake model claims one thing")
    assert [form for form, text in said.items() if "WRONG" in text] == []
    # A stream cannot know that it began with a draft before the first mark comes.
    assert [form for form, text in streamed.items() if "WRONG" in text] == UNMARKED
