"""The table of what hostile documents take."""

from __future__ import annotations

from tests.bench.hostile import Measured, table_of


def test_documents_that_take_more_than_they_may_are_marked() -> None:
    measured = [
        Measured("a.txt", 1.5, 300, 30.0, 31.0, "1 read, 2 chunks"),
        Measured("b.html", 20.0, 301, 1.0, 1.0, "x" * 90),
        Measured("c.csv", 0.0, 1, 30.1, 40.0, "nothing in it"),
    ]
    head, _, first, second, third, _, last = table_of(measured).split("\n")
    assert head == "| document | MB | + MB | CPU s | wall s | what came |"
    assert first == "| a.txt | 1.5 | 300 | 30 | 31 | 1 read, 2 chunks |"
    assert second == f"| b.html **over** | 20 | 301 | 1 | 1 | {'x' * 70}… |"
    assert third.startswith("| c.csv **over** |")
    assert last == ("1 of 3 documents take at most 300 MB above idle and 30 s of CPU time.")
