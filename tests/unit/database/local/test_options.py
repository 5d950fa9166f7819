"""Options from the environment, and the claim on a data directory."""

import os
import re
import stat
from pathlib import Path

import pytest

from pgs_neo4j.database.local.lockfile import RELEASES
from pgs_neo4j.database.local.options import (
    LocalOptions,
    choose_release,
    claim,
    options_from_environment,
    paths_of,
    read_release,
)
from pgs_neo4j.errors import ConfigError, LocalServerError


def test_the_environment_is_read_by_name():
    options = options_from_environment(
        {
            "PGS_LOCAL_DATA_DIR": "/somewhere/data",
            "PGS_LOCAL_CACHE_DIR": "/somewhere/cache",
            "PGS_LOCAL_HEAP_MB": "700",
            "PGS_LOCAL_PAGE_CACHE_MB": " 200 ",
            "PGS_LOCAL_BOLT_PORT": "",
            "PGS_LOCAL_MIRRORS": "https://one.example/m2, https://two.example/m2",
            "PGS_LOCAL_RELEASE": "2026",
        }
    )
    assert options == LocalOptions(
        data_dir=Path("/somewhere/data"),
        cache_dir=Path("/somewhere/cache"),
        heap_mb=700,
        page_cache_mb=200,
        mirrors=("https://one.example/m2", "https://two.example/m2"),
        release="2026",
    )
    assert options_from_environment({}) == LocalOptions()


@pytest.mark.parametrize("value", ["many", "-5", "1.5", "10", "٣٠٠٠"])
def test_a_wrong_number_is_refused_by_name(value):
    with pytest.raises(ConfigError, match=r"PGS_LOCAL_HEAP_MB is .* whole number"):
        options_from_environment({"PGS_LOCAL_HEAP_MB": value})


def test_a_release_that_does_not_exist_is_refused_with_those_that_do():
    for options in ({"PGS_LOCAL_RELEASE": "2031"}, {}):
        with pytest.raises(ConfigError, match=r"choose 5\.26 or 2026 .--release, PGS_LOCAL_REL"):
            options_from_environment(options, release=None if options else "5")
    assert options_from_environment({"PGS_LOCAL_RELEASE": "2026"}, release="5.26").release == "5.26"


@pytest.mark.parametrize(
    ("release", "name"), [(None, "local"), ("5.26", "local"), ("2026", "local-2026")]
)
def test_each_release_has_a_data_directory_of_its_own(release, name):
    assert paths_of(LocalOptions(release=release)).data_dir.name == name


@pytest.mark.parametrize(
    ("stored", "asked", "chosen"),
    [
        (None, None, "5.26"),
        (None, "2026", "2026"),
        ("2026", None, "2026"),
        ("2026", "2026", "2026"),
        ("5.26", None, "5.26"),
        ("2026", "5.26", "holds a database of Neo4j 2026, and Neo4j 5.26 will not open it; choose"),
        ("5.26", "2026", "holds a database of Neo4j 5.26, and Neo4j 2026 will not open it; choose"),
        ("2031", None, "of Neo4j 2031, which this version of pgs-neo4j does not run; upgrade"),
    ],
)
def test_a_store_is_opened_by_its_own_release_only(paths, stored, asked, chosen):
    if stored is not None:
        paths.release.write_text(f"{stored}\n")
    options = LocalOptions(data_dir=paths.data_dir, release=asked)
    if chosen in RELEASES:
        assert choose_release(paths, options).name == chosen
    else:
        with pytest.raises(LocalServerError, match=re.escape(chosen)):
            choose_release(paths, options)


def test_a_store_of_before_there_were_releases_is_5_26(paths):
    paths.data.mkdir()
    assert read_release(paths) == "5.26"
    with pytest.raises(LocalServerError, match=r"choose release 5\.26, or set PGS_LOCAL_DATA_DIR"):
        choose_release(paths, LocalOptions(data_dir=paths.data_dir, release="2026"))


def test_a_new_folder_is_claimed_and_known_again(tmp_path, monkeypatch):
    paths = paths_of(LocalOptions(data_dir=tmp_path / "a" / "b"))
    claim(paths)
    (paths.data_dir / "data").mkdir()
    claim(paths)
    assert paths.data_dir.stat().st_mode & 0o077 == 0
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 4242)
    with pytest.raises(LocalServerError, match="belongs to another user"):
        claim(paths)


def test_a_folder_of_someone_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(LocalServerError, match="not a data directory of pgs_neo4j"):
        claim(paths_of(LocalOptions(data_dir=tmp_path)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalServerError, match=r"cannot be used .* PGS_LOCAL_DATA_DIR"):
        claim(paths_of(LocalOptions(data_dir=tmp_path / "file" / "data")))


@pytest.mark.parametrize(("mode", "left"), [(0o777, 0o755), (0o1777, 0o1755), (0o770, 0o750)])
@pytest.mark.parametrize("claimed", [False, True])
def test_a_folder_that_others_can_write_is_tightened(tmp_path, mode, left, claimed):
    paths = paths_of(LocalOptions(data_dir=tmp_path / "data"))
    paths.data_dir.mkdir()
    if claimed:
        claim(paths)
    paths.data_dir.chmod(mode)
    claim(paths)
    assert stat.S_IMODE(paths.data_dir.stat().st_mode) == left


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_others_have_put_into_an_open_folder_is_refused(paths):
    paths.password.write_text("known to others")
    os.chown(paths.password, 4242, 4242)
    paths.data_dir.chmod(0o777)
    with pytest.raises(LocalServerError, match="and password in it belongs to one"):
        claim(paths)
