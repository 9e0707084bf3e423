"""What was wrong, crashed or was refused in machine code alone."""

import copy

import numpy as np
import pytest

import adjoint as ad
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.native.llvm import unit
from native.machine_form import loops_of

pytest.importorskip("llvmlite")


A = np.arange(1.0, 7).reshape(2, 3) / 3


def alike(operator, f, *args, **options):
    """Checks that machine code gives what Python gives."""
    expected = operator(f, **options)(*copy.deepcopy(args))
    found = operator(f, native="strict", **options)(*copy.deepcopy(args))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# Elements of an axis of extent 1, read by their index


def of_a_kept_axis(x):
    v = np.log(np.exp(x).sum(axis=1, keepdims=True))[:, 0]
    return np.tanh(v) * np.sin(v).sum()


def from_the_end(x):
    v = np.log(np.exp(x).sum(axis=1, keepdims=True))[:, -1]
    return np.sum(np.tanh(v) * np.sin(v).sum())


def of_new_axes(x):
    v = np.expand_dims(np.exp(x).sum(axis=0), 0)[0]
    w = np.exp(x).sum(axis=0)[:, None][:, -1]
    return np.sum(v * np.sum(np.tanh(v))) * np.sum(w * np.sum(np.sin(w)))


def at_an_index_of_the_program(x, k):
    v = np.exp(x).sum(axis=0, keepdims=True)[k]
    return np.sum(np.tanh(v) * np.sin(v).sum())


def test_elements_of_an_axis_of_one_in_several_directions():
    alike(ad.jacobian, of_a_kept_axis, A)


@pytest.mark.parametrize("f", [from_the_end, of_new_axes, at_an_index_of_the_program])
def test_elements_of_an_axis_of_one_in_loops(f):
    args = (A, 0) if f is at_an_index_of_the_program else (A,)
    derivative = ad.grad(f, native=True).specialized(args, {}).function
    np.testing.assert_allclose(load(emit(loops_of(derivative)))(*args), ad.grad(f)(*args), rtol=1e-12)


# Shadows of arrays whose dtype is that of an argument


def symmetric(data):
    m = data.shape[1]
    cov = np.zeros((m, m), dtype=data.dtype)
    for i in range(m):
        for j in range(i, m):
            cov[j, i] = data[0, i] * data[1, j]
        cov[i, i:m] = cov[i:m, i]
    return cov[0, m - 1] * cov[1, 1]


def rows_in_a_list(x, n):
    rows = []
    for i in range(n):
        rows.append(np.zeros(x.shape, dtype=x.dtype))
        rows[i][0] = x[0]
    for i in range(1, n):
        rows[i][1:] = rows[i - 1][:-1] * x[1:]
    return np.sum(rows[n - 1])


def test_parts_of_an_array_of_the_dtype_of_another():
    alike(ad.grad, symmetric, A)


def test_arrays_in_a_list_of_the_dtype_of_another():
    alike(ad.grad, rows_in_a_list, A[0], 3)


def with_a_dtype_of_what_varies(x):
    return np.sum(np.full(x.shape, 2, dtype=x.dtype) * x * x)


def test_the_dtype_of_what_varies_does_not_vary():
    np.testing.assert_allclose(ad.grad(with_a_dtype_of_what_varies)(A), 4 * A)


DTYPES = {3: np.dtype(float), 4: np.dtype(np.int8)}


# Rows of whole numbers beside rows of floats


def rows_of_two_kinds(x):
    a = np.array([[1, 1], [0, 1.0]]) @ x
    b = np.array([[True, 1], (len(x), 0.5)]) * x  # a list beside a tuple
    c = np.array([[[1, 1], [0, 1]], [[1, 2.0], [0, 0]]]) * x
    weights = [[1, 2], [3, 0.5]]
    total = 0.0
    for i in range(2):
        for j in range(2):
            total += weights[i][j] * x[i, j]
    return np.sum(a * a) + np.sum(b * b) + np.sum(c * c) + total


def test_rows_of_two_kinds():
    alike(ad.grad, rows_of_two_kinds, A[:, :2].copy())


# Whole numbers of 8 to 32 bits


