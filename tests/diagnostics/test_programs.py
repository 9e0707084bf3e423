"""Programs that are refused: the code, the place and the words, as comments on the lines, and the whole text.

In the files of ``programs/`` a comment ``#: ad.grad(f)(1.0)`` starts a program; it ends where the next one starts.
The expression is evaluated at that place. What is to be said stands on the lines it is said about, as
``# error[AD0201]: text``, or on the line of the expression where it has no place. ``expected/`` holds the whole texts;
``ADJOINT_REWRITE=1`` in the environment writes them anew.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

import pytest

import adjoint as ad
from adjoint.diagnostics import Diagnostic
from adjoint.diagnostics.render import render

PROGRAMS = Path(__file__).parent / "programs"
EXPECTED = Path(__file__).parent / "expected"
REWRITE = bool(os.environ.get("ADJOINT_REWRITE"))
SAID = re.compile(r"# (error|warning)\[(AD\d{4})\]: (.*)$")


@dataclass(frozen=True)
class Program:
    """One expression, and what is said about it: the line, the code and the text."""

    file: Path
    name: str
    line: int
    expression: str
    said: tuple[tuple[int, str, str], ...]

    @property
    def code(self) -> CodeType:
        """The expression, compiled as if it stood where the comment stands."""
        tree = ast.parse(self.expression, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.expr):
                node.lineno = node.end_lineno = self.line
                node.col_offset += 3
                node.end_col_offset = (node.end_col_offset or 0) + 3
        return compile(tree, str(self.file), "eval")


def programs_of(file: Path) -> list[Program]:
    lines = file.read_text().splitlines()
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("#: ")]
    found = []
    for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        said = tuple(
            (number, match[2], match[3])
            for number in range(start, end)
            if (match := SAID.search(lines[number - 1])) is not None
        )
        expression = lines[start - 1].removeprefix("#: ").split("  # ")[0]
        names = re.findall(r"(?:def|class) (\w+)", "\n".join(lines[start : end - 1]))
        name = next((name for name in names if re.search(rf"\b{name}\b", expression)), f"line_{start}")
        found.append(Program(file, name, start, expression, said))
    return found


CASES = [program for file in sorted(PROGRAMS.glob("*.py")) for program in programs_of(file)]
each = pytest.mark.parametrize("program", CASES, ids=[f"{case.file.stem}.{case.name}" for case in CASES])


@cache
def module_of(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"refused_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache  # warnings come once, when a derivative is compiled
def diagnostics_of(program: Program) -> tuple[Diagnostic, ...]:
    """What is said about a program: the refusal, or else the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            eval(program.code, vars(module_of(program.file)))
        except ad.DifferentiationError as refusal:
            return refusal.diagnostics
    return tuple(problem for each in caught for problem in getattr(each.message, "diagnostics", ()))


def line_and_text(program: Program, problem: Diagnostic) -> tuple[int, str, str]:
    if problem.span is None:
        return program.line, problem.code, problem.notes[0]
    assert problem.span.file == str(program.file)
    return problem.span.line, problem.code, problem.labels[0].text


@each
def test_places_and_words(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROGRAMS)
    found = [line_and_text(program, problem) for problem in diagnostics_of(program)]
    assert sorted(found) == sorted(program.said)


@each
def test_whole_text(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROGRAMS)
    text = render(diagnostics_of(program)) + "\n"
    file = EXPECTED / f"{program.file.stem}.{program.name}.txt"
    if REWRITE:
        file.write_text(text)
    assert text == file.read_text()


def test_there_is_a_program_for_each_text() -> None:
    assert {f"{case.file.stem}.{case.name}" for case in CASES} == {file.stem for file in EXPECTED.glob("*.txt")}
