"""A data directory of the local server."""

import pytest

from pgs_neo4j.database.local.options import LocalOptions, LocalPaths, claim, paths_of


@pytest.fixture
def paths(tmp_path) -> LocalPaths:
    """A claimed data directory with a folder of logs."""
    claimed = paths_of(LocalOptions(data_dir=tmp_path / "data"))
    claim(claimed)
    claimed.logs.mkdir()
    return claimed
