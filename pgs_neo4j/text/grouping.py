"""Groups texts that say the same, without comparing all pairs.

A text joins the group of an equal text, or else the group whose first text it resembles most, or
else begins a new group. Similar texts must share one of the roots that make up most of their
weight. So only those roots are looked up, rarest first (prefix filtering: Chaudhuri, Ganti, and
Kaushik 2006).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pgs_neo4j.text.gist import SAME, Rarity

ROUNDING = 1e-9  # so that the last digit of a sum decides nothing


def grouped(gists: Sequence[frozenset[str]], rarity: Rarity) -> list[list[int]]:
    """Group indexes of texts that say the same; the earliest comes first.

    Groups are in the order of their first texts; the earlier group wins a tie. Texts without
    words stay alone.
    """
    groups: list[list[int]] = []
    equal: dict[frozenset[str], int] = {}
    having: defaultdict[str, list[int]] = defaultdict(list)
    for place, gist in enumerate(gists):
        if gist and gist in equal:
            groups[equal[gist]].append(place)
            continue
        telling = _telling(gist, rarity)
        near = dict.fromkeys(group for part in telling for group in having[part])
        best, group = max(
            ((rarity.alike(gist, gists[groups[group][0]]), -group) for group in near),
            default=(0.0, 0),
        )
        if best >= SAME - ROUNDING:
            equal[gist] = -group
            groups[-group].append(place)
            continue
        equal[gist] = len(groups)
        for part in telling:
            having[part].append(len(groups))
        groups.append([place])
    return groups


def _telling(gist: frozenset[str], rarity: Rarity) -> list[str]:
    """Return the rarest roots.

    The others hold less than ``SAME`` of the weight.
    """
    ordered = sorted(gist, key=lambda part: (-rarity.weight([part]), part))
    left = total = rarity.weight(gist)
    telling: list[str] = []
    for part in ordered:
        if left < SAME * total - ROUNDING:
            break
        telling.append(part)
        left -= rarity.weight([part])
    return telling
