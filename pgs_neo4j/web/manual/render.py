"""Makes HTML of the manual's Markdown. Raw HTML in it is shown as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

_NOT_IN_SLUGS = re.compile(r"[^\w\- ]")
_PAGE_LINK = re.compile(r"([a-z-]+)\.md(#.*)?")


@dataclass(frozen=True, slots=True)
class ManualHeading:
    """A heading of a page; ``slug`` is its id, the same as on GitHub."""

    level: int
    title: str
    slug: str


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page as HTML, with its headings in order. The first one is its title."""

    headings: tuple[ManualHeading, ...]
    body: str

    @property
    def title(self) -> str:
        """The title of the page."""
        return self.headings[0].title


def render_page(markdown: str, folder: str) -> RenderedPage:
    """Return a page as HTML; links to other pages lead to ``folder/TOPIC``."""
    parser = _parser()
    tokens = parser.parse(markdown)
    headings = tuple(_mark_headings(tokens))
    for token in tokens:
        for part in (token, *(token.children or ())):
            _turn_link(part, folder)
            _move_style(part)
    return RenderedPage(headings, parser.renderer.render(tokens, parser.options, {}))


def slug_of(title: str, taken: Sequence[str] = ()) -> str:
    """Return the id of a heading; a number follows one that is taken."""
    slug = _NOT_IN_SLUGS.sub("", title.lower()).strip().replace(" ", "-")
    numbered = (f"{slug}-{number}" for number in range(1, len(taken) + 1))
    return slug if slug not in taken else next(one for one in numbered if one not in taken)


def _parser() -> MarkdownIt:
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
    """Align a column by a class, since the policy of the server allows no style attributes."""
    style = token.attrs.pop("style", None)
    if style == "text-align:right":
        token.attrSet("class", "right")


# Wide blocks scroll on their own, by keyboard as well.
def _fence(_: object, tokens: Sequence[Token], place: int, *__: object) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[place].content)}</code></pre>\n'


def _open_table(*_: object) -> str:
    return '<div class="scroll" tabindex="0">\n<table>\n'


def _close_table(*_: object) -> str:
    return "</table>\n</div>\n"


_RULES: dict[str, Callable[..., str]] = {
    "fence": _fence,
    "table_open": _open_table,
    "table_close": _close_table,
}
