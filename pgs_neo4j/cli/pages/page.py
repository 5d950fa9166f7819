"""What stands below an answer: its sources, its coverage, what it cost, what to try next. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pgs_neo4j.cli.pages import checks_page
from pgs_neo4j.cli.pages.run_words import resuming
from pgs_neo4j.cli.pages.text import labelled, moment
from pgs_neo4j.export import facts
from pgs_neo4j.model import Answer, Citation, Sweep, SweepStatus, Usage
from pgs_neo4j.text.mentions import distinct, name_of
from pgs_neo4j.text.shown import counted, money, one_line

LONGEST_QUESTION = 60
NO_SYNTHESIS = "There is no synthesis yet; what was read is kept."
HOW_TO_GET_A_MODEL = (
    "Set OPENAI_API_KEY, or PGS_LLM_BASE_URL, PGS_SWEEP_MODEL and PGS_SYNTHESIS_MODEL for any "
    "OpenAI-compatible server, and ask again."
)


def above(answer: Answer, asked_at: str, status: str, width: int) -> list[str]:
    """What a stored answer is the answer to."""
    rows = (
        ("Question", one_line(answer.question)),
        ("Asked", f"{moment(asked_at)} UTC of graph {one_line(answer.graph)}, mode {answer.mode}"),
        ("Status", status),
    )
    return [line for label, text in rows for line in labelled(label, text, width)]


def below(answer: Answer, width: int, searched: Sequence[Citation] = ()) -> list[str]:
    """Sources, what was checked, and figures, each part after an empty line.

    ``searched`` are the citations of the search before it, if there was one.
    """
    cited = (*searched, *answer.synthesis.citations)
    listed = sources(cited, width) if answer.text or cited else [NO_SYNTHESIS]
    parts = (listed, *checks_page.sections(answer, width), summary(answer, width))
    return [line for part in parts if part for line in ("", *part)]


def sources(citations: Sequence[Citation], width: int) -> list[str]:
    """Each cited node once, with its title; citations that resolve to no node are flagged."""
    found = distinct(citations)
    if not found:
        return ["Sources", "  none: the answer cites no node"]
    names = [name_of(each.partition, one_line(each.alias, 30)) for each in found]
    room = max(len(name) for name in names)
    return [
        "Sources",
        *(
            f"  {name:<{room}}  {_title(citation, max(20, width - room - 4))}"
            for name, citation in zip(names, found, strict=True)
        ),
    ]


def summary(answer: Answer, width: int) -> list[str]:
    """Coverage, model, tokens, and seconds; what went wrong last."""
    rows = [
        (
            "Coverage",
            f"{facts.headline(answer.coverage)} in session {one_line(answer.session, 60)}",
        ),
        ("This run", f"{one_line(answer.run, 60)}: {reading(answer.sweeps)}"),
        ("Checks", checks_page.counts(answer)),
        ("Model", f"{one_line(answer.model, 60)}: {usage(answer.usage)}{_reduced(answer)}"),
        ("Cost", money(answer.cost) if answer.cost else ""),
        ("Time", facts.timing(answer.seconds)),
        ("Stopped", one_line(answer.stopped)),
        *(("Note", text) for text in _notes(answer)),
    ]
    return [line for label, text in rows if text for line in labelled(label, text, width)]


def reading(sweeps: Sequence[Sweep]) -> str:
    """What one run read: ``3 partitions swept, 1 of them flagged, 90 nodes read, 1 failed``."""
    read = sum(sweep.nodes_read for sweep in sweeps)
    count = {status: sum(sweep.status is status for sweep in sweeps) for status in SweepStatus}
    swept = len(sweeps) - count[SweepStatus.UNREAD]
    flagged = sum(s.wave > 1 and s.status is not SweepStatus.UNREAD for s in sweeps)
    listed = (
        (True, f"{counted(swept, 'partition')} swept"),
        (flagged, f"{flagged} of them flagged"),
        (True, f"{counted(read, 'node')} read"),
        (count[SweepStatus.PARTIAL], f"{count[SweepStatus.PARTIAL]} in part"),
        (count[SweepStatus.FAILED], f"{count[SweepStatus.FAILED]} failed"),
        (count[SweepStatus.UNREAD], f"{count[SweepStatus.UNREAD]} left unread"),
    )
    return ", ".join(text for there, text in listed if there)


def usage(found: Usage) -> str:
    """``6 calls, 10 from the cache, 12,345 tokens in, 2,345 out``."""
    about = "about " if found.estimated else ""
    cached = f"{found.cached:,} from the cache, " if found.cached else ""
    return (
        f"{counted(found.calls, 'call')}, {cached}{about}{found.input_tokens:,} tokens in, "
        f"{found.output_tokens:,} out"
    )


def advice(answer: Answer) -> list[str]:
    """One command that goes on from here, after an empty line."""
    if answer.partial:
        return _resuming(answer)
    graph, session = shlex.quote(answer.graph), shlex.quote(one_line(answer.session))
    left = answer.coverage.nodes_total - answer.coverage.nodes_read
    if left <= 0:
        command = f"pgs sessions show {session} --graph {graph}"
        return [
            "",
            "The whole graph has been read. Try next, to see what was asked:",
            f"  {command}",
        ]
    question = one_line(answer.question)
    asked = shlex.quote(question) if len(question) <= LONGEST_QUESTION else '"(your question)"'
    words = ["pgs", "ask", "--graph", graph, "--mode", "continue", asked]
    if answer.session != "default":
        words[2:2] = ["--session", session]
    return ["", f"Try next, to read the {counted(left, 'node')} left:", f"  {' '.join(words)}"]


def _resuming(answer: Answer) -> list[str]:
    command = f"  {resuming(answer.run)}"
    if not answer.stopped:
        return ["", "Try next, to complete this answer:", command]
    bounds = "Its bounds count anew then, and others can be given."
    return ["", "Try next, to go on with this run:", command, bounds]


def _reduced(answer: Answer) -> str:
    reductions = answer.synthesis.reductions
    return f"; {reductions} of the calls condensed reports" if reductions else ""


def _notes(answer: Answer) -> list[str]:
    found = facts.warnings(answer)
    if facts.extractive(answer):
        found.append(f"{facts.NO_MODEL} {HOW_TO_GET_A_MODEL}")
    return found


def _title(citation: Citation, room: int) -> str:
    if not citation.valid:
        return "(invalid: no report cites such a node)"
    return one_line(citation.title or citation.node or "(untitled)", room)
