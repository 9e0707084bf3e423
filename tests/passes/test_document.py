"""Each pass has a paragraph in docs/passes.md, and programs of the corpus that it changes."""

from __future__ import annotations

from collections import defaultdict

from adjoint.passes import DRIVERS, PASSES
from passes import document
from passes.firing import fired
from programs.registry import collect
from sampling import is_chosen

SILENT = ("unite-memory", "unite-views")
"""Passes whose work the text of a function does not show."""
SELDOM = ()
"""Passes for functions longer than those of the corpus; their own tests have some."""


def test_every_pass_has_a_paragraph() -> None:
    assert sorted(document.headings()) == sorted({*PASSES} - {"cleanup"})
    text = document.FILE.read_text()
    for name in PASSES.keys() - {*DRIVERS, *SILENT, *SELDOM}:
        _, found, rest = text.partition(f"<!-- example {name} -->\n")
        assert found and "In `" in rest.partition("<!-- end -->")[0], name


def test_every_pass_changes_two_programs() -> None:
    cases = {case.name: case for case in collect()}
    shows: dict[tuple[str, str], set[str]] = defaultdict(set)
    for step, found in document.results()["witnesses"].items():
        for mode, name in found:
            shows[mode, name].add(step)
    looked_at = [name for name in PASSES if is_chosen(f"two programs of {name}", 4)]
    changed: dict[str, set[str]] = defaultdict(set)
    for mode, name in sorted(shows, key=lambda witness: (-len(shows[witness]), witness)):
        if any(len(changed[step]) < 2 for step in shows[mode, name].intersection(looked_at)):
            for step in fired(cases[name], mode):
                changed[step].add(name)
    few = {name: len(changed[name]) for name in looked_at if len(changed[name]) < 2}
    assert set(few) == {*DRIVERS, *SILENT, *SELDOM}.intersection(looked_at)
