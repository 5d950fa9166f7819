"""Builds HTML and SVG in which all text but ``Html`` is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from pgs_neo4j.text.shown import plain

VOID = frozenset({"br", "hr", "meta"})


class Html(str):
    """Markup made by this module.

    Adding it to a ``str`` gives a ``str``, which will be escaped.
    """

    __slots__ = ()


EMPTY = Html()


def escaped(text: str) -> Html:
    """Escape text; return markup as it is."""
    return text if isinstance(text, Html) else Html(html.escape(plain(text)))


def element(tag: str, *children: str, **attributes: str | float | bool | None) -> Html:
    """Return an element: ``element("p", "a < b", class_="note")``.

    In attribute names, ``_`` stands for ``-``, and a trailing ``_`` is removed. True gives an
    attribute without a value; False and None give no attribute.
    """
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Join parts, each escaped unless it is markup."""
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
