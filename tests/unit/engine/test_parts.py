"""Parts of an ingestion from a call, or from the code that settings name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig, load
from pgs_neo4j.documents.fold.resolution import OwnResolver
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.ingestion.parts import Parts, make_part
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.factory import Readers
from tests.documents import ApartResolver
from tests.fakes.chunkers import SignChunker

CHUNKER, RESOLVER = "tests.fakes.chunkers:SignChunker", "tests.documents:ApartResolver"


def parts(**settings: Any) -> Parts:
    """The parts in force; ``settings`` are those of the call."""
    llm, database = ExtractiveLLM(), object()
    core = Core(
        db=database,  # type: ignore[arg-type] # never asked
        settings=load(settings).settings,
        config=PGSConfig(),
        llms=Readers(llm, llm, llm, llm, llm),
    )
    return Parts(core)


def test_without_settings_every_part_is_built_in() -> None:
    own = parts()
    made = own.loader(), own.chunker(), own.extractor(), own.resolver(), own.describer()
    assert made == (None,) * 5


def test_the_settings_name_a_part_and_it_is_made_once() -> None:
    own = parts(ingest_chunker=CHUNKER, ingest_resolver=RESOLVER)
    assert own.chunker() == SignChunker()
    assert own.chunker() is own.chunker()
    resolver = own.resolver()
    assert isinstance(resolver, OwnResolver)
    assert isinstance(resolver.own, ApartResolver)


def test_the_part_of_a_call_comes_first() -> None:
    given = SignChunker("!")
    assert parts(ingest_chunker=CHUNKER).chunker(given) is given
    assert parts().chunker(given) is given


def test_a_function_is_called_and_an_object_is_taken() -> None:
    made = make_part("ingest_chunker", "tests.fakes.chunkers:make_chunker", ("divide",))
    assert made == SignChunker(".")
    made = make_part("ingest_chunker", "tests.unit.engine.test_parts:READY", ("divide",))
    assert made is READY


READY = SignChunker("?")


def fail() -> None:
    raise KeyError("parts")


class Plain:
    signature = "p"

    def divide(self, document: object) -> list[int]:
        return []


PLAIN = Plain()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("tests.fakes.chunkers", "write it as package.module:name"),
        (":SignChunker", "write it as package.module:name"),
        ("tests.fakes.nothing:Chunker", "its module cannot be imported"),
        ("tests.fakes.chunkers:Missing", "and the module tests.fakes.chunkers has no Missing"),
        ("tests.fakes.chunkers:SignChunker.inner.x", "and SignChunker has no inner"),
        ("tests.unit.engine.test_parts:fail", r"fail\(\) failed with KeyError: 'parts'"),
        ("tests.unit.engine.test_parts:PLAIN", "divide of tests.* is not a coroutine"),
        (RESOLVER, "has no divide"),
    ],
)
def test_code_that_is_no_such_part_is_refused(code: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parts(ingest_chunker=code).chunker()


def test_a_file_of_the_working_directory_runs_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGS_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "pgs.toml"
    file.write_text('ingest_chunker = "planted:run"\n')
    (tmp_path / "planted.py").write_text("raise SystemExit('it ran')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match="set PGS_INGEST_CHUNKER=planted:run, or PGS_CONFIG="):
        parts().chunker()
    monkeypatch.setenv("PGS_INGEST_CHUNKER", CHUNKER)
    assert parts().chunker() == SignChunker()
    monkeypatch.delenv("PGS_INGEST_CHUNKER")
    file.write_text(f'ingest_chunker = "{CHUNKER}"\n')
    monkeypatch.setenv("PGS_CONFIG", str(file))
    assert parts().chunker() == SignChunker()
