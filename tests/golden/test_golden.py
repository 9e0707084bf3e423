"""The text of derivatives, to the letter, also in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from golden.programs import GOLDEN

EXPECTED = Path(__file__).parent / "expected"
UPDATE = os.environ.get("ADJOINT_UPDATE_GOLDEN") == "1"


@pytest.mark.parametrize("name", GOLDEN)
def test_text(name: str) -> None:
    text = GOLDEN[name]()
    file = EXPECTED / f"{name}.txt"
    if UPDATE:
        file.write_text(text)
    assert text == file.read_text()


def test_no_text_without_a_program() -> None:
    assert {file.stem for file in EXPECTED.glob("*.txt")} == set(GOLDEN)


def test_the_same_text_in_another_process() -> None:
    """No text depends on addresses, hashes or what was compiled before."""
    program = (
        "from golden.programs import GOLDEN\n"
        "for name in reversed(GOLDEN):\n"
        "    print(f'== {name}\\n{GOLDEN[name]()}', end='')\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(sys.path)}
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    ).stdout
    expected = "".join(f"== {name}\n{(EXPECTED / f'{name}.txt').read_text()}" for name in reversed(GOLDEN))
    assert output == expected
