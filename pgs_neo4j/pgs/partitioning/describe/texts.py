"""Reads the texts of members, partition by partition, heaviest node first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.pgs.partitioning.membership import Membership
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.scan.view import View
from pgs_neo4j.text.node_text import searched_text
from pgs_neo4j.text.normal_form import normal_form


@dataclass(frozen=True, slots=True)
class MemberText:
    """The text of a member of a partition.

    ``title`` is empty if the text contains it.
    """

    partition_id: int
    title: str
    text: str

    @property
    def normal(self) -> MemberText:
        """The same in the normal form in which it is indexed."""
        return replace(self, title=normal_form(self.title), text=normal_form(self.text))

    @property
    def whole(self) -> str:
        """Title and text."""
        return f"{self.title}\n{self.text}" if self.title else self.text

    @property
    def body(self) -> int:
        """The place in the whole at which the text begins."""
        return len(self.title) + 1 if self.title else 0


async def read_texts(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    members: Membership,
    partition_ids: Collection[int],
    take: Callable[[list[MemberText]], Awaitable[None]],
) -> None:
    """Hand the texts of some partitions to ``take``, in portions.

    All members of a partition come in the order of rank, with or without a text.
    """
    mapping = order.mapping
    title = mapping.other_titles  # the others are text, and are not read twice
    ranked = np.lexsort((members.rank, members.partition_ids))
    wanted = ranked[np.isin(members.partition_ids[ranked], list(partition_ids))]
    sizes = view.sizes[np.searchsorted(view.ids, members.nodes[wanted])]

    async def read(places: NDArray[np.int64]) -> list[MemberText]:
        """Return the texts of the members at ``places`` ``(k,)``."""
        ids = members.nodes[places].tolist()
        rows = await tools.db.read(
            queries.get("pgs/partitioning/read_texts"),
            ids=ids,
            text=mapping.text_properties,
            title=title,
            facts=mapping.facts,
        )
        columns = zip(rows[0]["ids"], rows[0]["titles"], rows[0]["texts"], strict=True)
        found = {i: (searched_text(own), searched_text(text)) for i, own, text in columns}
        parts = members.partition_ids[places].tolist()
        return [MemberText(p, *found.get(i, ("", ""))) for p, i in zip(parts, ids, strict=True)]

    await in_order((read(wanted[part]) for part in portions(sizes)), take)
