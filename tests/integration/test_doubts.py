"""A model that states what its nodes do not say is contradicted where it says it."""

import re

import pytest

from pgs_neo4j.events import TextStreamed
from pgs_neo4j.export import to_markdown
from tests.engines import answering

LIES = (
    "The paper holds 98,765 tokens",
    "It was written on 3 May 1887 by Wilhelmine Quast",
    "Costs fell by 43 %",
    "It says “the moon is made of green cheese”",
)


def lying(prompt):
    """A reader whose every second sentence is true."""
    if prompt.task == "sweep":
        first, second = prompt.nodes[0], prompt.nodes[1]
        lies = "\n".join(f"- {lie} [{first.alias}]." for lie in LIES)
        return (
            "## Domain State\nRead.\n\n## Findings\n"
            f"- It is {first.title} [{first.alias}].\n{lies}\n"
            f"- {second.text} [{second.alias}]\n\n## Outbound Flags\nNone.\n\n## Absences\nNone.\n"
        )
    cited = re.findall(r"It is [^\n]+ (\[P\d+:n\d+\])", prompt.user)[0]
    sentences = " ".join(f"{lie} {cited}." for lie in LIES)
    return (
        f"## Thesis\nIt is so {cited}. {sentences} 2 partitions agree.\n\n"
        f"## Connections\n- {LIES[0]} {cited}\n- All is well\n\n## Absences\n"
        f"- Nothing on the 55,555 unicorns\n\n## Convergences\n- {LIES[2]}\n"
    )


async def test_no_wrong_number_date_or_name_stands_unmarked(pgs):
    answering(pgs, lying)
    events = []
    answer = await pgs.execute("What is it?", full_sweep=True, on_event=events.append)
    for lie in LIES:
        places = [place.start() for place in re.finditer(re.escape(lie), answer.text)]
        assert places
        for place in places:
            rest = answer.text[place + len(lie) :]
            assert re.match(r"(?: \[[^\]]+\])?\.? \(in doubt: ", rest), rest[:80]
    assert "It is so" in answer.text
    assert not re.search(
        r"(?:It is so|partitions agree|All is well)[^.\n]*\.? \(in doubt", answer.text
    )
    assert "unicorns (in doubt" not in answer.text
    streamed = "".join(one.text for one in events if isinstance(one, TextStreamed))
    assert streamed == answer.text
    assert f"{LIES[0]}" in answer.synthesis.connections[0]
    assert "(in doubt: no cited node has 98,765)" in answer.synthesis.connections[0]

    own = [one for one in answer.in_doubt if one.partition is None]
    assert len(own) == len(LIES) + 2
    for sweep in answer.sweeps:
        findings = sweep.report.findings
        assert [bool(finding.doubts) for finding in findings] == [
            False, True, True, True, False, False,
        ]  # fmt: skip
        assert not findings[4].quotes[0].found
        told = [one.reason for one in answer.in_doubt if one.partition == sweep.partition]
        assert len(told) == len(LIES)
    assert "(in doubt: no cited node has 43 %)" in pgs.synthesis_llm.prompts[-1].user
    stored = await pgs.runs.answer(answer.run)
    assert stored.in_doubt == answer.in_doubt
    assert "## In doubt" in to_markdown(await pgs.runs.document(answer.run))


@pytest.mark.parametrize("lie", LIES)
async def test_the_answer_of_a_search_is_looked_up_as_well(pgs, lie):
    def reply(prompt):
        true = prompt.nodes[0].text.split("\n")[0]
        return f"## Answer\n{lie} [n1]. {true} [n1]\n\n## Findings\n- {lie} [n1].\n"

    answering(pgs, reply)
    await pgs.partitions.build()
    found = await pgs.search("fact3", graph="papers", answer=True)
    answer = found.answer
    assert answer.text.count("(in doubt: ") == 2
    assert [one.reason for one in answer.in_doubt] == [answer.in_doubt[0].reason] * 2
    assert lie in answer.synthesis.thesis
