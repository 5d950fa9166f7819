"""Every node that a page can open, and the buttons that open it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pgs_neo4j.export import prose
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.export.markup import EMPTY, Html, element, escaped, joined
from pgs_neo4j.model import Answer, Citation, Sighting, Stated
from pgs_neo4j.text.mentions import Cited, Place, judged, name_of, pieces, place_of, reported
from pgs_neo4j.text.shown import one_line

INVALID = "No report cites such a node."
UNKNOWN = "The text of this node is not part of this page."
GONE = "This node is gone from the graph, so its text cannot be shown."

FindingPlace = tuple[str, int, int]  # run, empty for the one at hand, partition, place in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A node with the id of the element that shows it; ``source`` is None without its text."""

    id: str
    place: Place
    title: str
    key: str
    source: SourceNode | None


@dataclass(frozen=True, slots=True)
class Register:
    """Nodes by place; ``known`` says of each place that the reports cite whether it is valid.

    ``findings`` are the citations of findings by run, partition, and place in the report.
    """

    entries: Mapping[Place, Entry]
    known: Mapping[Place, bool]
    findings: Mapping[FindingPlace, tuple[Citation, ...]]

    def button(self, place: Place, label: str) -> Html:
        """A button that opens a node; the label alone where there is nothing to open."""
        entry = self.entries.get(place)
        if entry is None:
            return escaped(label)
        title = one_line(entry.title, 120) or None
        return element(
            "button", label, type="button", class_="cite", popovertarget=entry.id, title=title
        )

    def text(
        self, text: str, partition: int = 0, citations: tuple[Citation, ...] | None = None
    ) -> Html:
        """Text with its aliases as buttons, or struck where they resolve to nothing.

        ``citations`` decide about aliases; without them, those of all reports do.
        """
        valid = self.known if citations is None else judged(citations)
        drawn = (
            escaped(piece) if isinstance(piece, str) else self._group(piece, valid)
            for piece in pieces(text, partition)
        )
        return joined(drawn)

    def line(
        self, text: str, partition: int = 0, citations: tuple[Citation, ...] | None = None
    ) -> Html:
        """The same for a bullet of a report, which may hold emphasis and code."""
        return prose.line(text, lambda stretch: self.text(stretch, partition, citations))

    def finding(self, found: Stated) -> Html:
        """A finding of the report on a partition, named before it."""
        return self.stated(found, self.findings.get((found.run, found.partition, found.place)))

    def stated(self, found: Stated, citations: tuple[Citation, ...] | None = None) -> Html:
        """Any bullet of the report on a partition, named before it."""
        said = self.line(found.text, found.partition, citations)
        return joined((element("b", f"P{found.partition}", class_="part"), " ", said))

    def _group(self, group: tuple[Cited, ...], valid: Mapping[Place, bool]) -> Html:
        """A group that may break between its aliases, but not at its brackets."""
        drawn: list[str] = []
        for each in group:
            kept = each.after.rstrip()
            alias = self._alias(each, valid)
            drawn += [element("span", each.before, alias, kept, class_="kept")]
            drawn += [each.after[len(kept) :]]
        return element("span", *drawn, class_="cites")

    def _alias(self, cited: Cited, valid: Mapping[Place, bool]) -> Html:
        good = valid.get(cited.place)
        if good is None:  # nobody has judged it
            return escaped(cited.text)
        if good:
            return self.button(cited.place, cited.text)
        return element("s", cited.text, class_="invalid", title=INVALID)


def register(document: Document) -> Register:
    """All nodes that the document cites or sights, those with a text first."""
    answer = document.answer
    citations = (*answer.synthesis.citations, *reported(answer))
    entries: dict[Place, Entry] = {}
    for place, title, key, source in _nodes(document, citations):
        if place not in entries:
            number = f"node-{len(entries) + 1}"
            entries[place] = Entry(id=number, place=place, title=title, key=key, source=source)
    return Register(entries, judged(citations), _findings(answer))


def popovers(found: Register) -> Html:
    """The elements that the buttons open."""
    return joined(map(_popover, found.entries.values()), "\n")


def _nodes(
    document: Document, citations: tuple[Citation, ...]
) -> Iterator[tuple[Place, str, str, SourceNode | None]]:
    for source in document.sources:
        yield (source.partition, source.alias), source.title, source.key, source
    for each in citations:
        if each.valid:
            yield place_of(each), each.title or "", each.node or "", None
    for absence in document.answer.crosscheck.absences:
        for seen in absence.sightings:
            yield place_of_sighting(seen), seen.title, seen.node, None


def place_of_sighting(seen: Sighting) -> Place:
    """What identifies a node that was sighted."""
    return seen.partition, seen.alias


def _findings(answer: Answer) -> dict[FindingPlace, tuple[Citation, ...]]:
    return {
        (sweep.run, sweep.partition, place): finding.citations
        for sweep in answer.sweeps
        if sweep.report is not None
        for place, finding in enumerate(sweep.report.findings)
    }


def _popover(entry: Entry) -> Html:
    name = name_of(entry.place[0], one_line(entry.place[1], 40))
    close = element(
        "button", "Close", type="button", class_="close", popovertarget=entry.id,
        popovertargetaction="hide",
    )  # fmt: skip
    head = element("div", element("span", name, class_="part"), close, class_="bar")
    title = element("p", one_line(entry.title) or "Untitled", class_="title")
    return element(
        "div", head, title, _about(entry), _text(entry.source),
        popover=True, id=entry.id, class_="node", role="dialog", aria_label=f"Node {name}",
    )  # fmt: skip


def _about(entry: Entry) -> Html:
    labels = entry.source.labels if entry.source else ()
    facts = [one_line(each, 200) for each in (*labels, entry.key) if each]
    return element("p", " · ".join(facts), class_="meta") if facts else EMPTY


def _text(source: SourceNode | None) -> Html:
    if source is None or source.text is None:
        return element("p", UNKNOWN if source is None else GONE, class_="note")
    changed = "Its text has changed since it was read; this is how it is now."
    note = element("p", changed, class_="note") if source.changed else EMPTY
    return joined((note, element("div", source.text, class_="text")))
