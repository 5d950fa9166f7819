"""Finds the title that a document gives itself, by the form of its file. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pgs_neo4j.text.sentences import split_sentences

LONGEST_TITLE = 200
"""Characters of a title by which a document is called."""
LONGEST_RAW = 1_000
"""Characters of it with its marks, the first ones."""
SEARCHED = 20_000
"""Characters of a text in which its title is looked for, so that no file is read whole for it."""
HEADED = frozenset((".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".docx"))
"""Endings of files whose text has headings as in Markdown once it is read."""

_FRONT = re.compile(r"---\n(.*?)^(?:---|\.\.\.)$", re.DOTALL | re.MULTILINE)
_FRONT_TITLE = re.compile(
    r"""^title:[ \t]{0,20}(['"]?)([^\n]{1,300}?)\1[ \t]{0,20}$""", re.MULTILINE
)
_LINES: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(
        (".adoc", ".asciidoc", ".asc"), re.compile(r"\A(?:(?://[^\n]*|:[^\n]*|)\n)*[=#] ([^\n]+)")
    ),
    **dict.fromkeys(
        (".rst", ".rest"),
        # Comments and labels may come before; a line of marks may stand above the title as well.
        re.compile(
            r"\A(?:(?:\.\.[^\n]*|[ \t][^\n]*|)\n)*(?:([!-/:-@[-`{-~])\1*\n)?[ \t]*(\S[^\n]*)\n"
            r"([!-/:-@[-`{-~])\3+[ \t]*(?:\n|\Z)"
        ),
    ),
    ".org": re.compile(r"^#\+title:[ \t]*([^\n]+)", re.IGNORECASE | re.MULTILINE),
    ".tex": re.compile(r"^[ \t]*\\title\{([^{}\n]+)\}", re.MULTILINE),
}
_GROUPS = {".rst": 2, ".rest": 2}
_LINK = re.compile(r"!?\[([^\[\]\n]*)\](?:\([^()\n]*\)|\[[^\[\]\n]*\])?")
_EDGES = re.compile(r"^[\s#]+|(?:\s+#+)?\s*$")
_MARKS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")


def find_title(text: str, ending: str) -> str:
    """Return the title in a document's normalized text; empty if it gives itself none.

    That is a heading of the first level, or what the form of the file has instead. Plain text and
    logs have none, so that they are called by their files.
    """
    begin = text[:SEARCHED]
    if ending in HEADED:
        front = _FRONT.match(begin)
        if front and (named := _FRONT_TITLE.search(front[1])):
            return _in_one_line(named[2])
        return _first_heading(begin[front.end() :] if front else begin)
    pattern = _LINES.get(ending)
    found = pattern.search(begin) if pattern else None
    return _in_one_line(found[_GROUPS.get(ending, 1)]) if found else ""


def _first_heading(text: str) -> str:
    for one in split_sentences(text):
        if one.kind == "heading" and one.level == 1:
            line = text[one.start : one.end].strip().partition("\n")[0]
            if title := _in_one_line(line):
                return title
    return ""


def _in_one_line(title: str) -> str:
    # Expressions that look for blanks before an end take time with the square of a line's length.
    begin = title[:LONGEST_RAW]
    plain = _MARKS.sub("", _LINK.sub(r"\1", _EDGES.sub("", begin)))
    return " ".join(plain.split())[:LONGEST_TITLE].rstrip()
