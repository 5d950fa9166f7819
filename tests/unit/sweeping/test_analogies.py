"""Analogies in sweep prompts; prompts without any stay as they were."""

from __future__ import annotations

from dataclasses import replace

from pgs_neo4j.model import Node, Partition, PromptAnalogy
from pgs_neo4j.sweeping.analogies import render_analogies
from pgs_neo4j.sweeping.order import SweepOrder
from pgs_neo4j.sweeping.pack import Pass, pack
from pgs_neo4j.sweeping.report import sweep_prompt
from tests.orders import sweep_order

ALIKE = (
    PromptAnalogy(rank=1, name="P7", title="Crowded network"),
    PromptAnalogy(rank=40, name="P3", title="Elsewhere"),
)


def material() -> tuple[SweepOrder, Pass]:
    nodes = [Node(rank=i, element_id="e", key="k", title=f"T{i}", text="Iron.") for i in range(3)]
    item = pack(nodes, (), max_characters=9_000, max_tokens=None, reserved=0)[0]
    return sweep_order("Why?", Partition(id=2, size=3, tokens=9)), item


def test_a_prompt_names_the_analogies_of_the_nodes_it_shows() -> None:
    order, item = material()
    prompt = sweep_prompt(replace(order, analogies=ALIKE), item, 1)
    lines = prompt.user.splitlines()
    assert 'n2 may work like P7 "Crowded network"' in lines
    assert not [line for line in lines if "Elsewhere" in line]
    assert lines[-1] == "Question: Why?"
    assert lines.index("<analogies>") > lines.index("</nodes>")


def test_without_analogies_a_prompt_stays_the_same_and_with_others_it_is_another() -> None:
    order, item = material()
    plain, named, none, other = (
        sweep_prompt(replace(order, analogies=analogies), item, 1)
        for analogies in ((), ALIKE, ALIKE[1:], (replace(ALIKE[0], name="P8"),))
    )
    assert none == plain
    assert "analog" not in plain.system + plain.user
    assert render_analogies(()) == ""
    assert len({plain.content, named.content, other.content}) == 3
    assert named.system == plain.system
