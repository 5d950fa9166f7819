"""`pgs help`: the topics, a page, and a topic that does not exist."""

import pytest
import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.operations.manual import show_help
from pgs_neo4j.manual import TOPICS, read_page


def test_without_a_topic_all_topics_are_listed(capsys):
    with pytest.raises(typer.Exit) as end:
        show_help(None)
    assert end.value.exit_code == 0
    printed = capsys.readouterr().out
    assert all(f"  {topic}" in printed for topic in TOPICS)


@pytest.mark.parametrize("topic", TOPICS)
def test_into_a_pipe_a_page_goes_as_it_is(topic, capsys):
    with pytest.raises(typer.Exit) as end:
        show_help(topic)
    assert end.value.exit_code == 0
    assert capsys.readouterr().out == read_page(topic)


def test_on_a_terminal_a_page_is_laid_out(capsys, monkeypatch):
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    with pytest.raises(typer.Exit):
        show_help("limits")
    printed = capsys.readouterr().out
    assert "Coverage says what a model was shown" in printed
    assert "- Coverage" not in printed


def test_an_unknown_topic_is_a_usage_error(capsys):
    with pytest.raises(typer.Exit) as end:
        show_help("limit")
    assert end.value.exit_code == 2
    assert "did you mean limits?" in capsys.readouterr().err
