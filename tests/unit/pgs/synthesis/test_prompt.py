"""The synthesis contract: reports in, sections and checked citations out."""

from dataclasses import replace

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model import Finding, Partition, SweepStatus
from pgs_neo4j.pgs.synthesis.prompt import parse_synthesis, synthesis_prompt
from pgs_neo4j.pgs.synthesis.sections import Shortening, find_shortening
from pgs_neo4j.text.tokens import estimate
from tests.orders import cited, swept, synthesis_order
from tests.thorough import tries

REPLY = """## Thesis
Iron wins [P1:n1], gold does not [P2:n3].

## Connections
- P1 and P2 meet [P1:n1, P2:n3]

## Absences
- Costs, in two partitions

## Convergences
None.
"""


def sweep(partition, findings=3, status=SweepStatus.ACCEPTED):
    texts = [(f"finding {i} [n{i + 1}]", [i]) for i in range(findings)]
    made = swept(partition, texts, [("look there [n99]", 2)], ["costs"], status, "State.")
    if made.report is None:
        return made
    flags = (replace(made.report.flags[0], citations=(cited(partition, 98, valid=False),)),)
    return replace(made, report=replace(made.report, flags=flags))


PARTS = [Partition(id=i, size=10, tokens=1, keywords=(f"word{i}",)) for i in (1, 2, 3)]


def shown(*sweeps, characters=10**6, tokens=None, known=None, partitions=PARTS, question="Why?"):
    config = PGSConfig(max_pass_characters=characters)
    made = synthesis_prompt(
        synthesis_order(question, sweeps, partitions, config, known), max_tokens=tokens
    )
    assert len(made.prompt.system) + len(made.prompt.user) <= characters
    if tokens:
        assert estimate(made.prompt.system) + estimate(made.prompt.user) <= tokens
    return made


def test_every_report_stands_under_its_partition_and_what_was_not_read_is_said():
    made = shown(sweep(1), sweep(2))
    assert "# Partition P1: 10 of 10 nodes read; keywords: word1" in made.prompt.user
    assert "finding 2 [P2:n3]" in made.prompt.user
    assert "P2: look there [P1:n99]" in made.prompt.user
    assert made.prompt.user.endswith("Question: Why?")
    assert not left_out(made)
    made = shown(sweep(1), sweep(2, status=SweepStatus.FAILED))
    assert "Not read in this run, 2 partitions:\nP2 (10 nodes): word2\nP3" in made.prompt.user
    assert "All partitions of the graph" in shown(sweep(1), sweep(2), sweep(3)).prompt.user
    partial = replace(
        sweep(1, status=SweepStatus.PARTIAL), read=((0, 7),), passes=3, passes_accepted=2
    )
    made = shown(partial)
    assert "# Partition P1: 7 of 10 nodes read, 1 of 3 passes failed; keywords" in made.prompt.user
    assert "or read in part: say so" in made.prompt.system


def test_sections_are_parsed_without_thoughts_and_lone_surrogates():
    result = parse_synthesis(REPLY, shown(sweep(1), sweep(2)).citable)
    assert result.thesis.startswith("Iron wins")
    assert result.connections == ("P1 and P2 meet [P1:n1, P2:n3]",)
    assert result.absences == ("Costs, in two partitions",)
    assert result.convergences == ()
    assert [(c.partition, c.alias, c.valid) for c in result.citations] == [
        (1, "n1", True),
        (2, "n3", True),
    ]
    assert result.text == REPLY
    citable = shown(sweep(1)).citable
    thought = f"<think>{REPLY} [P9:n9]</think>"
    result = parse_synthesis(f"{thought}## Thesis\nIron \ud83d [P1:n1].", citable)
    assert result.text == "## Thesis\nIron ? [P1:n1]."
    assert result.thesis == "Iron ? [P1:n1]."
    assert [c.alias for c in result.citations] == ["n1"]
    assert result.connections == ()
    assert parse_synthesis(f"<think>{REPLY}", citable).text == ""


@pytest.mark.parametrize(
    ("text", "thesis"),
    [
        ("## Thesis\nOne.\n\nTwo.\n\n- a\n\n## Absences\n- x", "One.\n\nTwo.\n\n- a"),
        ("## Thesis\nNone.\n## Absences\n- x", ""),
        ("Iron wins [P1:n1].", "Iron wins [P1:n1]."),
    ],
)
def test_a_thesis_keeps_its_paragraphs_and_is_all_where_there_are_no_sections(text, thesis):
    assert parse_synthesis(text, {}).thesis == thesis


def test_only_what_a_report_cited_validly_can_be_cited():
    made = shown(sweep(1), known="Known: iron [n1]")
    assert "Known: iron ⟦n1⟧" in made.prompt.user
    text = "## Thesis\na [P1:n99] b [P1:n4] c [P7:n1] d [n1] e [P1:n1]"
    found = parse_synthesis(text, made.citable).citations
    assert [(c.partition, c.alias, c.valid) for c in found] == [
        (1, "n99", False),
        (1, "n4", False),
        (7, "n1", False),
        (0, "n1", False),
        (1, "n1", True),
    ]


