"""HTML and SVG by construction: what is not ``Html`` is text, and text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from pgs_neo4j.text.shown import plain

VOID = frozenset({"br", "hr", "meta"})


class Html(str):
    """Markup that was made here. Joining it to a ``str`` gives a ``str``, which is escaped."""

    __slots__ = ()


EMPTY = Html()


def escaped(text: str) -> Html:
    """Text as markup that shows it; markup as it is."""
    return text if isinstance(text, Html) else Html(html.escape(plain(text)))


def element(tag: str, *children: str, **attributes: str | float | bool | None) -> Html:
    """An element: ``element("p", "a < b", class_="note")``.

    In attribute names ``_`` stands for ``-``, and one at the end goes. True gives an attribute
    without a value, False and None none.
    """
    given = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Html(f"<{tag}{given}>")
    return Html(f"<{tag}{given}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """The parts one after the other, each escaped unless it is markup."""
    return Html(escaped(between).join(map(escaped, parts)))


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {written}"
    # Numbers with two decimals are exact enough for a picture and the same on every machine.
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {written}="{html.escape(plain(text))}"'
