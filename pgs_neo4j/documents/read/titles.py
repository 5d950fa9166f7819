"""Finds the title in a document's text, by the format of its file. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pgs_neo4j.text.sentences import split_sentences

LONGEST_TITLE = 200
"""Maximum characters of a title."""
LONGEST_RAW = 1_000
"""Maximum characters to use of a title's line, including its marks."""
SEARCHED = 20_000
"""Number of characters of a text to search for its title, so that no whole file is searched."""
HEADED = frozenset((".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".docx"))
"""Endings of files whose text is read with headings as in Markdown."""

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
        # Comments and labels may precede the title, and a line of marks may be above it.
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
    """Return the title in a document's normalized text, empty without a title.

    The title is a heading of the first level, or its equivalent in the file's format. Plain text
    and logs have no title, so the name of the file is used for them.
    """
    begin = text[:SEARCHED]
    if ending in HEADED:
        front = _FRONT.match(begin)
        if front and (named := _FRONT_TITLE.search(front[1])):
            return _clean_title(named[2])
        return _find_heading(begin[front.end() :] if front else begin)
    pattern = _LINES.get(ending)
    found = pattern.search(begin) if pattern else None
    return _clean_title(found[_GROUPS.get(ending, 1)]) if found else ""


def _find_heading(text: str) -> str:
    for one in split_sentences(text):
        if one.kind == "heading" and one.level == 1:
            line = text[one.start : one.end].strip().partition("\n")[0]
            if title := _clean_title(line):
                return title
    return ""


def _clean_title(title: str) -> str:
    # The line is cut, because these patterns take time that grows with the square of its length.
    begin = title[:LONGEST_RAW]
    plain = _MARKS.sub("", _LINK.sub(r"\1", _EDGES.sub("", begin)))
    return " ".join(plain.split())[:LONGEST_TITLE].rstrip()
