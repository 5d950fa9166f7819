"""The package keeps its house in order: one name per thing, small files, small functions."""

from functools import cache
from pathlib import Path

import pytest

import pgs_neo4j
from tests import figures
from tests.figures import Module

LARGEST_FOLDER = 1 / 6  # of the package's lines
FILES_IN_A_FOLDER = 20
REPEATED_LINES = 0.01
GENERIC_NAMES = 0.04  # of all parameters and stored names
FUNCTION_LINES = 40
LONG_FUNCTIONS = 8
MODULE_LINES = 300
LONG_MODULES = 3


@cache
def modules() -> list[Module]:
    return figures.read_modules(Path(pgs_neo4j.__file__).parent)


@cache
def suite() -> list[Module]:
    return figures.read_modules(Path(figures.__file__).parent)


def test_no_folder_holds_more_than_a_sixth_of_the_lines():
    shares = figures.wing_shares(modules())
    assert {wing: share for wing, share in shares.items() if share > LARGEST_FOLDER} == {}


def test_no_folder_has_too_many_files():
    counts = figures.files_per_folder(modules())
    assert {folder: n for folder, n in counts.items() if n > FILES_IN_A_FOLDER} == {}


def test_names_say_what_a_thing_is():
    assert figures.generic_share(modules()) <= GENERIC_NAMES


def test_no_two_modules_side_by_side_are_forms_of_one_word():
    assert figures.near_pairs(modules()) == set()


def test_a_class_name_has_one_meaning():
    assert figures.repeated_classes(modules()) == {}


def test_public_functions_on_arrays_document_shapes():
    assert figures.undocumented_shapes(modules()) == []


def test_few_modules_are_long():
    lines = {module.path: len(module.lines) for module in modules()}
    assert len([path for path, count in lines.items() if count > MODULE_LINES]) <= LONG_MODULES


def test_few_functions_are_long():
    assert len(figures.long_functions(modules(), FUNCTION_LINES)) <= LONG_FUNCTIONS


def test_few_lines_are_repeated():
    assert figures.repeated_share(modules()) <= REPEATED_LINES


def test_the_tests_are_as_long_as_the_code_without_benchmarks():
    lines = sum(len(module.lines) for module in modules())
    tested = sum(len(module.lines) for module in suite() if not module.path.startswith("bench/"))
    assert tested >= lines


def test_every_test_asserts():
    assert figures.tests_without_assertion(suite()) == []


# The figures themselves


def package(*files: tuple[str, str]) -> list[Module]:
    return [Module(path, text) for path, text in files]


def test_a_generic_name_counts_as_parameter_variable_and_loop_target():
    source = "def f(found, node):\n    kept = node\n    return [each for each in kept]\n"
    assert figures.generic_share(package(("a.py", source))) == pytest.approx(3 / 4)


def test_a_class_name_counts_across_modules():
    two = package(("a.py", "class Run: ...\n"), ("b/c.py", "class Run: ...\nclass Other: ...\n"))
    assert figures.repeated_classes(two) == {"Run": ["a.py", "b/c.py"]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("route", "routing"),
        ("sweep", "sweeping"),
        ("read", "reader"),
        ("reader", "reading"),
        ("run", "runs"),
        ("reduce", "reducer"),
        ("check", "checks"),
        ("likely", "likeness"),
    ],
)
def test_forms_of_one_word_are_a_near_pair(one, other):
    assert figures.near_pairs(package((f"a/{one}.py", ""), (f"a/{other}.py", "")))
    assert not figures.near_pairs(package((f"a/{one}.py", ""), (f"b/{other}.py", "")))


def test_a_folder_and_a_module_beside_it_can_be_a_near_pair():
    assert figures.near_pairs(package(("run.py", ""), ("runs/keys.py", "")))
    assert not figures.near_pairs(package(("runs/run.py", ""), ("runs/keys.py", "")))


@pytest.mark.parametrize(
    ("one", "other"), [("split", "merge"), ("node_text", "node_weights"), ("graph", "graph_file")]
)
def test_different_words_are_no_near_pair(one, other):
    assert not figures.near_pairs(package((f"a/{one}.py", ""), (f"a/{other}.py", "")))


def test_a_function_of_one_line_more_is_long():
    body = "".join(f"    x{number} = {number}\n" for number in range(40))
    source = f"def short():\n{body[: body.rindex('    x')]}\n\ndef long():\n{body}"
    assert figures.long_functions(package(("a.py", source)), 40) == {"a.py:long": 41}


def test_a_public_array_function_needs_a_shape():
    source = (
        'def a(x: NDArray) -> int:\n    """Of ``(n,)``."""\n'
        'def b(x: NDArray) -> int:\n    """Of an array."""\n'
        'def _c(x: NDArray) -> int:\n    """Of an array."""\n'
        'def d(x: int) -> int:\n    """Of a number."""\n'
    )
    assert figures.undocumented_shapes(package(("a.py", source))) == ["a.py:b"]


def test_runs_of_six_lines_count_where_they_stand_twice():
    run = "".join(f"line_{number}\n\n" for number in range(6))
    twice = package(("a.py", run), ("b.py", run + "other\n" * 3))
    assert figures.repeated_share(twice) == pytest.approx(12 / 27)
    assert figures.repeated_share(package(("a.py", run), ("b.py", run[7:]))) == 0


def test_shares_and_counts_of_folders():
    three = package(("a.py", "1\n"), ("b/c.py", "1\n2\n"), ("b/d/e.py", "1\n"))
    assert figures.wing_shares(three) == {"": 0.25, "b": 0.75}
    assert figures.files_per_folder(three) == {"": 1, "b": 1, "b/d": 1}


def test_an_assertion_may_be_a_statement_or_an_expected_error():
    source = (
        "def test_a():\n    assert x\n"
        "def test_b():\n    with pytest.raises(ValueError):\n        x()\n"
        "def test_c():\n    np.testing.assert_allclose(x, y)\n"
        "def test_d():\n    x()\n"
        "def helper():\n    x()\n"
    )
    assert figures.tests_without_assertion(package(("a.py", source))) == ["a.py:test_d"]
