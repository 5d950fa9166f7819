import json

import pytest

from pgs_neo4j.local import lockfile
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


def test_the_listing_of_maven_is_read():
    text = (
        "\nThe following files have been resolved:\n"
        "   b.group:two:jar:linux-x86_64:2.0:compile\n"
        "   a.group:one:jar:1.0:runtime -- module one (auto)\n"
        "   a.group:bom:pom:1.0:import\n"
    )
    assert relock.parse_listing(text) == [
        Coordinate("a.group", "one", "1.0"),
        Coordinate("b.group", "two", "2.0", "linux-x86_64"),
    ]


def test_a_license_is_inherited_from_the_nearest_parent_that_names_one(tmp_path):
    child, parent = Coordinate("g", "child", "1"), Coordinate("g", "parent", "7")
    put(tmp_path, parent, named("The Apache Software License, Version 2.0", "My Own Licence"))
    put(
        tmp_path,
        child,
        parent="<parent><groupId>g</groupId><artifactId>parent</artifactId>"
        "<version>7</version></parent>",
    )
    assert relock.read_license(child, tmp_path) == "Apache-2.0 OR My Own Licence"


def test_a_jar_without_license_stops_the_maintainer(tmp_path):
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


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("Apache License, Version 2.0", "Apache-2.0"),
        ("The Apache License, version 2.0", "Apache-2.0"),
        ("GNU General Public License, Version 3", "GPL-3.0"),
        ("GPL2 w/ CPE", "GPL-2.0 WITH Classpath-exception-2.0"),
        ("Something Else 9", "Something Else 9"),
    ],
)
def test_spellings_become_one_identifier(name, identifier):
    assert relock.spdx_identifier(name) == identifier
