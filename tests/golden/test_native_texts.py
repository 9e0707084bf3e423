"""The text of derivatives for machine code, to the letter: a change of it is meant, and read."""

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("llvmlite")

from golden.machine_texts import text_of_case
from golden.native_programs import CASES, DIGESTS, TEXTS

EXPECTED = Path(__file__).parent / "expected_native"
TABLE = EXPECTED / "digests.txt"
UPDATE = os.environ.get("ADJOINT_UPDATE_GOLDEN") == "1"


def plain(text: str) -> str:
    """A text without what Python says to divisions by zero: the words are others from 3.14 on."""
    return re.sub(r"'[a-z ]*\b(division|modulo) by zero'", "'by zero'", text)


@pytest.fixture(autouse=True)
def recursion_is_as_deep_as_python_begins_with() -> Iterator[None]:
    """The limit is in texts, and other tests may have moved it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    text = TEXTS[name]()
    file = EXPECTED / f"{name}.txt"
    if UPDATE:
        file.write_text(text)
    assert plain(text) == plain(file.read_text())


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="what Python says to divisions by zero is in the texts")
def test_digests() -> None:
    """Of other programs there is just a digest: ``ad.source`` of another checkout shows what has changed."""
    found = {name: hashlib.sha256(text_of_case(CASES[name]).encode()).hexdigest()[:12] for name in DIGESTS}
    if UPDATE:
        TABLE.write_text("".join(f"{digest} {name}\n" for name, digest in found.items()))
    known = {name: digest for digest, name in map(str.split, TABLE.read_text().splitlines())}
    assert len(known) > 50
    assert {name: digest for name, digest in found.items() if known.get(name, digest) != digest} == {}


def test_no_text_without_a_program() -> None:
    assert {file.stem for file in EXPECTED.glob("*.txt")} == {*TEXTS, TABLE.stem}
