"""Writes names of a database for people."""

MAX_SHOWN = 60
_JOINTS = str.maketrans("_.", "aa")  # signs that need no quotation marks


def quote_name(name: str) -> str:
    """Quote a name with special characters, and cut a long one."""
    cut = name if len(name) <= MAX_SHOWN else f"{name[: MAX_SHOWN - 1]}…"
    plain = cut.isascii() and cut.translate(_JOINTS).isalnum()
    return cut if plain else repr(cut)
