"""Names relationships in prompts, ``t1``, and finds the citations of them.

Nodes keep the grammar of ``text.aliases``. A citation may name both: ``[n1, t2]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ENTRY = r"(?:relationships?\s+)?[nt]\d{1,9}(?!\w)"
_GROUP = re.compile(
    rf"[\[(\u3010\uff08\uff3b\u3014]\s*({_ENTRY}(?:\s*(?:[,;&/]|and(?!\w))\s*{_ENTRY})*)\s*"
    r"[\])\u3011\uff09\uff3d\u3015]",
    re.IGNORECASE,
)
_ALIAS = re.compile(r"([nt])(\d{1,9})", re.IGNORECASE)


def relationship_aliases(text: str) -> Iterator[str]:
    """Yield the aliases of relationships that a text cites, in order, each once."""
    cited = (alias for group in _GROUP.finditer(text) for alias in _aliases(group[1]))
    yield from dict.fromkeys(alias for alias in cited if alias[0] == "t")


def separate_citations(text: str) -> str:
    """Write citations of nodes and relationships apart: ``[n1, t2]`` becomes ``[n1] [t2]``."""

    def rewrite(group: re.Match[str]) -> str:
        aliases = _aliases(group[1])
        if all(alias[0] == "n" for alias in aliases):
            return group[0]
        kinds = ([alias for alias in aliases if alias[0] == kind] for kind in "nt")
        return " ".join(f"[{', '.join(kind)}]" for kind in kinds if kind)

    return _GROUP.sub(rewrite, text)


def defuse_relationships(text: str) -> str:
    """Make brackets that look like aliases of relationships visibly harmless."""

    def rewrite(group: re.Match[str]) -> str:
        names_some = any(alias[0] == "t" for alias in _aliases(group[1]))
        return f"⟦{group[0][1:-1]}⟧" if names_some else group[0]

    return _GROUP.sub(rewrite, text)


def _aliases(inside: str) -> list[str]:
    return [f"{kind.lower()}{int(number)}" for kind, number in _ALIAS.findall(inside)]
