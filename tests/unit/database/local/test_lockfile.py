import re

import pytest

from pgs_neo4j.database.local import lockfile
from tests.tools import relock

LOCKS = [(name, lockfile.load(name)) for name in lockfile.RELEASES]


@pytest.mark.parametrize(("release", "lock"), LOCKS)
def test_the_lock_pins_the_release_pair_completely(release, lock):
    pin = relock.PINS[release]
    assert (lock.neo4j, lock.gds) == (pin.neo4j, pin.gds)
    assert lock.neo4j.startswith(f"{release}.")
    coordinates = {artifact.coordinate for artifact in lock.artifacts}
    roots = [*pin.neo4j_roots, *pin.gds_roots]
    assert {f"{group}:{name}:{version}" for group, name, version in roots} <= coordinates
    assert len(lock.artifacts) > 300


@pytest.mark.parametrize(("release", "lock"), LOCKS)
def test_every_artifact_is_well_formed_and_there_once(release, lock):
    for artifact in lock.artifacts:
        assert re.fullmatch(r"[0-9a-f]{64}", artifact.sha256), artifact
        assert artifact.size_bytes > 0, artifact
        assert artifact.license.strip(), artifact
        assert re.fullmatch(r"[A-Za-z0-9._-]+\.jar", artifact.file_name), artifact
    assert len({artifact.coordinate for artifact in lock.artifacts}) == len(lock.artifacts)
    places = {(artifact.target, artifact.file_name) for artifact in lock.artifacts}
    assert len(places) == len(lock.artifacts)
    assert {target for target, _ in places} == {"lib", "plugins"}


@pytest.mark.parametrize(("release", "lock"), LOCKS)
def test_gds_brings_nothing_that_neo4j_has_in_any_version(release, lock):
    plugins, lib = (
        {(a.group, a.name) for a in lock.artifacts if a.target == target}
        for target in ("plugins", "lib")
    )
    assert not plugins & lib


def test_the_folder_name_follows_the_content():
    text = (
        '{"neo4j": "1", "gds": "2", "artifacts": [{"group": "g", "artifact": "a", "version": "3",'
        ' "classifier": "linux", "target": "lib", "sha256": "%s", "size_bytes": 1,'
        ' "license": "MIT"}]}'
    )
    one, other = lockfile.parse(text % ("0" * 64)), lockfile.parse(text % ("1" * 64))
    assert one.artifacts[0].file_name == "a-3-linux.jar"
    assert one.artifacts[0].coordinate == "g:a:3:linux"
    assert one.folder != other.folder
    assert one.folder.startswith("neo4j-1-gds-2-")
