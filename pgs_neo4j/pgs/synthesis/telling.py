"""Streams the text of an answer as events."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from pgs_neo4j.errors import DatabaseError, TextDeletedError
from pgs_neo4j.events import OnEvent, TextStreamed
from pgs_neo4j.pgs.synthesis.order import CheckDeleted

REMEMBERED = 2_000
"""Characters before a piece that are checked with it: deleted sentences may arrive in pieces."""
PAUSE = 2.0
"""Time between two checks, as a multiple of what the last one took.

With a distant database, a check of each word would take longer than the words do.
"""


@dataclass(slots=True)
class Teller:
    """Streams text piece by piece, and none that was deleted since it was read.

    Listeners may belong to other programs, where no deletion finds text again. So each piece is
    checked before it leaves, and not only what is stored at the end.
    """

    on_event: OnEvent
    check_deleted: CheckDeleted
    told: bool = False
    _before: str = field(default="", repr=False)
    _held: str = field(default="", repr=False)
    _due: float = 0.0

    async def tell(self, text: str) -> None:
        """Stream a piece, or hold it back until the next check is due. Raises TextDeletedError.

        Pieces also wait while the database does not answer: the reply is paid for, and the database
        may be back before it ends.
        """
        self._held += text
        now = asyncio.get_running_loop().time
        begun = now()
        if begun < self._due:
            return
        try:
            await self.finish()
        except TextDeletedError:
            raise
        except DatabaseError:
            pass
        self._due = now() + PAUSE * (now() - begun)

    async def finish(self, text: str = "") -> None:
        """Stream the last piece, and what was held back. Raises DatabaseError."""
        self._held += text
        if not self._held:
            return
        said = self._before + self._held
        await self.check_deleted(said)
        self.on_event(TextStreamed(self._held))
        self.told = True
        self._before, self._held = said[-REMEMBERED:], ""
