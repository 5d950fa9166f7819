"""The parts of the benchmark that need no database: graphs, figures, arguments, the table."""

import json
import math

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.graph.csr import undirected
from pgs_neo4j.graph.limits import Limits
from tests.bench import partition, report
from tests.bench.changes import drawn
from tests.bench.engine import Members, kept_lineage
from tests.bench.graphs import NAMES, named
from tests.bench.long_texts import figures as text_figures
from tests.bench.long_texts import generated_texts
from tests.bench.long_texts import table as text_table
from tests.bench.measure import Peak, digest, figures, nmi
from tests.bench.memory import own_peak_mib
from tests.bench.peer import measured
from tests.bench.planted import MIXING, SMALLEST, planted
from tests.standins import write_brain

LIMITS = Limits()


@pytest.fixture(scope="module")
def graph():
    return planted(2000, 10_000, seed=7)


def pairs(graph):
    return set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))


def array(*values):
    return np.array(values, dtype=np.int64)


def test_nmi_of_the_same_communities_under_other_names_is_one():
    assert nmi(array(0, 0, 1, 1, 2), array(7, 7, 3, 3, 0)) == pytest.approx(1.0)


def test_nmi_of_independent_communities_is_zero():
    assert nmi(array(0, 0, 1, 1), array(0, 1, 0, 1)) == pytest.approx(0.0, abs=1e-12)


def test_nmi_by_hand():
    # Halves against quarters: I = ln 2, entropies ln 2 and 2 ln 2.
    assert nmi(array(0, 0, 1, 1), array(0, 1, 2, 3)) == pytest.approx(2 / 3)
    # Two of four nodes moved together: H = ln 2 and H(1/4, 3/4), and I from the table.
    right = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    joint = -(0.5 * math.log(0.5) + 2 * 0.25 * math.log(0.25))
    expected = (math.log(2) + right - joint) / ((math.log(2) + right) / 2)
    assert nmi(array(0, 0, 1, 1), array(0, 0, 0, 1)) == pytest.approx(expected)


def test_nmi_where_nothing_can_be_told():
    assert nmi(array(0, 0, 0), array(5, 5, 5)) == 1.0
    assert nmi(array(0, 0, 0), array(0, 1, 2)) == pytest.approx(0.0, abs=1e-12)


def test_nmi_does_not_depend_on_which_comes_first(graph):
    other = np.arange(graph.node_count) % 17
    assert nmi(graph.truth, other) == pytest.approx(nmi(other, graph.truth))


def test_figures_leave_pools_out_of_the_limits():
    labels = np.repeat([0, 1, 2, 3], [1900, 100, 29, 2])
    edges = undirected(labels.size, array(0, 1), array(1, 2))
    result = figures(edges, labels, np.array([False, False, False, True]), None, LIMITS)
    assert (result.partitions, result.pools, result.below, result.above) == (4, 1, 1, 1)
    assert (result.smallest, result.largest) == (2, 1900)
    assert result.largest_share == pytest.approx(1900 / 2031)
    assert result.nmi is None
    assert result.modularity == pytest.approx(0.0)


def test_the_digest_tells_partitions_apart_and_nothing_else():
    labels = array(0, 1, 1)
    assert digest(labels) == digest(labels.astype(np.int32)) == digest(labels[::1].copy())
    assert digest(labels) != digest(array(1, 0, 0))


def test_own_memory_is_that_of_this_process():
    before = own_peak_mib()
    block = np.ones(40 * 2**17)  # 40 MiB, written to
    assert own_peak_mib() >= before > 10
    assert block.sum() == block.size


def test_a_peak_is_the_most_that_was_seen():
    peak = Peak()
    for mib in (3.0, 9.0, 4.0):
        peak.see(mib)
    assert peak.mib == 9.0


def test_lineages_are_counted_by_node():
    none = np.zeros(2, dtype=bool)
    before = Members(array(0, 0, 1, 1), none, ("a", "b"))
    after = Members(array(1, 1, 1, 0), none, ("b", "a"))
    assert kept_lineage(before, before) == 1.0
    assert kept_lineage(before, after) == 0.75


