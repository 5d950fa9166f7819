"""Asks for a reply once more, naming what of it failed its checks, and strikes what still fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgs_neo4j.model import DoubtedSentence, Finding, Flag, Prompt, Report
from pgs_neo4j.text.claims.marking import find_marked, strike, unmark
from pgs_neo4j.text.prompt_text import clean_text
from pgs_neo4j.text.shown import one_line

AGAIN = (
    "You have answered this before, and the sentences below failed a check: what they cite does "
    "not say it. Write the whole reply again in the same form. Correct each of them by what it "
    "cites, or leave it out. Keep the rest."
)
AGAIN_CHARACTERS = 1200  # that the request takes at most; prompts are packed with room for it
LONGEST = 120  # of a sentence, and of the reason


def ask_again(prompt: Prompt, failed: Sequence[DoubtedSentence]) -> Prompt:
    """Return a prompt with the request to write its reply again, naming sentences that failed."""
    lines = [AGAIN]
    left = AGAIN_CHARACTERS - len(AGAIN)
    for one in failed:
        line = f"| {_shorten(one.text)} -- {_shorten(one.reason)}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    request = "\n".join(lines)
    content = f"{prompt.content}\n\n{request}" if prompt.content else ""
    return replace(prompt, user=f"{prompt.user}\n\n{request}", content=content)


def failed_sentences(report: Report) -> tuple[DoubtedSentence, ...]:
    """Return what of a report failed its checks, each with its reasons."""
    findings = (
        DoubtedSentence(text=one.text, reason="; ".join(one.failures), partition=report.partition)
        for one in report.findings
        if one.failures
    )
    return (*findings, *report.in_doubt)


def marked_sentences(
    state: str, flags: Sequence[Flag], partition: int
) -> tuple[DoubtedSentence, ...]:
    """Return the marked sentences of a Domain State and of flags, in order, each once."""
    texts = dict.fromkeys((state, *(flag.text for flag in flags)))
    return tuple(
        DoubtedSentence(text=one.text, reason=one.reason, partition=partition)
        for text in texts
        for one in find_marked(text)
    )


def kept_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings that passed their checks."""
    return tuple(one for one in findings if not one.failures)


def strike_report(report: Report) -> Report:
    """Return a report without what failed, which it lists as struck.

    Findings and flags go as a whole, a Domain State by its sentences.
    """
    return replace(
        report,
        domain_state=strike(report.domain_state).strip(),
        findings=kept_findings(report.findings),
        flags=tuple(flag for flag in report.flags if flag.text == unmark(flag.text)),
        in_doubt=(),
        struck=(*report.struck, *failed_sentences(report)),
    )


def stands_better(second: Report, first: Report) -> bool:
    """Return whether at least as many findings of the second report passed their checks.

    A model that leaves out more than what failed would otherwise lose what it had found.
    """
    return len(kept_findings(second.findings)) >= len(kept_findings(first.findings))


def _shorten(text: str) -> str:
    return one_line(clean_text(text), LONGEST)
