"""How diagnostics look, to the letter."""

import io
import linecache
import os
from textwrap import dedent

import pytest

from adjoint.diagnostics import DifferentiationError, Span, diagnostic, place
from adjoint.diagnostics.render import render, render_rich, show


@pytest.fixture
def file():
    """Puts a text where linecache finds it, and gives its name; its first line has the number ``start``."""

    def make(text, name="train.py", start=1):
        if text.startswith("\n"):
            text = dedent(text).lstrip("\n")
        lines = ["\n"] * (start - 1) + text.splitlines(keepends=True)
        linecache.cache[name] = (1, None, lines, name)
        return name

    yield make
    linecache.clearcache()


def expected(text):
    return dedent(text).strip("\n")


def test_the_format(file):
    name = file("    return fn(x) * 2.0\n", start=12)
    problem = diagnostic(
        "AD0201",
        Span(name, 12, 11, 12, 16),
        "the body of 'fn' is not visible here: it is an argument",
        notes=["differentiated from train.py:30:8, ad.grad(apply)"],
        helps=["annotate it as a differentiable function value: fn: ad.Fn[[float], float]"],
    )
    assert render([problem]) == expected("""
        error[AD0201]: cannot differentiate through an opaque function
          --> train.py:12:12
           |
        12 |     return fn(x) * 2.0
           |            ^^^^^ the body of 'fn' is not visible here: it is an argument
           |
           = note: differentiated from train.py:30:8, ad.grad(apply)
           = help: annotate it as a differentiable function value: fn: ad.Fn[[float], float]
    """)


def test_nothing_but_a_place(file):
    name = file("x = f(y)\n")
    assert render([diagnostic("AD0301", Span(name, 1, 4, 1, 8))]) == expected("""
        error[AD0301]: cannot differentiate this statement
         --> train.py:1:5
          |
        1 | x = f(y)
          |     ^^^^
    """)


def test_without_a_place():
    assert render([diagnostic("AD0103", None, "it is an object of type 'float'", name="3.0")]) == expected("""
        error[AD0103]: cannot differentiate '3.0': it is not a function
          = note: it is an object of type 'float'
          = help: hand over the function itself, not its result: ad.grad(f), not ad.grad(f(x))
    """)


def test_a_span_of_several_lines(file):
    name = file("""
        def f(x):
            return g(
                x,
                2.0,
            ) + x
    """)
    assert render([diagnostic("AD0203", Span(name, 2, 11, 5, 5), "one argument too many")]) == expected("""
        error[AD0203]: the call does not fit the signature of the function
         --> train.py:2:12
          |
        2 |     return g(
          |            ^^
        3 |         x,
          |         ^^
        4 |         2.0,
          |         ^^^^
        5 |     ) + x
          |     ^ one argument too many
    """)


def test_a_long_span_is_shortened(file):
    name = file("""
        y = [
            1.0,
            2.0,
            3.0,
            4.0,
            5.0,
        ]
    """)
    assert render([diagnostic("AD0401", Span(name, 1, 4, 7, 1), "this list", helps=())]) == expected("""
        error[AD0401]: the kind of a value that varies is not known
         --> train.py:1:5
          |
        1 | y = [
          |     ^
        2 |     1.0,
          |     ^^^^
        ...
        7 | ]
          | ^ this list
    """)


def test_several_places(file):
    name = file("""
        def f(x):
            if x > 0:
                y = x
            else:
                y = [x]
            a = 1
            b = 2
            c = 3
            return y
    """)
    problem = diagnostic(
        "AD0402",
        Span(name, 9, 11, 9, 12),
        "used here",
        others=[(Span(name, 3, 12, 3, 13), "a number"), (Span(name, 5, 12, 5, 15), "a list")],
        helps=(),
        name="y",
    )
    assert render([problem]) == expected("""
        error[AD0402]: 'y' is of different kinds on two paths
         --> train.py:9:12
          |
        3 |         y = x
          |             - a number
        4 |     else:
        5 |         y = [x]
          |             --- a list
        ...
        9 |     return y
          |            ^ used here
    """)


