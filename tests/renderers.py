"""Markdown renderers as judges, texts that try to deceive them, and the allowed results."""

from __future__ import annotations

import random
from collections.abc import Callable
from html.parser import HTMLParser

from markdown_it import MarkdownIt

Render = Callable[[str], str]

# The elements that pgs may write: no link, no image, and nothing that loads or runs.
ELEMENTS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "strong", "code"),
    *("blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"id", "start", "align", "style"}  # of headings, lists, and cells of tables
ALIGNED = {"text-align:right", "text-align:right;", "text-align: right;"}

MARKS = [
    "<script>", "</script>", "<b", "<div>\n", ">", "<!--", "-->", "<?php", "<![CDATA[", "]]>",
    "&lt;", "&#60;", "&#x26;", "&amp", "&", '"', "'", "`", "``", "```\n", "~~~\n", "~", "~~",
    "[P1:n2]", "(P1:n2)", "[", "]", "(", ")", "](javascript:x)", "](http://x.y)", "![", "!",
    "]: /x\n", "[a]: /x\n", "[a]", "[x]", "[^1]", "|", "\n|---|\n", "|---|---|\n", "\n", "\n\n",
    "# ", "#", "- ", "* ", "+ ", "> ", "1. ", "1) ", "=", "===\n", "---\n", "***", "*", "**", "_",
    "__", "__init__", "\\", "\\\\", "    ", "\t", "onclick=", "\x00", "\x02", "\x1b[", "\u202e",
    "\u200b", "\ud800", "\r", "a", "b", " ", " ", "¨", "¨D", "$", "$$", "^", "%", "{", "}",
    ":smile:", "<http://x.y>", "http://x.y/z?a=1&b=2", "https://evil.example", "www.evil.com",
    "ftp://x.y", "//evil.com/x", "evil.com", "a@b.com", "<a@b.com>", "mailto:a@b.com",
    "<javascript:alert(1)>", "<vbscript:x>", "<file:///etc/passwd>", "<data:text/html,x>",
    "<.`@b.c>", "“", "”", "é", "中", "😀", "word", "two words",
]  # fmt: skip


def markdown_it(text: str) -> str:
    """Render as markdown-it does, including tables."""
    return str(MarkdownIt("commonmark").enable("table").render(text))


def hostile_texts(count: int, seed: int = 7) -> list[str]:
    """Return texts of marks and letters in random order, the same for the same seed."""
    chance = random.Random(seed)
    return ["".join(chance.choices(MARKS, k=chance.randint(1, 14))) for _ in range(count)]


class Judge(HTMLParser):
    """Parses HTML: lists its elements, its faults, and the text that a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.live: list[str] = []
        self.parts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        if tag not in ELEMENTS or {name for name, _ in attrs} - ATTRIBUTES:
            self.live.append(f"<{tag} {attrs}>")
        self.live += [f"{n}={v}" for n, v in attrs if n == "style" and v not in ALIGNED]

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_comment(self, data: str) -> None:
        self.live.append(f"<!--{data}")

    def handle_decl(self, decl: str) -> None:
        self.live.append(f"<!{decl}")

    def handle_pi(self, data: str) -> None:
        self.live.append(f"<?{data}")

    def unknown_decl(self, data: str) -> None:
        self.live.append(f"<![{data}")

    @property
    def text(self) -> str:
        """The text that a reader sees, with single blanks."""
        return " ".join("".join(self.parts).split())