def test_planted_graphs_have_the_size_asked_for(graph):
    assert graph.node_count == 2000
    assert graph.edge_count == graph.weight.size == 10_000
    ends = np.concatenate([graph.source, graph.target])
    degree = np.bincount(ends, minlength=2000)
    assert degree.sum() == 2 * graph.edge_count
    assert ends.min() >= 0
    assert ends.max() < 2000
    assert degree.max() > 4 * degree.mean()
    assert ((graph.weight >= 0.5) & (graph.weight <= 1.5)).all()


def test_planted_graphs_have_no_loop_and_no_edge_twice(graph):
    assert (graph.source != graph.target).all()
    low, high = np.minimum(graph.source, graph.target), np.maximum(graph.source, graph.target)
    assert np.unique(low * graph.node_count + high).size == graph.edge_count


def test_planted_communities_are_what_they_are_said_to_be(graph):
    sizes = np.bincount(graph.truth)
    assert sizes.sum() == graph.node_count
    assert sizes.min() >= SMALLEST
    assert sizes.size > 4
    crossing = (graph.truth[graph.source] != graph.truth[graph.target]).mean()
    assert crossing == pytest.approx(MIXING, abs=0.005)
    # Neighbors in number are no neighbors in community.
    assert (graph.truth[1:] == graph.truth[:-1]).mean() < 0.4


def test_planted_graphs_repeat_for_a_seed_and_differ_for_another(graph):
    for again, same in ((planted(2000, 10_000, seed=7), True), (planted(2000, 10_000, 8), False)):
        for name in ("source", "target", "weight", "truth"):
            assert np.array_equal(getattr(again, name), getattr(graph, name)) is same


@pytest.mark.parametrize(("nodes", "edges"), [(99, 200), (1000, 999), (1000, 12_501)])
def test_planted_graphs_that_cannot_be(nodes, edges):
    with pytest.raises(UsageError, match=f"{nodes} nodes and {edges} edges are not that"):
        planted(nodes, edges)


def test_a_change_removes_and_adds_the_same_number(graph):
    change = drawn(graph, 0.01, seed=1)
    assert change.removed.edge_count == change.added.edge_count == 100
    assert change.after.edge_count == graph.edge_count
    assert (change.added.source != change.added.target).all()
    assert len(pairs(change.removed)) == 100
    assert pairs(change.removed) <= pairs(graph)
    assert pairs(change.after) == pairs(graph) - pairs(change.removed) | pairs(change.added)