def left_out(made):
    counts = (made.dropped_bullets, made.dropped_reports, made.cut_states, made.cut_known)
    return counts if any(counts) else None


def stated(partition, words, findings=1):
    swept = sweep(partition, findings)
    return replace(swept, report=replace(swept.report, domain_state="word " * words + "[n1]"))


def test_reports_lose_as_few_of_their_last_bullets_as_the_bound_asks_and_say_how_many():
    sweeps = sweep(1, 400), sweep(2, 400)
    whole = shown(*sweeps)
    size = len(whole.prompt.system) + len(whole.prompt.user)
    assert shown(*sweeps, characters=size).dropped_bullets == 0
    made = shown(*sweeps, characters=size - 1)
    assert 0 < made.dropped_bullets <= 8
    assert "only the first bullets" in made.prompt.user
    for bound in ({"characters": 20_000}, {"tokens": 3000}):
        made = shown(*sweeps, **bound)
        kept = [len(report.report.findings) for report in made.prompt.reports]
        assert kept[0] == kept[1] < 400
        assert (made.dropped_bullets, made.dropped_reports) == (800 - sum(kept), 0)
        assert "finding 0 [P2:n1]" in made.prompt.user
        assert (1, "n400") not in made.citable


def test_domain_states_are_cut_at_a_word_when_bullets_are_not_enough():
    made = shown(stated(1, 900), stated(2, 900), stated(3, 5), characters=7000)
    assert (made.dropped_bullets, made.dropped_reports, made.cut_states) == (0, 0, 2)
    states = [report.report.domain_state for report in made.prompt.reports]
    assert states[2] == "word word word word word [n1]"
    assert all(state.endswith("word…") for state in states[:2])
    assert "word word [P3:n1]" in made.prompt.user


def many(count, size=60):
    parts = [Partition(id=i, size=10, tokens=1, keywords=("w" * 300,)) for i in range(1, count + 1)]
    sweeps = [sweep(i, 1) for i in range(1, count + 1)]
    findings = (Finding(text="x" * size + " [n1]", citations=(cited(1, 0),)),)
    return parts, [replace(s, report=replace(s.report, findings=findings)) for s in sweeps]


def test_the_last_reports_go_last_after_all_bullets_and_the_model_is_told():
    parts, sweeps = many(60)
    made = shown(*sweeps, partitions=parts, characters=9000)
    names = [report.name for report in made.prompt.reports]
    assert 0 < len(names) < 60
    assert names == [f"P{i}" for i in range(1, len(names) + 1)]
    assert made.dropped_reports == 60 - len(names)
    assert (60, "n1") not in made.citable
    told = made.prompt.user.partition("found no room here: ")[2]
    assert told.startswith(f"P{len(names) + 1}, ")
    assert f"and {made.dropped_reports - 20} more" in told
    assert all(len(report.report.findings) == 1 for report in made.prompt.reports)
    parts, sweeps = many(3, size=9000)
    made = shown(*sweeps, partitions=parts, characters=7000)
    assert len(made.prompt.reports) == 3
    assert made.dropped_bullets == 9
    assert not made.citable


def test_the_known_answer_and_the_unread_list_are_bounded():
    parts = [Partition(id=i, size=10, tokens=1, keywords=("語" * 50,) * 8) for i in range(1, 2000)]
    made = shown(sweep(1), partitions=parts, known="word " * 9000, characters=8000, tokens=3000)
    assert made.cut_known
    assert "word…\n</known>" in made.prompt.user
    assert "Not read in this run, 1998 partitions:\nP2 (10 nodes): 語" in made.prompt.user
    assert " more)" in made.prompt.user
    assert made.prompt.reports[0].report == sweep(1).report
    assert not shown(sweep(1), known="short").cut_known


@pytest.mark.parametrize(
    "bounds", [{"characters": 6000}, {"tokens": 3000}, {"characters": 6000, "tokens": 3000}]
)
def test_a_question_that_leaves_no_room_is_refused(bounds):
    with pytest.raises(ConfigError, match=r"no room for reports.*PGS_MAX_PASS_CHARACTERS"):
        shown(sweep(1), question="w" * 20_000, **bounds)


@pytest.mark.parametrize("most", range(9))
def test_as_many_bullets_stay_as_fit(most):
    found = find_shortening([sweep(1, 8).report], lambda tried: tried.bullets <= most)
    assert found == Shortening(reports=1, bullets=most, state=len("State."))


@pytest.mark.timeout(60)
def test_hundreds_of_long_reports_are_shortened_in_reasonable_time():
    count = tries(100, 300)
    parts = [Partition(id=i, size=10, tokens=1) for i in range(1, count + 1)]
    sweeps = [sweep(i, 200) for i in range(1, count + 1)]
    made = shown(*sweeps, partitions=parts, characters=300_000)
    assert made.dropped_bullets > 0
    assert len(made.prompt.reports) == count