def of_narrow_numbers(x, n, k):
    total = x[0] * (n[0] + n[1]) + x[1] * (n[0] * n[1]) + x[2] * -n[2]
    running = n[0]
    while running > 0:
        running += np.int8(k)
        total += x[0]
    total += np.sum(np.where(n + n > 0, x, 2.0 * x)) + np.sum(x * n**2) + np.sum(x * (n / 3))
    m = np.zeros(3, np.int8)
    m[0] = k
    return total + x[0] * np.sum(m < k + 1000) + x[1] * ((x > 0.0)[0] + (x > 0.0)[1])


def half_precision(x, n):
    return np.sum(np.sin(n) * x)


def of_an_unknown_kind(x, n):
    m = np.zeros(3, DTYPES[len(n) + 1])
    m[:] = n
    return x[0] * (m[0] + m[1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_narrow_whole_numbers_wrap_where_they_do_in_numpy():
    x, n = A[0], np.array([100, 127, -128], np.int8)
    np.testing.assert_allclose(ad.value_and_grad(of_narrow_numbers)(x, n, 1)[0], of_narrow_numbers(x, n, 1))
    alike(ad.grad, of_narrow_numbers, x, n, 1)
    for native in (False, "strict"):
        with pytest.raises(OverflowError, match="out of bounds"):
            ad.grad(of_narrow_numbers, native=native)(x, n, 300)


@pytest.mark.parametrize("f", [half_precision, of_an_unknown_kind])
def test_what_is_no_number_of_machine_code_runs_as_python(f):
    n = np.array([100, 127, -128], np.int8)
    with pytest.warns(ad.DifferentiationWarning, match="AD0601"):
        found = ad.grad(f, native=True)(A[0], n)
    np.testing.assert_array_equal(found, ad.grad(f)(A[0], n))


# Recursion without end


def tail(x):
    return x if x < 0.0 else tail(x + 1.0)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return 2.0 * x if n == 0 else even(x + 1.0, n - 1) * x


@pytest.mark.parametrize(("f", "args"), [(tail, ()), (even, (-1,))])
def test_recursion_without_end_raises(f, args):
    derivative = ad.grad(f, native="strict")
    for _ in range(2):
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            derivative(0.5, *args)
    finite = (-1.0,) if f is tail else (0.5, 9)
    assert derivative(*finite) == ad.grad(f)(*finite)


# The dtype of an array, where that of the array is known


def in_the_dtype_of(x, places):
    if x.dtype == np.float32:
        return 0.0
    total = np.zeros(3, x.dtype)
    np.add.at(total, places, x * x)
    return np.sum(total * total)


def test_dtypes_are_as_known_as_those_of_their_arrays():
    alike(ad.grad, in_the_dtype_of, np.linspace(1.0, 2.0, 4), np.array([0, 2, 0, 1], np.int32))
    assert "float32" not in ad.source(ad.grad(in_the_dtype_of), np.zeros(4), np.zeros(4, np.int32))


# Places outside of arrays


def at_places(x, places, k):
    total = np.zeros(3)
    np.add.at(total, places, x[places, k])
    total[places] = x[0, places] * 2.0
    return np.sum(total * total) + np.sum(x[np.ix_(places, places)] ** 2)


def test_places_outside_of_arrays_raise():
    derivative = ad.grad(at_places, native="strict")
    x, places = np.arange(9.0).reshape(3, 3), np.array([0, -1])
    np.testing.assert_allclose(derivative(x, places, 1), ad.grad(at_places)(x, places, 1))
    for outside in (5, -4):
        with pytest.raises(IndexError):
            derivative(x, np.array([0, outside]), 1)


# Faults of the compiler


@pytest.mark.parametrize("operator", [ad.grad, ad.jacobian])
def test_what_the_compiler_fails_at_runs_as_python(monkeypatch, tmp_path, operator):
    def fails(*_):
        raise KeyError("lost")

    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))  # what was compiled before needs no compiler
    monkeypatch.setattr(unit, "text_of", fails)
    f = symmetric if operator is ad.grad else of_a_kept_axis
    with pytest.warns(ad.DifferentiationWarning, match=r"AD0601(.|\n)*a bug: KeyError: 'lost'"):
        found = operator(f, native=True)(A)
    np.testing.assert_allclose(found, operator(f)(A), rtol=1e-12)


