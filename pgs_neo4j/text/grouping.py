"""Groups texts that say the same, without comparing each with each.

A text joins the group whose first text it is most like, and begins one of its own when it is
like none. Two texts can only be alike when they share one of the roots that make up the better
part of their weight (prefix filtering: Chaudhuri, Ganti, and Kaushik 2006), so only those are
looked up, the rarest first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pgs_neo4j.text.gist import SAME, Rarity

ROUNDING = 1e-9  # so that a sum's last digit decides nothing


def grouped(gists: Sequence[frozenset[str]], rarity: Rarity) -> list[list[int]]:
    """Places of texts in groups that say the same; each group's first is its earliest.

    In the order of their first texts, whose order decides between groups. Texts without words
    stay alone.
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
            ((rarity.alike(gist, gists[groups[each][0]]), -each) for each in near),
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
    """The rarest roots, as many as leave less than ``SAME`` of the weight to the others."""
    ordered = sorted(gist, key=lambda part: (-rarity.weight([part]), part))
    left = total = rarity.weight(gist)
    telling: list[str] = []
    for part in ordered:
        if left < SAME * total - ROUNDING:
            break
        telling.append(part)
        left -= rarity.weight([part])
    return telling
