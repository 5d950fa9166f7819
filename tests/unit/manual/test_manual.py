"""The manual: every topic is a page, every page a topic, every command is explained."""

import re
from importlib import resources

import pytest
from typer.main import get_command

from pgs_neo4j import manual
from pgs_neo4j.cli.app import app
from pgs_neo4j.errors import UsageError

LINK = re.compile(r"\]\(([^)#]+)\)")


def pages() -> set[str]:
    folder = resources.files("pgs_neo4j.manual")
    return {entry.name[:-3] for entry in folder.iterdir() if entry.name.endswith(".md")}


def commands() -> set[str]:
    return set(get_command(app).commands)  # type: ignore[attr-defined]


def test_every_topic_is_a_page_and_every_page_a_topic():
    assert set(manual.TOPICS) == pages()


@pytest.mark.parametrize("topic", manual.TOPICS)
def test_a_page_has_a_title_and_links_to_pages_that_exist(topic):
    page = manual.read_page(topic)
    assert page.startswith("# ")
    targets = {target for target in LINK.findall(page) if not target.startswith("https://")}
    assert targets <= {f"{name}.md" for name in manual.TOPICS}


def test_an_unknown_topic_is_refused_with_a_suggestion():
    with pytest.raises(UsageError, match="did you mean concepts"):
        manual.read_page("concept")
    with pytest.raises(UsageError, match="the topics are concepts, "):
        manual.read_page("zzz")


def test_the_page_of_commands_names_every_command_and_no_other():
    page = manual.read_page("commands")
    assert {name for name in commands() if f"pgs {name}" not in page} == set()
    assert set(re.findall(r"`pgs ([a-z]+)", page)) <= commands()
