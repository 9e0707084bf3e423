"""The samples of the reference documents print what stands at their ends."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "reference"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.stem)
def test_prints_what_it_says(file, capsys):
    _, _, expected = file.read_text().partition("\n# Prints:\n")
    runpy.run_path(str(file))
    lines = [line.removeprefix("#").removeprefix(" ") for line in expected.splitlines()]
    assert capsys.readouterr().out.splitlines() == lines
