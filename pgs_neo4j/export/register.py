"""Collects the nodes that a page can open, and renders their buttons and popovers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pgs_neo4j.export import markup, wording
from pgs_neo4j.export.document import Document, SourceNode
from pgs_neo4j.export.markup import EMPTY, Html, element, escaped, joined
from pgs_neo4j.model import Answer, Citation, Sighting, Stated
from pgs_neo4j.text.citations import (
    Cited,
    Place,
    name_of,
    place_of,
    reported_citations,
    short_titles,
    validity_of,
)
from pgs_neo4j.text.prose import Block
from pgs_neo4j.text.shown import one_line

UNKNOWN = "The text of this node is not part of this page."
GONE = f"This node is {wording.GONE}, so its text cannot be shown."
CHANGED = "Its text has changed since it was read. This is the current text."

FindingPlace = tuple[str, int, int]
"""The run (empty for the current run), the partition, and the place of a finding in its report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A node, and the id of the HTML element that shows this node.

    ``source`` is None if the document does not have the node's text. ``element_id`` is the node's
    id in Neo4j, or None if the database does not have the node.
    """

    id: str
    place: Place
    title: str
    key: str
    source: SourceNode | None
    element_id: str | None = None


@dataclass(frozen=True, slots=True)
class Register:
    """The nodes of a page by place, with everything that their buttons need.

    ``validity`` says for each cited place whether the citation is valid. ``findings`` has the
    citations of findings by run, partition, and place in the report. ``titles`` are shortened.
    ``quoted_answer`` and ``quoted_reports`` say that the extractive reader wrote the text, which in
    that case contains no Markdown.
    """

    entries: Mapping[Place, Entry]
    validity: Mapping[Place, bool]
    findings: Mapping[FindingPlace, tuple[Citation, ...]]
    titles: Mapping[Place, str]
    answer_citations: tuple[Citation, ...] = ()
    quoted_answer: bool = False
    quoted_reports: bool = False

    def button(self, place: Place, label: str) -> Html:
        """Return a button that opens a node; only the label if the page does not have the node."""
        entry = self.entries.get(place)
        if entry is None:
            return escaped(label)
        title = f"{name_of(place[0], one_line(place[1], 40))} {one_line(entry.title, 120)}".strip()
        return element(
            "button", label, type="button", class_="cite", popovertarget=entry.id, title=title
        )

    def blocks(self, blocks: Sequence[Block]) -> Html:
        """Render blocks of the answer, with its citations as buttons."""
        draw = self._make_drawer(self.answer_citations)
        return markup.drawn_blocks(blocks, draw, quoted=self.quoted_answer)

    def line(
        self, text: str, partition: int = 0, citations: tuple[Citation, ...] | None = None
    ) -> Html:
        """Render a report's bullet, with bold words and code, and citations as buttons.

        Invalid citations are struck out. Valid citations are those that are valid in ``citations``,
        by default in the citations of all reports.
        """
        return markup.line(
            text, self._make_drawer(citations), partition, quoted=self.quoted_reports
        )

    def finding(self, stated: Stated) -> Html:
        """Render a finding, preceded by the name of its partition."""
        citations = self.findings.get((stated.run, stated.partition, stated.place))
        text = self.line(stated.text, stated.partition, citations)
        return joined((element("b", f"P{stated.partition}", class_="part"), " ", text))

    def _make_drawer(self, citations: tuple[Citation, ...] | None) -> markup.Draw:
        valid = self.validity if citations is None else validity_of(citations)
        return lambda group: self._render_group(group, valid)

    def _render_group(self, group: tuple[Cited, ...], valid: Mapping[Place, bool]) -> Html:
        """Render a group of citations with its brackets."""
        drawn = (
            element(
                "span",
                cited.before,
                self._render_alias(cited, valid),
                cited.after.rstrip(),
                class_="kept",
            )
            for cited in group
        )
        return element("span", joined(drawn, " "), class_="cites")

    def _render_alias(self, cited: Cited, valid: Mapping[Place, bool]) -> Html:
        good = valid.get(cited.place)
        if good is None:  # No report cites the node, so the citation is unchecked.
            return escaped(cited.text)
        if good:
            return self.button(cited.place, self.titles.get(cited.place) or cited.text)
        return element(
            "s",
            cited.text,
            class_="invalid",
            title=wording.invalid_words(cited.place[0]).capitalize(),
        )


def register(document: Document) -> Register:
    """Collect the nodes that a document cites or that its absence checks found.

    Nodes with text are first.
    """
    answer = document.answer
    citations = (*answer.synthesis.citations, *reported_citations(answer))
    entries: dict[Place, Entry] = {}
    addresses = _find_element_ids(document, citations)
    for place, title, key, source in _list_nodes(document, citations):
        if place not in entries:
            entries[place] = Entry(
                id=f"node-{len(entries) + 1}",
                place=place,
                title=title,
                key=key,
                source=source,
                element_id=addresses.get(place),
            )
    # The checks of absences found these nodes in the graph, so they are always valid.
    sighted = {
        place_of_sighting(sighting): True
        for absence in answer.crosscheck.absences
        for sighting in absence.sightings
    }
    return Register(
        entries,
        sighted | validity_of(citations),
        _index_citations(answer),
        short_titles((place, entry.title) for place, entry in entries.items()),
        answer_citations=answer.synthesis.citations,
        quoted_answer=wording.quotes_only(answer, synthesis=True),
        quoted_reports=wording.quotes_only(answer, synthesis=False),
    )


def popovers(nodes: Register, *, addressed: bool = False) -> Html:
    """Render the elements that the buttons open. ``addressed`` adds the nodes' element ids."""
    return joined((_render_popover(entry, addressed) for entry in nodes.entries.values()), "\n")


