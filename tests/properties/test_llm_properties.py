"""Properties of the readers and embedders that need no endpoint."""

from __future__ import annotations

import asyncio
import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.extractive.sentences import MAX_SENTENCE, quote, sentences
from pgs_neo4j.llm.extractive.sweep import sweep_report
from pgs_neo4j.llm.extractive.synthesis import synthesis
from pgs_neo4j.llm.local_reply import split_reply
from pgs_neo4j.llm.retry import retry_after_s
from pgs_neo4j.model import (
    Absence,
    Citation,
    Finding,
    Flag,
    Prompt,
    PromptNeighbor,
    PromptNode,
    PromptReport,
    Report,
)
from pgs_neo4j.text.tokens import estimate
from tests.thorough import tries

# Text made of what reports, Markdown and attacks are made of, as well as any text at all.
SPICE = st.sampled_from(
    ["\n", "## Findings", "- ", "[n1]", "[P2:n3, n4", "]", "socket", "event loop.", " ", "“", "```"]
)
TEXT = st.one_of(st.text(max_size=80), st.lists(SPICE, max_size=12).map("".join))
QUESTION = "Which event loop reads a socket?"
SECTIONS = ["Domain State", "Findings", "Outbound Flags", "Absences"]
OWN_CITATION = re.compile(r"\[([^\[\]]*)\]")


def headings(text: str) -> list[str]:
    return [line[3:] for line in text.split("\n") if line.startswith("## ")]


def aliases(text: str) -> set[str]:
    groups = [group for group in OWN_CITATION.findall(text) if re.search(r"n\s*\d", group)]
    return {alias.strip() for group in groups for alias in group.split(",")}


@given(st.text(), st.text())
def test_estimates_grow_with_the_text(one: str, other: str) -> None:
    assert estimate(one) <= estimate(one + other) <= estimate(one) + estimate(other)


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), st.text(max_size=30)))
def test_a_wait_is_never_negative(headers: dict[str, str]) -> None:
    wait_s = retry_after_s(headers, now=0.0)
    assert wait_s is None or 0 <= wait_s < float("inf")


@given(st.text())
def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(split_reply(text)) == text


@given(TEXT, st.integers(5, 300))
def test_quotes_are_one_short_line_without_citations(text: str, limit: int) -> None:
    line = quote(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert not line.startswith(("#", "- ", "* ", ">", "```"))
    assert not aliases(line)


@given(TEXT)
def test_sentences_are_single_lines_of_bounded_length(text: str) -> None:
    for sentence in sentences(text):
        assert len(sentence.splitlines()) == 1
        assert len(sentence) <= MAX_SENTENCE


@settings(max_examples=tries(20, 60), deadline=None)
@given(st.lists(TEXT, max_size=8))
def test_hashed_rows_are_unit_or_zero_and_independent(texts: list[str]) -> None:
    embedder = HashingEmbedder(32)
    rows = asyncio.run(embedder.embed(texts))
    norms = np.linalg.norm(rows, axis=1)
    assert np.all((norms == 0) | np.isclose(norms, 1, atol=1e-5))
    for text, row in zip(texts, rows, strict=True):
        assert np.allclose(asyncio.run(embedder.embed([text]))[0], row, atol=1e-6)


@settings(max_examples=tries(20, 80), deadline=None)
@given(
    st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=5),
    st.lists(st.tuples(TEXT, TEXT), max_size=3),
)
def test_any_nodes_make_a_report_that_holds_the_contract(
    nodes: list[tuple[str, str, str]], digests: list[tuple[str, str]]
) -> None:
    prompt = Prompt(
        task="sweep",
        system="",
        user="",
        question=QUESTION,
        nodes=tuple(PromptNode(f"n{i}", t, x, (la,)) for i, (t, x, la) in enumerate(nodes, 1)),
        neighbors=tuple(PromptNeighbor("P9", (k,), s, 1) for k, s in digests),
    )
    report = sweep_report(prompt, 8)
    assert headings(report) == SECTIONS
    assert aliases(report) <= {node.alias for node in prompt.nodes}


@settings(max_examples=tries(20, 80), deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=4))
def test_any_reports_make_a_synthesis_that_holds_the_contract(
    texts: list[tuple[str, str, str]],
) -> None:
    reports = tuple(
        Report(
            partition=number,
            findings=(Finding(text=found, citations=(Citation(alias="n1", partition=number),)),),
            flags=(Flag(text=flag, target=1),),
            absences=(Absence(text=absent),),
        )
        for number, (found, flag, absent) in enumerate(texts, start=1)
    )
    shown = tuple(PromptReport(f"P{r.partition}", (), r, "") for r in reports)
    prompt = Prompt(task="synthesis", system="", user="", question=QUESTION, reports=shown)
    text = synthesis(prompt, 8)
    assert headings(text) == ["Thesis", "Connections", "Absences", "Convergences"]
    assert aliases(text) <= {f"P{r.partition}:n1" for r in reports}
