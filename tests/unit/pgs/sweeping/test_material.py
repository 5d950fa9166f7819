"""Packing a partition leaves the event loop to others."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Node, Partition
from pgs_neo4j.pgs.sweeping.material import pack_partition
from pgs_neo4j.pgs.sweeping.pack import Pass, pack
from tests.orders import sweep_order


async def test_a_partition_is_packed_in_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def pack_and_note(*given: Any, **options: Any) -> tuple[Pass, ...]:
        threads.append(threading.current_thread())
        return pack(*given, **options)

    monkeypatch.setattr("pgs_neo4j.pgs.sweeping.material.pack", pack_and_note)
    tools: Any = SimpleNamespace(llm=ScriptedLLM(), calls=Calls.of(PGSConfig(), {}))
    node = Node(rank=0, element_id="e", key="k", title="T", text="Iron.")
    order = sweep_order("Why?", Partition(id=2, size=1, tokens=9))
    packed = await pack_partition(order, tools, (node,), (), None)
    assert len(packed.passes) == len(threads) == 1
    assert threads != [threading.current_thread()]
