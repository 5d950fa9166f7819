"""An answer as a notebook shows it: a fragment that keeps its styles to itself."""

from __future__ import annotations

from functools import partial

from pgs_neo4j.export import facts, prose, style
from pgs_neo4j.export.markup import EMPTY, Html, element, escaped, joined
from pgs_neo4j.model import Answer, Citation
from pgs_neo4j.text.mentions import Cited, Place, distinct, judged, name_of, pieces
from pgs_neo4j.text.shown import counted, one_line

SHOWN_SOURCES = 200


def to_notebook(answer: Answer) -> str:
    """The answer as an HTML fragment for ``_repr_html_``.

    Everything takes the colours of the notebook around it, light or dark. There is no policy
    to guard a fragment, so nothing in it needs one: text is text, and there are no links.
    """
    question = element("p", one_line(answer.question), class_="pgs-question")
    return element(
        "div",
        element("style", Html(style.NOTEBOOK)),
        question,
        _answer(answer),
        _sources(answer),
        _bar(answer),
        *(element("p", text, class_="pgs-meta") for text in _figures(answer)),
        *(element("p", note, class_="pgs-note") for note in facts.notes(answer)),
        class_="pgs-answer",
    )


def _answer(answer: Answer) -> Html:
    if not answer.text.strip():
        return element("p", "There is no synthesis.", class_="pgs-note")
    titles = {(each.partition, each.alias): each.title for each in answer.synthesis.citations}
    valid = judged(answer.synthesis.citations)
    return prose.blocks(answer.text, partial(_text, valid=valid, titles=titles))


def _text(text: str, valid: dict[Place, bool], titles: dict[Place, str | None]) -> Html:
    def drawn(cited: Cited) -> Html:
        good = valid.get(cited.place)
        alias = escaped(cited.text)  # nobody has judged it
        if good:
            title = one_line(titles.get(cited.place) or "", 120) or None
            alias = element("span", cited.text, class_="pgs-cite", title=title)
        elif good is not None:
            alias = element("s", cited.text, class_="pgs-invalid", title="No such node")
        return joined((cited.before, alias, cited.after))

    return joined(
        escaped(piece) if isinstance(piece, str) else joined(map(drawn, piece))
        for piece in pieces(text)
    )


def _sources(answer: Answer) -> Html:
    cited = distinct(answer.synthesis.citations)
    if not cited:
        return EMPTY
    items = [element("li", *_source(each)) for each in cited[:SHOWN_SOURCES]]
    if len(cited) > SHOWN_SOURCES:
        items.append(element("li", f"and {len(cited) - SHOWN_SOURCES:,} more"))
    summary = element("summary", counted(len(cited), "source"))
    return element("details", summary, element("ul", *items, class_="pgs-sources"))


def _source(citation: Citation) -> tuple[Html, str]:
    name = name_of(citation.partition, one_line(citation.alias, 40))
    if not citation.valid:
        return element("s", name, class_="pgs-invalid"), " no such node"
    title = one_line(citation.title or citation.node or "", 160) or "untitled"
    return element("span", name, class_="pgs-cite"), f" {title}"


def _bar(answer: Answer) -> Html:
    """How much of the graph has been read, as a line."""
    share = min(max(answer.coverage.fraction, 0.0), 1.0)
    return element(
        "svg",
        element("rect", width=100, height=6, class_="pgs-all"),
        element("rect", width=100 * share, height=6, class_="pgs-done"),
        viewBox="0 0 100 6", preserveAspectRatio="none", class_="pgs-bar", role="img",
        aria_label=facts.headline(answer.coverage),
    )  # fmt: skip


def _figures(answer: Answer) -> list[str]:
    shown = ("Coverage", "Checks", "Calls", "Tokens", "Cost", "Time")
    known = dict(facts.figures(answer))
    absences = facts.statuses(answer.crosscheck.absences)
    lines = [f"{name}: {known[name]}" for name in shown]
    return [*lines, f"Absences: {absences}"] if absences else lines
