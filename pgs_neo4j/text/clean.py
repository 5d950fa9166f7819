"""Makes text from a graph safe to stand in a prompt."""

from __future__ import annotations

import re

from pgs_neo4j.text.citations import defuse
from pgs_neo4j.text.invisible import INVISIBLE, is_plainly_visible
from pgs_neo4j.text.thinking import ANY_MARK

_LINES = re.compile("[\u2028\u2029]")
_BRACKETS = str.maketrans("<[◁>]▷", "⟨⟨⟨⟩⟩⟩")
# <|im_start|> and its like, which some servers obey even inside a message.
_TEMPLATE = re.compile(r"<([|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c])>")


def clean_text(text: str) -> str:
    """Return text as plain data, with ``\\n`` for every line end.

    It has no invisible characters and no token of a chat template. Nothing in it could be repeated
    by a reply as a citation or as the model's thinking.
    """
    plain = text
    if "\r" in plain:
        plain = plain.replace("\r\n", "\n").replace("\r", "\n")
    if not is_plainly_visible(plain):
        plain = _LINES.sub(" ", INVISIBLE.sub(" ", plain))
    if "<" in plain or "[" in plain or "◁" in plain:
        plain = ANY_MARK.sub(lambda mark: mark[0].translate(_BRACKETS), plain)
        plain = _TEMPLATE.sub(r"⟨\1⟩", plain)
    return defuse(plain)
