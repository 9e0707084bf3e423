"""What machine code has no kind for is an object of Python: what is done with it, Python does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import adjoint as ad
from native.agreement import MODES, compare
from programs.registry import collect


def sums_by_key(x):
    table = {}
    for i in range(len(x)):
        table[i % 3] = table.get(i % 3, 0.0) + x[i] ** 2
    return sum(table[key] * (key + 1) for key in table)


def arrays_by_name(x, names):
    table = {name: x * len(name) for name in names}
    table[names[0]][0] = x[1] * x[2]
    return sum(np.sum(table[name]) for name in sorted(table))


def words_of_a_formula(x, text):
    stack = []
    for word in text.split():
        stack.append(stack.pop() * stack.pop() if word == "*" else x if word == "x" else float(word))
    return stack[0]


def written_list(x, y):
    x[0] = x[0] * y
    x.append(x[1])
    return x[0] * x[2] + y


def none_or_a_number(x, n):
    best = None
    for i in range(n):
        value = x[i] * x[i]
        if best is None or value > best:
            best = value
    return 0.0 if best is None else best * 2.0


def told_by_class(x):
    total = 0.0
    for y in x:
        total += y
    return 2 * total * x[0] if isinstance(total, np.floating) else 3 * total


def raised_by_python(x, names):
    return x * float(names["missing"])


PROGRAMS = [
    (sums_by_key, (np.linspace(0.5, 2.0, 7),)),
    (arrays_by_name, (np.array([0.5, 1.5, -0.7]), ["a", "bc"])),
    (words_of_a_formula, (1.5, "x 2.5 * x *")),
    (written_list, ([1.0, 2.0], 3.0)),
    (none_or_a_number, (np.array([0.5, -1.5, 0.7]), 3)),
    (none_or_a_number, (np.array([0.5, -1.5, 0.7]), 0)),
    (told_by_class, (np.array([0.5, -1.5, 0.7]),)),
    (told_by_class, (np.zeros(0),)),
    (raised_by_python, (1.5, {})),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_objects_are_those_of_python(f, args, mode):
    outcome = compare(f, args, mode)
    assert outcome.kind in ("same", "interpreted", "refused"), outcome.message


@pytest.mark.parametrize(("f", "args"), PROGRAMS[:5])
def test_programs_with_objects_are_machine_code(f, args, own):
    wrt = tuple(place for place, arg in enumerate(args) if isinstance(arg, (float, np.ndarray)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ad.grad(f, wrt or 0, native="strict")(*args)
    assert own


def test_objects_live_as_long_as_they_are_used():
    class Counted:
        alive = 0

        def __init__(self, factor):
            self.factor = factor
            Counted.alive += 1

        def __del__(self):
            Counted.alive -= 1

    def f(x, given):
        return x * float(given["of"].factor)

    derivative = ad.grad(f, native="strict")
    for _ in range(5):
        assert derivative(2.0, {"of": Counted(3.0)}) == 3.0
    with pytest.raises(ValueError, match="could not convert"):
        derivative(2.0, {"of": Counted("three")})
    assert Counted.alive == 0


# Views and copies


def astype_is_a_copy(m):
    a = m.astype(float)
    a[0] *= 2.0
    return np.sum(a * m)


def asarray_is_a_view(m):
    a = np.asarray(m)
    b = np.array(m, copy=False)
    a[0] *= 2.0
    b[1] *= a[0]
    return np.sum(a * m)


def asarray_of_a_transpose_is_a_view(m):
    a = m.copy()
    np.asarray(a.T)[2] += 1.0
    return np.sum(a * m)


def contiguous_arrays_are_themselves(m):
    a = m.copy()
    np.ascontiguousarray(a)[1, 1] *= a[0, 0]
    np.atleast_2d(a)[1, 0] = m[0, 0]
    return np.sum(a * m)


def contiguous_copies_of_others(m):
    a = m.T.copy()
    b, c = np.ascontiguousarray(a.T), np.asfortranarray(a.T)
    b[0] *= 2.0
    c[1] *= 3.0
    return np.sum(a.T * m * b * c)


def elements_in_order(m):
    a = m.copy()
    a.flat[1] = 2.0 * m[0, 0]
    a.ravel()[0] *= 3.0
    a.T.ravel()[0] = 0.0
    a.flatten()[1] = 0.0
    return np.sum(a * m)


def array_of_no_axes(m):
    total = np.zeros(())
    for value in m[0]:
        total += value * value
    total[...] *= m[0, 0]
    total[()] += m[1, 1]
    return float(total) * m[1, 2]


def norms_along_an_axis(m):
    return np.linalg.norm(m, axis=1).sum() + np.linalg.norm(m, axis=0)[1]


def complex_of_a_complex_number(m):
    z = complex(complex(m[0, 0], m[0, 1]), m[1, 1])
    return abs(z) * z.imag + z.real


VIEWS = [
    astype_is_a_copy,
    asarray_is_a_view,
    asarray_of_a_transpose_is_a_view,
    contiguous_arrays_are_themselves,
    contiguous_copies_of_others,
    elements_in_order,
    array_of_no_axes,
    norms_along_an_axis,
    complex_of_a_complex_number,
]
PYTHON_HAS_THEM = (array_of_no_axes,)
"""Programs that write through views without axes, which are numbers in machine code."""
M = np.array([[0.3, -0.4, 0.5], [1.2, 0.7, -0.9]])


@pytest.mark.parametrize("variant", ["plain", "fortran", "strided"])
@pytest.mark.parametrize("f", VIEWS)
def test_views_are_views_and_copies_are_copies(f, variant):
    for mode in MODES:
        outcome = compare(f, (M,), mode, variant)
        expected = ("same", "interpreted") if f in PYTHON_HAS_THEM else ("same",)
        assert outcome.kind in expected, outcome.message


def two_views_of_no_axes(x):
    t = np.array(x[0] * 2.0)
    u = t[...]
    u *= x[1]
    w = t.reshape(())
    w += x[2]
    return t * u + w


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
def test_writes_through_views_without_axes_are_seen():
    """Machine code has numbers where Python has arrays without axes: such views are left to Python."""
    x, step = np.array([0.3, 0.5, -0.7]), 1e-6
    moves = step * np.eye(3)
    expected = [(two_views_of_no_axes(x + d) - two_views_of_no_axes(x - d)) / (2 * step) for d in moves]
    for native in (False, True):
        np.testing.assert_allclose(ad.grad(two_views_of_no_axes, native=native)(x), expected, atol=1e-8)
        _, pullback = ad.vjp(two_views_of_no_axes, x, native=native)
        np.testing.assert_allclose(pullback(1.0)[0], expected, atol=1e-8)


def rows_are_the_same(x, n):
    row = [x, x * x]
    rows = [row if i % 2 == 0 else [x * i, 1.0] for i in range(n)]
    rows[0][0] = x**3
    return rows[2][0] * rows[1][0] + (5.0 * x if rows[0] is rows[2] else 0.0)


def rows_are_looked_for(x, n):
    rows = [[x * i, 1.0] for i in range(n)]
    return rows[0][0] + (5.0 * x if rows[1] in rows and rows[0] is not rows[1] else 0.0)


@pytest.mark.parametrize("f", [rows_are_the_same, rows_are_looked_for])
def test_lists_are_what_they_are(f):
    for mode in MODES:
        outcome = compare(f, (2.0, 3), mode)
        assert outcome.kind in ("same", "interpreted"), outcome.message


def test_parts_of_nothing_are_read_without_a_warning():
    """A constant as the base of a subscript would be one of Python, an error here."""
    (case,) = [case for case in collect() if case.name == "views.recursive_halves"]
    _, pullback = ad.vjp(case.function, *case.arguments(), native="strict")
    _, expected = ad.vjp(case.function, *case.arguments(), native=False)
    np.testing.assert_allclose(pullback(1.0)[0], expected(1.0)[0], rtol=1e-13)