def test_a_change_is_the_same_for_the_same_seed(graph):
    one, two, other = (drawn(graph, 0.02, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.after.source, two.after.source)
    assert not np.array_equal(one.after.source, other.after.source)


def test_igraph_is_measured_on_the_same_arrays(graph):
    pytest.importorskip("igraph", reason="igraph is only installed with the extra 'bench'")
    edges = undirected(graph.node_count, graph.source, graph.target, graph.weight)
    result = measured(graph, edges, LIMITS, seed=1)
    assert 0.4 < result.modularity < 1.0
    assert result.limited.below == result.limited.above == 0
    assert result.limited.nmi > 0.7  # type: ignore[operator]
    again = measured(graph, edges, LIMITS, seed=1)
    assert (again.modularity, again.limited) == (result.modularity, result.limited)


def test_an_unknown_graph_is_answered_with_the_graphs_there_are(capsys):
    assert partition.main(["--graph", "sbm_1e5", "--graph", "enwiki"]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "'enwiki'" in errors
    assert all(name in errors for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_absent_data_is_said_in_one_sentence(tmp_path, name):
    with pytest.raises(InputFileError, match="measure a generated graph with --files N E"):
        named(name, tmp_path / "nowhere")
    with pytest.raises(InputFileError, match=name):
        named(name, tmp_path)


def test_graphs_are_read_from_files_as_they_were_written(tmp_path, graph):
    ids = np.arange(graph.node_count)
    nodes = {"id": ids, "label": graph.truth}
    edges = {"src": graph.source, "dst": graph.target, "weight": graph.weight}
    parquet.write_table(pyarrow.table(nodes), tmp_path / "kc_facebook.nodes.parquet")
    parquet.write_table(pyarrow.table(edges), tmp_path / "kc_facebook.edges.parquet")
    again = named("kc_facebook", tmp_path)
    assert (again.node_count, again.edge_count) == (graph.node_count, graph.edge_count)
    for name in ("source", "target", "weight", "truth"):
        assert np.array_equal(getattr(again, name), getattr(graph, name))
    parquet.write_table(pyarrow.table(nodes | {"id": ids + 1}), tmp_path / "lfr_1e5.nodes.parquet")
    parquet.write_table(pyarrow.table(edges), tmp_path / "lfr_1e5.edges.parquet")
    with pytest.raises(InputFileError, match="not numbered from 0"):
        named("lfr_1e5", tmp_path)
    brain = write_brain(tmp_path / "physics2.json.gz")
    notes = named("physics2", tmp_path)
    assert (notes.node_count, notes.edge_count) == (brain.nodes, brain.relationships)
    assert notes.truth is None


def test_shared_graphs_are_numbered_from_nought(shared):
    brain = named("physics2")
    assert (brain.node_count, brain.truth) == (586, None)
    facebook = named("kc_facebook")
    assert facebook.node_count == facebook.truth.size == 22_470
    assert facebook.edge_count == facebook.weight.size == 170_823
    assert max(facebook.source.max(), facebook.target.max()) < facebook.node_count


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--graph --files"),
        (["--files", "10"], "--files"),
        (["--files", "many", "10"], "'many' is not a whole number from 1 up"),
        (["--graph", "physics2", "--files", "100", "200"], "not allowed with"),
        (["--graph", "physics2", "--repeat", "0"], "'0' is not a whole number from 1 up"),
        (["--graph", "physics2", "--changes", "2"], "'2' is not a share above 0 and up to 0.5"),
        (["--graph", "physics2", "--changes", "few"], "'few' is not a share"),
        (["--graph", "physics2", "--heap", "5"], "'5' is not a whole number from 512 up"),
    ],
)
def test_arguments_that_make_no_sense(capsys, arguments, words):
    with pytest.raises(SystemExit) as left:
        partition.main(arguments)
    assert left.value.code == 2
    assert words in capsys.readouterr().err


RUN = {
    "graph": {"name": "toy", "nodes": 1234, "relationships": 5678, "planted": 9},
    "date": "2026-01-02",
    "bare": {
        "projection": 0.5,
        "leiden": 1.0,
        "louvain": 0.5,
        "modularity": 0.6,
        "communities": 12,
        "seconds": 2.0,
        "runs": [3.0, 2.0],
    },
    "ours": {
        "origin": "cold",
        "seconds": 3.2,
        "steps": {"scan": 1.0, "write": 2.0},
        "between": 0.2,
        "ratio": 1.6,
        "ratios": [1.6],
        "runs": [3.2],
        "split": 1,
        "merged": 2,
        "pooled_nodes": 0,
        "levels": [3],
    },
    "check": {"seconds": 0.0123, "again": 0.0045, "drift": {"committed": False}},
    "igraph": {
        "seconds": 0.3,
        "modularity": 0.61,
        "communities": 11,
        "limits_s": 0.02,
        "limited": {"modularity": 0.6, "nmi": 0.93},
        "kept": 0.984,
    },
    "quality": {
        "modularity": 0.59,
        "nmi": 0.95,
        "partitions": 10,
        "pools": 1,
        "below": 0,
        "above": 0,
        "smallest": 31,
        "largest": 400,
        "largest_share": 0.324,
        "raw_modularity": 0.6,
        "raw_to_igraph": 0.984,
        "to_igraph": 0.967,
        "conductance": 0.25,
        "min_nodes": 30,
        "max_nodes": 1800,
    },
    "memory": {"python_mib": 321.4, "python_idle_mib": 150.0, "server_mib": None},
    "repeat": {"runs": 1, "hashes": ["abcd"], "identical": None},
    "changes": None,
    "server": {"neo4j": "5.26.30", "gds": "2.13.9"},
}
CHANGES = {
    "share": 0.01,
    "relationships": 112,
    "origins": ["seeded"],
    "ratio": 0.5,
    "lineage": 0.987,
    "turns": [
        {"seconds": 1.5, "cold_seconds": 3.0, "modularity": 0.58, "cold_modularity": 0.585},
    ],
}


def cells(text, start):
    """The words of the one line that begins so."""
    (line,) = [line for line in text.splitlines() if line.strip().startswith(start)]
    return line.strip().removeprefix(start).split()


def test_the_table_shows_every_figure_beside_its_name():
    text = report.table(RUN)
    assert text.startswith("toy: 1,234 nodes, 5,678 relationships, 9 known communities\n")
    assert cells(text, "bare GDS: leiden") == ["1.00", "0.50"]
    assert cells(text, "bare GDS, fastest of 3.00, 2.00") == ["2.00", "1.00"]
    assert cells(text, "ours: write") == ["2.00", "1.00"]
    assert cells(text, "ours: between the steps") == ["0.20", "0.10"]
    assert cells(text, "ours, cold") == ["3.20", "1.60"]
    assert cells(text, "check, first (unchanged)") == ["0.0123"]
    assert cells(text, "Python, peak") == ["321"]
    assert cells(text, "server, peak") == ["not", "ours"]
    assert cells(text, "modularity, after limits") == ["0.5900", "0.967"]
    assert cells(text, "modularity, after our limits") == ["0.6000", "0.984"]
    assert cells(text, "NMI to the known communities") == ["0.9500"]
    assert cells(text, "partitions below 30, above 1800") == ["0,", "0"]
    assert cells(text, "same partitions each time") == ["one", "run", "only"]
    assert "after changes" not in text


def test_the_columns_of_the_table_are_aligned():
    lines = [line for line in report.table(RUN).splitlines() if "ours: " in line]
    assert len({len(line) for line in lines}) == 1
    assert max(len(line) for line in report.table(RUN).splitlines()) <= 100
    assert not any(line.endswith(" ") for line in report.table(RUN).splitlines())


def test_the_table_with_changes_and_without_igraph():
    quality = {**RUN["quality"], "raw_to_igraph": None, "to_igraph": None, "nmi": None}  # type: ignore[dict-item]
    repeat = {"runs": 3, "hashes": ["a", "b", "a"], "identical": False}
    text = report.table(
        RUN | {"changes": CHANGES, "igraph": None, "quality": quality, "repeat": repeat}
    )
    assert cells(text, "seeded ÷ cold") == ["0.50"]
    assert cells(text, "nodes that keep their lineage") == ["98.7%"]
    assert cells(text, "modularity, raw") == ["0.6000"]
    assert cells(text, "NMI to the known communities") == ["unknown"]
    assert cells(text, "same partitions each time") == ["NO"]
    assert "igraph is not installed" in text


def test_growth_is_told_from_each_graph_to_the_next():
    larger = json.loads(json.dumps(RUN))
    larger["graph"] |= {"name": "big", "nodes": 12_340, "relationships": 11_356}
    larger["ours"]["seconds"] = 16.0
    assert report.grown([RUN]) == []
    (step,) = report.grown([RUN, larger])
    assert step == {"from": "toy", "to": "big", "nodes": 10, "relationships": 2, "seconds": 5}
    assert report.growth([RUN, larger]) == (
        "toy → big: nodes times 10.0, relationships times 2.0, seconds times 5.0\n"
    )


def test_moves_regain_modularity_where_texts_are_long():
    texts = generated_texts(2000, 10_000, seed=7, max_tokens=100_000)
    run = text_figures(texts, texts.graph.truth)
    assert texts.tokens.mean() == pytest.approx(3000, rel=0.1)
    assert run["tokens"] == texts.tokens.sum()
    assert run["refined"]["above"] == run["alone"]["above"] == 0
    assert 1.05 * run["alone"]["modularity"] <= run["refined"]["modularity"] < run["modularity"]
    line = text_table({"runs": [run]}).splitlines()[-1]
    assert line.split()[:3] == [texts.graph.name, "2,000", "100,000"]
