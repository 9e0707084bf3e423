"""How an array lies in memory decides which views of it are views, and so which writes are seen through them."""

import copy

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.ir.walk import statements_in
from adjoint.native.legalize.arrays.layouts import with_numpys_layouts
from adjoint.native.legalize.as_python import ByPython
from regressions.differences import refused, right

A = np.arange(6.0).reshape(2, 3) - 2.5
LAYOUTS = {
    "rows": A,
    "columns": np.asfortranarray(A),
    "backwards": np.ascontiguousarray(A[::-1])[::-1],
    "gaps": np.repeat(A, 2, axis=1)[:, ::2],
}
COPIES = {
    "a.copy()": lambda a: a.copy(),
    "a.copy('F')": lambda a: a.copy("F"),
    "a.copy(order='K')": lambda a: a.copy(order="K"),
    "np.copy(a)": np.copy,
    "np.copy(a, order='C')": lambda a: np.copy(a, order="C"),
    "np.array(a)": np.array,
    "copy.copy(a)": copy.copy,
    "a.astype(float)": lambda a: a.astype(float),
    "a + 0.0": lambda a: a + 0.0,
    "np.where": lambda a: np.where(a > 0, a, 2.0 * a),
}


@pytest.mark.parametrize("lies", LAYOUTS)
@pytest.mark.parametrize("way", COPIES)
def test_copies_are_laid_out_as_numpy_does(lies: str, way: str) -> None:
    copied = COPIES[way]

    def through_transpose(a):
        w = copied(a.T)
        p = w.ravel()
        p[0:2] = 5.0 * p[0:2]
        return (w * w).sum()

    def of_a_new_array(a):
        w = copied(2.0 * a)
        r = w.T.reshape(-1)
        r[1] = 3.0 * r[1]
        return (w * np.arange(6.0).reshape(2, 3)).sum() + r[0]

    right(through_transpose, LAYOUTS[lies])
    right(of_a_new_array, LAYOUTS[lies])


def test_copies_of_what_is_computed_are_not_left_out() -> None:
    """The layout of what is computed from a copy is that of the copy."""

    def f(a):
        w = 2.0 * a.T.copy()
        p = w.reshape(-1)
        p[:2] *= 5.0
        return (w * w).sum()

    for a in LAYOUTS.values():
        right(f, a)


def test_written_arguments_in_any_layout() -> None:
    def f(a):
        a.reshape(-1)[:2] *= 5.0
        np.ravel(a[::-1])[1:3] *= 2.0
        np.ravel(a.T)[0] = 3.0
        return (a * a * np.arange(6.0).reshape(2, 3)).sum()

    for a in LAYOUTS.values():
        right(f, a)


def test_shadows_in_loops_are_laid_out_as_the_array() -> None:
    """What is first added to a shadow is laid out in its own way."""
    weights = np.asfortranarray(A + 3.0)

    def f(a):
        w = a * a
        for _ in range(2):
            p = w.ravel()
            p[0:2] = 3.0 * p[0:2]
        return (w * weights).sum()

    for a in LAYOUTS.values():
        right(f, a)


def test_tangents_in_another_layout() -> None:
    def of_new(a):
        w = 2.0 * a
        w.reshape(-1)[:2] *= 5.0
        return (w * w).sum()

    def of_argument(a):
        a.reshape(-1)[:2] *= 5.0
        return (a * a).sum()

    for f in (of_new, of_argument):
        for a in LAYOUTS.values():
            expected = (ad.grad(f)(np.copy(a)) * A).sum() if a is LAYOUTS["rows"] else None
            found = [ad.jvp(f, (copy.deepcopy(a),), (tangent,))[1] for tangent in LAYOUTS.values()]
            np.testing.assert_allclose(found, found[0])
            assert expected is None or np.isclose(found[0], expected)


def test_second_derivatives_where_layout_decides() -> None:
    def f(a):
        w = 2.0 * a.T.copy()
        w.reshape(-1)[:2] *= w.reshape(-1)[2]
        return (w * w * w).sum()

    def slope(a, t):
        return ad.jvp(f, (a,), (t,))[1]

    for a in (A, np.asfortranarray(A)):
        right(slope, a, np.asfortranarray(A + 1.0))


def test_views_of_what_is_an_array_for_all_that_is_known() -> None:
    def f(x, axes):
        y = np.transpose(x, axes[0])
        r = np.ravel(y.T)
        r[:2] = r[:2] * r[1:3]
        return (y * y * y).sum()

    right(f, np.arange(24.0).reshape(2, 4, 3) / 10, ((2, 0, 1),))


def test_what_is_its_argument_at_times() -> None:
    """``max`` gives one of its arguments, and there are differences of order zero."""

    def extreme(x):
        y = 2.0 * x
        m = max(x, y)
        m[0] *= 3.0
        return (m * x * y).sum()

    def differences(x):
        y = 2.0 * x
        d = np.diff(y, n=0)
        d[0] *= 3.0
        return (d * x * y).sum()

    def as_many_differences(x, n):
        y = 2.0 * x
        d = np.diff(y, n)
        d[0] *= 3.0
        return d.sum() * y.sum()

    def transform(x):
        y = 2.0 * x
        z = np.fft.fftn(y, axes=())
        z[0] *= 3.0
        return (z.real * y).sum()

    right(extreme, np.array([1.5]))
    right(differences, np.array([1.5, 0.5]))
    right(transform, np.array([1.5, 0.5]))
    for n in (0, 1, 2):
        right(as_many_differences, np.array([1.5, 0.5, 2.0, 1.0]), n)


