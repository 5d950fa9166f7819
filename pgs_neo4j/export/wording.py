"""Counts the results of an answer's checks, and writes them in words for all output formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pgs_neo4j.export.document import AreaState
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Convergence,
    DoubtedSentence,
    Finding,
    Kinship,
    Sighting,
    SweepStatus,
)
from pgs_neo4j.text.citations import name_of, pieces
from pgs_neo4j.text.shown import counted, one_line, partition_names

EXTRACTIVE = "extractive"

ABSENCES, OPPORTUNITIES = "Checked absences", "Opportunities"
FLAGS, CONVERGENCES = "Followed-up flags", "Converging findings"
IN_DOUBT = "In doubt"
STRUCK = "Struck"
NO_SYNTHESIS = "There is no synthesis. The session keeps the reports that were read."
NO_CITATION = "The answer cites no node."
INVALID_CITATION = "no report cites this node"
NOT_SHOWN = "the model was shown nothing of this name"
NO_REPORT = "unchecked: no report states it in these words"
GONE = "no longer in the graph"
CHANGED = "changed since it was read"

STATUS_WORDS = {
    AbsenceStatus.CONFIRMED: "found in none of the nodes searched",
    AbsenceStatus.ELSEWHERE: "found only in nodes that were not read",
    AbsenceStatus.CONTRADICTED: "found in a node that was read",
    AbsenceStatus.UNCHECKED: "could not be searched for in every node",
}

STATE_WORDS = {
    AreaState.READ: "read",
    AreaState.PARTIAL: "read in part",
    AreaState.UNPROVEN: "shown, unproven",
    AreaState.FAILED: "failed",
    AreaState.UNREAD: "not read",
}

SWEEP_WORDS = {
    SweepStatus.ACCEPTED: "read",
    SweepStatus.PARTIAL: "read in part",
    SweepStatus.FAILED: "failed",
    SweepStatus.UNREAD: "not read",
}

CONVERGENCE_WORDS: dict[Kinship, str] = {
    "neighbors": "cite connected nodes",
    "words": "say nearly the same",
}

MAX_SIGHTINGS = 2  # Maximum sightings that one sentence names.
MAX_REPORTERS = 3
TERM_LENGTH = 60


def findings(answer: Answer) -> Iterator[Finding]:
    """Yield the findings of a search, then those of all reports in the order of the sweeps."""
    yield from answer.shown.findings if answer.shown else ()
    for sweep in answer.sweeps:
        if sweep.report is not None:
            yield from sweep.report.findings


def finding_count(answer: Answer) -> int:
    """Return the number of findings in all reports."""
    return sum(1 for _ in findings(answer))


def unsupported_count(answer: Answer) -> int:
    """Return the number of findings that cite no node of their prompt."""
    return sum(not finding.supported for finding in findings(answer))


def misquote_count(answer: Answer) -> int:
    """Count quotations that no cited node contains."""
    return sum(not quote.found for finding in findings(answer) for quote in finding.quotes)


def invalid_citation_count(answer: Answer) -> int:
    """Count distinct citations of the answer that resolve to no node."""
    citations = answer.synthesis.citations
    return len({(cited.partition, cited.alias) for cited in citations if not cited.valid})


def alias_partition(absence: CheckedAbsence) -> int:
    """Return the partition to which the aliases in an absence's text belong.

    Returns 0 if no partition reports the absence in these words.
    """
    same = (stated.partition for stated in absence.reported if stated.text == absence.text)
    return next(same, 0)


def used_extractive_reader(answer: Answer) -> bool:
    """Return whether the extractive reader, which is not a language model, took part."""
    return EXTRACTIVE in answer.model.split(" / ")


def quotes_only(answer: Answer, *, synthesis: bool) -> bool:
    """Return whether the extractive reader wrote the synthesis (or the sweeps, by ``synthesis``).

    The extractive reader only quotes sentences of the graph, so marks in its text are not Markdown.
    """
    models = answer.model.split(" / ")
    return models[-1 if synthesis else 0] == EXTRACTIVE


def invalid_words(partition: int) -> str:
    """Return why a citation is invalid; ``partition`` is the named partition, 0 without one."""
    return INVALID_CITATION if partition else NOT_SHOWN


def about_node(labels: Sequence[str], key: str, title: str) -> str:
    """Return labels and key, which distinguish nodes of the same title: ``Person, p-17``.

    The key is left out if it equals the title, so the result may be empty.
    """
    shown = [*labels, *([key] if key != title else [])]
    return ", ".join(filter(None, map(one_line, shown)))


def status_counts(absences: Sequence[CheckedAbsence]) -> str:
    """Return the number of absences by status: ``3 confirmed, 1 contradicted``."""
    count = Counter(absence.status for absence in absences)
    return ", ".join(f"{count[status]:,} {status}" for status in AbsenceStatus if count[status])


def absence_line(absence: CheckedAbsence) -> str:
    """Return a checked absence in one sentence, or in two if it has several terms.

    ``“library”: reported missing by 6 partitions, but found in P1:n28 and P5:n34 (both read).``
    """
    partitions = absence.partitions
    few = len(partitions) <= MAX_REPORTERS
    reporters = partition_names(partitions) if few else counted(len(partitions), "partition")
    reporters = reporters or "the answer"  # A search reads no partition.
    reported = f"by {reporters}, {_word_outcome(absence)}."
    if len(absence.terms) == 1:
        return f"{_quote_term(absence.terms[0])}: reported missing {reported}"
    text = bullet_line(absence.text, alias_partition(absence)).rstrip(" .")
    return f"{text}. Reported {reported}"


def absence_verdict(absence: CheckedAbsence) -> str:
    """Return the result of a check, to append to a bullet that states the absence.

    It contains no text from the graph: ``checked: contradicted, its words are in 15 nodes, such as
    [P1:n28, P5:n34]``.
    """
    names = ", ".join(map(_name_sighting, absence.sightings[:MAX_SIGHTINGS]))
    count = counted(max(absence.count, len(absence.sightings)), "node")
    match absence.status:
        case AbsenceStatus.CONFIRMED:
            return f"checked: confirmed, in none of {_word_amount(absence)}"
        case AbsenceStatus.ELSEWHERE:
            return f"checked: its words are elsewhere, in {count} not read, such as [{names}]"
        case AbsenceStatus.CONTRADICTED:
            return f"checked: contradicted, its words are in {count}, such as [{names}]"
        case _:
            return "unchecked: it could not be searched for in every text"


def search_line(absence: CheckedAbsence) -> str:
    """Describe how an absence was searched.

    ``160 nodes searched by full text for “toys”; 2 nodes contain it.``
    """
    terms = ", ".join(map(_quote_term, absence.terms))
    purpose = f" for {terms}" if terms else ""
    if not absence.searched:
        return f"Not searched{purpose}."
    by = f" by {one_line(absence.method, 80)}" if absence.method else ""
    contain = "contains" if absence.count == 1 else "contain"
    hits = f"{counted(absence.count, 'node')} {contain} it"
    return f"{_word_amount(absence)} searched{by}{purpose}; {hits}."


def more_sightings(absence: CheckedAbsence) -> str:
    """Return the end of an incomplete list of sightings: ``; and 3 more``."""
    more = absence.count - len(absence.sightings)
    return f"; and {more:,} more" if absence.sightings and more > 0 else ""


def sighting_state(sighting: Sighting) -> str:
    """Return whether a sighted node was read, in words."""
    return "read" if sighting.read else "not read"


def _word_amount(absence: CheckedAbsence) -> str:
    """Return how much was searched: ``160 nodes``, or ``90 texts of 160 nodes``."""
    nodes = counted(absence.searched, "node")
    if absence.texts is None or absence.texts >= absence.searched:
        return nodes
    return f"{counted(absence.texts, 'text')} of {nodes}"


def _word_outcome(absence: CheckedAbsence) -> str:
    match absence.status:
        case AbsenceStatus.CONFIRMED:
            return f"and not found in any of {_word_amount(absence)}"
        case AbsenceStatus.ELSEWHERE:
            count = max(absence.count, len(absence.sightings))
            more = ", …" if count > MAX_SIGHTINGS else ""
            were = "was" if count == 1 else "were"
            names = ", ".join(map(_name_sighting, absence.sightings[:MAX_SIGHTINGS]))
            return f"but found in {counted(count, 'node')} that {were} not read ({names}{more})"
        case AbsenceStatus.CONTRADICTED:
            return f"but found in {_name_read_sightings(absence)}"
        case _:
            return "but not searched for in every node"


def _name_read_sightings(absence: CheckedAbsence) -> str:
    names = [_name_sighting(sighting) for sighting in absence.sightings if sighting.read]
    if len(names) > MAX_SIGHTINGS:
        return f"{', '.join(names[:MAX_SIGHTINGS])}, and others (all read)"
    return f"{' and '.join(names)} ({'both ' if len(names) > 1 else ''}read)"


def _name_sighting(sighting: Sighting) -> str:
    return name_of(sighting.partition, one_line(sighting.alias, 30))


def _quote_term(term: str) -> str:
    return f"“{one_line(term, TERM_LENGTH)}”"


def bullet_line(text: str, partition: int) -> str:
    """Return a report's bullet on one line, with the partition before each alias."""
    return "".join(
        piece
        if isinstance(piece, str)
        else "".join(f"{cited.before}{name_of(*cited.place)}{cited.after}" for cited in piece)
        for piece in pieces(one_line(text), partition)
    )