def test_places_in_two_files(file):
    here, there = file("y = helper(x)\n"), file("    return opaque(x)\n", "helpers.py")
    problem = diagnostic(
        "AD0201", Span(there, 1, 4, 1, 20), "opaque", others=[(Span(here, 1, 4, 1, 13), "called here")], helps=()
    )
    assert render([problem]) == expected("""
        error[AD0201]: cannot differentiate through an opaque function
         --> helpers.py:1:5
          |
        1 |     return opaque(x)
          |     ^^^^^^^^^^^^^^^^ opaque
          |
         ::: train.py:1:5
          |
        1 | y = helper(x)
          |     --------- called here
    """)


def test_two_labels_on_one_line(file):
    name = file("a[i] = b\n")
    problem = diagnostic(
        "AD0408", Span(name, 1, 7, 1, 8), "a float", others=[(Span(name, 1, 0, 1, 1), "integers")], helps=()
    )
    assert render([problem]) == expected("""
        error[AD0408]: a float that varies is stored into an array of integers
         --> train.py:1:8
          |
        1 | a[i] = b
          |        ^ a float
          | - integers
    """)


def test_tabs_and_wide_letters_keep_the_carets_in_place(file):
    name = file("\ty = f('日本', é)\n")
    line = linecache.getline(name, 1).rstrip()
    start = line.index("é")
    text = render([diagnostic("AD0301", Span(name, 1, start, 1, start + 1), "here")])
    shown, carets = text.splitlines()[3:5]
    assert shown == "1 |     y = f('日本', é)"
    assert carets == "  |" + " " * (1 + 4 + len("y = f('") + 4 + len("', ")) + "^ here"


def test_text_of_several_lines(file):
    name = file("y = f(x)\n")
    problem = diagnostic("AD0301", Span(name, 1, 4, 1, 8), "first\nsecond", notes=["one\ntwo"])
    assert render([problem]) == expected("""
        error[AD0301]: cannot differentiate this statement
         --> train.py:1:5
          |
        1 | y = f(x)
          |     ^^^^ first
          |          second
          |
          = note: one
                  two
    """)


def test_a_file_that_is_gone():
    assert render([diagnostic("AD0301", Span("<gone>", 3, 4, 3, 8), "this")]) == expected("""
        error[AD0301]: cannot differentiate this statement
         --> <gone>:3:5
          |
          | this
    """)


def test_several_problems(file):
    name = file("y = f(x)\nz = g(x)\n")
    first = diagnostic("AD0301", Span(name, 1, 4, 1, 8))
    second = diagnostic("AD0301", Span(name, 2, 4, 2, 8))
    assert str(DifferentiationError(first, second, first)) == expected("""
        error[AD0301]: cannot differentiate this statement
         --> train.py:1:5
          |
        1 | y = f(x)
          |     ^^^^

        error[AD0301]: cannot differentiate this statement
         --> train.py:2:5
          |
        2 | z = g(x)
          |     ^^^^

        2 errors
    """)


def test_errors_and_warnings_are_counted_apart():
    problems = [diagnostic("AD0301", None), diagnostic("AD0501", None), diagnostic("AD0502", None)]
    assert render(problems).splitlines()[-1] == "1 error, 2 warnings"


def test_paths_below_the_working_directory_are_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert place(Span(str(tmp_path / "src" / "a.py"), 3, 4, 3, 5)) == os.path.join("src", "a.py") + ":3:5"
    assert place(Span(str(tmp_path.parent / "b.py"), 3, 4, 3, 5)) == f"{tmp_path.parent / 'b.py'}:3:5"
    assert place(Span("<cell 1>", 1, 0, 1, 1)) == "<cell 1>:1:1"


def test_colour_changes_no_letter(file):
    problem = diagnostic("AD0201", Span(file("y = [red]f(x)[/red]\n"), 1, 4, 1, 8), "here :smile:", notes=["[bold]"])
    assert render_rich([problem]).plain == render([problem])
    stream = io.StringIO()
    show([problem], stream)
    assert stream.getvalue() == render([problem]) + "\n"
