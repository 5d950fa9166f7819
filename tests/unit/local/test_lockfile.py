import re

from pgs_neo4j.local import lockfile, relock

LOCK = lockfile.load()


def test_the_lock_pins_the_release_pair_completely():
    assert (LOCK.neo4j, LOCK.gds) == (relock.NEO4J, relock.GDS)
    coordinates = {artifact.coordinate for artifact in LOCK.artifacts}
    roots = [*relock.NEO4J_ROOTS, *relock.GDS_ROOTS]
    assert {f"{group}:{name}:{version}" for group, name, version in roots} <= coordinates
    assert len(LOCK.artifacts) > 300


def test_every_artifact_is_well_formed():
    for artifact in LOCK.artifacts:
        assert re.fullmatch(r"[0-9a-f]{64}", artifact.sha256), artifact
        assert artifact.size_bytes > 0, artifact
        assert artifact.license.strip(), artifact
        assert artifact.target in ("lib", "plugins"), artifact
        assert re.fullmatch(r"[A-Za-z0-9._-]+\.jar", artifact.file_name), artifact


def test_no_jar_is_there_twice():
    coordinates = [artifact.coordinate for artifact in LOCK.artifacts]
    assert len(coordinates) == len(set(coordinates))
    places = [(artifact.target, artifact.file_name) for artifact in LOCK.artifacts]
    assert len(places) == len(set(places))


def test_gds_brings_nothing_that_neo4j_has_in_any_version():
    by_target = {
        target: {(a.group, a.name) for a in LOCK.artifacts if a.target == target}
        for target in ("lib", "plugins")
    }
    assert by_target["plugins"]
    assert not by_target["plugins"] & by_target["lib"]


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
