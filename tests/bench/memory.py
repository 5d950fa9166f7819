"""The memory of this process, read without any library."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

MIB = 2**20


def own_peak_mib() -> float:
    """The most memory that this process has held since its program began, in MiB.

    ``getrusage`` alone would tell the starter's, where that was larger: Linux counts the time
    between fork and exec.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MIB if sys.platform == "darwin" else peak / 1024


def own_peak_mb() -> float:
    """The same in millions of bytes."""
    return own_peak_mib() * MIB / 1e6
