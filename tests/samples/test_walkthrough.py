"""``docs/step-by-step.md`` shows what the compiler does today."""

import os
from pathlib import Path

import pytest

pytest.importorskip("llvmlite")

from samples.walkthrough import page

FILE = Path(__file__).parents[2] / "docs" / "step-by-step.md"


def test_page() -> None:
    text = page()
    if os.environ.get("ADJOINT_UPDATE_GOLDEN") == "1":
        FILE.write_text(text)
    assert text == FILE.read_text()
