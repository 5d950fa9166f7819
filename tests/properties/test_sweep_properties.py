"""Whatever nodes say and models reply: nothing is lost, nothing invented is accepted."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model import (
    Absence,
    Finding,
    Flag,
    Node,
    Partition,
    PromptNeighbor,
    PromptNode,
    Relationship,
    Report,
    Sweep,
    SweepStatus,
)
from pgs_neo4j.pgs.sweeping.pack import (
    Pass,
    find_whole_ranges,
    group_by_connection,
    group_by_weight,
    pack,
)
from pgs_neo4j.pgs.sweeping.pieces import cut_node, render_node
from pgs_neo4j.pgs.sweeping.report import frame_size, parse_report, render_report, sweep_prompt
from pgs_neo4j.pgs.synthesis.prompt import synthesis_prompt
from pgs_neo4j.pgs.synthesis.sections import bullet_count
from pgs_neo4j.text.citations import defuse, find_mentions, qualify_aliases, resolve
from pgs_neo4j.text.prompt_text import clean_text
from pgs_neo4j.text.tokens import estimate
from tests.orders import sweep_order, synthesis_order
from tests.thorough import tries

SHOWN = {
    f"n{i + 1}": Node(rank=i, element_id="e", key=f"k{i}", title="T", text="t") for i in range(5)
}
words = st.text(alphabet="abcxyz.,", min_size=1, max_size=8)
claims = st.lists(words, min_size=1, max_size=6).map(lambda said: f"Claim {' '.join(said)}")
cited = st.tuples(claims, st.lists(st.integers(1, 9), max_size=3)).map(
    lambda pair: pair[0] + "".join(f" [n{i}]" for i in pair[1])
)


@settings(max_examples=tries(60, 150))
@given(st.text(alphabet="#*-[]nP0123456789:|\n <>,()abcd.", max_size=200))
def test_what_was_parsed_and_rendered_parses_to_the_same(noise):
    # Headings alone are no report.
    text = f"## Domain State\nRead.\n{noise}\n## Outbound Flags\n{noise}\n## Findings\n{noise}"
    report = parse_report(text, 3, SHOWN, (1, 2, 3))
    assert parse_report(render_report(report), 3, SHOWN, (1, 2, 3)) == report


@settings(max_examples=tries(40, 100), deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=20), st.integers(0, 250)), max_size=30),
    st.lists(st.tuples(st.integers(0, 32), st.integers(0, 32)), max_size=120),
    st.sampled_from([(2500, None), (4000, None), (9000, None), (10**6, 900)]),
)
def test_passes_along_connections_lose_nothing_and_are_no_more_than_by_weight(
    repeated, ends, bounds
):
    texts = [text * times for text, times in repeated]
    nodes = [
        Node(rank=i, element_id="e", key="k", title=f"T{i}", text=text)
        for i, text in enumerate(texts)
    ]
    links = [Relationship(source, target, "R") for source, target in ends]
    limits = {"max_characters": bounds[0], "max_tokens": bounds[1], "reserved": 300}
    passes = pack(nodes, links, **limits)
    assert passes == pack(nodes, links, **limits)
    room = (float(bounds[0]), float(bounds[1] or "inf"))
    pieces = [piece for node in nodes for piece in cut_node(node, room)]
    if pieces:
        by_connection = group_by_connection(pieces, links, room)
        assert len(by_connection) <= len(group_by_weight(pieces, room))
    assert find_whole_ranges(passes) == (((0, len(nodes)),) if nodes else ())
    firsts = [(item.pieces[0].rank, item.pieces[0].node.title) for item in passes]
    assert [rank for rank, _ in firsts] == sorted(rank for rank, _ in firsts)
    for item in passes:
        ranks = [piece.rank for piece in item.pieces]
        assert ranks == sorted(ranks)
        size = sum(len(render_node(node)) + 1 for node in item.nodes)
        size += sum(len(line) + 1 for line in item.relationship_lines)
        assert size <= bounds[0] - 300
        if bounds[1] is not None:
            assert sum(piece.tokens for piece in item.pieces) <= bounds[1] - estimate("x" * 300)
    shown = [piece for item in passes for piece in item.pieces]
    for rank, text in enumerate(texts):
        pieces = [piece for piece in shown if piece.rank == rank]
        pieces.sort(key=lambda piece: (len(piece.node.title), piece.node.title))  # (part 9 of 12)
        assert len(pieces) == pieces[0].parts
        assert "".join(piece.node.text for piece in pieces) == clean_text(text)


# What citations are made of, in brackets of every kind and the wrong order.
shards = st.sampled_from(
    [
        *"[]()\u3010\u3011\uff08\uff09\uff3b\uff3d\u3014\u3015\u27e6\u27e7;&-\u2013 \n\tx0:.",
        *("n1", "N2", "n12", "P3", "P3:", "P4 n5", ", ", " and ", " to ", "nodes "),
    ]
)
almost_cited = st.one_of(
    st.text(max_size=60),
    st.lists(shards, max_size=14).map("".join),
    st.lists(shards, max_size=9).map(lambda parts: f"({''.join(parts)}]"),
)


@settings(max_examples=tries(300, 1000))
@given(almost_cited)
def test_what_is_defused_cites_nothing(text):
    harmless = defuse(text)
    assert list(find_mentions(harmless, None)) == []
    assert len(harmless) == len(text)
    assert (harmless == text) == (not list(find_mentions(text, None)))
    assert list(find_mentions(" ".join(clean_text(text).split()), None)) == []


@settings(max_examples=tries(100, 250))
@given(almost_cited | st.text(max_size=500), almost_cited, st.lists(almost_cited, max_size=2))
def test_a_rendered_node_cites_nothing_but_itself_and_quotes_every_line(text, title, labels):
    shown = render_node(PromptNode("n77", title, text, tuple(labels)))
    assert [(mention.first, mention.last) for mention in find_mentions(shown, None)] == [(77, 77)]
    lines = shown.splitlines()
    assert lines[0].startswith("[n77]")
    assert all(line.startswith("| ") for line in lines[1:])


@settings(max_examples=tries(100, 250))
@given(almost_cited)
def test_qualified_text_cites_the_same(text):
    assert set(find_mentions(qualify_aliases(text, 3), None)) == set(find_mentions(text, 3))


def is_within(prompt, characters, tokens):
    size = frame_size(prompt) <= characters
    return size and (tokens is None or estimate(prompt.system + prompt.user) <= tokens)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(max_size=2000), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14), st.text(max_size=9)), max_size=60),
    st.text(max_size=900),
    st.sampled_from([(6000, None), (9000, None), (10**6, 2500), (6000, 2000)]),
)
def test_a_whole_sweep_prompt_stays_within_its_bounds(texts, ends, question, bounds):
    characters, tokens = bounds
    nodes = [
        Node(rank=i, element_id="e", key="k", title=f"T{i}", text=text, labels=("A",))
        for i, text in enumerate(texts)
    ]
    links = [Relationship(*link) for link in dict.fromkeys(ends)]
    part = Partition(id=2, size=99, tokens=9, keywords=("iron",))
    near = (PromptNeighbor("P4", ("gold",), "gold is said to shine", 3),)
    order = sweep_order(question, part, near)
    frame = sweep_prompt(order, Pass(1, ()), 99)
    try:
        passes = pack(
            nodes,
            links,
            max_characters=characters,
            max_tokens=tokens,
            reserved=frame_size(frame) + 200,
            reserved_tokens=estimate(frame.system + frame.user) + 100,
        )
    except ConfigError:
        assert not is_within(frame, characters - 700, tokens and tokens - 350)
        return
    for item in passes:
        assert is_within(sweep_prompt(order, item, len(passes)), characters, tokens)
        shown = {piece.rank for piece in item.pieces}
        touching = sum(link.source in shown or link.target in shown for link in links)
        assert len(item.relationships) + item.omitted == touching


said = st.one_of(cited, st.text(max_size=300), st.text(alphabet="語 x", max_size=2000))
long_reports = st.builds(
    lambda state, findings, flags, absences: Report(
        partition=3,
        domain_state=state,
        findings=tuple(Finding(text=text, citations=resolve(text, 3, SHOWN)) for text in findings),
        flags=tuple(Flag(text=text, target=1) for text in flags),
        absences=tuple(Absence(text=text) for text in absences),
    ),
    st.one_of(said, st.text(alphabet="語 x", max_size=9000)),
    st.lists(said, max_size=20),
    st.lists(said, max_size=3),
    st.lists(said, max_size=3),
)


@settings(max_examples=tries(40, 120), deadline=None)
@given(
    st.lists(long_reports, min_size=1, max_size=12),
    st.text(max_size=900),
    st.one_of(st.none(), st.text(max_size=9000)),
    st.sampled_from([(6000, None), (9000, None), (20_000, None), (10**6, 2500), (6000, 2000)]),
)
def test_a_synthesis_prompt_stays_within_its_bounds_and_counts_what_it_leaves_out(
    reports, question, known, bounds
):
    characters, tokens = bounds
    parts = [Partition(id=i, size=9, tokens=9, keywords=("語" * 99, "word")) for i in range(1, 200)]
    sweeps = [
        Sweep(partition=part.id, status=SweepStatus.ACCEPTED, nodes=9, report=report)
        for part, report in zip(parts, reports, strict=False)
    ]
    config = PGSConfig(max_pass_characters=characters)
    made = synthesis_prompt(synthesis_order(question, sweeps, parts, config, known), tokens)
    assert is_within(made.prompt, characters, tokens)
    assert made.prompt.user.endswith(f"Question: {question}")
    shown = [item.report for item in made.prompt.reports]
    assert len(shown) + made.dropped_reports == len(reports)
    whole = reports[: len(shown)]
    assert sum(map(bullet_count, shown)) + made.dropped_bullets == sum(map(bullet_count, whole))
    for report, full in zip(shown, whole, strict=True):
        assert full.findings[: len(report.findings)] == report.findings
    for item in made.prompt.reports:
        assert item.text in made.prompt.user
    cited = {(c.partition, c.alias): c for r in shown for c in r.citations if c.valid}
    assert made.citable == cited