class Scale:
    """Gives what the compiler does not look into."""

    def __init__(self, value):
        self.value = value


def test_views_of_what_may_be_a_number_are_not_written() -> None:
    def f(x, of):
        y = of["f"](x)
        r = np.ravel(y)
        r[:1] *= 3.0
        return (y * y).sum()

    refused(lambda: ad.grad(f)(np.ones(3), {"f": np.frompyfunc(lambda v: v, 1, 1)}))


@pytest.mark.parametrize("lies", ["rows", "columns"])
def test_machine_code_lays_out_as_numpy_does(lies: str) -> None:
    """What is made by rows is compiled; where an array may lie otherwise, NumPy makes it."""

    def f(a):
        w = np.where(a > 0, a, 0.0) + a
        w.reshape(-1)[:2] *= 5.0
        b = a.T.copy()
        b.ravel()[1:3] *= 2.0
        return (w * w).sum() + (b * b * b).sum()

    derivative = ad.grad(f, native="strict")
    np.testing.assert_allclose(derivative(LAYOUTS[lies]), ad.grad(f)(LAYOUTS[lies]), rtol=1e-12)
    right(f, LAYOUTS[lies], modes=("grad",))


def calls_of_python(callee, *, by_rows: bool) -> int:
    """How many calls of Python machine code makes of ``w = callee(a)`` and a view of it that is written."""
    dims = ("any", "any")
    a, w = (
        ir.Var("a", ir.Array(np.dtype(float), dims)),
        ir.Var("w", ir.Array(np.dtype(float), dims, ir.Storage(written=True))),
    )
    r = ir.Var("r", ir.Array(np.dtype(float), ("any",), w.type.storage))
    function = ir.Function(
        "f", (a,), ir.Block((ir.Call((w,), callee, (a,)), ir.Call((r,), np.ravel, (w,))), ir.Return((r,)))
    )
    statements = statements_in(with_numpys_layouts(function, [a] if by_rows else []).body)
    return sum(isinstance(each.callee, ByPython) for each in statements)


def test_machine_code_calls_python_only_for_what_may_lie_otherwise() -> None:
    assert calls_of_python(np.exp, by_rows=True) == 0
    assert calls_of_python(np.exp, by_rows=False) == 1
    assert calls_of_python(np.ndarray.copy, by_rows=False) == 0


class Held:
    def __init__(self, a):
        self.a = a


def of_a_list(a, way):
    """What is made of items of a list is laid out as they are."""
    items = []
    for i in range(3):
        items.append(way(a * (i + 1.0)))
    total = 0.0
    for i in range(3):
        w = items[i] * 2.0
        w.ravel()[1:3] *= 3.0
        total += (w * w).sum() + w.reshape(-1)[1]
    return total


def of_items_that_are_taken(a, way):
    items = [way(a), way(2.0 * a.T)]
    total = 0.0
    while items:
        w = np.zeros_like(items.pop()) + a[0, 1]
        w.reshape(-1)[:2] = a[0, :2]
        total += (w * w).sum() * len(items) + w[0, 1]
    return total


def of_an_object(a, way):
    held = Held(way(a))
    for _ in range(2):
        w = np.where(held.a > 0.0, held.a, 2.0 * held.a)
        w.ravel()[1] = 0.5 * w[0, 0]
        held.a = w * 1.5
    return (held.a * held.a).sum()


def of_a_table(a, way):
    table = {"one": way(a), "two": a}
    for key in ("one", "two", "one"):
        w = table[key].copy(order="K")
        w.reshape(6)[2:4] *= 2.0
        table[key] = w
    return (table["one"] ** 3).sum() + (table["two"] * table["one"]).sum()


def of_what_may_fail(a, way):
    try:
        w = way(np.linalg.inv(a[:, :2]))
    except np.linalg.LinAlgError:
        w = way(a)
    w.ravel()[0:2] *= 3.0
    return (w * w * w).sum()


@pytest.mark.parametrize("lies", LAYOUTS)
@pytest.mark.parametrize("way", ["a.copy()", "a.copy('F')", "a + 0.0", "np.copy(a)", "np.copy(a, order='C')"])
@pytest.mark.parametrize("f", [of_a_list, of_items_that_are_taken, of_an_object, of_a_table, of_what_may_fail])
def test_machine_code_lays_out_what_containers_hold(f, way: str, lies: str) -> None:
    copied = COPIES[way]

    def through(a):
        return f(a, copied) + f(a, lambda one: copied(one.T).T)

    a = LAYOUTS[lies]
    expected = ad.grad(through)(a)
    np.testing.assert_allclose(ad.grad(through, native="strict")(a), expected, rtol=1e-12)
    right(through, a, modes=("grad",))
