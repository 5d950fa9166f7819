import json

import pytest

from pgs_neo4j.database.local import lockfile
from tests.tools import relock
from tests.tools.relock import Coordinate

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">{parent}<artifactId>x</artifactId>
{licenses}</project>"""


def put(repository, coordinate, licenses="", parent="", jar=b"jar"):
    path = coordinate.path(repository, "pom")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(POM.format(parent=parent, licenses=licenses))
    coordinate.path(repository).write_bytes(jar)


def named(*names):
    listed = "".join(f"<license><name>{name}</name></license>" for name in names)
    return f"<licenses>{listed}</licenses>"


def test_a_license_is_inherited_from_the_nearest_parent_that_names_one_or_missed(tmp_path):
    child, parent = Coordinate("g", "child", "1"), Coordinate("g", "parent", "7")
    put(tmp_path, parent, named("The Apache Software License, Version 2.0", "My Own Licence"))
    put(
        tmp_path,
        child,
        parent="<parent><groupId>g</groupId><artifactId>parent</artifactId>"
        "<version>7</version></parent>",
    )
    assert relock.read_license(child, tmp_path) == "Apache-2.0 OR My Own Licence"
    bare = Coordinate("g", "bare", "1")
    put(tmp_path, bare)
    with pytest.raises(LookupError, match="bare"):
        relock.read_license(bare, tmp_path)


def test_what_is_rendered_is_what_the_lock_file_reads(tmp_path):
    shared, own = Coordinate("g", "s", "1"), Coordinate("g", "n", "1", "osx")
    other = Coordinate("g", "d", "1")
    newer = Coordinate("g", "s", "2")
    for coordinate in (shared, own, other, newer):
        put(tmp_path, coordinate, named("MIT License"))
    text = relock.render([own, shared], [other, newer], tmp_path)
    assert len(json.loads(text)["artifacts"]) == 3
    lock = lockfile.parse(text)
    assert [(a.coordinate, a.target, a.license) for a in lock.artifacts] == [
        ("g:n:1:osx", "lib", "MIT"),
        ("g:s:1", "lib", "MIT"),
        ("g:d:1", "plugins", "MIT"),
    ]
    assert {a.size_bytes for a in lock.artifacts} == {3}
