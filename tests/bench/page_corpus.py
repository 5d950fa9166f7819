"""Pages that link to each other, with questions whose pages the links tell.

They are made when a benchmark runs, of what is installed: of folders of HTML files, or of the
docstrings of the standard library, one page per module. None is kept in the repository.
"""

from __future__ import annotations

import ast
import random
import re
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urldefrag, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

SEED = 7
SHORT, LONG = 60, 400
"""Characters of a sentence that is a question."""
FEWEST_LINKS, MANY_LINKS, MOST_PAGES = 2, 5, 12
"""Pages that a question needs, those from which it is a summary, and the most of a summary."""
EXCLUDED = re.compile(r"(print|toc|404|all|contents|search|changelog|py-modindex|genindex.*)\.html")
"""Names of pages that only list what others explain."""
CONTENT = ("main", "article", "[role=main]")
"""Where the content of a page stands, without its navigation."""
SMALLEST = 1_500
"""Characters of a page; shorter ones have no second chunk."""
_MODULE = re.compile(r"\b([a-z_]+(?:\.[a-z_]+)*)\b")


@dataclass(frozen=True, slots=True)
class Linked:
    """A sentence of a page, and the pages that it links to."""

    text: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page: the file that is ingested, and its sentences that link to others."""

    name: str
    title: str
    content: str
    sentences: tuple[Linked, ...] = field(repr=False)
    opening: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the names of the pages that it needs."""

    text: str
    pages: tuple[str, ...]
    summary: bool


def read_pages(folders: Sequence[Path], most: int) -> list[Page]:
    """Return the pages of some folders of HTML files, or of the standard library without any."""
    pages = list(_html_pages(folders)) if folders else list(_module_pages())
    if len(pages) > most:
        pages = sorted(random.Random(SEED).sample(pages, most), key=lambda page: page.name)
    known = {page.name for page in pages}
    return [_only_known(page, known) for page in pages]


def write_pages(pages: Sequence[Page], folder: Path) -> None:
    """Write one file per page."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        (folder / page.name).write_text(page.content, encoding="utf-8")


def make_questions(pages: Sequence[Page], most: int) -> list[Asked]:
    """Return at most as many questions of each kind: of single sentences, and of whole pages."""
    chance = random.Random(SEED)
    sentences = [
        Asked(one.text, one.pages, summary=False)
        for page in pages
        for one in page.sentences
        if FEWEST_LINKS <= len(one.pages) < MANY_LINKS and SHORT <= len(one.text) <= LONG
    ]
    summaries = []
    for page in pages:
        linked = tuple(dict.fromkeys(name for one in page.sentences for name in one.pages))
        if len(linked) >= MANY_LINKS:
            text = f"Summarize {page.title}. {page.opening}"[:LONG]
            summaries.append(Asked(text, linked[:MOST_PAGES], summary=True))
    kinds = (sentences, summaries)
    return [one for kind in kinds for one in chance.sample(kind, min(most, len(kind)))]


def _only_known(page: Page, known: set[str]) -> Page:
    sentences = (
        Linked(one.text, tuple(name for name in one.pages if name in known and name != page.name))
        for one in page.sentences
    )
    kept = tuple(one for one in sentences if one.pages)
    return Page(page.name, page.title, page.content, kept, page.opening)


def _html_pages(folders: Sequence[Path]) -> Iterator[Page]:
    for folder in folders:
        for path in sorted(folder.rglob("*.html")):
            if not EXCLUDED.fullmatch(path.name) and (page := _html_page(folder, path)) is not None:
                yield page


def _html_page(folder: Path, path: Path) -> Page | None:
    tree = LexborHTMLParser(path.read_text(encoding="utf-8", errors="replace"))
    main = next(filter(None, map(tree.css_first, CONTENT)), tree.body)
    if main is None:
        return None
    for unwanted in main.css("nav, script, style, .nav-wrapper, #toc, .toc"):
        unwanted.decompose()
    if len(main.text(strip=True)) < SMALLEST:
        return None
    heading = main.css_first("h1") or tree.css_first("title")
    title = " ".join(heading.text().split()) if heading else path.stem
    sentences = tuple(_linked_sentences(main, folder, path))
    paragraphs = (" ".join(one.text().split()) for one in main.css("p"))
    opening = next((text for text in paragraphs if len(text) >= SHORT and "→" not in text), "")
    content = f"<html><head><title>{title}</title></head><body>{main.html}</body></html>"
    return Page(_flat(folder, path), title, content, sentences, opening)


def _linked_sentences(main: LexborNode, folder: Path, path: Path) -> Iterator[Linked]:
    for block in main.css("p, li, td, dd"):
        links = (one.attributes.get("href") or "" for one in block.css("a"))
        named = dict.fromkeys(filter(None, (_target(folder, path, link) for link in links)))
        text = " ".join(block.text().split())
        if named and "→" not in text:  # the rules of a grammar are no sentences
            yield Linked(text, tuple(named))


def _target(folder: Path, path: Path, link: str) -> str:
    """Return the name of the page that a link leads to, empty for one elsewhere."""
    parts = urlsplit(urldefrag(link).url)
    if parts.scheme or parts.netloc or not parts.path.endswith(".html"):
        return ""
    found = (path.parent / unquote(parts.path)).resolve()
    return _flat(folder, found) if found.is_relative_to(folder.parent.resolve()) else ""


def _flat(folder: Path, path: Path) -> str:
    inside = PurePosixPath(*path.resolve().relative_to(folder.parent.resolve()).parts)
    return str(inside).replace("/", "__")


def _module_pages() -> Iterator[Page]:
    """Yield one page of docstrings per module of the standard library."""
    root = Path(sysconfig.get_path("stdlib"))
    modules: dict[str, str] = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if {"test", "tests", "idlelib", "site-packages", "lib2to3"} & {*parts}:
            continue
        text = _documented(path)
        if len(text) >= SMALLEST:
            modules[".".join(part for part in parts if part != "__init__")] = text
    for name, text in modules.items():
        yield _module_page(name, text, modules)


def _module_page(name: str, text: str, modules: Mapping[str, str]) -> Page:
    linked = []
    for paragraph in text.split("\n\n"):
        found = dict.fromkeys(one for one in _MODULE.findall(paragraph) if one in modules)
        pages = tuple(f"{one}.md" for one in found if one != name and len(one) > 4)
        if pages:
            linked.append(Linked(" ".join(paragraph.split()), pages))
    opening = " ".join(text.split("\n\n")[0].split())
    return Page(f"{name}.md", name, f"# {name}\n\n{text}", tuple(linked), opening)


def _documented(path: Path) -> str:
    """Return the docstrings of a module as Markdown."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, ValueError):
        return ""
    parts = [
        f"## {node.name}\n\n{text}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := ast.get_docstring(node))
    ]
    return "\n\n".join(filter(None, (ast.get_docstring(tree), *parts)))
