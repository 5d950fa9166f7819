"""What stands below an answer: its sources, its coverage, what it cost, what to try next. Pure."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence

from pgs_neo4j.cli.as_json import PHASES, distinct
from pgs_neo4j.cli.text import counted, one_line, percent, seconds
from pgs_neo4j.model import Answer, Citation, Coverage, Sweep, SweepStatus, Usage

LABEL = 10  # columns of the labels on the left
LONGEST_QUESTION = 60
NO_MODEL = (
    "No language model was used: the extractive reader quotes sentences and counts them. Set "
    "OPENAI_API_KEY, or PGS_LLM_BASE_URL, PGS_SWEEP_MODEL and PGS_SYNTHESIS_MODEL for any "
    "OpenAI-compatible server, and ask again."
)
EXTRACTIVE = "extractive"


def below(answer: Answer, width: int, searched: Sequence[Citation] = ()) -> list[str]:
    """Sources and figures, each part after an empty line.

    ``searched`` are the citations of the search before it, if there was one.
    """
    cited = (*searched, *answer.synthesis.citations)
    parts = (sources(cited, width), summary(answer, width))
    return [line for part in parts if part for line in ("", *part)]


def sources(citations: Sequence[Citation], width: int) -> list[str]:
    """Each cited node once, with its title; citations that resolve to no node are flagged."""
    found = distinct(citations)
    if not found:
        return ["Sources", "  none: the answer cites no node"]
    names = [name_of(citation) for citation in found]
    room = max(len(name) for name in names)
    return [
        "Sources",
        *(
            f"  {name:<{room}}  {_title(citation, max(20, width - room - 4))}"
            for name, citation in zip(names, found, strict=True)
        ),
    ]


def name_of(citation: Citation) -> str:
    """A citation as it stands in the answer: ``P4:n12``; ``n3`` where it names no partition."""
    alias = one_line(citation.alias, 30)
    return f"P{citation.partition}:{alias}" if citation.partition else alias


def summary(answer: Answer, width: int) -> list[str]:
    """Coverage, model, tokens, and seconds; what went wrong last."""
    rows = [
        ("Coverage", f"{coverage(answer.coverage)} in session {one_line(answer.session, 60)}"),
        ("This run", reading(answer.sweeps)),
        ("Model", f"{one_line(answer.model, 60)}: {usage(answer.usage)}"),
        ("Time", timing(answer.seconds)),
    ]
    rows += [("Note", one_line(warning)) for warning in answer.warnings]
    if EXTRACTIVE in answer.model.split(" / "):
        rows.append(("Note", NO_MODEL))
    return [line for label, text in rows for line in labelled(label, text, width)]


def coverage(found: Coverage) -> str:
    """``5 of 11 partitions, 300 of 586 nodes (51 %)``."""
    return (
        f"{found.partitions_swept} of {counted(found.partitions_total, 'partition')}, "
        f"{found.nodes_read:,} of {counted(found.nodes_total, 'node')} ({percent(found.fraction)})"
    )


def reading(sweeps: Sequence[Sweep]) -> str:
    """What one run read."""
    read = sum(sweep.nodes_read for sweep in sweeps)
    failed = sum(sweep.status is SweepStatus.FAILED for sweep in sweeps)
    partial = sum(sweep.status is SweepStatus.PARTIAL for sweep in sweeps)
    text = f"{counted(len(sweeps), 'partition')} swept, {counted(read, 'node')} read"
    if partial:
        text += f", {partial} in part"
    return f"{text}, {failed} failed" if failed else text


def usage(found: Usage) -> str:
    """``6 calls, 12,345 tokens in, 2,345 out``."""
    about = "about " if found.estimated else ""
    return (
        f"{counted(found.calls, 'call')}, {about}{found.input_tokens:,} tokens in, "
        f"{found.output_tokens:,} out"
    )


def timing(found: dict[str, float]) -> str:
    """The total, and the phases it is made of."""
    phases = ", ".join(f"{name} {seconds(found[name])}" for name in PHASES[:-1] if name in found)
    return f"{seconds(found.get('total', 0.0))} ({phases})" if phases else "unknown"


def advice(answer: Answer) -> list[str]:
    """One command that goes on from here, after an empty line."""
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


def labelled(label: str, text: str, width: int, column: int = LABEL) -> list[str]:
    """A label and a text beside it from ``column`` on, wrapped."""
    body = textwrap.wrap(text, max(30, width - column), break_on_hyphens=False) or [""]
    first, *rest = body
    return [f"{label:<{column}}{first}", *(f"{'':<{column}}{line}" for line in rest)]


def _title(citation: Citation, room: int) -> str:
    if not citation.valid:
        return "(invalid: no report cites such a node)"
    return one_line(citation.title or citation.node or "(untitled)", room)
