"""What NumPy refuses by extents alone is refused by machine code too: there it read and wrote beyond arrays."""

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")


def outcome(derivative, *args):
    """The result; of an exception its class."""
    try:
        return derivative(0.5, *args)
    except (ArithmeticError, ValueError, IndexError) as problem:
        return type(problem)


def products(x, a, b, v):
    return x * (np.sum(a @ b) + np.sum(np.dot(b, v)) + np.sum(v @ b.T))


def masked(x, a, m, i):
    b = a.copy()
    b[m[i]] = 2.0
    return x * np.sum(b[m[i]] * 3.0)


def rows(x, a, b, i):
    c = b.copy()
    c[i] = 2.0
    return x * np.sum(a[i]) * np.sum(c[:, i])


def reshaped(x, a, b, n):
    return x * np.sum(a.reshape(n, -1)) * np.sum(b.ravel())


def factored(x, a):
    u, s, v = np.linalg.svd(a, full_matrices=False)
    q, r = np.linalg.qr(a)
    return x * (np.sum(u) + np.sum(s) + np.sum(v) + np.sum(q) + np.sum(r))


def taken(x, a, i):
    return x * np.sum(np.take_along_axis(a, i[None, :], 1))


MASKS = np.array([[True, False, True], [False, False, True]])
CASES = [
    (products, [np.ones(shape) for shape in shapes], error)
    for shapes, error in [
        (((2, 3), (3, 4), 4), None),
        (((0, 0), (0, 4), 4), None),
        (((0, 0), (3, 4), 4), ValueError),
        (((2, 0), (3, 4), 4), ValueError),
        (((2, 3), (3, 4), 0), ValueError),
        (((2, 0), (0, 0), 4), ValueError),
    ]
]
CASES += [(masked, [np.ones(n), MASKS, 0], error) for n, error in [(3, None), (2, IndexError), (4, IndexError)]]
CASES += [
    (rows, [np.ones(shape), np.ones((3, 3)), i], error)
    for shape, i, error in [
        ((3, 2), -3, None),
        ((3, 0), 1, None),
        ((3, 0), 3, IndexError),
        ((2, 0), -3, IndexError),
        ((3, 2), 3, IndexError),
    ]
]
CASES += [
    (reshaped, [np.ones(shape), np.ones((2, 0)), n], error)
    for shape, n, error in [((2, 3), 3, None), ((0, 3), 3, None), ((0, 3), 0, ValueError), ((2, 3), 4, ValueError)]
]
CASES += [
    (taken, [np.ones((2, 3)), np.array(places)], error)
    for places, error in [([0, -3], None), ([0, 3], IndexError), ([-4, 0], IndexError)]
]
CASES += [(factored, [np.ones(shape)], None) for shape in ((0, 0), (0, 3), (3, 0))]


@pytest.mark.parametrize(("f", "args", "error"), CASES)
def test_extents_are_refused_as_by_numpy(f, args, error):
    expected = outcome(ad.value_and_grad(f), *args)
    assert outcome(ad.value_and_grad(f, native="strict", boundscheck=f is rows), *args) == expected
    assert expected is error if error else isinstance(expected, tuple)


def scattered(a, i, n):
    return np.sum(np.take(a, i, axis=0)) + np.sum(np.diff(a, n))


def test_cotangents_are_put_where_there_are_elements():
    gradient = ad.grad(scattered, native="strict")
    for n in (1, 3, 5):
        args = np.array([1.0, 2.0, 4.0]), np.array([0, -1, 0]), n
        np.testing.assert_array_equal(gradient(*args), ad.grad(scattered)(*args))
    for place in (3, -4):
        with pytest.raises(IndexError):
            gradient(np.ones(3), np.array([0, place]), 1)


def test_places_of_put_are_checked():
    def put(x, i):
        b = np.zeros(3)
        np.put(b, i, x)
        return np.sum(b)

    assert "raise IndexError" in ad.source(ad.grad(put), 1.0, np.array([0]))
