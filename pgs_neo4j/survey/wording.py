"""How names and shares are written for people."""

MAX_SHOWN = 60


def shown(name: str) -> str:
    """A label, type, or property: quoted where it is not plain, cut when long."""
    cut = name if len(name) <= MAX_SHOWN else f"{name[: MAX_SHOWN - 1]}…"
    plain = cut.isascii() and cut.replace("_", "a").isalnum()
    return cut if plain else repr(cut)


def percent(share: float) -> str:
    """A share in whole percent that never rounds to none or all of something."""
    if 0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1 else f"{share * 100:.0f} %"
