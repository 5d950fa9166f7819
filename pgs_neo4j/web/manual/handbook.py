"""The pages of the manual, and the routes to them. They hold nothing of any graph."""

from __future__ import annotations

from functools import cache
from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from pgs_neo4j.manual import TOPICS, read_page
from pgs_neo4j.web.manual.render import RenderedPage, render_page
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
    """Return the page of a topic; the list of topics for an empty one."""
    page = render_page(read_page(topic), ROOT) if topic else _topic_list()
    text = PAGE.format(
        title=escape(page.title), root=ROOT, topics=_links(topic, page), body=page.body
    )
    return page_file(text.encode(), KINDS["html"])


def _topic_list() -> RenderedPage:
    rows = "".join(f"- [{topic}]({topic}.md): {about}\n" for topic, about in TOPICS.items())
    return render_page(f"# Manual\n\n{rows}", ROOT)


def _links(current: str, page: RenderedPage) -> str:
    """Return links to all topics; below the current one, to its sections."""
    items = []
    for topic in TOPICS:
        here = topic == current
        mark = ' aria-current="page"' if here else ""
        sections = f"\n<ul>\n{_sections(page)}</ul>" if here else ""
        items.append(f'<li><a href="{ROOT}/{topic}"{mark}>{topic}</a>{sections}</li>\n')
    return "".join(items)


def _sections(page: RenderedPage) -> str:
    return "".join(
        f'<li><a href="#{heading.slug}">{escape(heading.title)}</a></li>\n'
        for heading in page.headings
        if heading.level == 2
    )
