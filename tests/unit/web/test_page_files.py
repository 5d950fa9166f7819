"""The files of the page: small, whole, and without anything from elsewhere."""

from __future__ import annotations

import gzip
import posixpath
import re

from pgs_neo4j.web.page import page_files

MOST_BYTES = 80_000


def test_all_files_together_are_small_when_compressed() -> None:
    files = page_files()
    assert {"index.html", "app.js", "app.css", "answer.css", "icon.svg"} <= files.keys()
    assert sum(len(file.packed) for file in files.values()) <= MOST_BYTES
    assert all(gzip.decompress(file.packed) == file.body for file in files.values())


def test_what_the_page_loads_is_there_and_of_this_server() -> None:
    files = page_files()
    loaded = re.findall(r'(?:src|href)="/([\w.]+\.\w+)"', files["index.html"].body.decode())
    for name, file in files.items():
        text = file.body.decode()
        modules = re.findall(r'from "(\.\.?/[\w./]+)"', text)
        loaded += [posixpath.normpath(posixpath.join(name, "..", module)) for module in modules]
        assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text), name
    assert set(loaded) <= files.keys()
    assert set(files) - {*loaded, "index.html"} == set()


def test_no_script_makes_html_of_a_text_but_one_that_the_server_made() -> None:
    unsafe = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|DOMParser")
    using = {
        name: unsafe.findall(file.body.decode())
        for name, file in page_files().items()
        if name.endswith(".js")
    }
    assert {name: calls for name, calls in using.items() if calls} == {
        "asking/answer.js": ["innerHTML"]
    }


def test_every_script_asks_to_have_its_types_checked() -> None:
    scripts = [file for name, file in page_files().items() if name.endswith(".js")]
    assert scripts
    assert all(file.body.startswith(b"// @ts-check\n") for file in scripts)
