"""Ends of logs, and the lines that explain a failed start."""

from pgs_neo4j.database.local import logs
from pgs_neo4j.database.local.options import LocalOptions


def test_the_log_is_quoted_by_the_lines_of_the_error(paths):
    paths.server_log.write_text("2026 ERROR of an earlier start\n")
    since = logs.log_sizes(paths)
    paths.console.write_text("noise\nError: no room\n\tat x.y(z)\nCaused by: disk\nmore noise\n")
    with paths.server_log.open("a") as stream:
        stream.write("2026 INFO fine\nCaused by: bind failed\n")
    excerpt = logs.quote_failure(paths, since)
    assert excerpt == "Error: no room | at x.y(z) | Caused by: disk | Caused by: bind failed"
    assert "earlier start" not in excerpt


def test_the_tail_of_absent_and_short_logs(paths):
    options = LocalOptions(data_dir=paths.data_dir)
    assert (logs.log_tail(options), logs.quote_failure(paths)) == ([], "")
    paths.console.write_text("one\ntwo\nthree\n")
    assert logs.log_tail(options, 2) == ["two", "three"]
    paths.server_log.write_text("the server's own\n")
    assert logs.log_tail(options, 2) == ["the server's own"]


def test_without_an_error_the_last_lines_are_quoted(paths):
    paths.console.write_text("".join(f"line {number}\n" for number in range(9)))
    assert logs.quote_failure(paths) == "line 6 | line 7 | line 8"


def test_a_quotation_is_cut_and_names_each_line_once(paths):
    paths.console.write_text(f"Error: {'x' * 500}\nError: same\nCaused by: a\nCaused by: a\n")
    first, second, cause = logs.quote_failure(paths).split(" | ")
    assert len(first) == logs.QUOTED_CHARACTERS
    assert (second, cause) == ("Error: same", "Caused by: a")


def test_a_log_that_was_rotated_is_read_from_its_start(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"n\xe9w\n")
    assert logs.tail(path, 9, since=100) == ["n\N{REPLACEMENT CHARACTER}w"]
    assert logs.tail(path, 9, since=2) == ["w"]
    assert logs.tail(path, 0) == []


def test_only_the_end_of_a_long_log_is_read(tmp_path):
    path = tmp_path / "log"
    path.write_text("x" * logs.TAIL_BYTES + "\nlast\n")
    first, last = logs.tail(path, 5)
    assert (len(first) < logs.TAIL_BYTES, last) == (True, "last")


def test_a_database_that_does_not_start_is_told_by_the_long_log(paths):
    paths.server_log.write_text("2026 INFO Started.\n")
    paths.debug_log.write_text("2026 ERROR of an earlier start\n")
    since = (0, logs.log_sizes(paths)[1])
    with paths.debug_log.open("a") as stream:
        stream.write("2026 WARN Failed to load a class\n2026 ERROR Failed to start neo4j\n")
        stream.write("java.lang.RuntimeException\n\tat x.y(z)\nCaused by: unreadable log\n")
    assert logs.quote_failure(paths, since) == (
        "2026 ERROR Failed to start neo4j | java.lang.RuntimeException | Caused by: unreadable log"
    )
    paths.console.write_text("Error: no room\n")
    assert logs.quote_failure(paths, since) == "Error: no room | 2026 INFO Started."