def test_a_fault_before_the_text_is_made_is_one_of_machine_code(monkeypatch):
    from adjoint.dispatch import compiling

    def fails(*_):
        raise KeyError("lost")

    monkeypatch.setattr(compiling, "load_for", lambda *args: fails() if args[3] else compiling.load(args[2]))
    with pytest.warns(ad.DifferentiationWarning, match=r"AD0601(.|\n)*a bug: KeyError: 'lost'"):
        found = ad.grad(with_a_dtype_of_what_varies, native=True)(A)
    np.testing.assert_allclose(found, ad.grad(with_a_dtype_of_what_varies)(A), rtol=1e-12)


# Loops along two views of one array


def subtracted_backwards(x):
    x = x.copy()
    x[:-1] -= np.tanh(x[::-1][1:])
    return np.sum(x * x)


def backwards_in_a_loop(x):
    x = x.copy()
    for _ in range(3):
        x[:-1] -= 0.3 * np.cos(x[::-1][1:])
        x[1:] += np.tanh(x[::-1][:-1])
    return np.sum(x * x)


@pytest.mark.each_time
@pytest.mark.parametrize("f", [subtracted_backwards, backwards_in_a_loop])
def test_loops_along_views_of_one_array_are_not_one(f):
    alike(ad.grad, f, np.array([0.3, 1.2, 0.8, 1.9, 1.1]))


# Cotangents that are moved where a condition chooses: LLVM read them behind the store that clears them


def chosen_by_a_mask(x, mask):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = np.maximum(x[i], 0.0) if mask[i] else x[i]
    return np.sum(y * y)


def moved_where_a_mask_says(x, mask):
    y, z = np.sin(x), np.zeros_like(x)
    for i in range(len(x)):
        moved = 1.0
        if mask[i]:
            moved = y[i]
            y[i] = 3.0
        z[i] = moved * x[i]
    return np.sum(y * z * z)


def exchanged(x, mask):
    y, z = np.sin(x), np.cos(x)
    for i in range(len(x)):
        one, other = y[i], z[i]
        if mask[i]:
            y[i], z[i] = other, one * one
    return np.sum(y * y * z)


@pytest.mark.each_time
@pytest.mark.parametrize("f", [chosen_by_a_mask, moved_where_a_mask_says, exchanged])
def test_cotangents_moved_where_a_condition_chooses(f):
    x = np.linspace(-1.5, 2.0, 37)
    args = x, np.arange(37) % 3 == 0
    alike(ad.grad, f, *args)
    direction = (np.cos(x), None)
    for operator in (ad.jvp, ad.hvp):
        expected, found = (operator(f, args, direction, native=native) for native in (False, "strict"))
        np.testing.assert_allclose(np.ravel(found[0]), np.ravel(expected[0]), rtol=1e-12)
        assert operator is ad.hvp or np.isclose(found[1], expected[1], rtol=1e-12)


# Maxima that are found once, of arrays that each sweep computes again: of another last bit, nobody attained them


def maximum_of_what_a_loop_makes(x, mask):
    a = x
    for _ in range(3):
        a = np.where(mask, a, 0.0) * np.log(x + 1.0)
    greatest = np.max(a)
    roots = np.zeros_like(x)
    for i in range(len(x)):
        roots[i] = a[i] ** 0.5
    return np.sum(roots**2) + greatest * greatest


@pytest.mark.each_time
def test_maxima_of_what_sweeps_compute_again():
    x = np.array([0.3, 1.5, 2.0, 0.2, 0.7])
    alike(ad.hessian, maximum_of_what_a_loop_makes, x, np.arange(5) < 9)


# Products of all others, of all others: their shapes are tuples, whose lengths are known


def pairs_of_others(x):
    return np.sum(ad.hessian(lambda y: np.prod(y))(x) @ x)


def test_third_derivatives_of_a_product():
    alike(ad.hessian, pairs_of_others, np.array([0.3, 1.5, 2.0]))


def places_after_dots(x):
    y = np.zeros(3)
    y[..., (0, 1)] += x[1:]
    y[(0, 2), ...] *= x[..., (1, 2)]
    return np.sum(y**2 * x) + np.sum(x[..., (2,)])


def test_places_beside_dots_that_stand_for_no_axis():
    """``x[..., (0, 2)]`` of a vector was ``x[0, 2]``, which raised."""
    x = np.array([0.3, 0.5, 0.8])
    np.testing.assert_allclose(ad.grad(places_after_dots, native=True)(x), ad.grad(places_after_dots)(x), rtol=1e-14)
    alike(ad.grad, lambda x: ad.grad(places_after_dots)(x)[1], x)
