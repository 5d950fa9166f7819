"""Serves the manual as HTML pages. They contain no data of any graph.

Raw HTML in the Markdown is shown as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markdown_it import MarkdownIt
from markdown_it.token import Token
from starlette.exceptions import HTTPException

from pgs_neo4j.manual import TOPICS, read_page
from pgs_neo4j.web.page import KINDS, PAGE_METHODS, PageFile, page_file

ROOT = "/manual"
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{title}: the manual of pgs">
<meta name="color-scheme" content="light dark">
<title>{title} &ndash; pgs</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/answer.css">
<link rel="stylesheet" href="/app.css">
</head>
<body>
<a class="skip" href="#view">Skip to the content</a>
<header id="frame"><a class="brand" href="/">pgs</a><a class="who" href="{root}">Manual</a></header>
<div id="room" class="manual">
<nav aria-label="Topics">
<ul>
{topics}</ul>
</nav>
<main id="view" tabindex="-1">
{body}</main>
</div>
</body>
</html>
"""
_NOT_IN_SLUGS = re.compile(r"[^\w\- ]")
_PAGE_LINK = re.compile(r"([a-z-]+)\.md(#.*)?")


@dataclass(frozen=True, slots=True)
class ManualHeading:
    """A heading of a page. ``slug`` is its id, the same as on GitHub."""

    level: int
    title: str
    slug: str


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page as HTML, with its headings in order. The first heading is the title."""

    headings: tuple[ManualHeading, ...]
    body: str

    @property
    def title(self) -> str:
        """The title of the page."""
        return self.headings[0].title


def manual_routes() -> APIRouter:
    """Return the routes of the manual: its list of topics, and a page for each."""
    router = APIRouter(include_in_schema=False)

    @router.api_route(ROOT, methods=PAGE_METHODS)
    async def topics(request: Request) -> Response:
        return manual_page("").response(request)

    @router.api_route(f"{ROOT}/{{topic:path}}", methods=PAGE_METHODS)
    async def page(topic: str, request: Request) -> Response:
        if topic and topic not in TOPICS:
            raise HTTPException(404)
        return manual_page(topic).response(request)

    return router


@cache
def manual_page(topic: str) -> PageFile:
    """Return the page of a topic; if the topic is empty, the list of topics."""
    page = render_page(read_page(topic), ROOT) if topic else _render_topic_list()
    text = PAGE.format(
        title=escape(page.title), root=ROOT, topics=_render_links(topic, page), body=page.body
    )
    return page_file(text.encode(), KINDS["html"])


def _render_topic_list() -> RenderedPage:
    rows = "".join(f"- [{topic}]({topic}.md): {about}\n" for topic, about in TOPICS.items())
    return render_page(f"# Manual\n\n{rows}", ROOT)


def _render_links(current: str, page: RenderedPage) -> str:
    """Return links to all topics, and to the sections of the current topic below its link."""
    items = []
    for topic in TOPICS:
        here = topic == current
        mark = ' aria-current="page"' if here else ""
        sections = f"\n<ul>\n{_render_sections(page)}</ul>" if here else ""
        items.append(f'<li><a href="{ROOT}/{topic}"{mark}>{topic}</a>{sections}</li>\n')
    return "".join(items)


def _render_sections(page: RenderedPage) -> str:
    return "".join(
        f'<li><a href="#{heading.slug}">{escape(heading.title)}</a></li>\n'
        for heading in page.headings
        if heading.level == 2
    )


def render_page(markdown: str, folder: str) -> RenderedPage:
    """Convert a page to HTML; links to other pages lead to ``folder/TOPIC``."""
    parser = _make_parser()
    tokens = parser.parse(markdown)
    headings = tuple(_mark_headings(tokens))
    for token in tokens:
        for part in (token, *(token.children or ())):
            _turn_link(part, folder)
            _move_style(part)
    return RenderedPage(headings, parser.renderer.render(tokens, parser.options, {}))


def slug_of(title: str, taken: Sequence[str] = ()) -> str:
    """Return the id of a heading; a number is added if the id is taken."""
    slug = _NOT_IN_SLUGS.sub("", title.lower()).strip().replace(" ", "-")
    numbered = (f"{slug}-{number}" for number in range(1, len(taken) + 1))
    return slug if slug not in taken else next(one for one in numbered if one not in taken)


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    for name in ("fence", "table_open", "table_close"):
        parser.add_render_rule(name, _RULES[name])
    return parser


def _mark_headings(tokens: Sequence[Token]) -> Iterator[ManualHeading]:
    slugs: list[str] = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            title = "".join(part.content for part in tokens[place + 1].children or ())
            slugs.append(slug_of(title, slugs))
            token.attrSet("id", slugs[-1])
            yield ManualHeading(int(token.tag[1:]), title, slugs[-1])


def _turn_link(token: Token, folder: str) -> None:
    target = str(token.attrGet("href") or "")
    page = _PAGE_LINK.fullmatch(target)
    if page:
        token.attrSet("href", f"{folder}/{page[1]}{page[2] or ''}")
    elif target.startswith("https://"):
        token.attrSet("rel", "noreferrer")


def _move_style(token: Token) -> None:
    """Replace an alignment style by a class, since the security policy forbids style attributes."""
    style = token.attrs.pop("style", None)
    if style == "text-align:right":
        token.attrSet("class", "right")


# Wide blocks scroll separately. Their tabindex lets keyboard users scroll them.
def _render_fence(_: object, tokens: Sequence[Token], place: int, *__: object) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[place].content)}</code></pre>\n'


def _open_table(*_: object) -> str:
    return '<div class="scroll" tabindex="0">\n<table>\n'


def _close_table(*_: object) -> str:
    return "</table>\n</div>\n"


_RULES: dict[str, Callable[..., str]] = {
    "fence": _render_fence,
    "table_open": _open_table,
    "table_close": _close_table,
}
