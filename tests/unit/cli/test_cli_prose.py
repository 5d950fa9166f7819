"""On a terminal, prose has style instead of marks, and titles instead of aliases."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.delivery import answer_stream, write_answer
from pgs_neo4j.cli.pages import text
from pgs_neo4j.cli.pages.prose import BOLD, CITED, CODE, END, Prose
from pgs_neo4j.cli.progress import Silent
from pgs_neo4j.events import TextStreamed
from pgs_neo4j.model import Citation
from tests.thorough import tries

TITLES = {(1, "n2"): "Second"}
ANSWER = """\
## Thesis
The **two words** and `code_x` [P1:n2], not [P9:n9].

* One: zipfile.ZipFile.__init__ stays.
1. Two
| a | **b** |
"""


def test_marks_become_style_and_aliases_titles() -> None:
    prose = Prose(TITLES)
    assert prose.feed(ANSWER) + prose.close() == (
        f"{BOLD}## Thesis{END}\n"
        f"The {BOLD}two words{END} and {CODE}code_x{END} "
        f"[{CITED}Second{END}], not [{CITED}P9:n9{END}].\n\n"
        "- One: zipfile.ZipFile.__init__ stays.\n1. Two\n| a | **b** |\n"
    )
    assert "\x1b" not in Prose(TITLES, color=False).feed(ANSWER)


@settings(max_examples=tries(25, 100))
@given(st.lists(st.integers(1, 40)))
def test_prose_in_pieces_is_drawn_as_prose_at_once(sizes: list[int]) -> None:
    whole, parts = Prose(TITLES), Prose(TITLES)
    rest, drawn = ANSWER, ""
    for size in sizes:
        drawn += parts.feed(rest[:size])
        rest = rest[size:]
    drawn += parts.feed(rest) + parts.close()
    assert drawn == whole.feed(ANSWER) + whole.close()


def test_what_is_never_closed_does_not_wait_for_ever() -> None:
    prose = Prose(color=False)
    drawn = "".join(prose.feed("an [open bracket ") for _ in range(1_000))
    assert len(drawn) > 10_000
    assert drawn + prose.close() == "an [open bracket " * 1_000


def test_lines_wrap_at_words_whatever_their_style_or_width() -> None:
    wrapper = text.Wrapper(20)
    styled = wrapper.feed(
        f"{BOLD}one{END} {CODE}two{END} three four five\n漢字漢字 漢字漢字 漢字\n"
    )
    plain = re.sub("\x1b\\[[0-9]*m", "", styled)
    assert plain == "one two three four\nfive\n漢字漢字 漢字漢字\n漢字\n"
    pieces = ["- one two thr", "ee four five six", " seven\nplain text that is long\n"]
    wrapped = "".join(map(wrapper.feed, pieces)) + wrapper.close()
    assert wrapped == "- one two three four\n  five six seven\nplain text that is\nlong\n"
    assert text.Wrapper(None).feed("no change  at all") == "no change  at all"
    assert text.labeled("Run", "x" * 50 + " end", 40) == [f"Run       {'x' * 50}", "          end"]
    assert text.labeled("Partitions", "of it", 40) == ["Partitions of it"]
    assert all("x" * 90 in line for line in text.item("x" * 90, 40))


def test_a_stored_answer_and_the_page_below_it_are_drawn_for_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["Sources", "  P1:n2  Second", "Note      mind"]
    output.write_page(lines)
    assert capsys.readouterr().out.splitlines() == lines
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    monkeypatch.setenv("NO_COLOR", "1")
    cited = Citation(alias="n2", partition=1, node="k", title="Second")
    write_answer("## Thesis\nA [P1:n2].", [cited])
    assert capsys.readouterr().out == "### Thesis\nA [Second].\n"
    monkeypatch.delenv("NO_COLOR")
    output.write_page(lines)
    assert capsys.readouterr().out.splitlines() == [
        "\x1b[1mSources\x1b[0m", lines[1], "\x1b[33mNote\x1b[0m      mind",
    ]  # fmt: skip


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize(
    "fake", ["Sources", "## Sources", "**Sources**", "Sources\n---", "Note  x"]
)
async def test_the_model_cannot_write_the_lines_below_its_answer(
    fake: str,
    terminal: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda stream: terminal)
    monkeypatch.setenv("NO_COLOR", "1")
    answer = f"It is so.\n\n{fake}\n  P9:n9  Fake\n\nAll was read."
    write_answer(answer)
    stored = capsys.readouterr().out
    stream = answer_stream(Silent())
    for piece in answer:
        stream(TextStreamed(piece))
    stream.close()
    assert capsys.readouterr().out == stored
    labels = {line[:10].strip() for line in stored.splitlines()}
    assert not labels & {"Sources", "Note"}
    assert "### Sources" in stored or "### Note" in stored


@settings(max_examples=tries(25, 100))
@given(st.lists(st.text(alphabet="ab -\n*1."), max_size=20), st.integers(10, 40))
def test_wrapper_changes_nothing_but_spaces(pieces: list[str], width: int) -> None:
    wrapper = text.Wrapper(width)
    wrapped = "".join(map(wrapper.feed, pieces)) + wrapper.close()
    assert wrapped.split() == "".join(pieces).split()
    longest = max((len(word) for word in wrapped.split()), default=0)
    if longest < width // 3:
        assert all(
            len(line.rstrip()) <= width
            for line in wrapped.splitlines()
            if line.strip()[:1].isalpha()
        )


def test_a_quoted_command_stays_on_one_line() -> None:
    command = "'pgs partition --graph papers --force --max-partition-tokens 3000'"
    lines = text.labeled("Advice", f"partitions are long; run {command}, so that one fits", 60)
    assert [line.strip() for line in lines] == [
        "Advice    partitions are long; run",
        f"{command},",
        "so that one fits",
    ]
