"""Wrong numbers are marked in answers, and with ``strict`` struck."""

import json
import re
from dataclasses import replace

import pytest

from pgs_neo4j.errors import ModelUnavailableError
from pgs_neo4j.events import TextStreamed
from pgs_neo4j.export import to_html, to_json, to_markdown
from pgs_neo4j.export.notebook import to_notebook
from pgs_neo4j.llm.scripted import contract_reply
from tests.engines import answering, asked, without_synthesis

MARKED = re.compile("[Ii]n doubt: |Struck: ")
LISTED = re.compile(r"\n## (?:In doubt|Struck)\n.*?(?=\n## )", re.DOTALL)
LIES = ("98,765", "43 %", "1887", "77.25", "31,337")


def lie(number, cited):
    return f"It has {number} tokens {cited}."


def report(prompt, lies=LIES):
    first, second = prompt.nodes[0], prompt.nodes[1]
    false = "\n".join(f"- {lie(number, f'[{first.alias}]')}" for number in lies)
    state = "".join(
        f" {lie(number, cited)}" for number in lies for cited in ("there", f"[{first.alias}]")
    )
    other = 1 + prompt.partition % 4
    flags = "\n".join(f"- P{other}: {lie(number, f'[{first.alias}]')}" for number in lies[:2])
    flags += "".join(f"\n- Perhaps {lie(number, 'elsewhere')}" for number in lies[2:])
    return (
        f"## Domain State\nRead.{state}\n\n## Findings\n"
        f"- It is {first.title} [{first.alias}].\n{false}\n- {second.text} [{second.alias}]\n\n"
        f"## Outbound Flags\n- P{other}: {first.title} may matter there [{first.alias}].\n"
        f"{flags}\n\n## Absences\n- Nothing on unicorns.\n"
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
    if prompt.task == "keywords":
        return contract_reply(prompt)
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


def unmarked_in_page(page):
    """The entries and paragraphs of a page that have a wrong number and no mark."""
    return [
        piece
        for piece in re.split(r"<(?:li|p|h\d)[ >]", page)
        if any(number in piece for number in LIES) and not MARKED.search(piece)
    ]


def unmarked_in_data(data):
    """The texts in JSON with wrong numbers that are marked neither there nor beside."""
    if isinstance(data, str):
        return [data] if unmarked(data) else []
    if isinstance(data, list):
        return [text for one in data for text in unmarked_in_data(one)]
    if not isinstance(data, dict) or data.get("doubts") or data.get("reason"):
        return []
    return [text for one in data.values() for text in unmarked_in_data(one)]


def check_document(document):
    """Check each form of an answer that can be exported."""
    assert unmarked_in_data(json.loads(to_json(document))) == []
    assert unmarked_in_page(to_html(document)) == []
    assert unmarked(LISTED.sub("", to_markdown(document))) == []


async def ask(pgs, *, strict, search):
    events = []
    if search:
        await pgs.partitions.build()
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
    check_document(await pgs.runs.document(answer.run))
    for sweep in answer.sweeps:
        report = sweep.report
        assert "Read." in report.domain_state
        assert unmarked(report.domain_state) == []
        assert any(flag.target for flag in report.flags)
        assert [one for flag in report.flags for one in unmarked(flag.text)] == []
    if not strict:
        assert not again
        assert answer.in_doubt
        assert answer.struck == ()
        if not search:
            stored = await pgs.runs.answer(answer.run)
            assert stored.in_doubt == answer.in_doubt
            assert all(len(sweep.report.in_doubt) >= 14 for sweep in answer.sweeps)
            assert any(LIES[0] in str(met) for met in answer.crosscheck.convergences)
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
        assert not any(number in str(answer.crosscheck) for number in LIES)
        for sweep in answer.sweeps:
            left = replace(sweep.report, struck=())
            assert not any(number in str(left) for number in LIES)
    stored = await pgs.runs.answer(answer.run)
    assert stored.struck == answer.struck
    assert stored.text == answer.text
    document = await pgs.runs.document(answer.run)
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
        assert len(sweep.report.struck) == 4 * len(LIES)
        assert sweep.report.domain_state == "Read."
        assert sweep.usage.calls == 2


async def test_a_strict_run_strikes_what_an_earlier_one_read(pgs):
    answering(pgs, without_synthesis(lying))
    with pytest.raises(ModelUnavailableError):
        await pgs.execute("What is it?", max_sweep_partitions=2)
    answering(pgs, lying)
    asked(pgs)
    answer = await pgs.execute("What is it?", mode="continue", strict=True)
    assert answer.coverage.exhausted
    *_, first, _ = [prompt for prompt in asked(pgs) if prompt.task == "synthesis"]
    assert first.user.count("## Domain State\nRead.\n") == 4
    assert not any(number in first.user.partition("# Checked")[0] for number in LIES)
    assert unmarked(first.user) == []
    assert not any(number in answer.text for number in LIES)
    assert {one.partition for one in answer.struck} == {None, 1, 2, 3, 4}
    check_document(await pgs.runs.document(answer.run))


@pytest.mark.parametrize("strict", [False, True])
async def test_a_synthesis_of_its_own_is_checked_as_well(pgs, strict):
    answering(pgs, lying)
    await pgs.partitions.build("papers")
    sweeps = [await pgs.sweep_partition("What?", number, graph="papers") for number in (1, 2)]
    for sweep in sweeps:
        assert unmarked(f"{sweep.report.domain_state} {sweep.report.flags}") == []
    events = []
    synthesis = await pgs.synthesize(
        "What?", sweeps, graph="papers", strict=strict, on_event=events.append
    )
    assert unmarked(synthesis.text) == []
    assert "".join(one.text for one in events if isinstance(one, TextStreamed)) == synthesis.text
    assert bool(synthesis.in_doubt) != strict
    assert any(number in synthesis.text for number in LIES) != strict
    assert {one.partition for one in synthesis.struck} == ({None, 1, 2} if strict else set())


@pytest.mark.parametrize("strict", [False, True])
async def test_what_is_in_doubt_reaches_no_later_answer(pgs, strict):
    answering(pgs, lying)
    await pgs.execute("Which fact3 tokens?", full_sweep=True)
    answering(pgs, contract_reply)
    asked(pgs)
    await pgs.search("Which fact3 tokens?", graph="papers", mode="mix", answer=True, strict=strict)
    assert not any(number in prompt.user for prompt in asked(pgs) for number in LIES)


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
