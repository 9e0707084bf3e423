"""The campaign itself, on a package of a few functions."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

from packages.__main__ import followed
from packages.checking import checked
from packages.functions import public_functions
from packages.table import document

SOURCE = """
import math
import os
import time

def right(x, y):
    return x * math.exp(-y / 1e6)

def several(x):
    return x, [x * x, 2.0]

def of_arrays(x):
    return x * x.sum()

def rough(x):
    return x + math.sin(1e12 * x)

def refused(x):
    table = {x}
    return table.pop() * x

def ends(x):
    os._exit(3)

def plot_it(x):
    return x

def _hidden(x):
    return x
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "few_functions").mkdir()
    (tmp_path / "few_functions" / "__init__.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "few_functions", raising=False)
    return tmp_path


def test_what_counts_and_what_comes_of_it(folder: Path) -> None:
    importlib.invalidate_caches()
    functions = dict(public_functions("few_functions"))
    assert [name.rpartition(".")[2] for name in functions] == [
        "ends", "of_arrays", "refused", "right", "rough", "several",
    ]  # fmt: skip
    kinds = {name: checked(name, f).kind for name, f in functions.items() if not name.endswith("ends")}
    assert [*kinds.values()] == ["right", "refused", "right", "not called", "right"]


def test_a_function_that_ends_the_process_is_passed_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("packages.__main__.ROOT", Path(__file__).parents[2])
    results = folder / "fluids.jsonl"
    results.write_text("")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    followed(Path(sys.executable), "few_functions", results)
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    kinds = {line["name"]: line["kind"] for line in lines if "kind" in line}
    assert kinds["few_functions.ends"] == "not called"
    assert kinds["few_functions.right"] == "right"
    assert "| fluids | 4 | 3 (75 %) | 1 AD0307 | 0 | 0 | 0 |" in document(folder)
