"""Functions of NumPy with all their arguments, in machine code."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.native.helpers.array_functions import KNOWS_PLANES
from native.agreement import compare
from sampling import THOROUGH


def turned(a, rows, columns):
    d = np.cross(np.sin(a), rows[:, None, :] * rows)
    return np.sum(d * d) + np.sum(np.cross(columns, columns[:, ::-1], axis=0))


def joined(a, m):
    whole = np.hstack([m, np.stack([a[:2] * a[0], a[1:]], axis=1)])
    return np.sum(np.delete(whole, -1, axis=0) ** 2)


def ordered(a, m):
    taken = np.take_along_axis(m, np.argsort(a)[None, :], 1)
    return np.sum(np.partition(m, [0, 2], axis=1)[:, 2] * taken[:, 0]) + np.sort(m, axis=None)[3]


def masked(v, a, cubes):
    b, m = a * 2.0, np.broadcast_to(v > 0, a.shape)
    b[a > 0] *= v[0]
    b[m] -= a[m] * v[1]
    b[~m] = 3.0
    cubes[m] = v[:2] * cubes[m]
    return np.sum(b * b) + np.sum(cubes[a > 0] ** 2)


def methods_of_numbers(a):
    y = np.exp(a[0])
    narrow = y.astype(np.float32) * a[1].astype(float).conj()
    return narrow.astype(np.float64) + a.sum().item() * y.real + y * np.floor(a[2]).astype(int)


PROGRAMS = {
    methods_of_numbers: [(3,)],
    turned: [(3,), (4, 3), (3, 4)],
    joined: [(3,), (2, 3)],
    ordered: [(3,), (2, 3)],
    masked: [(3,), (4, 3), (4, 3, 2)],
}
MANNERS = [
    (turned, "forward", "single"),
    (joined, "gradient", "single"),
    (ordered, "gradient", "fortran"),
    (methods_of_numbers, "gradient", "frozen"),
    (masked, "gradient", "strided"),
]


@pytest.mark.parametrize(("function", "mode", "variant"), MANNERS if THOROUGH else MANNERS[1::3])
def test_they_are_machine_code(function, mode, variant):
    rng = np.random.default_rng(5)
    outcome = compare(function, [rng.normal(size=shape) for shape in PROGRAMS[function]], mode, variant)
    assert outcome.kind == "same", outcome.message


def test_quantiles_have_the_dtype_of_their_array():
    def scaled(x, m):
        return x * np.median(m)

    m = np.linspace(0.0, 1.0, 6, dtype=np.float32) ** 2
    value, gradient = ad.value_and_grad(scaled, native="strict")(np.float32(2.0), m)
    assert value.dtype == gradient.dtype == m.dtype
    assert value == scaled(np.float32(2.0), m)


def test_products_of_vectors_of_two_elements_are_refused():
    def torque(a, b):
        return np.sum(np.cross(a, b))

    planes = r"write a\[0\] \* b\[1\]" if KNOWS_PLANES else "they are 2 and 2 dimensional"
    with pytest.raises(ValueError, match=planes):
        ad.grad(torque, native="strict")(np.ones(2), np.ones(2))
    assert compare(torque, (np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]))).kind == "same"
