"""A model that answers with its instructions finds nothing, and nothing is confirmed of them."""

import re

import pytest

from pgs_neo4j.events import TextStreamed
from pgs_neo4j.export import to_json
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.pgs.synthesis.statements import ECHOED, find_echoes
from tests.engines import answering, asked

TRUE = "So it is said of the papers here."


def sections(system):
    """The instructions of a prompt under each of its headings, each as a bullet."""
    headings = re.findall(r"^## .*$", system, re.MULTILINE)
    lines = [line for line in system.splitlines() if line.strip() and not line.startswith("#")]
    bullets = "\n".join(f"- {line.lstrip('-0123456789. ')}" for line in lines if len(line) > 20)
    return headings, bullets


def echoing(prompt):
    """A reader of good reports that answers with its instructions, and says one thing itself."""
    if prompt.task not in ("synthesis", "answer", "search"):
        return contract_reply(prompt)
    headings, bullets = sections(prompt.system)
    first, *rest = headings or [""]
    others = "".join(f"\n\n{heading}\n{bullets}\n- {TRUE}" for heading in rest)
    return f"{prompt.system}\n\n{first}\n{bullets}\n\n{TRUE}{others}"


def parroting(prompt):
    """A reader of good reports that answers with nothing but its instructions."""
    answers = prompt.task in ("synthesis", "answer", "search")
    return prompt.system if answers else contract_reply(prompt)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("search", [False, True])
async def test_no_instruction_becomes_a_part_of_an_answer(pgs, search, strict):
    answering(pgs, echoing)
    events = []
    if search:
        await pgs.partitions.build()
        answer = (
            await pgs.search(
                "fact3", graph="papers", answer=True, strict=strict, on_event=events.append
            )
        ).answer
    else:
        answer = await pgs.execute("What is it?", strict=strict, on_event=events.append)
    streamed = "".join(one.text for one in events if isinstance(one, TextStreamed))
    assert streamed == answer.text
    assert TRUE in answer.synthesis.thesis
    *_, prompt = [one for one in asked(pgs) if one.task in ("synthesis", "answer")]
    repeats = find_echoes(prompt)
    assert not any(map(repeats, answer.text.splitlines()))
    for absence in answer.synthesis.absences:
        assert absence.startswith(TRUE)
    for part in (answer.synthesis.connections, answer.synthesis.convergences):
        assert set(part) <= {TRUE}
    said = [line.strip(" -") for line in prompt.system.splitlines() if len(line) > 60]
    exported = to_json(await pgs.runs.document(answer.run))
    assert not [line for line in said if line in exported]


async def test_an_answer_of_instructions_alone_is_one_clear_sentence(pgs):
    answering(pgs, parroting)
    layered = await pgs.layered_search("fact3", graph="papers", top_k=5)
    assert layered.search.text.strip() == ECHOED
    assert layered.answer.synthesis.thesis == ECHOED
    assert layered.answer.synthesis.absences == layered.answer.synthesis.connections == ()
    assert layered.answer.coverage.partitions_swept == 1
    answer = (await pgs.search("fact3", graph="papers", answer=True)).answer
    assert answer.synthesis.thesis == ECHOED
    assert not answer.crosscheck.absences
    assert not answer.shown.findings
