"""A secret never meets an address that is less trusted than itself."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import pgs_neo4j
from pgs_neo4j import config
from pgs_neo4j.config import (
    Settings,
    model_access,
    rerank_access,
    server_access,
    trusted_code_name,
    trusted_tokens,
)
from pgs_neo4j.config.notices import SECRETS
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.embedders.sentence_transformers import MODEL
from pgs_neo4j.llm.factory import create_embedder, create_llms, create_relevance_model
from tests.thorough import tries

PLACES = ("call", "environment", "file", "customary")  # the first one that is set counts
FILES = ("named", "user", "directory")
SETS = [frozenset(p for p, wanted in zip(PLACES, w, strict=True) if wanted)
        for w in product((False, True), repeat=4)]  # fmt: skip
SERVER_SETS = [places for places in SETS if "customary" not in places]
FEW = [places for places in SETS if len(places) <= tries(2, 4)]
TRUSTED = {"directory": 0, "user": 1, "named": 1, "environment": 1, "call": 1, "default": 2}


@dataclass(frozen=True)
class Machine:
    """A home and a working directory, to be filled with settings."""

    home: Path
    here: Path
    patch: pytest.MonkeyPatch

    def load(self, places: dict[str, dict[str, str]], file: str) -> Settings:
        """Set every value at its place, and load the settings."""
        paths = {"named": self.here / "mine.toml", "user": self.home / "pgs.toml"}
        paths["directory"] = self.here / "pgs.toml"
        for path in paths.values():
            path.unlink(missing_ok=True)
        with self.patch.context() as patch:
            for name, value in places["environment"].items():
                patch.setenv(f"PGS_{name.upper()}", value)
            for name, value in places["customary"].items():
                patch.setenv(config.provenance.CUSTOMARY[name], value)
            if places["file"]:
                lines = (f"{name} = {json.dumps(v)}\n" for name, v in places["file"].items())
                paths[file].write_text("".join(lines))
                if file == "named":
                    patch.setenv("PGS_CONFIG", str(paths[file]))
            return config.load(places["call"]).settings


@pytest.fixture
def machine(tmp_path, monkeypatch):
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(config.provenance, "user_config_path", lambda _: home)
    return Machine(home, here, monkeypatch)


def spread(**values: tuple[frozenset[str], str]) -> dict[str, dict[str, str]]:
    """Each value at each of its places, marked with the place."""
    return {
        place: {
            name: form.replace("{}", place) for name, (at, form) in values.items() if place in at
        }
        for place in PLACES
    }


def winner(places: frozenset[str], file: str) -> str:
    """The place whose value is in force, the file by its own place."""
    place = next((p for p in PLACES if p in places), "default")
    return file if place == "file" else place


def mark(place: str) -> str:
    """The mark of a value that ``spread`` put at a place."""
    return "file" if place in FILES else place


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    ("names", "form", "uses", "said"),
    [
        (("neo4j_uri", "neo4j_password"), "bolt+s://{}.org", ["server"], "PGS_CONFIG=HERE"),
        (
            ("rerank_base_url", "rerank_api_key"),
            "https://{}.org/v1",
            ["rerank", "relevance"],
            "PGS_RERANK_BASE_URL yourself",
        ),
    ],
    ids=["server", "reranker"],
)
def test_a_secret_meets_no_address_that_is_less_trusted(machine, file, names, form, uses, said):
    """All combinations of where the address and its secret come from."""
    machine.patch.setenv("PGS_LLM_API_KEY", "pw-other")  # keys of other models never go there
    met = refused = 0
    for addresses, secrets in product(SERVER_SETS, SERVER_SETS):
        places = spread(**{names[0]: (addresses, form), names[1]: (secrets, "pw-{}")})
        settings = machine.load(places, file)
        address, secret = winner(addresses, file), winner(secrets, file)
        if secret != "default" and TRUSTED[secret] > TRUSTED[address]:
            refused += 1
            for use in uses:
                with pytest.raises(ConfigError, match="is not sent to") as caught:
                    USES[use](settings)
                assert "pw-" not in str(caught.value)
                assert said.replace("HERE", f"{machine.here}/pgs.toml") in str(caught.value)
            continue
        access = USES[uses[0]](settings)
        if address == "default":  # the local server has a password of its own
            assert access is None
            continue
        met += 1
        assert (access.uri if uses == ["server"] else access.base_url) == form.format(mark(address))
        sent = access.password if uses == ["server"] else access.key
        expected = None if secret == "default" else f"pw-{mark(secret)}"
        assert (sent and sent.get_secret_value()) == expected
    assert met > 40
    assert refused == (6 if file == "directory" else 0)


@pytest.mark.parametrize("host", ["{}.org", "127.0.0.1"])
@pytest.mark.parametrize("file", FILES)
def test_a_key_meets_no_address_that_is_less_trusted(machine, file, host):
    """The same for models, with OPENAI_API_KEY, which belongs to OPENAI_BASE_URL or OpenAI."""
    refused = withheld = 0
    for urls, keys in product(FEW, FEW):
        url = f"https://{host}/{{}}/v1"
        places = spread(llm_base_url=(urls, url), llm_api_key=(keys, "sk-{}"))
        settings = machine.load(places, file)
        address, secret = winner(urls, file), winner(keys, file)
        same_server = host == "127.0.0.1" and "customary" in urls  # all these URLs are one server
        if secret == "customary":
            allowed = address in ("customary", "default") or same_server
        else:
            allowed = same_server or TRUSTED.get(address, 1) >= TRUSTED.get(secret, 2)
        if secret == "default":
            assert model_access(settings).key is None
        elif allowed:
            key = model_access(settings).key
            assert key is not None
            assert key.get_secret_value() == f"sk-{mark(secret)}"
        elif secret == "customary" and host == "127.0.0.1":
            withheld += 1
            assert model_access(settings).key is None
        else:
            refused += 1
            for use in ("model", "models", "embedder"):
                with pytest.raises(ConfigError, match="is not sent to") as caught:
                    USES[use](settings)
                assert "sk-" not in str(caught.value)
                assert "PGS_LLM_" in str(caught.value)
    assert refused > 0 or file != "directory"
    assert (withheld > 0) == (host == "127.0.0.1")


USES: dict[str, Callable[[Settings], Any]] = {
    "server": server_access,
    "rerank": rerank_access,
    "relevance": lambda settings: create_relevance_model(settings, config.PGSConfig()),
    "model": model_access,
    "models": lambda settings: create_llms(settings, config.PGSConfig()),
    "embedder": lambda settings: create_embedder(settings, config.PGSConfig(), "openai"),
}


@pytest.mark.parametrize(
    ("url", "home", "sent"),
    [
        ("https://api.openai.com/v1", None, True),
        ("https://API.openai.com:443/other", None, True),
        ("https://eu.api.openai.com/v1", None, True),
        ("https://api.openai.com/v1", "https://proxy.org/v1", False),
        ("https://proxy.org/other", "https://proxy.org/v1", True),
        ("http://proxy.org/v1", "https://proxy.org/v1", False),
        ("http://api.openai.com/v1", None, False),
        ("https://api.openai.com.evil.org/v1", None, False),
        ("https://other.org/v1", None, False),
    ],
)
@pytest.mark.parametrize("place", ["call", "environment", "file"])
def test_the_customary_key_goes_only_where_it_belongs(machine, place, url, home, sent):
    places = spread(llm_base_url=(frozenset({place}), url))
    places["customary"] = {"llm_api_key": "sk-1"} | ({"llm_base_url": home} if home else {})
    settings = machine.load(places, "directory")
    if sent:
        key = model_access(settings).key
        assert key is not None
        assert key.get_secret_value() == "sk-1"
    else:
        with pytest.raises(ConfigError, match="OPENAI_API_KEY belongs to") as caught:
            model_access(settings)
        owner = "OPENAI_BASE_URL" if home else "OpenAI"
        assert f"belongs to {owner} and is not sent to" in str(caught.value)
        assert "set PGS_LLM_" in str(caught.value)


def test_an_address_in_a_file_that_changes_nothing_gets_the_key(machine):
    places = spread(llm_base_url=(frozenset({"file"}), "https://api.openai.com/v1"))
    places["environment"] = {"llm_api_key": "sk-mine"}
    assert model_access(machine.load(places, "directory")).key is not None


def test_the_users_own_file_is_not_the_working_directorys(machine, monkeypatch):
    (machine.home / "pgs.toml").write_text('neo4j_uri = "bolt+s://db.org"\n')
    monkeypatch.chdir(machine.home)
    loaded = config.load({"neo4j_password": "pw"})
    assert loaded.provenance.place == "user"
    assert server_access(loaded.settings) is not None


@pytest.mark.parametrize("variable", ["PGS_NEO4J_PASSWORD", "pgs_neo4j_password"])
def test_variables_count_in_any_case(machine, monkeypatch, variable):
    (machine.here / "pgs.toml").write_text('neo4j_uri = "bolt+s://db.org"\n')
    monkeypatch.setenv(variable, "pw")
    with pytest.raises(ConfigError, match=r"is not sent to db\.org"):
        server_access(config.load().settings)


def test_a_file_that_changes_while_it_is_read_counts_once(machine, monkeypatch):
    """Values and their sources are of one reading."""
    file = machine.here / "pgs.toml"
    file.write_text('llm_base_url = "https://evil.org/v1"\n')
    monkeypatch.setenv("PGS_LLM_API_KEY", "sk-1")
    readings = []

    def read_text(path, encoding):
        readings.append(path)
        return "" if len(readings) > 1 else 'llm_base_url = "https://evil.org/v1"\n'

    monkeypatch.setattr(Path, "read_text", read_text)
    settings = config.load().settings
    assert len(readings) == 1
    with pytest.raises(ConfigError, match=r"is not sent to evil\.org"):
        model_access(settings)


@pytest.mark.parametrize("file", FILES)
def test_a_certificate_vouches_for_no_address_that_is_more_trusted(machine, file):
    for uris, certificates in product(SERVER_SETS, SERVER_SETS):
        places = spread(neo4j_uri=(uris, "bolt+s://db.org"), neo4j_ca=(certificates, "{}.pem"))
        settings = machine.load(places, file)
        address, certificate = winner(uris, file), winner(certificates, file)
        if address == "default":
            continue
        if certificate != "default" and TRUSTED[certificate] < TRUSTED[address]:
            with pytest.raises(ConfigError, match="cannot vouch for"):
                server_access(settings)
            continue
        access = server_access(settings)
        assert access is not None
        beside = {"named": machine.here, "directory": machine.here, "user": machine.home}
        folder = beside.get(certificate, Path())
        path = folder / f"{mark(certificate)}.pem"
        assert access.ca == (None if certificate == "default" else path)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("places", SERVER_SETS)
def test_a_folder_of_code_is_no_model_unless_the_user_names_it(machine, places, file):
    """sentence-transformers runs code that the folder of a model holds."""
    places_of = spread(embedding_model=(places, "{}"))
    settings = machine.load(places_of, file)
    name = winner(places, file)
    text = {"default": MODEL}.get(name, mark(name))
    assert name_local_embedder(settings) == f"sentence-transformers/{text}"
    (machine.here / text).mkdir()
    if name in ("default", "directory"):
        with pytest.raises(ConfigError, match=f"set PGS_EMBEDDING_MODEL={machine.here / text}"):
            name_local_embedder(settings)
    else:
        assert name_local_embedder(settings) == f"sentence-transformers/{text}"


def name_local_embedder(settings: Settings) -> str:
    embedder = create_embedder(settings, config.PGSConfig(), "sentence-transformers")
    assert embedder is not None
    return embedder.name


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("places", SERVER_SETS)
def test_code_runs_only_if_the_user_names_it(machine, places, file):
    settings = machine.load(spread(ingest_loader=(places, "{}:Loader")), file)
    name = winner(places, file)
    if name == "directory":
        with pytest.raises(ConfigError, match="set PGS_INGEST_LOADER=file:Loader, or PGS_CONFIG="):
            trusted_code_name(settings, "ingest_loader")
        return
    named = trusted_code_name(settings, "ingest_loader")
    assert named == (None if name == "default" else f"{mark(name)}:Loader")


def test_only_one_place_reads_secrets_from_the_settings():
    allowed = {"config/trust.py"}
    readers = set()
    root = Path(pgs_neo4j.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text("utf-8")
        if not any(secret in text for secret in SECRETS):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and node.attr in SECRETS:
                readers.add(path.relative_to(root).as_posix())
    # Whether there is a key decides which reader is meant; it goes nowhere there.
    assert readers == allowed | {"config/settings.py"}


TABLE = f'[[token]]\nname = "ann"\nsha256 = "{"0" * 64}"\nrole = "asker"\n'


@pytest.mark.parametrize("file", ["pgs.toml", "mine.toml", None])
def test_tokens_of_the_server_are_taken_from_the_users_own_files_only(machine, monkeypatch, file):
    if file is not None:
        (machine.here / file).write_text(TABLE)
    if file == "mine.toml":
        monkeypatch.setenv("PGS_CONFIG", str(machine.here / file))
    settings = Settings()
    names = ["ann"] if file else []
    assert [entry.name for entry in settings.token] == names
    if file == "pgs.toml":
        with pytest.raises(ConfigError, match=r"may come from anyone; move them to .*PGS_CONFIG"):
            trusted_tokens(settings)
    else:
        assert [entry.name for entry in trusted_tokens(settings)] == names
