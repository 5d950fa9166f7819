"""Builds the web page's map as one module for notebooks: script, styles, and data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pgs_neo4j.export.style import DARK, LIGHT
from pgs_neo4j.model import PartitionMap
from pgs_neo4j.text.json_data import Json, plain_data

SCRIPTS = (
    "web/static/dom.js",
    *(f"web/static/map/{name}.js" for name in ("places", "painting", "canvas")),
    "adapters/map_widget.js",
)
"""Script files of the package; each file comes before the files that import it."""

_IMPORT = re.compile(r'^import [^;]*? from "[^"]+";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)

_SHEET = """
.pgs-map { color: var(--ink); background: var(--panel); padding: .5em; }
.pgs-map .board { position: relative; border: 1px solid var(--line); overflow: hidden; }
.pgs-map canvas { display: block; width: 100%; height: 24rem; touch-action: none; cursor: grab; }
.pgs-map canvas { transform-origin: 0 0; }
.pgs-map .tip { position: absolute; left: .6em; bottom: .5em; margin: 0; padding: .1em .5em; }
.pgs-map .tip { background: var(--panel); }
.pgs-map .legend { list-style: none; display: flex; gap: 1.2em; margin: .5em 0; padding: 0; }
.pgs-map .key { display: inline-block; width: .8em; height: .8em; margin-right: .4em; }
.pgs-map .key.read { background: var(--read); }
.pgs-map .key.partial { background: var(--partial); }
.pgs-map .key.unread { background: var(--unread); }
.pgs-map .key.unproven { background: var(--unproven); }
.pgs-map .picked { margin: .3em 0; min-height: 1.4em; }
.pgs-map .scroll { max-height: 20rem; overflow: auto; }
.pgs-map th, .pgs-map td { text-align: left; padding: .1em .8em .1em 0; }
.pgs-map .right { text-align: right; font-variant-numeric: tabular-nums; }
.pgs-map .hidden { position: absolute; clip-path: inset(50%); }
.pgs-map summary { cursor: pointer; }
.pgs-map .link { border: 0; background: none; padding: 0; color: var(--accent); cursor: pointer; }
"""


@cache
def widget_module() -> str:
    """Return the script as one ES module that imports nothing.

    The files share no names, so they can be concatenated once imports and exports are removed.
    """
    root = files("pgs_neo4j")
    parts = (root.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", part)) for part in parts)


@cache
def widget_sheet() -> str:
    """Return the styles, with the page's colors for the theme of the notebook or browser."""
    light = '[data-jp-theme-light="true"] .pgs-map, .vscode-light .pgs-map'
    dark = '[data-jp-theme-light="false"] .pgs-map, .vscode-dark .pgs-map, [theme="dark"] .pgs-map'
    by_browser = f"@media (prefers-color-scheme: dark) {{ .pgs-map {{\n{DARK}}} }}\n"
    by_notebook = f"{light} {{\n{LIGHT}}}\n{dark} {{\n{DARK}}}"
    return f".pgs-map {{\n{LIGHT}}}\n{by_browser}{by_notebook}{_SHEET}"


def widget_data(partition_map: PartitionMap, read: Mapping[int, int]) -> tuple[Json, list[int]]:
    """Return a map as JSON data, and the number of nodes read at each place on the map.

    ``read`` maps partitions to the number of their nodes that were read.
    """
    atlas: Json = plain_data(partition_map)
    return atlas, count_by_place(partition_map, read)


def count_by_place(partition_map: PartitionMap, nodes: Mapping[int, int]) -> list[int]:
    """Sum the counts of ``nodes`` by partition for each place of a map."""
    return [sum(nodes.get(part, 0) for part in place.partitions) for place in partition_map.places]