def _list_nodes(
    document: Document, citations: tuple[Citation, ...]
) -> Iterator[tuple[Place, str, str, SourceNode | None]]:
    for source in document.sources:
        yield (source.partition, source.alias), source.title, source.key, source
    for citation in citations:
        if citation.valid:
            yield place_of(citation), citation.title or "", citation.node or "", None
    for absence in document.answer.crosscheck.absences:
        for sighting in absence.sightings:
            yield place_of_sighting(sighting), sighting.title, sighting.node, None


def _find_element_ids(document: Document, citations: tuple[Citation, ...]) -> dict[Place, str]:
    cited = {
        place_of(citation): citation.element_id
        for citation in citations
        if citation.valid and citation.element_id
    }
    return cited | {
        place_of_sighting(sighting): sighting.element_id
        for absence in document.answer.crosscheck.absences
        for sighting in absence.sightings
        if sighting.element_id
    }


def place_of_sighting(sighting: Sighting) -> Place:
    """Return the place of a sighted node."""
    return sighting.partition, sighting.alias


def _index_citations(answer: Answer) -> dict[FindingPlace, tuple[Citation, ...]]:
    return {
        (sweep.run, sweep.partition, place): finding.citations
        for sweep in answer.sweeps
        if sweep.report is not None
        for place, finding in enumerate(sweep.report.findings)
    }


def _render_popover(entry: Entry, addressed: bool) -> Html:
    name = name_of(entry.place[0], one_line(entry.place[1], 40))
    close = element(
        "button", "Close", type="button", class_="close", popovertarget=entry.id,
        popovertargetaction="hide",
    )  # fmt: skip
    head = element("div", element("span", name, class_="part"), close, class_="bar")
    title = element("p", one_line(entry.title) or "Untitled", class_="title")
    return element(
        "div", head, title, _render_about(entry), _render_text(entry.source),
        popover=True, id=entry.id, class_="node", role="dialog", aria_label=f"Node {name}",
        data_node=entry.element_id if addressed else None,
    )  # fmt: skip


def _render_about(entry: Entry) -> Html:
    labels = entry.source.labels if entry.source else ()
    parts = [one_line(text, 200) for text in (*labels, entry.key) if text]
    return element("p", " · ".join(parts), class_="meta") if parts else EMPTY


def _render_text(source: SourceNode | None) -> Html:
    if source is None or source.text is None:
        return element("p", UNKNOWN if source is None else GONE, class_="note")
    note = element("p", CHANGED, class_="note") if source.changed else EMPTY
    return joined((note, element("div", source.text, class_="text")))
