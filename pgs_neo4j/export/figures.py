"""Writes an answer's figures and notes in words, once for all output formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pgs_neo4j.export import wording
from pgs_neo4j.export.document import Area, AreaState
from pgs_neo4j.export.statement import count_rows
from pgs_neo4j.export.wording import NO_SYNTHESIS, SWEEP_WORDS
from pgs_neo4j.model import Answer, Coverage, Sweep, SweepStatus, Usage
from pgs_neo4j.text.shown import (
    counted,
    money,
    one_line,
    percent,
    seconds,
    texts_note,
    unproven_note,
    used_tokens,
)

TITLES = 3  # Maximum titles to show of a partition.
PHASES = ("partition", "route", "sweep", "synthesize")
NO_TEXT = "No node of the graph has text. Only its structure was read, and no absence was checked."
NO_MODEL = "No language model was used. The extractive reader quotes sentences and counts words."


def coverage_line(coverage: Coverage) -> str:
    """Return the coverage in one line.

    ``5 of 11 partitions, 300 of 586 nodes, 120 of 400 texts (30 %)``
    """
    partitions = (
        f"{coverage.partitions_swept:,} of {counted(coverage.partitions_total, 'partition')}"
    )
    return f"{partitions}, {reading_line(coverage)}"


def reading_line(coverage: Coverage) -> str:
    """Return how many nodes were read, and how many of them had text.

    ``300 of 586 nodes, all with text (51 %)``
    """
    nodes = f"{coverage.nodes_read:,} of {counted(coverage.nodes_total, 'node')}"
    if coverage.nodes_unproven:
        nodes += f" ({coverage.nodes_unproven:,} more shown, unproven)"
    read, total, share = coverage.texts_read, coverage.texts_total, percent(coverage.fraction)
    if read is None or total is None:
        return f"{nodes} ({share}; texts not counted)"
    if not total:
        return f"{nodes}, 0 with text"
    if total == coverage.nodes_total and read == coverage.nodes_read:
        return f"{nodes}, all with text ({share})"
    return f"{nodes}, {read:,} of {counted(total, 'text')} ({share})"


def coverage_rows(answer: Answer) -> list[tuple[str, str]]:
    """Return the coverage of the answer and of its session, as labels and texts.

    An answer from a search covers no partition, so only its session's coverage is returned, or an
    empty list if the graph has no partitions.
    """
    if answer.shown and not answer.coverage.partitions_total:
        return []
    session = f"{coverage_line(answer.coverage)} in session {one_line(answer.session, 60)} so far"
    if answer.shown:
        return [("Session", session)]
    return [
        ("Coverage", f"{coverage_line(answer.own_coverage)} for this answer"),
        ("Session", session),
    ]


def sweeps_line(sweeps: Sequence[Sweep]) -> str:
    """Return in words how much one run has read.

    ``3 partitions swept, 1 of them because of flags; 90 nodes read``
    """
    count = Counter(sweep.status for sweep in sweeps)
    swept = [sweep for sweep in sweeps if sweep.status is not SweepStatus.UNREAD]
    flagged = sum(sweep.wave > 1 for sweep in swept)
    because = f", {flagged:,} of them because of flags" if flagged else ""
    problems = (SweepStatus.PARTIAL, SweepStatus.FAILED, SweepStatus.UNREAD)
    incomplete = [
        f"{count[status]:,} {SWEEP_WORDS[status]}" for status in problems if count[status]
    ]
    read = sum(sweep.nodes_read for sweep in sweeps)
    with_text = sum(sweep.texts_read for sweep in sweeps)
    amount = f"{counted(read, 'node')} read{texts_note(read, with_text)}"
    amount += unproven_note(sum(sweep.nodes_unproven for sweep in sweeps))
    parts = [f"{counted(len(swept), 'partition')} swept{because}", amount]
    return "; ".join([*parts, ", ".join(incomplete)] if incomplete else parts)


def run_line(answer: Answer) -> str:
    """Return in words how much one run has read, or how much the prompt of a search showed.

    ``34 of 10,807 nodes and 12 relationships shown; none of them counts as read``
    """
    shown = answer.shown
    if shown is None:
        return sweeps_line(answer.sweeps)
    if answer.mode == "bypass":
        return "the model was shown nothing of the graph"
    if answer.mode == "cypher":
        rows = count_rows(shown.rows) if shown.rows else "no rows"
        return f"{rows} of a statement shown; no node counts as read"
    nodes = f"{len(shown.nodes):,} of {counted(shown.nodes_total, 'node')}"
    relationships = counted(len(shown.relationships), "relationship")
    unproven = "" if answer.synthesis.proven else ", unproven"
    return f"{nodes} and {relationships} shown{unproven}; none of them counts as read"


def problems_line(answer: Answer) -> str:
    """Return the counts of all problems, or empty: ``2 of 9 findings unsupported``."""
    unsupported, total = wording.unsupported_count(answer), wording.finding_count(answer)
    misquotes, invalid = wording.misquote_count(answer), wording.invalid_citation_count(answer)
    faults = (
        (unsupported, f"{unsupported:,} of {counted(total, 'finding')} unsupported"),
        (misquotes, counted(misquotes, "misquote")),
        (invalid, f"{counted(invalid, 'invalid citation')} in the answer"),
        (len(answer.struck), f"{counted(len(answer.struck), 'sentence')} struck"),
    )
    return ", ".join(text for count, text in faults if count)


def checks_line(answer: Answer) -> str:
    """Return the results of the checks of findings, quotations, and citations in one line."""
    total = counted(wording.finding_count(answer), "finding")
    return (
        problems_line(answer) or f"{total}; no unsupported finding, misquote, or invalid citation"
    )


def usage_line(usage: Usage) -> str:
    """Return the calls and tokens of a run.

    ``6 calls, 10 from the cache, about 12,345 tokens in, 2,345 out``
    """
    cached = f"{usage.cached:,} from the cache, " if usage.cached else ""
    return f"{counted(usage.calls, 'call')}, {cached}{used_tokens(usage)}"


def context_line(contexts: Sequence[tuple[str, str]]) -> str:
    """Return the context size of each model and the source of this figure; empty without models.

    ``m: 4,096 tokens (as the server says) / n: unknown; …``
    """
    return " / ".join(f"{one_line(name, 60)}: {text}" for name, text in contexts)


def cost_line(cost: float | None) -> str:
    """Return a cost in words, in the unit of the configured prices."""
    if cost is None:
        return "unknown, because a model has no configured price"
    return f"{money(cost)}, in the unit of the configured prices"


def timing_line(phases: Mapping[str, float]) -> str:
    """Return the total time and each phase's time: ``3.2 s (partition 0.1 s, sweep 2.0 s)``."""
    order = [name for name in PHASES if name in phases]
    order += [name for name in phases if name not in (*PHASES, "total")]
    phase_times = ", ".join(f"{one_line(name, 40)} {seconds(phases[name])}" for name in order)
    total = seconds(phases["total"]) if "total" in phases else ""
    return (
        f"{total} ({phase_times})" if total and phase_times else total or phase_times or "unknown"
    )


