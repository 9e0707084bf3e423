"""The page of namespaces: what is known of functions, beside what other systems have."""

from __future__ import annotations

import json
from pathlib import Path

from namespaces.page import document
from namespaces.peers import SYSTEMS, count, lists
from namespaces.survey import NAMESPACES


def test_a_line_for_each_namespace(tmp_path: Path) -> None:
    kinds = {"sin": "rule", "floor": "constant", "kaiser": "refused", "save": "not called", "bartlett": "works"}
    lines = [{"name": name, "kind": kind} for name, kind in kinds.items()]
    (tmp_path / "numpy.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"kind": "end"}]))
    page = document(tmp_path)
    assert "| `numpy` | 4 | 1 | 1 | 1 | 1 | 75 % | 100 % | 50 % | 1 |" in page
    assert "*refused*: `kaiser`" in page


def test_lists_of_other_systems() -> None:
    found = lists()
    for system in SYSTEMS:
        assert set(found[system]["names"]) <= set(NAMESPACES)
        assert count(found, system, "numpy", ["sin", "no_such_function"]) == 1
