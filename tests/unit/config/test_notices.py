"""What is told about the settings: a file of the directory, plain connections, odd variables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pgs_neo4j
from pgs_neo4j import config
from pgs_neo4j.config.notices import OTHER_VARIABLES, unknown_variables


def told(**overrides: object) -> list[str]:
    return list(config.notices(config.load(overrides).settings))


def write(folder: Path, text: str, mode: int = 0o600) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "pgs.toml"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_nothing_is_told_without_a_reason(here):
    assert told() == []
    assert told(neo4j_uri="bolt://localhost", neo4j_password="x") == []
    write(here / "home", 'neo4j_uri = "bolt+s://db.org"\nneo4j_password = "x"\n')
    assert told() == []


def test_a_file_of_the_working_directory_is_told_with_its_hosts_and_readers(here):
    path = write(here, "max_calls = 3\n", 0o644)
    head = f"{path} is in force, because it is in the working directory"
    assert told() == [head]
    write(here, 'neo4j_uri = "bolt+s://db.org:7687"\n', 0o644)
    assert told() == [f"{head}; the database is at db.org"]
    write(here, 'llm_base_url = "https://u:hidden@models.org/v1?k=hidden"\n', 0o644)
    assert told() == [f"{head}; text of the graph goes to models.org"]
    assert told(llm_provider="extractive") == [f"{head}; it names models.org for models"]
    assert told(llm_base_url="https://mine.org/v1") == [head]
    write(here, 'rerank_base_url = "https://u:hidden@ranks.org/v1"\n', 0o644)
    assert told() == [f"{head}; the reranker http sends text of the graph to ranks.org"]
    assert told(rerank_base_url="https://mine.org/v1") == [head]
    write(here, 'embedder = "openai"\n', 0o644)
    assert told()[0].endswith("; text of the graph goes to api.openai.com")
    write(here, 'llm_api_key = "theirs"\n')
    assert told()[0].endswith("; text of the graph goes to api.openai.com")


def test_a_secret_over_a_plain_connection_is_told():
    said = told(neo4j_uri="neo4j://db.org", neo4j_password="hidden")
    assert said == [
        "the password for db.org goes over neo4j://, where others on the way can read it; use "
        "neo4j+s:// if the server has a certificate"
    ]
    said = told(llm_base_url="http://models.org/v1", llm_api_key="hidden")
    assert said == [
        "the key for models.org goes over http, where others on the way can read it; use https"
    ]
    assert told(rerank_base_url="http://ranks.org/v1", rerank_api_key="hidden") == [
        "the key for ranks.org goes over http, where others on the way can read it; use https"
    ]
    assert told(rerank_base_url="http://ranks.org/v1") == []
    assert told(neo4j_uri="neo4j://db.org") == []
    assert told(llm_base_url="http://models.org/v1") == []
    for uri in ("bolt://127.0.0.1", "bolt://localhost:7687", "bolt://[::1]", "bolt+ssc://db.org"):
        assert told(neo4j_uri=uri, neo4j_password="hidden") == []
    assert told(llm_base_url="http://127.8.9.1/v1", llm_api_key="hidden") == []


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o602, True)])
def test_a_file_with_secrets_that_others_may_open_is_told(here, mode, warned):
    path = write(here / "home", 'neo4j_password = "hidden"\nllm_api_key = "hidden"\n', mode)
    said = told(neo4j_password="another")  # the file holds it all the same
    assert len(said) == warned
    if warned:
        assert said[0].startswith(f"{path} holds llm_api_key and neo4j_password, and other users")
        assert said[0].endswith(f"run: chmod 600 {path}")


def test_an_unknown_variable_is_told_with_the_nearest_and_those_of_others_are_not(monkeypatch):
    monkeypatch.setenv("PGS_MAX_CALL", "3")
    monkeypatch.setenv("PGS_ZEBRA", "3")
    assert told() == [
        "PGS_MAX_CALL is set, but there is no such setting; did you mean PGS_MAX_CALLS?",
        "PGS_ZEBRA is set, but there is no such setting; 'pgs config show' lists all settings",
    ]
    quiet = [f"PGS_{name}" for name in OTHER_VARIABLES]
    quiet += ["PGS_TEST_NEO4J_URI", "PGS_SERVICE_HOST", "PGS_PORT_80_TCP_ADDR", "PGS_PORT"]
    quiet += ["PGS_SERVICE_PORT_HTTP", "HOME", "_PGS_COMPLETE", "pgs_lower"]
    fields = (*config.Settings.model_fields, *config.PGSConfig.model_fields)
    quiet += [f"PGS_{name.upper()}" for name in fields]
    assert list(unknown_variables(dict.fromkeys(quiet, "1"))) == []


def test_every_variable_that_the_package_reads_is_known():
    root = Path(pgs_neo4j.__file__).parent
    texts = [path.read_text("utf-8") for path in root.rglob("*.py")]
    read = {name for text in texts for name in re.findall(r"\bPGS_(LOCAL_[A-Z_]+[A-Z])", text)}
    read |= {name for text in texts for name in re.findall(r'environ\S*\(?\[?"PGS_(\w+)"', text)}
    assert len(read) > 5
    assert read <= set(OTHER_VARIABLES)
