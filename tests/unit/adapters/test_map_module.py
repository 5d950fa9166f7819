"""The map for notebooks: one module of the page's scripts, and a widget if anywidget is there."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j import adapters
from pgs_neo4j.adapters.map_module import widget_data, widget_module, widget_sheet
from pgs_neo4j.model import MapPlace, PartitionMap, PartitionReading

MAP = PartitionMap(
    generation="g1",
    level=1,
    places=(
        MapPlace(id=4, label="</script><b>", nodes=50, partitions=(1, 2)),
        MapPlace(id=5, label="", nodes=20, partitions=(3,), pool=True),
    ),
    links=((0, 1, 2.5),),
)
READ = {1: 10, 2: 5, 9: 7}


def test_the_module_holds_all_that_it_uses_and_loads_nothing() -> None:
    module = widget_module()
    assert not re.search(r"^import ", module, re.MULTILINE)
    assert "import(" not in re.sub(r"/\*\*.*?\*/", "", module, flags=re.DOTALL)
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)|fetch\(|innerHTML|eval\(", module)
    assert re.findall(r"^export .*", module, re.MULTILINE) == ["export default { render };"]
    names = re.findall(r"^(?:function|const|let|class) (\w+)", module, re.MULTILINE)
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert {"drawBoard", "title", "counted", "render", "SHADES", "h", "table"} <= {*names}


def test_the_module_is_a_script_that_node_reads(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine")
    script = tmp_path / "widget.mjs"
    script.write_text(widget_module(), encoding="utf-8")
    done = subprocess.run([node, "--check", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_styles_have_every_color_of_the_map_in_light_and_dark() -> None:
    sheet, module = widget_sheet(), widget_module()
    colors = set(re.findall(r'"(--[\w-]+)"', module)) | set(re.findall(r"var\((--[\w-]+)\)", sheet))
    assert {"--read", "--partial", "--unread", "--ink"} <= colors
    for color in colors:
        assert len(re.findall(rf"{color}:", sheet)) == 4, color  # browser and notebook, two each
    selectors = re.findall(r"^([.\[][^{]*)\{", sheet, re.MULTILINE)
    assert all(".pgs-map" in part for one in selectors for part in one.split(","))
    assert sheet.count("{") == sheet.count("}")


def test_a_place_has_what_was_read_of_its_partitions() -> None:
    atlas, read = widget_data(MAP, READ)
    assert (read, atlas["level"], atlas["links"]) == ([15, 0], 1, [[0, 1, 2.5]])
    assert [one["label"] for one in atlas["places"]] == ["</script><b>", ""]


class Browse:
    """``pgs.browse`` of one graph."""

    async def map(self, graph: str | None, *, within: int | None) -> PartitionMap:
        assert (graph, within) == ("papers", None)
        return MAP

    async def reading(self, graph: str | None, session: str) -> tuple[PartitionReading, ...]:
        assert (graph, session) == ("papers", "reading")
        return tuple(
            PartitionReading(partition=part, nodes_read=nodes, nodes_unproven=part == 3)
            for part, nodes in (READ | {3: 0}).items()
        )


async def test_a_widget_travels_as_its_traits_and_takes_a_click() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed (extra notebook)")
    pgs: Any = SimpleNamespace(browse=Browse())
    widget = await adapters.map_widget(pgs, "papers", session="reading")
    state = widget.get_state()
    assert (state["atlas"], state["read"]) == widget_data(MAP, READ)
    assert state["unproven"] == [0, 1]
    assert (state["drawing"], state["place"], state["partition"]) == ("areas", None, None)
    assert state["_esm"] == widget_module()
    assert state["_css"] == widget_sheet()
    clicked: list[int] = []
    widget.observe(lambda change: clicked.append(change["new"]), "partition")
    widget.set_state({"place": 3, "partition": 3})  # what the browser sends
    assert (clicked, widget.place) == ([3], 3)
