"""Return the lines to print above and below an answer. Pure.

Above it are its question and status; below it are its sources, the checks, its coverage and cost,
and the next command to try.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pgs_neo4j.cli.pages.runs_page import resume_command
from pgs_neo4j.cli.pages.text import (
    columns,
    fit_line,
    item,
    labeled_rows,
    moment,
    statement_lines,
)
from pgs_neo4j.export import figures, statement, wording
from pgs_neo4j.export.judge import Judge
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Citation,
    Convergence,
    Stated,
)
from pgs_neo4j.text.citations import distinct, name_of
from pgs_neo4j.text.claims.marking import unmark
from pgs_neo4j.text.commands import shell_word
from pgs_neo4j.text.gist import SAME, Rarity, gist
from pgs_neo4j.text.node_text import is_handle
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
    statement.TITLE,
)
"""The labels and headings of the lines around an answer."""
LONGEST_KEY, LONGEST_LABELS = 40, 30  # maximum characters beside a source's title
SOME_PARTITIONS = 5
"""Maximum number of partitions that a next step names."""
ALL_READ = "The whole graph has been read."
ALL_STRUCTURE = "The structure of the whole graph has been read; none of its nodes has text."
READ_BEFORE = (
    "Session {session} has read the whole graph, but only {read} for this answer. To read all of "
    "it for this question:"
)
MAX_ABSENCES = 2  # maximum to show of each status
MAX_NODES = 2
MAX_PARTITIONS = 4
MAX_SIDE = 75  # maximum characters of each of two connected findings
MAX_ITEMS = 3  # maximum opportunities to show, and convergences
MAX_DOUBTS = 12  # maximum doubtful sentences to show, and struck ones
LISTED = (AbsenceStatus.CONFIRMED, AbsenceStatus.ELSEWHERE, AbsenceStatus.CONTRADICTED)
_PARTITION = re.compile(r"(?<![^\W_])P(\d{1,9})(?![^\W_])")


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
    return labeled_rows(rows, width)


def below(answer: Answer, width: int, searched: Sequence[Citation] = ()) -> list[str]:
    """Return sources, checks, and figures, each part after an empty line.

    ``searched`` are the citations of a preceding search, if there was one.
    """
    cited = (*searched, *answer.synthesis.citations)
    listed = sources(cited, width) if answer.text or cited else [wording.NO_SYNTHESIS]
    read = _read_statement(answer, width)
    parts = (listed, read, *check_sections(answer, width), summary(answer, width))
    return [line for part in parts if part for line in ("", *part)]


def _read_statement(answer: Answer, width: int) -> list[str]:
    """Return the statement of an answer, and what a reader must know of it."""
    read = answer.shown.rows if answer.shown else None
    if read is None:
        return []
    code = statement_lines(read.statement, width, "  ")
    notes = (line for note in statement.list_notes(read) for line in item(note, width))
    return [statement.TITLE, *code, *notes]


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


def _title(citation: Citation, room: int) -> str:
    if not citation.valid:
        return f"(invalid: {wording.invalid_words(citation.partition)})"
    # An element id is not a key of the graph, and an id that is cut to fit is useless.
    node = "" if is_handle(citation.node or "") else citation.node or ""
    key = one_line(node, LONGEST_KEY)
    title = one_line(citation.title or "") or key or "(untitled)"
    label, other = one_line(", ".join(citation.labels), LONGEST_LABELS), key if key != title else ""
    # If there is too little room, drop the labels before the key, which identifies the node.
    for about in (", ".join(filter(None, (label, other))), other, label):
        if about and columns(about) <= room // 2:
            return f"{fit_line(title, room - columns(about) - 3)} ({about})"
    return fit_line(title, room)


def summary(answer: Answer, width: int) -> list[str]:
    """Return labeled lines on coverage, checks, usage, cost, and time, with problems last."""
    rows = [
        *figures.coverage_rows(answer),
        ("This run", f"{one_line(answer.run, 60)}: {figures.run_line(answer)}"),
        ("Checks", figures.problems_line(answer)),
        (
            "Model",
            f"{one_line(answer.model, 60)}: {figures.usage_line(answer.usage)}"
            f"{_reductions_note(answer)}",
        ),
        ("Context", figures.context_line(answer.contexts)),
        ("Cost", money(answer.cost) if answer.cost else ""),
        ("Time", figures.timing_line(answer.seconds)),
        ("Stopped", one_line(answer.stopped)),
        *(("Note", text) for text in _notes(answer)),
    ]
    return labeled_rows(rows, width)


def _reductions_note(answer: Answer) -> str:
    reductions = answer.synthesis.reductions
    return f"; {reductions} of the calls condensed reports" if reductions else ""


def _notes(answer: Answer) -> list[str]:
    notes = figures.warnings(answer)
    if wording.used_extractive_reader(answer):
        notes.append(f"{figures.NO_MODEL} {HOW_TO_GET_A_MODEL}")
    if answer.coverage.texts_total == 0:
        notes.append(figures.NO_TEXT)
    return notes


def advice(answer: Answer) -> list[str]:
    """Return an empty line, a heading, and the next command to try; empty without a next step."""
    if answer.partial:
        return _resume_step(answer)
    if answer.shown:
        return _read_partitions_step(answer)
    left = answer.coverage.nodes_total - answer.coverage.nodes_read - answer.coverage.nodes_unproven
    own = answer.own_coverage
    if left <= 0 and own.nodes_read + own.nodes_unproven < own.nodes_total:
        return _read_all_step(answer)
    if left <= 0:
        session, graph = shell_word(answer.session), shell_word(answer.graph)
        command = f"pgs sessions show {session} --graph {graph}"
        whole = ALL_STRUCTURE if answer.coverage.texts_total == 0 else ALL_READ
        return ["", f"{whole} To list the questions of this session:", f"  {command}"]
    are = "is" if left == 1 else "are"
    command = " ".join(_ask_again(answer, "--continue"))
    return ["", f"To read the {counted(left, 'node')} that {are} left:", f"  {command}"]


def _read_all_step(answer: Answer) -> list[str]:
    """Return the command that reads the whole graph for this question.

    Used if the session has read the whole graph, but parts of it only for other questions.
    """
    own = answer.own_coverage
    read = f"{own.nodes_read:,} of {counted(own.nodes_total, 'node')}"
    command = " ".join([*_ask_again(answer, "--full-sweep"), shell_word(answer.question)])
    heading = READ_BEFORE.format(session=one_line(answer.session, 60), read=read)
    return ["", heading, f"  {command}"]


def _ask_again(answer: Answer, how: str) -> list[str]:
    """Return the words of a command that asks again in the graph and session of an answer."""
    session = shell_word(answer.session)
    words = ["pgs", "ask", how, "--graph", shell_word(answer.graph)]
    if answer.session != "default":
        # Only this form accepts a name that begins with a dash.
        words += [f"--session={session}"] if session[0] == "-" else ["--session", session]
    if answer.coverage.texts_total == 0:
        words += ["--structure-only"]
    return words


def _read_partitions_step(answer: Answer) -> list[str]:
    """Return the command that reads in full the partitions in which a search found nodes."""
    if answer.routing.unmatched:
        return []
    routes = answer.routing.routes
    command = f"pgs ask --graph {shell_word(answer.graph)} {shell_word(answer.question)}"
    if not routes:
        return ["", "To read in full what matters for this question:", f"  {command}"]
    names = partition_names([route.partition for route in routes], SOME_PARTITIONS)
    return ["", f"To read in full what matters for this question ({names}):", f"  {command}"]


def _resume_step(answer: Answer) -> list[str]:
    command = f"  {resume_command(answer.run)}"
    if not answer.stopped:
        return ["", "To complete this answer:", command]
    limits = "Its limits start over, and you can set new ones."
    return ["", "To continue this run:", command, limits]


def check_sections(answer: Answer, width: int) -> list[list[str]]:
    """Return the results of the checks as sections of lines, without empty sections.

    The answer itself has sections on absences and convergences. A result that a bullet of the
    answer already states is left out here, since a reader would take it for another result.
    """
    checks = answer.crosscheck
    absences = _unstated_absences(answer)
    heading = f"{wording.ABSENCES}: {wording.status_counts(checks.absences)}"
    if stated := len(checks.absences) - len(absences):
        heading += f"; the answer states {stated:,} of them"
    opportunities, convergences = checks.opportunities, _unstated_convergences(answer)
    lists = (
        (heading, _absences(absences), len(absences)),
        (wording.OPPORTUNITIES, [*map(_opportunity, opportunities[:MAX_ITEMS])],
         len(opportunities)),
        (wording.CONVERGENCES, [*map(_convergence, convergences[:MAX_ITEMS])], len(convergences)),
        (wording.IN_DOUBT, [*map(wording.doubt_line, answer.in_doubt[:MAX_DOUBTS])],
         len(answer.in_doubt)),
        (wording.STRUCK, [*map(wording.doubt_line, answer.struck[:MAX_DOUBTS])],
         len(answer.struck)),
    )  # fmt: skip
    blocks = [
        [heading, *(line for text in items for line in item(text, width))]
        for heading, items, _ in lists
        if items
    ]
    if blocks and any(len(items) < count for _, items, count in lists):
        blocks[-1].append(
            f"  To see all of them: pgs export {one_line(answer.run)} --to answer.html"
        )
    return blocks


def _unstated_absences(answer: Answer) -> list[CheckedAbsence]:
    """Return the absences that no bullet of the answer states together with their check result."""
    absences = answer.crosscheck.absences
    if not answer.synthesis.judged:
        return [*absences]
    judge = Judge(absences)
    verdicts = dict.fromkeys(f" ({wording.absence_verdict(one)})" for one in absences)
    stated = [
        judge.find(bullet.removesuffix(verdict))
        for bullet in answer.synthesis.absences
        for verdict in verdicts
        if bullet.endswith(verdict)
    ]
    return [one for one in absences if one not in stated]


def _unstated_convergences(answer: Answer) -> list[Convergence]:
    """Return the convergences that the answer does not state.

    A bullet of the answer states a convergence if it names at least two of its partitions and is
    nearly the same as one of its findings.
    """
    met, bullets = answer.crosscheck.convergences, answer.synthesis.convergences
    if not bullets:
        return [*met]
    said = [(gist(bullet), set(map(int, _PARTITION.findall(bullet)))) for bullet in bullets]
    found = {one: [gist(stated.text) for stated in one.findings] for one in met}
    rarity = Rarity.of(
        [*(words for words, _ in said), *(g for some in found.values() for g in some)]
    )
    return [
        one
        for one in met
        if not any(
            len(partitions.intersection(one.partitions)) > 1
            and any(rarity.near(words, other) >= SAME for other in found[one])
            for words, partitions in said
        )
    ]


def _absences(absences: Sequence[CheckedAbsence]) -> list[str]:
    """Return lines on the most reported absences of each listed status."""
    return [
        wording.absence_line(absence)
        for status in LISTED
        for absence in [one for one in absences if one.status is status][:MAX_ABSENCES]
    ]


def _opportunity(flag: ChasedFlag) -> str:
    line = f"{wording.flag_course(flag)}: {wording.bullet_line(flag.text, flag.source)}"
    return (
        f"{line} ({wording.reported_missing(flag)}: {_bullet(flag.absent)})"
        if flag.absent
        else line
    )


def _convergence(convergence: Convergence) -> str:
    """Return a convergence in one line.

    If the findings use the same words, shows one of them; if nodes connect them, shows two side by
    side.
    """
    heading = wording.convergence_heading(convergence, MAX_PARTITIONS)
    if convergence.kind == "words":
        return f"{heading}: {_bullet(convergence.findings[0])}"
    citations = convergence.citations
    nodes = [*dict.fromkeys(name_of(c.partition, one_line(c.alias, 30)) for c in citations)]
    names = f" ({', '.join(nodes[:MAX_NODES])})" if nodes else ""
    sides = map(_short_finding, convergence.findings[:2])
    return f"{heading}{names}: {' / '.join(sides)}"


def _short_finding(stated: Stated) -> str:
    """Return a connected finding, shortened, but with its mark of doubt."""
    text = _bullet(stated)
    short = one_line(unmark(text), MAX_SIDE)
    return short if text == unmark(text) else f"{short} (in doubt)"


def _bullet(stated: Stated) -> str:
    return wording.bullet_line(stated.text, stated.partition)
