"""The page on the reference documents names each row and sample once, and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "whitepaper.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/.]+)::(\w+)`", PAGE)))


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[f"{file}::{name}" for file, name in NAMED])
def test_what_the_page_names_is_there(file: str, name: str) -> None:
    assert re.search(rf"^\s*(def|class) {name}\b", (ROOT / file).read_text(), re.M)


@pytest.mark.parametrize(("letter", "count"), [("A", 33), ("D", 15), ("P", 20), ("K", 15)])
def test_every_row_is_listed(letter: str, count: int) -> None:
    rows = re.findall(rf"^\| {letter}(\d+) \|", PAGE, re.M)
    assert [int(row) for row in rows] == list(range(1, count + 1))


@pytest.mark.parametrize(("document", "count"), [("000", 26), ("001", 14), ("002", 7), ("004", 12)])
def test_every_sample_is_listed(document: str, count: int) -> None:
    found = [int(number) for number in re.findall(rf"E{document}\.(\d+)", PAGE)]
    assert sorted(found) == list(range(1, count + 1))
