"""Names the process that holds a lease, a run, or a job."""

from __future__ import annotations

import os
import platform
import re
import secrets
from dataclasses import dataclass

MAX_MACHINE = 100
_FORM = re.compile(
    r"(?P<machine>.+), pid (?P<pid>[0-9]{1,10})(?:, (?P<token>[0-9a-f]{8}))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Holder:
    """One process on one machine; ``token`` distinguishes what it holds.

    The database stores its text, such as ``worker, pid 4711, 0a1b2c3d``.
    """

    machine: str
    pid: int
    token: str = ""

    @classmethod
    def of_this_process(cls) -> Holder:
        """Return this process, without a token."""
        return cls(this_machine(), os.getpid())

    @classmethod
    def unique(cls) -> Holder:
        """Return this process with a token that no other holder has."""
        return cls(this_machine(), os.getpid(), secrets.token_hex(4))

    @classmethod
    def parse(cls, text: str) -> Holder | None:
        """Return the holder that a text names; None for any other text."""
        match = _FORM.fullmatch(text)
        if match is None:
            return None
        return cls(match["machine"], int(match["pid"]), match["token"] or "")

    def __str__(self) -> str:
        token = f", {self.token}" if self.token else ""
        return f"{self.machine}, pid {self.pid}{token}"

    def has_ended(self) -> bool:
        """Whether it was a process of this machine that no longer runs."""
        if self.machine != this_machine():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            return False
        return False


def this_machine() -> str:
    """Return the name of this machine, at most 100 characters."""
    return platform.node()[:MAX_MACHINE] or "unknown host"
