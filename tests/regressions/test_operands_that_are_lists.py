"""Lists, tuples and ranges that NumPy makes arrays of: constants, and those whose items vary."""

import operator
import pickle

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import either, refused, right, second

X = np.array([0.6, -0.4, 1.3])
A = np.arange(1.0, 7.0).reshape(2, 3) / 3
WEIGHTS = [0.3, 0.7, 0.2]


def conditions_from_a_loop(x):
    positive = []
    for v in x:
        positive.append(v > 0)
    return np.where(positive, x, x * x).sum()


def copied_where(x):
    y = np.zeros(3)
    np.copyto(y, x**2, where=[True, False, True])
    return y.sum()


def updated_in_place(x):
    y = np.abs(x)
    y *= [1.0, 2.0, 3.0]
    y **= (1, 2, 3)
    y /= range(1, 4)
    y -= [x[0], 2.0, 1.0]
    return y.sum()


def rows_of_numbers(x):
    return np.sum(np.array([[1.0, 2.0, 3.0]] * 3) @ x * [x[0], 1.0, 2.0])


PROGRAMS = {
    "where, a list": lambda x: np.where([True, False, True], x, 0.0).sum(),
    "where, a tuple": lambda x: np.where((True, False, True), x, 0.0).sum(),
    "where, conditions as a list": lambda x: np.where((x > 0).tolist(), x, 0.0).sum(),
    "where, a comprehension": lambda x: np.where([v > 0 for v in x], x, x * x).sum(),
    "where, a loop": conditions_from_a_loop,
    "where, both sides": lambda x: np.where(list(range(3)), x, [1.0, 2.0, x[1]]).sum(),
    "where, of lists": lambda x: np.where(x > 0, [x[1], 2.0, x[0] ** 2], (x[0], x[0], x[2])).sum(),
    "select": lambda x: np.select([[True, False, False], [False, True, False]], [x, 2 * x], 3 * x).sum(),
    "copyto": copied_where,
    "in place": updated_in_place,
    "convolve": lambda x: np.convolve(x, [0.5, 0.25, 0.1], "same").sum(),
    "a power": lambda x: (np.abs(x) ** [1, 2, 3]).sum(),
    "a power of a list": lambda x: ([1.5, 2.5, 3.5] ** x).sum(),
    "arctan2": lambda x: np.arctan2(x, [1, 2, 3]).sum(),
    "arctan2 of a global list": lambda x: np.arctan2(WEIGHTS, x).sum(),
    "power": lambda x: np.power(x, [1, 2, 3]).sum(),
    "power of a range": lambda x: np.power(x, range(1, 4)).sum(),
    "interp": lambda x: np.interp(x, [-1.0, 1.0, 2.0], [0.0, 3.0, 4.0]).sum(),
    "interp at a list": lambda x: np.interp([0.2, 0.4], (0.0, 1.0, 2.0), x).sum(),
    "solve": lambda x: np.linalg.solve(np.eye(3) + np.outer(x, x), [1.0, 2.0, 3.0]).sum(),
    "clip": lambda x: np.clip(x**2, [0.1, 0.1, 0.1], 1.0).sum(),
    "dot": lambda x: np.dot(WEIGHTS, x) + x.dot([1.0, 2.0, 3.0]),
    "a product of matrices": rows_of_numbers,
    "average": lambda x: np.average(x, weights=WEIGHTS) + np.average([1.0, 2.0, x[0]], weights=[x[1], 1.0, 2.0]),
    "einsum": lambda x: np.einsum("i,ij,j->", [1.0, 2.0, 3.0], [[1.0, 2.0, 0.0]] * 3, x),
    "concatenate": lambda x: np.sum(np.concatenate([x, [1.0, 2.0], (x[0],)]) ** 2),
    "stack": lambda x: np.sum(np.stack([x, [1.0, 2.0, 5.0], range(3)]) ** 2 * A[1]),
    "outer": lambda x: np.sum(np.outer([1.0, x[0]], x)),
    "a reduction of nested lists": lambda x: np.sum([[x[0], 1.0], [2.0, x[1]]], axis=0)[0],
    "a sum with a list of conditions": lambda x: np.sum(np.multiply([True, False, True], x)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_sequences_are_arrays(name) -> None:
    right(PROGRAMS[name], X)


@pytest.mark.parametrize("name", ["where, a comprehension", "convolve", "power", "solve", "einsum"])
def test_second_order(name) -> None:
    second(PROGRAMS[name], X)


@pytest.mark.parametrize("name", ["where, a list", "arctan2", "in place"])
def test_machine_code(name) -> None:
    right(PROGRAMS[name], X, native=True, modes=("grad", "jvp", "value") if name == "in place" else ("jvp", "value"))


def test_what_says_how_stays_a_sequence() -> None:
    right(lambda a: np.sum(np.transpose(a, (1, 0)) * np.arange(6.0).reshape([3, 2])), A)
    right(lambda a: np.sum(np.sum(a, axis=(0, 1)) ** 2) + np.sum(np.moveaxis(a, [0, 1], [1, 0])[0]), A)
    right(lambda a: np.sum(np.pad(a, [(1, 0), (0, 2)]) ** 2) + np.sum(np.tile(a, [2, 1]) ** 2), A)
    right(lambda a: np.sum(np.roll(a, (1, 2), (0, 1)) * A) + np.sum(np.split(a, [1, 2], axis=1)[1] ** 2), A)
    right(lambda a: np.sum(np.take(a, [0, 2], axis=1) ** 2) + np.sum(np.insert(a, [0, 1], 2.0, axis=1) ** 2), A)
    right(lambda a: np.sum(np.tensordot(a, A, axes=([0, 1], [0, 1]))) + np.sum(np.broadcast_to(a[0], [4, 3])), A)


def test_a_function_of_lines_is_handed_lists_as_they_are() -> None:
    def scaled(row, factors):
        return row.sum() * factors[0] * len(factors + [1.0])

    right(lambda a: np.sum(np.apply_along_axis(scaled, 0, a, [2.0, 3.0]) ** 2), A)


def test_sequences_of_another_library_stay_sequences() -> None:
    @ad.derivative_of(operator.countOf)
    def counted(a, b):
        return operator.countOf(a, b), lambda ct: (None, None)

    assert ad.grad(lambda x: x * operator.countOf([1.0, 2.0, 1.0], 1.0))(3.0) == 2.0


# --- rules that were wrong beside numbers, for several polynomials, of nothing

B, T = np.arange(8.0).reshape(2, 4), np.ones((2, 4, 3)) * np.arange(1.0, 5.0)[:, None]


def test_inner_products_of_any_rank() -> None:
    right(lambda a: np.sum((A + 1) * np.inner(2.0, a)), A)
    right(lambda a: np.sum((A + 1) * np.inner(a, 2.0)), A)
    right(lambda s: np.sum(A * np.inner(A, s)), 1.7)
    right(lambda t: np.sum(B * np.inner(X, t)), T)
    right(lambda x: np.sum(B * np.inner(x, T)), X)
    right(lambda c: np.sum(np.inner(T, c) * np.arange(16.0).reshape(2, 4, 2)), A)
    right(lambda c: np.sum(np.inner(c, T) * np.arange(16.0).reshape(2, 2, 4)), A)
    second(lambda x: np.sum(B * np.inner(x, T * x[0]) ** 2), X)


def test_subscripts_in_lists() -> None:
    v = np.arange(12.0).reshape(4, 3) / 5
    a = np.ones((3, 4))
    right(lambda a: np.sum(v * np.einsum(a, [0, 1], [1, 0])), a)
    right(lambda a: np.sum(v * np.einsum(a, [1, 0])), a)
    right(lambda a: np.sum(np.einsum(a, [0, 1], v, [1, 2], [0, 2]) * v[:3]), a)
    right(lambda a: np.sum(np.einsum(a, (..., 1), v, (1, 2), (..., 2)) ** 2), a)
    right(lambda a: np.sum(np.einsum(a, [30, 1], v, [1, 2]) * v[0]), a)  # the larger label comes last in the result
    right(lambda a: np.sum(np.einsum([[1.0, 2.0, 3.0]], [5, 1], a, [1, 2]) ** 2), a)

    def unknown(a, k):
        return np.sum(np.einsum(a, [0, 1], [k, 0]))

    either(right, unknown, a, 1)


def test_several_polynomials_at_once() -> None:
    coefficients = np.arange(4.0).reshape(2, 2)
    right(lambda p: np.sum(np.polyval(p, np.array([0.5, 1.5])) * np.array([1.0, 3.0])), coefficients)
    right(lambda p: np.sum(np.polyval(p, X)), A)
    right(lambda p: np.sum(np.polyval(p, 0.7) * np.arange(3.0)), A)
    right(lambda x: np.sum(np.polyval(A, x) * np.arange(3.0)), X)
    right(lambda x: np.sum(np.polyval([1.0, 2.0, 3.0], x) * np.arange(3.0)), X)
    right(lambda x: np.sum(np.polyval([x, 2 * x, [1.0, 2.0, 3.0]], x) * np.arange(3.0)), X)
    second(lambda x: np.sum(np.polyval(np.outer(X, x), x)), X)


def test_modes_of_pad_are_right_or_refused() -> None:
    for mode in ("edge", "reflect", "symmetric", "wrap"):
        right(lambda m, mode=mode: np.sum(np.pad(m, 1, mode=mode) ** 2), A)
    for mode in ("mean", "maximum", "linear_ramp"):
        right(lambda m, mode=mode: np.sum(np.pad(m, 1, mode=mode) ** 2), A)
    for mode in ("empty",):
        problem = refused(lambda mode=mode: ad.grad(lambda m: np.sum(np.pad(m, 1, mode=mode) ** 2))(A))
        assert "AD0204" in str(problem) and "in this mode" in str(problem)
        refused(lambda mode=mode: ad.jvp(lambda m: np.sum(np.pad(m, 1, mode=mode) ** 2), (A,), (A,)))


def test_copies_by_name() -> None:
    right(lambda x: np.sum(np.array([x, 1.0], copy=np._CopyMode.IF_NEEDED)), 0.5)

    def written(x, mode):
        y = 2.0 * x
        z = np.array(y, copy=mode)
        z[0] = 5.0
        return np.sum(y * y)

    right(lambda x: written(x, np._CopyMode.IF_NEEDED), X)
    right(lambda x: written(x, np._CopyMode.ALWAYS), X)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [np.mean, np.var, np.std])
def test_statistics_of_nothing(function) -> None:
    for native in (False, True):
        value, gradient = ad.value_and_grad(lambda x: function(x), native=native)(np.zeros(0))
        assert np.isnan(value) and gradient.shape == (0,)
    value, gradient = ad.value_and_grad(lambda x: np.sum(function(x, axis=0)))(np.zeros((0, 2)))
    assert np.isnan(value) and gradient.shape == (0, 2)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_variance_of_too_little() -> None:
    value, gradient = ad.value_and_grad(lambda x: np.var(x, ddof=1))(np.ones(1))
    assert np.isnan(value) and np.isnan(gradient).all()


@pytest.mark.parametrize(
    "converted",
    [
        np.asarray,
        np.ascontiguousarray,
        np.asanyarray,
        np.asfortranarray,
        lambda items: np.asarray(items, float),
        lambda items: np.array(items, copy=None),
        lambda items: np.asarray(items, copy=None),
    ],
)
@pytest.mark.parametrize(
    "made",
    [
        lambda x: [x for _ in range(2)],
        lambda x: [x, x * x],
        lambda x: [x] * 2,
        lambda x: (x, 2 * x),
        lambda x: [np.array([x, x * x]) for _ in range(2)],
    ],
)
def test_arrays_of_lists_are_no_views_of_them(made, converted) -> None:
    def f(x):
        items = made(x)
        a = converted(items)
        a[0] *= 0.85
        a[1] = 2 * x * a[0]
        return np.sum(a) + np.sum(items[0]) * x

    right(f, 0.7)


def test_what_is_left_out_of_correlations_of_lists_has_their_shape() -> None:
    other = np.array([-0.5, 1.1, -1.2, 0.8, 2.0])
    x, x_dot = [-2.0, -1.8, 0.9, 1.85, 1.77], [0.0, 1.0, 2.0, 3.0, 4.0]
    of_list = ad.jvp(lambda x: np.corrcoef(other, x), (x,), (x_dot,))[1]
    of_array = ad.jvp(lambda x: np.corrcoef(other, x), (np.array(x),), (np.array(x_dot),))[1]
    np.testing.assert_allclose(of_list, of_array, atol=1e-12)


def test_bounds_in_a_sequence_that_nobody_looked_at() -> None:
    bounds = pickle.dumps((0.3, 0.5, 0.7))
    right(lambda x: np.sum(np.clip(x, x[1], pickle.loads(bounds)) ** 2), X)
