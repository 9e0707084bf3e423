"""Functions of NumPy that Numba lacks, or knows with fewer arguments, are machine code all the same."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.native.legalize import python_calls
from adjoint.runtime.array_functions import places
from native.agreement import compare
from sampling import IN_DEPTH, THOROUGH

numba = pytest.importorskip("numba")
import adjoint.native.runtime.declarations  # noqa: E402


@pytest.fixture
def _stays(monkeypatch):
    """Fails where a call leaves the machine code."""

    def left(self, emitted, declared):
        raise AssertionError(f"it leaves the machine code:\n{emitted.text}")

    monkeypatch.setattr(python_calls.ByPython, "__init__", left)


def turned(a, rows, columns):
    d = np.cross(np.sin(a), rows[:, None, :] * rows)
    return np.sum(d * d) + np.sum(np.cross(columns, columns[:2, ::-1], axis=0))


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


@pytest.mark.usefixtures("_stays")
@pytest.mark.parametrize(("function", "mode", "variant"), MANNERS if THOROUGH else MANNERS[1::3])
def test_they_stay_in_machine_code(function, mode, variant):
    rng = np.random.default_rng(5)
    outcome = compare(function, [rng.normal(size=shape) for shape in PROGRAMS[function]], mode, variant)
    assert outcome.kind == "same", outcome.message


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy has given them up")
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

    with pytest.raises(ValueError, match=r"write a\[0\] \* b\[1\]"):
        ad.grad(torque, native="strict")(np.ones(2), np.ones(2))
    assert compare(torque, (np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]))).kind == "same"


@numba.njit
def _parts(ct, a, obj, values):
    return places.uninserted(ct, a, obj, values), places.insertions(ct, a, obj, values)


INSERTIONS = [
    (1, 2.5),
    (-1, np.ones(3)),
    (np.array([3, 0]), np.ones(2)),
    (np.array([3, 0, 3]), 0.5),
    (np.array([2]), np.ones(3)),
]


@IN_DEPTH
@pytest.mark.parametrize(("obj", "values"), INSERTIONS)
def test_cotangents_of_what_is_inserted_into_vectors(obj, values):
    a = np.arange(4.0)
    ct = np.random.default_rng(1).normal(size=np.insert(a, obj, values).shape)
    for found, expected in zip(_parts(ct, a, obj, values), _parts.py_func(ct, a, obj, values), strict=True):
        np.testing.assert_allclose(found, expected)
    with pytest.raises(IndexError):
        _parts(ct, a, obj + 7, values)
