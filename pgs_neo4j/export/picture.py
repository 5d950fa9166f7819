"""Draws the picture of coverage: a treemap of partitions, a legend, and a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pgs_neo4j.export import figures, wording
from pgs_neo4j.export.document import Area, AreaState, Document
from pgs_neo4j.export.markup import EMPTY, Html, element, joined
from pgs_neo4j.export.treemap import Rect, squarify
from pgs_neo4j.text.shown import counted, one_line

# Width and height of two drawings. The style sheet shows the drawing that fits the screen, so that
# letters keep their size on a narrow screen.
FRAMES = {"wide": (960, 400), "narrow": (360, 420)}
LETTER = 7.2  # average width of a letter in labels of 12 px
MARGIN = 6.0
NAME_ROOM = (34.0, 20.0)  # Minimum width and height of a cell that shows its name.
WORD_ROOM = (64.0, 38.0)  # Minimum width and height of a cell that shows topics.
TOPICS = 90  # Maximum characters, in the table, of a partition's topics and of its titles.
TITLES = 3
BAR = 5.0  # height of the bar that shows how much of a partition was read


def coverage(document: Document, linked: Collection[int]) -> Html:
    """Render the picture, its legend, and its table.

    ``linked`` are the partitions whose reports are on the page.
    """
    areas = sorted(document.areas, key=lambda area: (-area.nodes, area.partition))
    headline = ". ".join(text for _, text in figures.coverage_rows(document.answer)) + "."
    if not areas:
        return element("p", headline)
    maps = [_render_map(areas, name, linked) for name in FRAMES]
    return joined(
        (
            element("p", headline),
            element("figure", *maps, _render_legend(areas)),
            _render_table(areas, linked),
        )
    )


def partition_link(partition: int, linked: Collection[int]) -> Html:
    """Render the name of a partition, as a link to its report if the page has one."""
    name = f"P{partition}"
    if partition not in linked:
        return element("span", name, class_="part")
    return element("a", name, href=f"#{place_id(partition)}", class_="part")


def place_id(partition: int) -> str:
    """Return the id of a partition's report on the page."""
    return f"partition-{partition}"


def _render_map(areas: Sequence[Area], name: str, linked: Collection[int]) -> Html:
    width, height = FRAMES[name]
    hatch = f"hatch-{name}"
    line = element("path", d="M0 8 L8 0", class_="hatch")
    pattern = element("pattern", line, id=hatch, width=8, height=8, patternUnits="userSpaceOnUse")
    rects = squarify([area.nodes for area in areas], width, height)
    cells = (
        _render_cell(area, rect, hatch, linked)
        for area, rect in zip(areas, rects, strict=True)
        if rect.area > 0
    )
    return element(
        "svg", element("defs", pattern), *cells, viewBox=f"0 0 {width} {height}",
        class_=f"map {name}", role="group", aria_label="Partitions by size, colored by state",
    )  # fmt: skip


def _render_cell(area: Area, rect: Rect, hatch: str, linked: Collection[int]) -> Html:
    box = {"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height}
    parts = [
        element("title", figures.area_line(area)),
        element("rect", **box, class_="cell"),
        element("rect", **box, class_="pool", fill=f"url(#{hatch})") if area.pool else EMPTY,
        _render_bar(area, rect) if area.state is AreaState.PARTIAL else EMPTY,
        *_render_labels(area, rect),
    ]
    group = element("g", *parts, class_=str(area.state))
    if area.partition not in linked:
        return group
    # The link is outside the tab order, because the table below has the same links.
    return element("a", group, href=f"#{place_id(area.partition)}", tabindex="-1")


def _render_bar(area: Area, rect: Rect) -> Html:
    """Render a bar at the cell's lower edge: the share of nodes read and the share only shown."""
    share = min(max(area.nodes_read / area.nodes, 0.0), 1.0)
    shown = min(max(area.nodes_unproven / area.nodes, 0.0), 1.0 - share)
    height = min(BAR, rect.height / 3)
    width = max(rect.width - 2.0, 0.0)
    y = rect.y + rect.height - height - 1.0
    track = element("rect", x=rect.x + 1.0, y=y, width=width, height=height, class_="track")
    left, done = rect.x + 1.0, width * share
    parts = [track, element("rect", x=left, y=y, width=done, height=height, class_="done")]
    if shown:
        box = {"x": left + done, "y": y, "width": width * shown, "height": height}
        parts.append(element("rect", **box, class_="shown"))
    return joined(parts)


def _render_labels(area: Area, rect: Rect) -> list[Html]:
    room = int((rect.width - 2 * MARGIN) / LETTER)
    name = f"P{area.partition}"
    if rect.width < NAME_ROOM[0] or rect.height < NAME_ROOM[1] or len(name) > room:
        return []
    x, y = rect.x + MARGIN, rect.y + MARGIN + 9.0
    labels = [element("text", name, x=x, y=y, class_="name")]
    if rect.width >= WORD_ROOM[0] and rect.height >= WORD_ROOM[1]:
        lines = min(int((rect.height - 2 * MARGIN - 14.0) / 15.0), 3)
        words = [one_line(word, room) for word in area.topics[:lines]]
        labels += [
            element("text", word, x=x, y=y + 15.0 * (place + 1)) for place, word in enumerate(words)
        ]
    return labels


def _render_legend(areas: Sequence[Area]) -> Html:
    entries = []
    for state in AreaState:
        members = [area for area in areas if area.state is state]
        if members:
            nodes = counted(sum(area.nodes for area in members), "node")
            text = f"{wording.STATE_WORDS[state]}: {counted(len(members), 'partition')}, {nodes}"
            entries.append(_render_key(str(state), text))
    pools = sum(area.pool for area in areas)
    if pools:
        text = f"hatched: {counted(pools, 'pool')} of nodes without relationships to place them"
        entries.append(_render_key("pooled", text))
    return element("figcaption", element("ul", *entries, class_="legend"))


def _render_key(kind: str, text: str) -> Html:
    return element("li", element("span", class_=f"key {kind}", aria_hidden="true"), text)


def _render_table(areas: Sequence[Area], linked: Collection[int]) -> Html:
    unproven = any(area.nodes_unproven for area in areas)
    figures_head = ("Nodes", "Read", "Unproven") if unproven else ("Nodes", "Read")
    row = [element("th", text, scope="col") for text in ("Partition", "Topics", "Central nodes")]
    row += [element("th", text, scope="col", class_="right") for text in figures_head]
    row.append(element("th", "State", scope="col"))
    rows = [element("tr", *_render_cells(area, linked, unproven=unproven)) for area in areas]
    table = element("table", element("thead", element("tr", *row)), element("tbody", *rows))
    summary = element("summary", f"Show {counted(len(areas), 'partition')} as a table")
    return element("details", summary, element("div", table, class_="scroll"))


def _render_cells(area: Area, linked: Collection[int], *, unproven: bool) -> list[Html]:
    state = wording.STATE_WORDS[area.state] + (", pool" if area.pool else "")
    return [
        element("th", partition_link(area.partition, linked), scope="row"),
        element("td", one_line(", ".join(area.topics), TOPICS)),
        element("td", one_line("; ".join(area.titles[:TITLES]), TOPICS)),
        element("td", f"{area.nodes:,}", class_="right"),
        element("td", f"{area.nodes_read:,}", class_="right"),
        *([element("td", f"{area.nodes_unproven:,}", class_="right")] if unproven else []),
        element("td", element("span", state, class_=f"badge {area.state}")),
    ]
