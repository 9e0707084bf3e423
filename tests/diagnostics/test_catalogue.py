"""Every code is explained, and its examples are Python."""

import ast
import inspect
import re
import textwrap
from itertools import groupby

import pytest

from adjoint.diagnostics.codes import CATALOGUE, explain

codes = pytest.mark.parametrize("code", CATALOGUE)


def examples(text):
    """The indented parts of an explanation."""
    lines = inspect.cleandoc(text).splitlines()
    for indented, part in groupby(lines, key=lambda line: not line.strip() or line.startswith("    ")):
        block = "\n".join(part).strip("\n")
        if indented and block.strip():
            yield textwrap.dedent(block)


@codes
def test_codes_and_titles(code):
    assert re.fullmatch(r"AD0\d\d\d", code)
    title = CATALOGUE[code].title_for({})
    assert title[0].islower() and not title.endswith(".") and "{" not in title


@codes
def test_explanations_have_an_example(code):
    entry = CATALOGUE[code]
    blocks = list(examples(entry.explanation))
    assert blocks or code == "AD0901"
    for block in blocks:
        ast.parse(block)


@codes
def test_explanations_fit_a_terminal(code):
    lines = explain(code).splitlines()
    assert lines[0] == f"{CATALOGUE[code].severity}[{code}]: {CATALOGUE[code].title_for({})}"
    assert all(len(line) <= 120 for line in lines)


def test_codes_are_in_order():
    assert list(CATALOGUE) == sorted(CATALOGUE)


def test_warnings_are_those_of_the_fives():
    assert all((entry.severity == "warning") == code.startswith("AD05") for code, entry in CATALOGUE.items())
