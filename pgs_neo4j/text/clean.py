"""Makes text from a graph safe to stand in a prompt."""

from __future__ import annotations

import re

from pgs_neo4j.text.citations import defuse
from pgs_neo4j.text.markdown import THINKING

# Invisible characters: controls, directional marks, zero-width characters, the tag block.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
    # Joiners have a meaning between the letters of some scripts, and in emoji.
    r"|(?<![^\x00-\x7f\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u200c\u200d])"
)
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
    # Printable text needs no search; to ask that first is ten times as fast for most texts.
    if not plain.replace("\n", "").replace("\t", "").isprintable():
        plain = _CONTROL.sub(" ", plain)
    if "<" in plain:
        for tag in THINKING:
            plain = plain.replace(tag, f"⟨{tag[1:-1]}⟩")
        plain = _TEMPLATE.sub(r"⟨\1⟩", plain)
    return defuse(plain)
