"""Memory as a share of the machine or the container."""

import pytest

from pgs_neo4j.database.local import memory
from pgs_neo4j.database.local.options import LocalOptions


@pytest.mark.parametrize(
    ("machine_mb", "heap_mb", "page_cache_mb"),
    [(1024, 512, 128), (8192, 2048, 1024), (24576, 6144, 3072), (262144, 8192, 4096)],
)
def test_memory_is_a_share_of_the_machine_within_bounds(machine_mb, heap_mb, page_cache_mb):
    assert memory.plan_memory(LocalOptions(), machine_mb) == memory.Memory(heap_mb, page_cache_mb)


def test_configured_memory_takes_precedence():
    options = LocalOptions(heap_mb=300, page_cache_mb=20)
    assert memory.plan_memory(options, 65536) == memory.Memory(300, 20)


def test_a_container_limit_counts_when_it_is_lower(tmp_path):
    limit = tmp_path / "memory.max"
    unlimited = memory.machine_memory_mb(tmp_path / "absent")
    limit.write_text("max\n")
    assert memory.machine_memory_mb(limit) == unlimited > 64
    limit.write_text(f"{64 * 2**20}\n")
    assert memory.machine_memory_mb(limit) == 64
