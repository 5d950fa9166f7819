"""Options from the environment, and the claim on a data directory."""

from pathlib import Path

import pytest

from pgs_neo4j.errors import ConfigError, LocalServerError
from pgs_neo4j.local.options import (
    LocalOptions,
    claim,
    options_from_environment,
    paths_of,
)


def test_the_environment_is_read_by_name():
    options = options_from_environment(
        {
            "PGS_LOCAL_DATA_DIR": "/somewhere/data",
            "PGS_LOCAL_CACHE_DIR": "/somewhere/cache",
            "PGS_LOCAL_HEAP_MB": "700",
            "PGS_LOCAL_PAGE_CACHE_MB": " 200 ",
            "PGS_LOCAL_BOLT_PORT": "",
            "PGS_LOCAL_MIRRORS": "https://one.example/m2, https://two.example/m2",
        }
    )
    assert options == LocalOptions(
        data_dir=Path("/somewhere/data"),
        cache_dir=Path("/somewhere/cache"),
        heap_mb=700,
        page_cache_mb=200,
        mirrors=("https://one.example/m2", "https://two.example/m2"),
    )
    assert options_from_environment({}) == LocalOptions()


@pytest.mark.parametrize("value", ["many", "-5", "1.5", "10", "٣٠٠٠"])
def test_a_wrong_number_is_refused_by_name(value):
    with pytest.raises(ConfigError, match=r"PGS_LOCAL_HEAP_MB is .* whole number"):
        options_from_environment({"PGS_LOCAL_HEAP_MB": value})


def test_a_new_folder_is_claimed_and_known_again(tmp_path):
    paths = paths_of(LocalOptions(data_dir=tmp_path / "a" / "b"))
    claim(paths)
    (paths.data_dir / "data").mkdir()
    claim(paths)
    assert paths.marker.exists()
    assert paths.data_dir.stat().st_mode & 0o077 == 0


def test_a_folder_of_someone_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(LocalServerError, match="not a data directory of pgs_neo4j"):
        claim(paths_of(LocalOptions(data_dir=tmp_path)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalServerError, match=r"cannot be used .* PGS_LOCAL_DATA_DIR"):
        claim(paths_of(LocalOptions(data_dir=tmp_path / "file" / "data")))
