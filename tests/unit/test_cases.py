"""Each case that was seen outside has tests that hold its right value and others of its kind."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from inspect import isfunction
from math import prod
from pathlib import Path

import pytest

SEEN = Path(__file__).parents[3] / "shared" / "cases"
CASES = {
    "01": (
        "integration/test_windows.py::test_all_is_read_in_passes_that_fit",
        "integration/test_windows.py::test_a_cut_shows_in_the_tokens",
        "integration/test_windows.py::test_a_cut_shows_in_the_receipts",
        "integration/test_ollama.py::test_all_is_read_whatever_the_context",
    ),
    "02": (
        "integration/test_settling.py::test_a_refused_effort_is_learned_before_the_sweeps",
        "integration/test_ollama.py::test_an_effort_is_asked_only_of_a_model_that_thinks",
        "integration/test_wires.py::test_no_paid_call_is_lost_to_a_parameter_that_is_refused_late",
    ),
    "03": (
        "integration/test_openai_client_complete.py::test_each_vendor_names_an_end_its_own_way",
        "integration/test_openai_client_stream.py::test_how_a_stream_ends_decides_truncation",
        "integration/test_odd_wires.py::test_a_stream_without_its_end_is_not_whole",
        "integration/test_ollama.py::test_an_odd_end_is_no_reply",
    ),
    "04": (
        "integration/test_windows.py::"
        "test_whoever_refuses_a_prompt_that_is_too_long_gets_shorter_ones",
        "unit/llm/test_lengths.py::test_a_refusal_because_of_length_is_recognized",
    ),
    "06": (
        "integration/test_drafts.py::"
        "test_no_draft_of_any_family_of_models_is_a_finding_or_an_answer",
        "unit/text/test_thinking.py::test_a_draft_is_neither_in_the_reply_nor_in_its_stream",
    ),
    "07": (
        "integration/test_embedding_refusals.py::test_a_batch_is_made_as_small_as_its_server_wants",
        "integration/test_openai_client_embed.py::"
        "test_few_calls_are_refused_until_their_size_is_known",
    ),
    "08": (
        "integration/test_embedding_refusals.py::"
        "test_an_encoding_that_is_refused_is_not_asked_for_again",
        "integration/test_openai_client_embed.py::"
        "test_what_an_endpoint_refuses_is_asked_in_another_way",
    ),
    "09": (
        "integration/test_embedding_refusals.py::test_one_text_that_is_too_long_costs_one_text",
        "integration/test_openai_client_embed.py::test_a_text_too_long_counts_by_all_of_its_pieces",
    ),
    "10": (
        "integration/test_embedding_refusals.py::test_what_stands_for_nothing_is_no_vector",
        "integration/test_openai_client_embed.py::test_a_text_that_was_cut_is_not_embedded",
        "integration/test_ollama.py::test_embeddings_are_of_whole_texts_or_of_none",
    ),
    "11": (
        "integration/test_facts.py::"
        "test_each_fact_stands_in_one_prompt_and_nothing_beyond_the_view_does",
        "integration/test_facts.py::test_absences_are_looked_up_in_facts",
    ),
    "12": (
        "integration/test_facts.py::test_absences_are_looked_up_in_facts",
        "integration/test_facts.py::test_questions_lead_to_the_nodes_whose_facts_match",
        "integration/test_facts.py::"
        "test_quotations_of_facts_are_found_on_both_ends_and_nowhere_else",
    ),
    "13": (
        "integration/test_facts.py::"
        "test_each_fact_stands_in_one_prompt_and_nothing_beyond_the_view_does",
        "integration/test_facts.py::test_lists_are_shown_where_relationships_are_listed",
    ),
    "14": (
        "integration/test_lookup.py::"
        "test_no_absence_is_confirmed_although_its_words_stand_in_other_code_points",
        "unit/text/test_normal_form.py::test_a_word_is_found_in_any_code_points_or_proves_nothing",
    ),
    "15": (
        "unit/documents/test_lost_text.py::test_pages_whose_words_may_be_in_pictures_are_named",
        "unit/documents/test_lost_text.py::test_a_pdf_of_pictures_only_is_refused",
        "integration/test_partly_read_documents.py::"
        "test_what_is_unread_is_kept_told_again_and_part_of_each_answer",
    ),
    "16": (
        "unit/documents/test_lost_text.py::"
        "test_columns_that_are_drawn_row_by_row_are_read_one_after_the_other",
        "unit/documents/test_lost_text.py::test_tables_and_numbered_lines_stay_rows",
    ),
    "17": (
        "unit/documents/test_lost_text.py::test_values_of_forms_and_remarks_are_read_after_their_page",
        "unit/documents/test_lost_text.py::test_the_fields_of_a_form_in_xml_are_named",
    ),
    "19": (
        "integration/test_ingest_windows.py::"
        "test_every_name_of_a_document_is_found_in_windows_that_do_not_hold_it",
        "integration/test_cut_prompts.py::test_no_entity_is_lost_in_a_chunk_that_was_cut",
        "integration/test_cut_small_calls.py::"
        "test_each_pair_of_names_is_judged_from_all_that_is_said",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_case_and_three_of_its_kind_are_tried_in_every_run(case: str) -> None:
    tried = [count_tries(named) for named in CASES[case]]
    assert min(tried) > 0
    assert sum(tried) >= 4


def count_tries(named: str) -> int:
    """Return how often a run without ``--thorough`` makes a test, none for one that is left out.

    The test is imported, and its parameters are counted as pytest multiplies them.
    """
    file, _, name = named.partition("::")
    module = import_module(".".join(("tests", *Path(file).with_suffix("").parts)))
    test = getattr(module, name)
    assert isfunction(test)
    assert test.__module__ == module.__name__
    shared = getattr(module, "pytestmark", [])
    marks = [*getattr(test, "pytestmark", []), *(shared if isinstance(shared, list) else [shared])]
    tables = [mark.args[1] for mark in marks if mark.name == "parametrize"]
    return 0 if _leaves_out(marks) else prod(map(_count_rows, tables))


def _count_rows(table: Iterable[object]) -> int:
    return sum(not _leaves_out(getattr(row, "marks", ())) for row in table)


def _leaves_out(marks: Iterable[pytest.Mark | pytest.MarkDecorator]) -> bool:
    return any(mark.name in ("thorough", "skip") for mark in marks)


@pytest.mark.skipif(not SEEN.is_dir(), reason="needs the cases beside the repository")
def test_each_case_that_was_seen_has_tests() -> None:
    numbered = {path.name[:2] for path in SEEN.iterdir() if path.name[:2].isdigit()}
    assert numbered == CASES.keys()
