"""Wrong numbers are marked in answers, and with ``strict`` struck."""

import re

import pytest

from pgs_neo4j.events import TextStreamed
from pgs_neo4j.export import to_html, to_json, to_markdown
from pgs_neo4j.export.notebook.answer import to_notebook
from tests.engines import answering, asked

LIES = ("98,765", "43 %", "1887", "77.25", "31,337")


def lie(number, cited):
    return f"It has {number} tokens {cited}."


def report(prompt, lies=LIES):
    first, second = prompt.nodes[0], prompt.nodes[1]
    false = "\n".join(f"- {lie(number, f'[{first.alias}]')}" for number in lies)
    return (
        "## Domain State\nRead.\n\n## Findings\n"
        f"- It is {first.title} [{first.alias}].\n{false}\n- {second.text} [{second.alias}]\n\n"
        "## Outbound Flags\nNone.\n\n## Absences\n- Nothing on unicorns.\n"
    )


def synthesis(prompt, lies=LIES):
    cited = re.findall(r"It is [^\n]+ (\[P\d+:n\d+\])", prompt.user)[0]
    false = [lie(number, cited) for number in lies]
    return (
        f"**Thesis: {false[0]}**\nIt is so {cited}. {' '.join(false)}\n\n"
        f"## Connections\n- {false[1]}\n- All is well {cited}\n\n### {false[2]}\n\n## Absences\n"
        f"None.\n\n## Convergences\n- {' '.join(false[3:])}\n"
    )


def found(prompt, lies=LIES):
    true = prompt.nodes[0].text.split("\n")[0]
    false = [lie(number, "[n1]") for number in lies]
    listed = "\n".join(f"- {one}" for one in false)
    return (
        f"## Answer: {false[0]}\n{true} [n1]. {' '.join(false)}\n\n## Findings\n{listed}\n"
        f"- {true} [n1]\n\n## Not found\n- Prices of unicorns\n"
    )


def lying(prompt):
    """A model that repeats its wrong numbers whenever it is asked."""
    return {"sweep": report, "synthesis": synthesis}.get(prompt.task, found)(prompt)


def repenting(prompt):
    """A model that takes back what it is told, but for one number."""
    lies = LIES[-1:] if "failed a check" in prompt.user else LIES
    if prompt.task == "synthesis":
        lies = (LIES[-1],) * 5 if "failed a check" in prompt.user else LIES
    return {"sweep": report, "synthesis": synthesis}.get(prompt.task, found)(prompt, lies)


def unmarked(text):
    """The wrong numbers that stand in a text without a mark behind their sentence."""
    plain = re.sub(r"\(in doubt: [^()]*\)", "<doubt>", text)
    return [
        number
        for number in LIES
        for place in re.finditer(re.escape(number), plain)
        if not re.match(r"[^.\n]*\.?[*_]* ?<doubt>", plain[place.end() :])
    ]


async def ask(pgs, *, strict, search):
    events = []
    if search:
        await pgs.partition()
        found = await pgs.search(
            "fact3", graph="papers", answer=True, strict=strict, on_event=events.append
        )
        answer = found.answer
    else:
        answer = await pgs.execute(
            "What is it?", full_sweep=True, strict=strict, on_event=events.append
        )
    streamed = "".join(one.text for one in events if isinstance(one, TextStreamed))
    return answer, streamed


@pytest.mark.parametrize("model", [lying, repenting])
@pytest.mark.parametrize("search", [False, True])
@pytest.mark.parametrize("strict", [False, True])
async def test_no_wrong_number_stands_unmarked(pgs, model, search, strict):
    answering(pgs, model)
    answer, streamed = await ask(pgs, strict=strict, search=search)
    assert streamed == answer.text
    assert unmarked(answer.text) == []
    findings = [finding for sweep in answer.sweeps for finding in sweep.report.findings]
    findings += answer.shown.findings if answer.shown else ()
    assert findings
    for finding in findings:
        assert bool(finding.failures) == any(number in finding.text for number in LIES)
    prompts = asked(pgs)
    again = [prompt.task for prompt in prompts if "failed a check" in prompt.user]
    if not strict:
        assert not again
        assert answer.in_doubt
        assert answer.struck == ()
        return
    assert answer.in_doubt == ()
    for number in LIES:
        assert number not in answer.text
        if model is lying or number == LIES[-1]:
            assert any(number in one.text for one in answer.struck)
    assert again == ["answer"] if search else again == ["sweep"] * 4 + ["synthesis"]
    assert answer.usage.calls == len(prompts) == 2 * len(again)
    assert not any(number in prompts[-2].user for number in LIES) or search
    if not search:
        assert "It is so" in answer.synthesis.thesis
        assert len(answer.synthesis.connections) == 1
        assert {one.partition for one in answer.struck} == {None, 1, 2, 3, 4}
    stored = await pgs.answer(answer.run)
    assert stored.struck == answer.struck
    assert stored.text == answer.text
    document = await pgs.document(answer.run)
    assert "\n## Struck\n" in to_markdown(document)
    assert ">Struck</h2>" in to_html(document)
    assert f'"struck_sentences": {len(answer.struck)}' in to_json(document)
    assert "struck" in to_notebook(answer)


async def test_a_second_reply_that_fails_leaves_the_first_without_what_failed(pgs):
    def once(prompt):
        return "no report" if "failed a check" in prompt.user else report(prompt)

    answering(pgs, lambda prompt: once(prompt) if prompt.task == "sweep" else lying(prompt))
    answer, _ = await ask(pgs, strict=True, search=False)
    assert answer.coverage.exhausted
    for sweep in answer.sweeps:
        assert len(sweep.report.findings) == 2
        assert len(sweep.report.struck) == len(LIES)
        assert sweep.usage.calls == 2


async def test_a_limit_on_calls_leaves_what_failed_struck(pgs):
    answering(pgs, lying)
    answer = await pgs.execute("What is it?", strict=True, max_calls=3)
    assert answer.usage.calls <= 3
    assert unmarked(answer.text) == []
    assert not any(number in answer.text for number in LIES)


async def test_the_search_before_a_run_is_checked_as_well(pgs):
    def reply(prompt):
        if prompt.task == "search":
            return f"It is {prompt.nodes[0].title} [n1]. {lie(LIES[0], '[n1]')}"
        return report(prompt, ()) if prompt.task == "sweep" else synthesis(prompt, LIES)

    answering(pgs, reply)
    marked = await pgs.layered_search("fact3", top_k=5)
    assert unmarked(marked.search.text) == []
    assert LIES[0] in marked.search.text
    struck = await pgs.layered_search("fact3", top_k=5, strict=True)
    assert LIES[0] not in struck.search.text
    assert [LIES[0] in one.text for one in struck.search.struck] == [True]
