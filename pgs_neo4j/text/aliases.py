"""The grammar of aliases, by which models cite nodes.

A citation is a pair of brackets that holds aliases and nothing else. The brackets are square or
round, narrow or full-width: ``[n1]``, ``(n1, n2)``, ``【P4:n1; n2】``, ``[nodes n3 and n5]``. Two
aliases with a hyphen or a longer dash between them are a range: ``[n3-n7]``. Matching takes time in
proportion to the text, whatever the text.
"""

from __future__ import annotations

import re

_DASH = r"(?:[-\u2010-\u2015\u2212]|to(?!\w))"
_NAME = r"(?:P\d{1,9}(?:\s*[:.]\s*|\s+))?(?:nodes?\s+)?n\d{1,9}(?!\w)"
# The word before a bare alias belongs to the alias: with one way to read a group, and no bracket
# inside of it, matching takes linear time.
_MARK = r"(?:[,;&/]|and(?!\w)|nodes?(?!\w|\s+n\d{1,9}(?!\w)))"
_PARTS = r"(?:P(?P<partition>\d+)[\s:.]+)?(?:nodes?\s+)?n(?P<number>\d+)"

GROUP = re.compile(
    r"[\[(\u3010\uff08\uff3b\u3014]"
    rf"((?:\s*{_MARK})*\s*{_NAME}(?:\s*(?:(?:{_DASH}\s*)?{_NAME}|{_MARK}))*)\s*"
    r"[\])\u3011\uff09\uff3d\u3015]",
    re.IGNORECASE,
)
"""A citation; group 1 is what its brackets hold."""

ALIAS = re.compile(_PARTS, re.IGNORECASE)
"""An alias in a citation, as ``partition`` (or None) and ``number``."""

ENTRY = re.compile(rf"(?P<range>{_DASH}\s*)?{_PARTS}", re.IGNORECASE)
"""An alias, with ``range`` if a dash before it makes it the end of a range."""