def area_line(area: Area) -> str:
    """Describe a partition: ``P4: ammonia, catalysis (Haber process); 40 of 40 nodes read``."""
    topics = one_line(", ".join(area.topics), 160) or "no keywords"
    central = f" ({one_line('; '.join(area.titles[:TITLES]), 160)})" if area.titles else ""
    pool = "pool; " if area.pool else ""
    failed = "; its sweep failed" if area.state is AreaState.FAILED else ""
    return (
        f"P{area.partition}: {topics}{central}; {pool}"
        f"{area.nodes_read:,} of {counted(area.nodes, 'node')} read"
        f"{texts_note(area.nodes_read, area.texts_read)}"
        f"{unproven_note(area.nodes_unproven)}{failed}"
    )


def figures(answer: Answer) -> list[tuple[str, str]]:
    """Return coverage, usage, cost, time, and ids, as labels and texts."""
    rows = [
        *coverage_rows(answer),
        ("This run", run_line(answer)),
        ("Checks", checks_line(answer)),
        ("Model", one_line(answer.model, 120)),
        *([("Context", context_line(answer.contexts))] if answer.contexts else []),
        ("Usage", usage_line(answer.usage)),
        ("Cost", cost_line(answer.cost)),
        ("Time", timing_line(answer.seconds)),
        ("Graph", one_line(answer.graph, 120)),
        ("Run", f"{one_line(answer.run, 120)}, mode {answer.mode}"),
    ]
    if answer.generation:
        rows.append(("Generation", one_line(answer.generation, 120)))
    return rows


def notes(answer: Answer) -> list[str]:
    """Return everything a reader must know before trusting an answer.

    Each note is one sentence.
    """
    lines = []
    if answer.stopped:
        lines.append(f"Stopped early: {one_line(answer.stopped)}")
    if not answer.synthesis.complete:
        lines.append("The synthesis was cut off." if answer.text else NO_SYNTHESIS)
    if answer.synthesis.reductions:
        calls = counted(answer.synthesis.reductions, "model call")
        lines.append(f"The reports were too long for one prompt. {calls} condensed them first.")
    if wording.used_extractive_reader(answer):
        lines.append(NO_MODEL)
    if answer.coverage.texts_total == 0:
        lines.append(NO_TEXT)
    return [*lines, *warnings(answer)]


def warnings(answer: Answer) -> list[str]:
    """Return the warnings, without those that only repeat why the run stopped."""
    stopped = answer.stopped
    return [one_line(text) for text in answer.warnings if not stopped or stopped not in text]
