"""The files that are made from code are up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.generate import generated


@pytest.mark.parametrize(("path", "text"), generated().items(), ids=lambda value: Path(value).name)
def test_a_generated_file_is_up_to_date(path: Path, text: str) -> None:
    assert path.read_text("utf-8") == text, "python -m tests.tools.generate"
