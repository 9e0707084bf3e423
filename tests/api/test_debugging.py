"""Where gradients stop being finite, and which lines of the user's are behind an exception."""

import io
import linecache
import math
import pdb
import pickle
import re
import sys
import traceback

import numpy as np
import pytest

import adjoint as ad


def norm(x):
    square = np.sum(x * x)
    return np.sqrt(square)


def through_calls(x, n):
    for _ in range(n):
        x = x * x
    return logarithm(x)


def logarithm(x):
    return np.log(x)


def softened(x):
    y = np.exp(x)
    return np.sum(y / (1.0 + y))


def least(xs):
    best = math.inf
    for x in xs:
        if x < best:
            best = x
    return math.sqrt(best)


def written(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.sqrt(x[i]) * x[i]
    return np.sum(y)


def descend(x, depth):
    if depth == 0:
        return np.sqrt(x)
    return descend(x * 0.5, depth - 1)


def problem(run):
    with pytest.raises(FloatingPointError) as caught, np.errstate(all="ignore"):
        run()
    found = caught.value.diagnostic
    assert found.code == "AD0801" and str(caught.value).startswith("error[AD0801]: the gradient is not finite")
    return found


def shown(found):
    """The text under the carets, the labels, and the notes."""
    with open(found.span.file, encoding="utf-8") as file:
        line = file.read().splitlines()[found.span.line - 1]
    under = line[found.span.column : found.span.end_column]
    return under, [label.text for label in found.labels], list(found.notes)


def test_the_operation_whose_slope_is_infinite():
    found = problem(lambda: ad.grad(norm, debug=True)(np.zeros(3)))
    assert shown(found) == ("np.sqrt(square)", ["a cotangent becomes inf"], ["there square = 0.0"])


def test_the_value_that_was_not_finite_before():
    found = problem(lambda: ad.grad(softened, debug=True)(np.array([1.0, 1000.0])))
    under, labels, notes = shown(found)
    assert under == "1.0 + y"
    assert labels == ["the cotangent of 'y' becomes nan at [1]", "'y' is inf at [1] before"]
    assert notes == ["there y = inf at [1]"]


def test_calls_are_told():
    found = problem(lambda: ad.grad(through_calls, debug=True)(np.float64(1e-200), 1))
    under, _, notes = shown(found)
    assert under == "np.log(x)"
    assert any(note.startswith("called from ") and note.endswith("logarithm(x)") for note in notes)


@pytest.mark.parametrize(
    ("f", "args", "where"),
    [(least, ([3.0, 0.0, 1.0],), "math.sqrt(best)"), (descend, (np.float64(0.0), 3), "np.sqrt(x)")],
)
def test_loops_and_recursion(f, args, where):
    assert shown(problem(lambda: ad.grad(f, debug=True)(*args)))[0] == where


def test_arguments_that_are_not_finite():
    found = problem(lambda: ad.grad(norm, debug=True)(np.array([1.0, np.inf])))
    assert found.notes[0] == "the argument 'x' is inf at [1]"


def test_finite_gradients_are_what_they_are():
    x = np.array([1.0, 2.0, 2.0])
    np.testing.assert_array_equal(ad.grad(norm, debug=True)(x), ad.grad(norm)(x))
    value, gradient = ad.value_and_grad(written, debug=True)(x)
    assert value == written(x)
    np.testing.assert_array_equal(gradient, ad.grad(written)(x))
    assert ad.grad(least, debug=True)([3.0, 4.0]) == ad.grad(least)([3.0, 4.0])
    assert ad.grad(descend, debug=True)(4.0, 2) == ad.grad(descend)(4.0, 2)


def test_second_derivatives():
    gradient = ad.grad(ad.grad(lambda x: x**1.5), debug=True)
    assert gradient(4.0) == 0.375
    assert problem(lambda: gradient(0.0)).span is not None


def test_it_is_shown_and_pickled():
    derivative = ad.grad(norm, debug=True)
    assert repr(derivative) == "grad(norm, debug=True)"
    again = pickle.loads(pickle.dumps(derivative))
    assert repr(again) == repr(derivative)
    assert isinstance(problem(lambda: again(np.zeros(2))).helps[0], str)


# Exceptions


def notes_of(run):
    said = r"math domain error|expected a positive input|out of bounds|must be positive|division by zero"
    with pytest.raises(Exception, match=said) as caught:
        run()
    return "\n".join(getattr(caught.value, "__notes__", [])), caught.value


def guarded(x):
    if x < 0.0:
        raise ValueError("x must be positive")
    return inner(x - 1.0)


def inner(x):
    return math.log(x) * 2.0


@pytest.mark.parametrize(
    "run",
    [
        lambda: ad.value_and_grad(guarded)(1.0),
        lambda: ad.jvp(guarded, (1.0,), (1.0,)),
        lambda: ad.vjp(guarded, 1.0),
        lambda: ad.grad(ad.grad(lambda x: guarded(x) * guarded(x)))(1.0),
        lambda: ad.value_and_grad(guarded, debug=True)(1.0),
    ],
)
def test_exceptions_tell_the_users_line(run):
    notes, failure = notes_of(run)
    assert "in the derivative of" in notes and "math.log(x)" in notes
    assert "called from" in notes and "inner(x - 1.0)" in notes
    assert "test_debugging.py:" in notes
    assert notes.splitlines()[0] in "".join(traceback.format_exception(failure))


def slope(x, a):
    """Long enough to stay a function: two calls of it, inlined, are more than the budget."""
    if a < 0.0:
        return math.log(a)
    p = x * a + math.sin(x) * a
    q = p * p - math.cos(p) * x
    r = q * x + p / (1.0 + a * a)
    s = math.exp(-r * r) * q + x
    return s * r + p * q - r / (2.0 + s * s) + math.sqrt(a)


def four_slopes(x, a):
    y = x + 0.1 * slope(x, 1.0)
    y = y + 0.1 * slope(y, 2.0)
    y = y + 0.1 * slope(y, 3.0)
    return y + slope(y, a)


def test_exceptions_in_a_function_that_stays_one():
    derivative = ad.value_and_grad(four_slopes)
    derivative(0.5, 1.0)
    assert "def slope" in ad.source(derivative)
    notes, _ = notes_of(lambda: derivative(0.5, -1.0))
    assert "slope(y, a)" in notes and "math.log(a)" in notes
    assert "slope(x, 1.0)" not in notes  # another call of it


def test_a_debugger_steps_from_function_to_function():
    derivative = ad.grad(four_slopes)
    derivative(0.5, 1.0)
    text, seen = ad.source(derivative).splitlines(), []

    def step(frame, event, _):
        if event == "line" and frame.f_code.co_filename.startswith("<adjoint four"):
            name, line = frame.f_code.co_name, frame.f_lineno
            assert linecache.getline(frame.f_code.co_filename, line).rstrip("\n") == text[line - 1]
            seen.append((name, frame.f_back.f_code.co_name))
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        derivative(0.5, 1.0)
    finally:
        sys.settrace(before)
    called = {name for name, caller in seen if caller == "four_slopes_grad"}
    assert any(name.startswith("slope_") for name in called)


def test_pdb_steps_into_the_pullback_and_shows_what_called_it():
    """Frames of Adjoint itself can be skipped, those of derivatives are none of them."""
    derivative = ad.grad(four_slopes)
    derivative(0.5, 1.0)
    text = ad.source(derivative).splitlines()
    (file,) = {name for name in linecache.cache if linecache.getlines(name) == [f"{line}\n" for line in text]}
    line = 1 + next(number for number, each in enumerate(text) if "slope_adjoint(" in each or "slope_pullback(" in each)
    commands = ["continue", "step", "next", "next", "where", "up", "list", "p y", "quit"]
    out = io.StringIO()
    debugger = pdb.Pdb(
        stdin=io.StringIO("\n".join(commands)), stdout=out, skip=["adjoint.*"], nosigint=True, readrc=False
    )
    debugger.use_rawinput = False
    assert debugger.set_break(file, line) is None
    debugger.runcall(derivative, 0.5, 1.0)
    said = out.getvalue()
    assert f"({line})four_slopes_grad()\n-> {text[line - 1].strip()}" in said
    called = re.search(r"--Call--\n> <adjoint four_slopes_grad \S+\((\d+)\)(slope_\w+)\(\)", said)
    assert called is not None and text[int(called[1]) - 1].startswith(f"def {called[2]}(")
    assert f"{line} B->\t{text[line - 1]}" in said
    assert "NameError" not in said


def test_a_breakpoint_of_the_user_is_one_of_the_derivative(monkeypatch):
    seen = []

    def stopped(x):
        y = x * x
        breakpoint()
        return y * math.sin(x)

    monkeypatch.setattr(sys, "breakpointhook", lambda: seen.append(dict(sys._getframe(1).f_locals)))
    ad.grad(stopped)(2.0)
    assert seen == [{"x": 2.0, "y": 4.0}]


def measured(x):
    return math.sin(x)


@ad.derivative_of(measured)
def measured_vjp(x):
    def pullback(ct):
        if x > 2.0:
            raise ValueError("x must be positive, and at most 2")
        return ct * math.cos(x)

    return math.sin(x), pullback


def corrected(x, a):
    b = x * a
    c = measured(b) + a
    d = c * b + math.sin(c)
    e = d + a * b
    f = e * c - d
    g = f * d + e
    return g * f + b


def two_corrections(x, a):
    y = corrected(x, a)
    z = corrected(x, 3.0 * a)
    return y * z + corrected(0.1 * y, a)


def test_exceptions_of_a_pullback_tell_the_function_and_its_call():
    """What only the derivative does: its frame is below that of the caller, and the notes have the lines of both."""
    derivative = ad.grad(two_corrections)
    derivative(0.2, 1.0)
    assert "def corrected_" in ad.source(derivative)
    notes, failure = notes_of(lambda: derivative(1.0, 1.0))
    frames = [frame.name for frame in traceback.extract_tb(failure.__traceback__)]
    assert frames[-2] == "two_corrections_grad" and frames[-1].startswith("corrected_")
    assert "corrected(0.1 * y, a)" in notes and "measured(b)" in notes


def test_exceptions_of_the_user():
    notes, _ = notes_of(lambda: ad.grad(guarded)(-1.0))
    assert 'raise ValueError("x must be positive")' in notes


def test_exceptions_in_pullbacks():
    def indexed(x, i):
        return np.sum((x * x)[i])

    notes, _ = notes_of(lambda: ad.grad(indexed)(np.ones(3), 7))
    assert "[i]" in notes


def test_handlers_of_the_user_see_the_same_exception():
    def safe(x):
        try:
            return math.log(x)
        except ValueError:
            return x * 0.0

    assert ad.grad(safe)(2.0) == 0.5
    assert ad.value_and_grad(safe)(-1.0)[0] == 0.0


def test_tests_tell_their_line():
    def positive(x):
        if x > 0:
            return np.sum(x)
        return np.sum(-x)

    for derivative in (ad.grad(positive), ad.value_and_grad(positive)):
        with pytest.raises(ValueError, match="ambiguous") as failure:
            derivative(np.ones(3))
        (note,) = failure.value.__notes__
        assert note.endswith(", x > 0") and f":{positive.__code__.co_firstlineno + 1}:" in note


def test_assertions_tell_their_line():
    def logarithm(x):
        assert x > 0.0, "positive"
        return math.log(x)

    with pytest.raises(AssertionError, match="positive") as failure:
        ad.grad(logarithm)(-1.0)
    assert failure.value.__notes__[0].endswith(', assert x > 0.0, "positive"')
