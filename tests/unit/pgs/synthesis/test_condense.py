"""Reports that exceed one prompt are condensed along the hierarchy, and nothing checked is lost."""

import re

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import ModelOutputError, ModelUnavailableError
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.calls.budget import Amount
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Partition, Unit
from pgs_neo4j.pgs.sweeping.report import render_report
from pgs_neo4j.pgs.synthesis.condense import (
    group_sections,
    parse_condensed,
    paths_of,
    reduction_prompt,
)
from pgs_neo4j.pgs.synthesis.prompt import synthesis_cost
from pgs_neo4j.pgs.synthesis.reply import SynthesisTools
from pgs_neo4j.pgs.synthesis.sections import sections_of
from pgs_neo4j.pgs.synthesis.write import write_synthesis
from pgs_neo4j.text.tokens import estimate
from tests.fakes.tokens import nothing_deleted
from tests.orders import swept, synthesis_order


def sweep(number, findings=4, words=30):
    texts = [(f"claim {i} {'word ' * words}[n{i + 1}]", [i]) for i in range(findings)]
    flags, absences = [(f"flag of {number} [n1]", number + 1)], [f"absence of {number}"]
    return swept(number, texts, flags, absences, state=f"State of {number}.")


def hierarchy(count, fan=10):
    parts = [
        Partition(id=i, size=10, tokens=1, keywords=(f"word{i}",), parent=(i - 1) // fan + 1)
        for i in range(1, count + 1)
    ]
    units = [
        Unit(id=i, level=1, size=10, partitions=fan, parent=(i - 1) // fan + 1)
        for i in range(1, count // fan + 1)
    ]
    units += [Unit(id=i, level=2, size=10, partitions=fan) for i in range(1, count // fan**2 + 2)]
    return parts, units


async def synthesized(count, answer=contract_reply, ending=False, **knobs):
    """``ending``: whether a bounded run has spent all but what it holds back."""
    parts, units = hierarchy(count)
    sweeps = [sweep(i) for i in range(1, count + 1)]
    config, llm, warnings = PGSConfig(**knobs), ScriptedLLM(answer), []
    calls = Calls.of(config, {})
    if ending:
        shown = sum(estimate(render_report(each.report)) for each in sweeps) + estimate("Why?")
        calls.budget.ending = synthesis_cost(calls, llm, config, shown)
        bounds, kept = calls.budget.bounds, calls.budget.ending
        calls.budget.spent = Amount(
            calls=max(0, (bounds.calls or 0) - kept.calls - 2),
            tokens=max(0, (bounds.tokens or 0) - kept.tokens),
        )
    tools = SynthesisTools(
        llm=llm,
        calls=calls,
        replies=None,
        on_event=ignore,
        warn=warnings.append,
        check_deleted=nothing_deleted,
        reducing_llm=llm,
    )
    order = synthesis_order("Why?", sweeps, parts, config, units=units)
    made = await write_synthesis(order, tools)
    return made, llm.prompts, warnings, sweeps


async def test_six_hundred_reports_become_one_answer_without_losing_what_was_checked():
    made, prompts, warnings, sweeps = await synthesized(600, max_pass_characters=150_000)
    last = prompts[-1]
    assert last.task == "synthesis"
    assert made.reductions == len(prompts) - 1 > 3
    assert all(len(p.system) + len(p.user) <= 150_000 for p in prompts)
    for each in sweeps:
        number = each.partition
        assert f"- P{number + 1}: (from P{number}) flag of {number} [" in last.user
        assert f"- (in P{number}) absence of {number}\n" in last.user
    shown = set(re.findall(r"P\d+:n\d+", last.user))
    assert shown >= {f"P{c.partition}:{c.alias}" for s in sweeps for c in s.report.citations}
    assert made.citations
    assert all(citation.valid for citation in made.citations)
    (warning,) = warnings
    assert "600 reports exceed one prompt" in warning


async def test_a_report_is_condensed_with_its_neighbors_in_the_hierarchy():
    parts, units = hierarchy(40)
    sections = sections_of([sweep(i) for i in range(1, 41)], parts)
    paths = paths_of(parts, units)
    assert paths[1] == (1, 1)
    assert paths[35] == (1, 4)
    groups = group_sections(sections, paths, room=12_000)
    assert [s for group in groups for s in group] == sections
    inside = [{paths[s.partitions[0]] for s in group} for group in groups]
    assert all(len(units) == 1 for units in inside)


async def test_a_model_that_fails_condenses_nothing_away():
    def answer(prompt):
        failing = prompt.task == "reduction"
        return ModelUnavailableError("gone") if failing else contract_reply(prompt)

    made, prompts, warnings, sweeps = await synthesized(100, answer, max_pass_characters=40_000)
    assert made.reductions == 0
    assert "for which no call succeeded" in warnings[0]
    shown = set(re.findall(r"P\d+:n\d+", prompts[-1].user))
    assert shown >= {f"P{s.partition}:n1" for s in sweeps}


@pytest.mark.parametrize("llm", [ScriptedLLM(), ExtractiveLLM()])
async def test_every_reader_condenses(llm):
    parts, _ = hierarchy(10)
    sections = sections_of([sweep(i) for i in range(1, 5)], parts)
    prompt = reduction_prompt("Which claim?", sections)
    reply = await llm.complete(prompt, max_tokens=4000)
    made = parse_condensed(reply.text, sections)
    assert made.partitions == (1, 2, 3, 4)
    assert made.name == "P1, P2, P3, P4"
    assert set(made.citable) == {(p, f"n{i}") for p in range(1, 5) for i in range(1, 5)}
    assert len(made.report.flags) == len(made.report.absences) == 4
    assert made.keywords == ("word1", "word2", "word3", "word4")


def test_invented_citations_of_a_condensed_report_are_not_citable():
    parts, _ = hierarchy(10)
    sections = sections_of([sweep(1), sweep(2)], parts)
    made = parse_condensed("## Findings\n- Made up [P9:n9], kept [P1:n1]", sections)
    assert (9, "n9") not in made.citable
    assert not made.report.findings[0].citations[0].valid
    with pytest.raises(ModelOutputError, match="not a condensed report"):
        parse_condensed("Sorry, I cannot.", sections)


async def test_what_is_held_back_for_the_answer_is_left_by_reductions_and_enough():
    made, prompts, warnings, _ = await synthesized(
        40, ending=True, max_calls=4, max_pass_tokens=4000
    )
    assert made.complete
    assert [prompt.task for prompt in prompts].count("synthesis") == 1
    assert len(prompts) <= 4
    assert "for which no call succeeded" in warnings[0]
    made, prompts, warnings, _ = await synthesized(20, ending=True, max_tokens=64_000)
    assert [prompt.task for prompt in prompts] == ["synthesis"]
    assert (made.reductions, warnings) == (0, [])
