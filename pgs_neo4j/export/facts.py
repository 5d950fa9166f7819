"""What every form of an answer says about it, as labels and plain text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pgs_neo4j.export.document import Area, AreaState
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    ChasedFlag,
    CheckedAbsence,
    Coverage,
    Finding,
    Kinship,
    SweepStatus,
    Usage,
)
from pgs_neo4j.text.shown import counted, money, one_line, percent, seconds

PHASES = ("partition", "route", "sweep", "synthesize")
EXTRACTIVE = "extractive"
NO_MODEL = "No language model was used: the extractive reader quotes sentences and counts them."
STATUS_WORDS = {
    AbsenceStatus.CONFIRMED: "in none of the nodes searched",
    AbsenceStatus.ELSEWHERE: "only in nodes that were not read",
    AbsenceStatus.CONTRADICTED: "a node that was read holds it",
    AbsenceStatus.UNCHECKED: "could not be looked for everywhere",
}
STATE_WORDS = {
    AreaState.READ: "read",
    AreaState.PARTIAL: "read in part",
    AreaState.FAILED: "failed",
    AreaState.UNREAD: "not read",
}
SWEEP_WORDS = {
    SweepStatus.ACCEPTED: "read",
    SweepStatus.PARTIAL: "read in part",
    SweepStatus.FAILED: "failed",
    SweepStatus.UNREAD: "not read",
}
CONVERGENCES = "Converging findings"  # what they are called wherever they are listed
KINSHIP_WORDS: dict[Kinship, str] = {
    "neighbors": "relationships between nodes that they cite",
    "words": "nearly the same words",
}


def findings(answer: Answer) -> Iterator[tuple[int, int, Finding]]:
    """Every finding with its partition and its place in the report."""
    for sweep in answer.sweeps:
        if sweep.report is not None:
            for place, finding in enumerate(sweep.report.findings):
                yield sweep.partition, place, finding


def unsupported(answer: Answer) -> int:
    """Findings that cite no node that was shown."""
    return sum(not finding.supported for _, _, finding in findings(answer))


def misquotes(answer: Answer) -> int:
    """Quotations that no cited node holds."""
    return sum(not quote.found for _, _, each in findings(answer) for quote in each.quotes)


def invalid(answer: Answer) -> int:
    """Citations of the answer that resolve to no node, each once."""
    wrong = (each for each in answer.synthesis.citations if not each.valid)
    return len({(each.partition, each.alias) for each in wrong})


def checked(answer: Answer) -> str:
    """What became of checking findings, quotations, and citations, in one sentence."""
    total = sum(1 for _ in findings(answer))
    return (
        f"{counted(total, 'finding')}, {unsupported(answer):,} unsupported; "
        f"{counted(misquotes(answer), 'misquote')}; "
        f"{counted(invalid(answer), 'invalid citation')} in the answer"
    )


def statuses(absences: Sequence[CheckedAbsence]) -> str:
    """How many absences have which status: ``3 confirmed, 1 contradicted``."""
    found = Counter(each.status for each in absences)
    return ", ".join(f"{found[each]} {each}" for each in AbsenceStatus if found[each])


def speaker(absence: CheckedAbsence) -> int:
    """The partition whose aliases an absence uses; 0 when nobody reports it in these words."""
    same = (each.partition for each in absence.reported if each.text == absence.text)
    return next(same, 0)


def outcome(flag: ChasedFlag) -> str:
    """What became of a flag."""
    if flag.target is None:
        return "names no partition"
    name = f"P{flag.target}"
    if not flag.swept:
        return f"open: {name} was not read"
    if flag.absent is not None:
        return f"opportunity: {name} reports it absent"
    if flag.answers:
        return f"answered by {counted(len(flag.answers), 'finding')} of {name}"
    return f"{name} says nothing of it"


def headline(coverage: Coverage) -> str:
    """``5 of 11 partitions, 300 of 586 nodes (51 %)``."""
    return (
        f"{coverage.partitions_swept:,} of {counted(coverage.partitions_total, 'partition')}, "
        f"{coverage.nodes_read:,} of {counted(coverage.nodes_total, 'node')} "
        f"({percent(coverage.fraction)})"
    )


def tokens(usage: Usage) -> str:
    """``about 12,345 in, 2,345 out``."""
    about = "about " if usage.estimated else ""
    return f"{about}{usage.input_tokens:,} in, {usage.output_tokens:,} out"


def timing(known: Mapping[str, float]) -> str:
    """The total, and the phases it is made of: ``3.2 s (partition 0.1 s, sweep 2.0 s)``."""
    order = [*(name for name in PHASES if name in known), *(n for n in known if n not in PHASES)]
    phases = ", ".join(f"{one_line(n, 40)} {seconds(known[n])}" for n in order if n != "total")
    total = seconds(known["total"]) if "total" in known else ""
    return f"{total} ({phases})" if total and phases else total or phases or "unknown"


def extractive(answer: Answer) -> bool:
    """Whether the extractive reader, which is no language model, had a part in it."""
    return EXTRACTIVE in answer.model.split(" / ")


def figures(answer: Answer) -> list[tuple[str, str]]:
    """Coverage, cost, and time, and where all of it is recorded, as label and text."""
    read = sum(sweep.nodes_read for sweep in answer.sweeps)
    swept = Counter(SWEEP_WORDS[sweep.status] for sweep in answer.sweeps)
    cost = "unknown: a model has no price" if answer.cost is None else money(answer.cost)
    rows = [
        ("Coverage", f"{headline(answer.coverage)} in this session"),
        ("This run", f"{_listed(swept) or 'nothing swept'}; {counted(read, 'node')} read"),
        ("Checks", checked(answer)),
        ("Model", one_line(answer.model, 120)),
        ("Calls", f"{counted(answer.usage.calls, 'call')}, {answer.usage.cached:,} cached"),
        ("Tokens", tokens(answer.usage)),
        ("Cost", cost if answer.cost is None else f"{cost}, in the unit of the configured prices"),
        ("Time", timing(answer.seconds)),
        ("Graph", one_line(answer.graph, 120)),
        ("Session", one_line(answer.session, 120)),
        ("Run", f"{one_line(answer.run, 120)}, mode {answer.mode}"),
    ]
    if answer.generation:
        rows.append(("Generation", one_line(answer.generation, 120)))
    return rows


def notes(answer: Answer) -> list[str]:
    """What a reader must know before trusting the answer; empty when all is whole."""
    found = []
    if answer.stopped:
        found.append(f"Stopped early: {one_line(answer.stopped)}")
    if not answer.synthesis.complete:
        cut = "The synthesis was cut off." if answer.text else "There is no synthesis."
        found.append(cut)
    if answer.synthesis.reductions:
        calls = counted(answer.synthesis.reductions, "model call")
        found.append(f"The reports were too long for one prompt: {calls} condensed them first.")
    if extractive(answer):
        found.append(NO_MODEL)
    return [*found, *warnings(answer)]


def warnings(answer: Answer) -> list[str]:
    """Warnings, but for those that only repeat why the run was stopped."""
    why = answer.stopped
    return [one_line(each) for each in answer.warnings if not why or why not in each]


def area_words(area: Area) -> str:
    """A partition in a line: ``P4: ammonia, catalysis; 40 of 40 nodes read``."""
    keywords = one_line(", ".join(area.keywords), 160)
    how = "pool; " if area.pool else ""
    failed = "; its sweep failed" if area.state is AreaState.FAILED else ""
    return (
        f"P{area.partition}: {keywords or 'no keywords'}; {how}"
        f"{area.nodes_read:,} of {counted(area.nodes, 'node')} read{failed}"
    )


def _listed(swept: Counter[str]) -> str:
    return ", ".join(f"{counted(count, 'partition')} {word}" for word, count in swept.items())
