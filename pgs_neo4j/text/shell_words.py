"""Words of a command line, quoted so that a shell reads them back. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable


def command_line(words: Iterable[str]) -> str:
    """Return words as one line to paste into a shell."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """Return a word quoted for bash, zsh, and other POSIX shells.

    A character that a terminal does not show is written as an escape, so that pasting keeps it.
    """
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_escaped, word))}'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))
