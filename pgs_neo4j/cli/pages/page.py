"""The lines below an answer: sources, coverage, cost, next command. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.cli.pages import checks_page
from pgs_neo4j.cli.pages.run_words import resume_command
from pgs_neo4j.cli.pages.text import columns, fitted, labeled, moment
from pgs_neo4j.export import counts, figures, wording
from pgs_neo4j.model import Answer, Citation
from pgs_neo4j.text.mentions import distinct, name_of
from pgs_neo4j.text.node_text import is_handle
from pgs_neo4j.text.shell_words import shell_word
from pgs_neo4j.text.shown import counted, money, one_line, partition_names

HOW_TO_GET_A_MODEL = (
    "To use a model, set OPENAI_API_KEY. For any OpenAI-compatible server, set PGS_LLM_BASE_URL, "
    "PGS_SWEEP_MODEL, and PGS_SYNTHESIS_MODEL. Then ask again."
)

TITLES = (
    *("Question", "Asked", "Status", "Sources", "Coverage", "Session", "This run", "Checks"),
    *("Model", "Context", "Cost", "Time", "Stopped", "Note"),
    *(wording.ABSENCES, wording.OPPORTUNITIES, wording.CONVERGENCES, wording.IN_DOUBT),
    wording.STRUCK,
)
"""What stands at the beginning of the lines around an answer."""
LONGEST_KEY, LONGEST_LABELS = 40, 30  # characters beside the title of a source


def above(answer: Answer, asked_at: str, status: str, width: int) -> list[str]:
    """Return the lines above a stored answer: its question, time, and status."""
    rows = (
        ("Question", one_line(answer.question)),
        (
            "Asked",
            f"{one_line(moment(asked_at))} UTC, graph {one_line(answer.graph)}, mode {answer.mode}",
        ),
        ("Status", status),
    )
    return [line for label, text in rows for line in labeled(label, text, width)]


SOME_PARTITIONS = 5
"""Partitions that a next step names."""
ALL_READ = "The whole graph has been read."
ALL_STRUCTURE = "The structure of the whole graph has been read; none of its nodes has text."
READ_BEFORE = (
    "Session {session} has read the whole graph, but only {read} for this answer. To read all of "
    "it for this question:"
)


def below(answer: Answer, width: int, searched: Sequence[Citation] = ()) -> list[str]:
    """Return sources, checks, and figures, each part after an empty line.

    ``searched`` are the citations of a preceding search, if there was one.
    """
    cited = (*searched, *answer.synthesis.citations)
    listed = sources(cited, width) if answer.text or cited else [wording.NO_SYNTHESIS]
    parts = (listed, *checks_page.sections(answer, width), summary(answer, width))
    return [line for part in parts if part for line in ("", *part)]


def sources(citations: Sequence[Citation], width: int) -> list[str]:
    """Return each cited node once, with its title; invalid citations are marked."""
    cited = distinct(citations)
    if not cited:
        return ["Sources", f"  {wording.NO_CITATION}"]
    names = [name_of(citation.partition, one_line(citation.alias, 30)) for citation in cited]
    room = max(map(columns, names))
    return [
        "Sources",
        *(
            f"  {name}{' ' * (room - columns(name))}  {_title(citation, max(20, width - room - 4))}"
            for name, citation in zip(names, cited, strict=True)
        ),
    ]


def summary(answer: Answer, width: int) -> list[str]:
    """Return coverage, checks, usage, cost, and time; problems come last."""
    rows = [
        *figures.coverage_rows(answer),
        ("This run", f"{one_line(answer.run, 60)}: {figures.run_line(answer)}"),
        ("Checks", figures.problems_line(answer)),
        (
            "Model",
            f"{one_line(answer.model, 60)}: {figures.usage_line(answer.usage)}{_reduced(answer)}",
        ),
        ("Context", figures.context_line(answer.contexts)),
        ("Cost", money(answer.cost) if answer.cost else ""),
        ("Time", figures.timing_line(answer.seconds)),
        ("Stopped", one_line(answer.stopped)),
        *(("Note", text) for text in _notes(answer)),
    ]
    return [line for label, text in rows if text for line in labeled(label, text, width)]


def advice(answer: Answer) -> list[str]:
    """Return the next command to try, after an empty line."""
    if answer.partial:
        return _resuming(answer)
    if answer.shown:
        return _reading_on(answer)
    graph, session = shell_word(answer.graph), shell_word(answer.session)
    left = answer.coverage.nodes_total - answer.coverage.nodes_read - answer.coverage.nodes_unproven
    own = answer.own_coverage
    if left <= 0 and own.nodes_read + own.nodes_unproven < own.nodes_total:
        return _reading_all(answer)
    if left <= 0:
        command = f"pgs sessions show {session} --graph {graph}"
        whole = ALL_STRUCTURE if answer.coverage.texts_total == 0 else ALL_READ
        return ["", f"{whole} To list the questions of this session:", f"  {command}"]
    words = ["pgs", "ask", "--continue", "--graph", graph]
    if answer.session != "default":
        # Only this form accepts a name that begins with a dash.
        words += [f"--session={session}"] if session[0] == "-" else ["--session", session]
    if answer.coverage.texts_total == 0:
        words += ["--structure-only"]
    are = "is" if left == 1 else "are"
    return ["", f"To read the {counted(left, 'node')} that {are} left:", f"  {' '.join(words)}"]


def _reading_all(answer: Answer) -> list[str]:
    """Return how to read the whole graph for a question whose session has read it for others."""
    own, session = answer.own_coverage, shell_word(answer.session)
    read = f"{own.nodes_read:,} of {counted(own.nodes_total, 'node')}"
    words = ["pgs", "ask", "--full-sweep", "--graph", shell_word(answer.graph)]
    if answer.session != "default":
        words += [f"--session={session}"] if session[0] == "-" else ["--session", session]
    if answer.coverage.texts_total == 0:
        words += ["--structure-only"]
    words.append(shell_word(answer.question))
    told = READ_BEFORE.format(session=one_line(answer.session, 60), read=read)
    return ["", told, f"  {' '.join(words)}"]


def _reading_on(answer: Answer) -> list[str]:
    """Return how to read what a search only found: the partitions that matter, whole."""
    if answer.routing.unmatched:
        return []
    routes = answer.routing.routes
    command = f"pgs ask --graph {shell_word(answer.graph)} {shell_word(answer.question)}"
    if not routes:
        return ["", "To read in full what matters for this question:", f"  {command}"]
    names = partition_names([route.partition for route in routes], SOME_PARTITIONS)
    return ["", f"To read in full what matters for this question ({names}):", f"  {command}"]


def _resuming(answer: Answer) -> list[str]:
    command = f"  {resume_command(answer.run)}"
    if not answer.stopped:
        return ["", "To complete this answer:", command]
    limits = "Its limits start over, and you can set new ones."
    return ["", "To continue this run:", command, limits]


def _reduced(answer: Answer) -> str:
    reductions = answer.synthesis.reductions
    return f"; {reductions} of the calls condensed reports" if reductions else ""


def _notes(answer: Answer) -> list[str]:
    notes = figures.warnings(answer)
    if counts.used_extractive_reader(answer):
        notes.append(f"{figures.NO_MODEL} {HOW_TO_GET_A_MODEL}")
    if answer.coverage.texts_total == 0:
        notes.append(figures.NO_TEXT)
    return notes


def _title(citation: Citation, room: int) -> str:
    if not citation.valid:
        return f"(invalid: {wording.invalid_words(citation.partition)})"
    # An element id is no key of the graph, and cut to fit it would lead nowhere.
    node = "" if is_handle(citation.node or "") else citation.node or ""
    key = one_line(node, LONGEST_KEY)
    title = one_line(citation.title or "") or key or "(untitled)"
    label, other = one_line(", ".join(citation.labels), LONGEST_LABELS), key if key != title else ""
    # The labels give way first: only the key leads to the node.
    for about in (", ".join(filter(None, (label, other))), other, label):
        if about and columns(about) <= room // 2:
            return f"{fitted(title, room - columns(about) - 3)} ({about})"
    return fitted(title, room)
