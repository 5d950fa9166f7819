"""Writes sweep reports by counting and quoting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pgs_neo4j.llm.extractive.scoring import Quoted, Reading, best, name_of, read
from pgs_neo4j.llm.extractive.sentences import quote
from pgs_neo4j.model import Prompt, PromptNeighbor
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.words import stem, words

MAX_FLAGS = 5
MAX_ABSENCES = 6
SHOWN_KEYWORDS = 6
# A word is rare if at most this share of the nodes contains it.
RARE = 0.02


def sweep_report(prompt: Prompt, bullets: int) -> str:
    """Return the report on ``prompt``'s nodes with at most ``bullets`` findings."""
    reading = read(prompt)
    findings = best(reading, bullets)
    sections = (
        ("Domain State", [domain_state(reading)]),
        ("Findings", [f"- {finding.line}" for finding in findings]),
        ("Outbound Flags", [f"- {flag}" for flag in flags(reading, prompt.neighbors, findings)]),
        ("Absences", [f"- {absence}" for absence in absences(reading)]),
    )
    return "\n\n".join(f"## {title}\n" + "\n".join(lines or ["None."]) for title, lines in sections)


def domain_state(reading: Reading) -> str:
    """Summarize the nodes: subjects, central nodes, and the question's words."""
    size = len(reading.nodes)
    about = ", ".join(quote(word, 40) for word in reading.keywords[:SHOWN_KEYWORDS])
    parts = [
        f"{counted(size, 'node')} {_show_labels(reading)}about {about or 'no common subject'}."
    ]
    central = [f"{name_of(node, 60)} [{node.alias}]" for node in reading.central[:2]]
    if central:
        parts.append(f"Best connected: {' and '.join(central)}.")
    terms = reading.terms
    present = [term for term in terms.stems if reading.holders(term)]
    if present:
        counts = ", ".join(f"“{terms.written[t]}” in {reading.holders(t)}" for t in present[:8])
        parts.append(f"Of the question's words, {counts} of {counted(size, 'node')}.")
    elif terms.stems:
        parts.append("None of the question's words occurs here.")
    return " ".join(parts)


def flags(
    reading: Reading, neighbors: Sequence[PromptNeighbor], findings: Sequence[Quoted]
) -> list[str]:
    """Return flags for neighbors whose digest names words of the question or of the findings."""
    terms = reading.terms
    in_findings = Counter(term for finding in findings for term in finding.stems)
    ranked: list[tuple[int, int, str]] = []
    for neighbor in neighbors:
        shown = (*neighbor.keywords, neighbor.summary, *neighbor.titles, *neighbor.reached)
        digest = {stem(word) for word in words("\n".join(shown))}
        asked = [term for term in terms.stems if term in digest]
        lead = f"{quote(neighbor.name, 20)}: "
        if asked:
            text = f"{lead}its digest names {terms.shown(asked[:4])}, which the question asks for"
            text += _describe_contrast(reading, asked, neighbor, findings) + _show_edge_count(
                neighbor
            )
            ranked.append((-len(asked), -neighbor.edges, text))
            continue
        shared = _find_shared_words(reading, neighbor, in_findings)
        if len(shared) > 1:
            cited = next(f.aliases[0] for f in findings if stem(shared[0]) in f.stems)
            text = f"{lead}it shares {_list_words(shared)} with findings here [{cited}]"
            text += _show_edge_count(neighbor)
            ranked.append((0, -neighbor.edges, text))
    return [text for *_, text in sorted(ranked)[:MAX_FLAGS]]


def absences(reading: Reading) -> list[str]:
    """Return the words, and pairs of adjacent words, of the question that no node here contains."""
    terms, size = reading.terms, counted(len(reading.nodes), "node")
    missing = [term for term in terms.stems if not reading.holders(term)]
    lines = [f"“{terms.written[t]}”: no mention in the {size} read here." for t in missing]
    for one, other in terms.pairs:
        if one in missing or other in missing:
            continue
        if not any(one in stems and other in stems for stems in reading.stems):
            pair = f"“{terms.written[one]} {terms.written[other]}”"
            lines.append(f"{pair}: both words occur, but none of the {size} has them together.")
    return lines[:MAX_ABSENCES]


def _describe_contrast(
    reading: Reading, asked: Sequence[str], neighbor: PromptNeighbor, findings: Sequence[Quoted]
) -> str:
    """Return words that describe which of a neighbor's words this partition lacks or rarely has."""
    missing = [term for term in asked if not reading.holders(term)]
    if missing:
        return f" and which is absent here ({reading.terms.shown(missing[:3])})"
    cited = next((f.aliases[0] for f in findings if not f.stems.isdisjoint(asked)), None)
    compare = f"; compare [{cited}]" if cited else ""
    rare = [word for word in _find_keywords(neighbor) if _is_rare_word(reading, word)]
    return (f", and {_list_words(rare)}, rare here" if rare else "") + compare


def _find_shared_words(
    reading: Reading, neighbor: PromptNeighbor, in_findings: Counter[str]
) -> list[str]:
    """Return the neighbor's keywords that findings contain but that are not common here."""
    shared = (word for word in _find_keywords(neighbor) if in_findings[stem(word)])
    return [word for word in shared if reading.holders(stem(word)) <= 0.1 * len(reading.nodes)]


def _find_keywords(neighbor: PromptNeighbor) -> list[str]:
    return list(dict.fromkeys(w for text in neighbor.keywords for w in words(text) if len(w) > 3))


def _is_rare_word(reading: Reading, word: str) -> bool:
    return reading.holders(stem(word)) <= RARE * len(reading.nodes)


def _list_words(terms: Sequence[str]) -> str:
    return ", ".join(f"“{quote(word, 40)}”" for word in terms[:3])


def _show_edge_count(neighbor: PromptNeighbor) -> str:
    return f" ({counted(neighbor.edges, 'relationship')})." if neighbor.edges else "."


def _show_labels(reading: Reading) -> str:
    labels = Counter(label for node in reading.nodes for label in node.labels)
    if len(labels) < 2:
        return ""
    counts = ", ".join(f"{count} {quote(label, 30)}" for label, count in labels.most_common(3))
    return f"({counts}) "
