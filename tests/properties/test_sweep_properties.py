"""Whatever nodes say and models reply: nothing is lost, nothing invented is accepted."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.errors import ModelOutputError
from pgs_neo4j.model import Absence, Finding, Flag, Node, Report
from pgs_neo4j.pgs.citations import resolve
from pgs_neo4j.pgs.pack import clean, pack, read_ranges, rendered
from pgs_neo4j.pgs.report import parse_report, render_report
from pgs_neo4j.pgs.synthesis import parse_synthesis

SHOWN = {
    f"n{i + 1}": Node(rank=i, element_id="e", key=f"k{i}", title="T", text="t") for i in range(5)
}
words = st.text(alphabet="abc xyz.,", min_size=1, max_size=40).map(str.strip)
claims = words.filter(lambda text: len(text) > 3 and text[0].isalpha()).map(
    lambda text: f"Claim {' '.join(text.split())}"
)
cited = st.tuples(claims, st.lists(st.integers(1, 9), max_size=3)).map(
    lambda pair: pair[0] + "".join(f" [n{i}]" for i in pair[1])
)


def finding(text):
    return Finding(text=text, citations=resolve(text, 3, SHOWN))


reports = st.builds(
    Report,
    partition=st.just(3),
    domain_state=st.one_of(st.just(""), claims),
    findings=st.lists(cited.map(finding), max_size=5).map(tuple),
    flags=st.lists(
        st.builds(
            lambda text, target: Flag(text=text, target=target, citations=resolve(text, 3, SHOWN)),
            cited,
            st.sampled_from([None, 1, 2]),
        ),
        max_size=4,
    ).map(tuple),
    absences=st.lists(claims.map(lambda text: Absence(text=text)), max_size=4).map(tuple),
)


@given(reports)
def test_a_rendered_report_parses_to_itself(report):
    assert parse_report(render_report(report), 3, SHOWN, (1, 2)) == report


@st.composite
def mutated(draw):
    text = render_report(draw(reports), qualify=draw(st.booleans()))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    junk = draw(st.text(alphabet="#*-[]nP0123456789:`|\n <>/think", max_size=40))
    return draw(st.sampled_from([text[:start], text[:start] + junk + text[end:], text[end:]]))


@settings(max_examples=1000)
@given(mutated())
def test_mutated_replies_neither_crash_nor_bring_in_an_unknown_node(text):
    with contextlib.suppress(ModelOutputError):
        report = parse_report(text, 3, SHOWN, (1, 2))
        for citation in report.citations:
            known = citation.partition == 3 and citation.alias in SHOWN
            assert citation.valid == known
            assert (citation.node is not None) == known
        assert all(flag.target in (None, 1, 2) for flag in report.flags)
    assert all(not c.valid for c in parse_synthesis(text, {}).citations)


@given(
    st.lists(st.text(max_size=3000), max_size=12),
    st.integers(2500, 20_000),
    st.sampled_from([None, 1000, 5000]),
)
def test_packing_loses_nothing_and_stays_within_the_bound(texts, characters, tokens):
    nodes = [
        Node(rank=i, element_id="e", key="k", title=f"T{i}", text=text)
        for i, text in enumerate(texts)
    ]
    passes = pack(nodes, (), max_characters=characters, max_tokens=tokens, reserved=300)
    shown = {}
    for item in passes:
        for piece in item.pieces:
            shown.setdefault(piece.rank, []).append(piece)
        assert sum(len(rendered(node)) + 1 for node in item.nodes) <= characters - 300
    assert sorted(shown) == list(range(len(texts)))
    for rank, pieces in shown.items():
        assert len(pieces) == pieces[0].parts
        joined = "".join(clean(piece.node.text) for piece in pieces)
        assert joined.replace("\n", "") == clean(texts[rank]).replace("\n", "")
    everything = {item.number for item in passes}
    expected = ((0, len(texts)),) if texts else ()
    assert read_ranges(passes, everything) == expected


@given(st.text(max_size=500), st.text(max_size=80), st.lists(st.text(max_size=20), max_size=2))
def test_no_text_can_stand_in_a_line_of_its_own(text, title, labels):
    from pgs_neo4j.model import PromptNode

    lines = rendered(PromptNode("n1", title, text, tuple(labels))).splitlines()
    assert lines[0].startswith("[n1]")
    assert all(line.startswith("| ") for line in lines[1:])
    assert all(not resolve(line, 3, SHOWN) for line in lines[1:])