def flag_course(flag: ChasedFlag) -> str:
    """Return a flag's source and target: ``P1 → P2``, or only ``P1``."""
    return f"P{flag.source}" if flag.target is None else f"P{flag.source} → P{flag.target}"


def flag_outcome(flag: ChasedFlag) -> str:
    """Return in words how the report of a flag's target responds to the flag."""
    if flag.target is None:
        return "names no partition"
    name = f"P{flag.target}"
    if not flag.swept:
        return f"open: {name} was not read"
    if flag.absent is not None:
        return f"opportunity: {reported_missing(flag)}"
    if flag.answers:
        return f"answered by {counted(len(flag.answers), 'finding')} of {name}"
    return f"{name} says nothing about it"


def reported_missing(flag: ChasedFlag) -> str:
    """Return the reason why a flag is an opportunity: ``P2 reports it missing``."""
    return f"P{flag.target} reports it missing"


def convergence_heading(convergence: Convergence, limit: int | None = None) -> str:
    """Return which partitions converge, and how: ``P1 and P2 cite connected nodes``.

    Names at most ``limit`` partitions.
    """
    names = partition_names(convergence.partitions, limit)
    return f"{names} {CONVERGENCE_WORDS[convergence.kind]}"


def doubt_line(doubted: DoubtedSentence) -> str:
    """Return a doubted or struck sentence on one line: its partition, its text, and the reason."""
    if doubted.partition is None:
        return f"{one_line(doubted.text)}: {one_line(doubted.reason)}"
    text = bullet_line(doubted.text, doubted.partition)
    return f"P{doubted.partition}: {text}: {one_line(doubted.reason)}"
