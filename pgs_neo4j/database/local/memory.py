"""Plans the server's memory as a share of the machine's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.database.local.extra import missing_extra
from pgs_neo4j.database.local.options import LocalOptions

try:
    import psutil
except ImportError as error:
    raise missing_extra(error) from error

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
HEAP_MB = (512, 8192)
PAGE_CACHE_MB = (128, 4096)


@dataclass(frozen=True, slots=True)
class Memory:
    """Java heap and Neo4j page cache, both upper limits in MiB."""

    heap_mb: int
    page_cache_mb: int


def plan_memory(options: LocalOptions, machine_mb: int | None = None) -> Memory:
    """Return the planned heap and page cache.

    The heap is a quarter of the memory, the page cache an eighth. Both have bounds. The heap gets
    the larger share because it holds the GDS projections. Options take precedence.
    """
    total = machine_mb if machine_mb is not None else machine_memory_mb()
    return Memory(
        heap_mb=options.heap_mb or _clamp(total // 4, HEAP_MB),
        page_cache_mb=options.page_cache_mb or _clamp(total // 8, PAGE_CACHE_MB),
    )


def machine_memory_mb(cgroup_limit: Path = CGROUP_LIMIT) -> int:
    """Return memory in MiB, or the container's limit if that is lower."""
    total = int(psutil.virtual_memory().total)
    try:
        limit = cgroup_limit.read_text(encoding="ascii").strip()
    except OSError:
        limit = "max"
    return min(total, int(limit) if limit.isdigit() else total) // 2**20


def _clamp(value: int, bounds: tuple[int, int]) -> int:
    return max(bounds[0], min(bounds[1], value))
