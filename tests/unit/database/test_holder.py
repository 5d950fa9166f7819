"""Holders have one text form, which databases store and which is parsed strictly."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pgs_neo4j.database.holder import Holder, this_machine


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        ("worker, pid 4711, 0a1b2c3d", Holder("worker", 4711, "0a1b2c3d")),
        ("worker, pid 7", Holder("worker", 7)),
        ("a, pid 1, pid 2", Holder("a, pid 1", 2)),
    ],
)
def test_a_holder_is_read_back_as_it_was_written(text: str, holder: Holder) -> None:
    assert str(holder) == text
    assert Holder.parse(text) == holder


@pytest.mark.parametrize(
    "text",
    ["", "worker", "worker, pid", "worker, pid x", ", pid 1", "worker, pid 1, 00", "w, pid 1, me"],
)
def test_any_other_text_is_no_holder(text: str) -> None:
    assert Holder.parse(text) is None


def test_each_unique_holder_is_another_one_of_this_process() -> None:
    one, other = Holder.unique(), Holder.unique()
    assert one != other
    assert (one.machine, one.pid) == (this_machine(), os.getpid())
    assert Holder.parse(str(one)) == one


def test_only_a_process_of_this_machine_is_known_to_have_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert Holder(this_machine(), process.pid).has_ended()
    assert not Holder.of_this_process().has_ended()
    assert not Holder("elsewhere", process.pid).has_ended()
    assert not Holder(this_machine(), 10**9 * 9).has_ended()
