"""Formats the figures as a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

Row = tuple[str, str, str]
GAP = "  "


def table(run: dict[str, Any]) -> str:
    """One graph's figures, in sections; values and ratios are aligned to the right."""
    graph = run["graph"]
    head = f"{graph['name']}: {graph['nodes']:,} nodes, {graph['relationships']:,} relationships"
    if graph["planted"] is not None:
        head += f", {graph['planted']:,} known communities"
    sections = [
        ("seconds", _seconds(run), "÷ bare GDS"),
        ("memory, MiB", _memory(run["memory"]), ""),
        ("quality", _quality(run["quality"]), "÷ igraph"),
        ("runs", _runs(run["repeat"]), ""),
    ]
    if run["igraph"]:
        sections.insert(3, ("igraph", _peer(run["igraph"]), "÷ raw"))
    if run["changes"]:
        sections.insert(-1, ("after changes", _changes(run["changes"]), ""))
    rows = [row for _, lines, _ in sections for row in lines]
    rows += [("", "", third) for _, _, third in sections]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    parts = [head, *(_section(*section, widths) for section in sections)]
    if not run["igraph"]:
        parts.append("igraph is not installed, so nothing is compared with it.")
    return "\n\n".join(parts) + "\n"


def growth(runs: Sequence[dict[str, Any]]) -> str:
    """How time grew from each graph to the next, empty for one graph."""
    lines = [
        f"{step['from']} → {step['to']}: nodes times {step['nodes']:.1f}, "
        f"relationships times {step['relationships']:.1f}, seconds times {step['seconds']:.1f}\n"
        for step in grown(runs)
    ]
    return "".join(lines)


def grown(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ratios of each graph's nodes, relationships and seconds to those of the one before."""
    return [
        {
            "from": before["graph"]["name"],
            "to": after["graph"]["name"],
            "nodes": after["graph"]["nodes"] / before["graph"]["nodes"],
            "relationships": after["graph"]["relationships"] / before["graph"]["relationships"],
            "seconds": after["ours"]["seconds"] / before["ours"]["seconds"],
        }
        for before, after in pairwise(runs)
    ]


def _section(title: str, rows: list[Row], third: str, widths: list[int]) -> str:
    indented = [(title, "", third), *((GAP + name, *rest) for name, *rest in rows)]
    lines = [
        f"{name:<{len(GAP) + widths[0]}}{GAP}{value:>{widths[1]}}{GAP}{ratio:>{widths[2]}}"
        for name, value, ratio in indented
    ]
    return "\n".join(line.rstrip() for line in lines)


def _seconds(run: dict[str, Any]) -> list[Row]:
    bare, ours, check = run["bare"], run["ours"], run["check"]
    whole = bare["seconds"]

    def row(name: str, seconds: float) -> Row:
        return name, _s(seconds), f"{seconds / whole:.2f}"

    calls = ("projection", "leiden", "louvain")
    all_seconds = ", ".join(f"{seconds:.2f}" for seconds in bare["runs"])
    tier = "unchanged" if not check["drift"]["committed"] else "scanned"
    return [
        *(row(f"bare GDS: {name}", bare[name]) for name in calls),
        (f"bare GDS, fastest of {all_seconds}", _s(whole), "1.00"),
        *(row(f"ours: {name}", seconds) for name, seconds in ours["steps"].items()),
        row("ours: between the steps", ours["between"]),
        (f"ours, {ours['origin']}", _s(ours["seconds"]), f"{ours['ratio']:.2f}"),
        (f"check, first ({tier})", f"{check['seconds']:.4f}", ""),
        ("check, again", f"{check['again']:.4f}", ""),
    ]


def _memory(memory: dict[str, Any]) -> list[Row]:
    return [
        ("Python, peak", f"{memory['python_mib']:,.0f}", ""),
        ("Python, before it began", f"{memory['python_idle_mib']:,.0f}", ""),
        ("server, peak", _or_none(memory["server_mib"], ",.0f", "not ours"), ""),
    ]


def _quality(quality: dict[str, Any]) -> list[Row]:
    low, high = quality["min_nodes"], quality["max_nodes"]
    return [
        ("modularity, raw", _q(quality["raw_modularity"]), _ratio(quality["raw_to_igraph"])),
        ("modularity, after limits", _q(quality["modularity"]), _ratio(quality["to_igraph"])),
        ("conductance, mean", _q(quality["conductance"]), ""),
        ("NMI to the known communities", _or_none(quality["nmi"], ".4f", "unknown"), ""),
        ("partitions, pools among them", f"{quality['partitions']}, {quality['pools']}", ""),
        (f"partitions below {low}, above {high}", f"{quality['below']}, {quality['above']}", ""),
        ("smallest, largest", f"{quality['smallest']}, {quality['largest']}", ""),
        ("largest share", f"{quality['largest_share']:.1%}", ""),
    ]


def _peer(peer: dict[str, Any]) -> list[Row]:
    limited = peer["limited"]
    return [
        ("Leiden, seconds", _s(peer["seconds"]), ""),
        ("modularity, raw", _q(peer["modularity"]), "1.000"),
        ("modularity, after our limits", _q(limited["modularity"]), _ratio(peer["kept"])),
        ("NMI, after our limits", _or_none(limited["nmi"], ".4f", "unknown"), ""),
        ("limits alone, seconds", _s(peer["limits_s"]), ""),
    ]


def _changes(changes: dict[str, Any]) -> list[Row]:
    def middle(key: str) -> float:
        return median(turn[key] for turn in changes["turns"])

    return [
        ("relationships deleted and created", f"{changes['relationships']:,}", ""),
        (f"seconds, {', '.join(changes['origins'])}", _s(middle("seconds")), ""),
        ("seconds, cold", _s(middle("cold_seconds")), ""),
        (f"{', '.join(changes['origins'])} ÷ cold", f"{changes['ratio']:.2f}", ""),
        ("modularity", _q(middle("modularity")), ""),
        ("modularity, cold", _q(middle("cold_modularity")), ""),
        ("nodes that keep their lineage", f"{changes['lineage']:.1%}", ""),
    ]


def _runs(repeat: dict[str, Any]) -> list[Row]:
    same = {True: "yes", False: "NO", None: "one run only"}[repeat["identical"]]
    return [
        ("repartitioned", f"{repeat['runs']} times", ""),
        ("same partitions each time", same, ""),
        ("hash of the partitions", repeat["hashes"][-1], ""),
    ]


def _s(seconds: float) -> str:
    return f"{seconds:.2f}"


def _q(value: float) -> str:
    return f"{value:.4f}"


def _ratio(value: float | None) -> str:
    return _or_none(value, ".3f", "")


def _or_none(value: float | None, form: str, otherwise: str) -> str:
    return otherwise if value is None else format(value, form)
