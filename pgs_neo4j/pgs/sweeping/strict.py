"""Requests a reply once more, listing its failed sentences, and strikes what fails again."""

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
AGAIN_CHARACTERS = 1200  # maximum characters of the request; prompts are packed with room for it
LONGEST = 120  # maximum characters of a listed sentence, and of its reason


def ask_again(prompt: Prompt, failed: Sequence[DoubtedSentence]) -> Prompt:
    """Return a prompt plus the request to write its reply again without the failed sentences."""
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
    """Return the findings and sentences of a report that failed their checks, with the reasons."""
    findings = (
        DoubtedSentence(text=one.text, reason="; ".join(one.failures), partition=report.partition)
        for one in report.findings
        if one.failures
    )
    return (*findings, *report.in_doubt)


def marked_sentences(
    state: str, flags: Sequence[Flag], partition: int
) -> tuple[DoubtedSentence, ...]:
    """Return the sentences in a Domain State and in flags that are marked as in doubt, in order."""
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
    """Return a report without the content that failed its checks; ``struck`` lists this content.

    A finding or flag is removed as a whole, a Domain State sentence by sentence.
    """
    return replace(
        report,
        domain_state=strike(report.domain_state).strip(),
        findings=kept_findings(report.findings),
        flags=tuple(flag for flag in report.flags if flag.text == unmark(flag.text)),
        in_doubt=(),
        struck=(*report.struck, *failed_sentences(report)),
    )


def keeps_enough_findings(second: Report, first: Report) -> bool:
    """Return whether the second report has at least as many findings that passed their checks.

    If it has fewer, the model also left out findings that had passed, and the first report is
    better.
    """
    return len(kept_findings(second.findings)) >= len(kept_findings(first.findings))


def _shorten(text: str) -> str:
    return one_line(clean_text(text), LONGEST)
