"""The manual: every topic is a page and is shown, every command is explained, no link is dead."""

import re
import subprocess
import sys
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.main import get_command

from pgs_neo4j import manual
from pgs_neo4j.cli import output
from pgs_neo4j.cli.app import app
from pgs_neo4j.errors import UsageError
from tests.fakes.commands import pgs

ROOT = Path(__file__).parents[3]
LINK = re.compile(r"\]\(([^)#]+)\)")


COMMAND = re.compile(r"'pgs ([a-z]+)(?: ([a-z][a-z-]*))?")


def groups() -> dict[str, object]:
    found: dict[str, object] = get_command(app).commands  # type: ignore[attr-defined]
    return found


def commands() -> set[str]:
    return set(get_command(app).commands)  # type: ignore[attr-defined]


def test_every_topic_is_a_page_and_every_page_a_topic():
    folder = resources.files("pgs_neo4j.manual")
    pages = {entry.name[:-3] for entry in folder.iterdir() if entry.name.endswith(".md")}
    assert set(manual.TOPICS) == pages
    done = pgs("help")
    assert done.exit_code == 0
    assert all(f"  {topic}" in done.stdout for topic in manual.TOPICS)


@pytest.mark.parametrize("topic", manual.TOPICS)
def test_a_page_has_a_title_and_links_to_pages_and_goes_into_a_pipe_as_it_is(topic):
    page = manual.read_page(topic)
    assert page.startswith("# ")
    targets = {target for target in LINK.findall(page) if not target.startswith("https://")}
    assert targets <= {f"{name}.md" for name in manual.TOPICS}
    done = pgs("help", topic)
    assert (done.exit_code, done.stdout) == (0, page)


def test_on_a_terminal_a_page_is_laid_out(monkeypatch):
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    printed = pgs("help", "limits").stdout
    assert "Coverage says what a model was shown" in printed
    assert "- Coverage" not in printed


def test_an_unknown_topic_is_refused_with_a_suggestion():
    done = pgs("help", "concept")
    assert (done.exit_code, "did you mean concepts?" in done.stderr) == (2, True)
    with pytest.raises(UsageError, match="the topics are concepts, "):
        manual.read_page("zzz")


def test_the_page_of_commands_names_every_command_and_no_other():
    page = manual.read_page("commands")
    assert {name for name in commands() if f"pgs {name}" not in page} == set()
    assert set(re.findall(r"`pgs ([a-z]+)", page)) <= commands()


def test_whatever_the_package_advises_is_a_command():
    advised = {
        (found[1], path.name)
        for path in (ROOT / "pgs_neo4j").rglob("*.py")
        for found in re.finditer(r"['`]pgs ([a-z]+)", path.read_text(encoding="utf-8"))
    }
    assert len(advised) > 20
    assert {one for one in advised if one[0] not in commands()} == set()


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    for name in ("sphinx", "myst_parser", "furo"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed (extra site)")
    command = [sys.executable, str(ROOT / ".github/site/build.py"), str(tmp_path)]
    fresh = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}  # a shell that finds this checkout
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=fresh
    )
    assert done.returncode == 0, done.stderr
    pages = {path.stem for path in tmp_path.glob("*.html")}
    assert {"index", *manual.TOPICS} <= pages
    assert 'href="server.html#metrics"' in (tmp_path / "operations.html").read_text()


def test_messages_name_commands_and_pages_that_exist() -> None:
    """What a message says to run is there, with the command of a group and the page of help."""
    tree = {name: dict(getattr(one, "commands", {})) for name, one in groups().items()}
    named = set()
    for path in (ROOT / "pgs_neo4j").rglob("*.py"):
        named |= {(*found, path.name) for found in COMMAND.findall(path.read_text())}
    assert len(named) > 50
    for command, word, file in named:
        assert command in tree, (command, file)
        if word and command == "help":
            assert word in manual.TOPICS, (word, file)
        elif word and tree[command]:
            assert word in tree[command], (command, word, file)
