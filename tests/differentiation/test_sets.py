"""What is known of functions for patterns is so: those that move do only that, no result lacks what it depends on."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.differentiation.sets.rules import kind_of
from adjoint.rules import registry
from adjoint.runtime.sets.elements import traced
from adjoint.runtime.sets.numbers import new_unions
from rules import evaluate as ev

MOVES = [rule for rule in registry.all_rules() if rule.cases and kind_of(rule) == "move"]


@pytest.mark.parametrize("rule", MOVES, ids=[rule.name for rule in MOVES])
def test_moves_compute_nothing(rule) -> None:
    """Of numbers of which none is the sum or the difference of others they give some, and zeros."""
    rng = np.random.default_rng(0)
    seen = 0
    for args, kwargs in ev.cases_of(rule, rng):
        given = {0.0, *_numbers(args)}
        found = _numbers([rule.fn(*args, **kwargs)])
        assert set(found) <= given
        seen += len(found)
    assert seen


def _numbers(value):
    """The floats in a value, rounded so that casts change none."""
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in _numbers(item)]
    array = np.asarray(value)
    parts = (array.real, array.imag) if array.dtype.kind in "fc" else ()
    return [float(number) for part in parts for number in np.ravel(part).astype(np.float32)]


ARRAYS = {
    "convolve": lambda x: np.convolve(x, x[:3]),
    "cross": lambda x: np.cross(x[:3], x[3:]),
    "kron": lambda x: np.kron(x[:2], x[2:4]),
    "einsum": lambda x: np.einsum("ij,jk->ki", x.reshape(2, 3), x.reshape(3, 2)),
    "trace": lambda x: np.trace(x[:4].reshape(2, 2)) * x,
    "dot": lambda x: np.dot(x[:4].reshape(2, 2), x[4:]),
    "solve": lambda x: np.linalg.solve(np.eye(3) + np.diag(x[:3]), x[3:]),
    "sort": lambda x: np.sort(x)[:2],
    "maximum": lambda x: np.max(x.reshape(2, 3), axis=1),
    "accumulate": lambda x: np.cumprod(x.reshape(2, 3), axis=1),
    "inner": lambda x: np.inner(x[:4].reshape(2, 2), x[2:].reshape(2, 2)),
    "complex": lambda x: np.real(np.conj(x[:2] + 1j * x[2:4]) * np.exp(1j * x[4:])),
    "imaginary": lambda x: np.imag(x[:2] * 1j + x[2:4]),
    "fft": lambda x: np.real(np.fft.fft(x[:4])),
    "repeat": lambda x: np.repeat(x[:2], [2, 1]) * x[3:],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_functions_of_arrays(name) -> None:
    x = np.random.default_rng(3).uniform(0.5, 2.0, 6)
    f = ARRAYS[name]
    expected = ad.jacobian(f)(x).reshape(-1, 6)
    assert not np.any(~ad.sparsity(f)(x).toarray() & (expected != 0.0))
    total = lambda x: np.sum(f(x) ** 2)
    second = ad.hessian(total)(x)
    assert not np.any(~ad.sparsity(total, kind="hessian")(x).toarray() & (abs(second) > 1e-12))


def test_sums_of_products_are_seen_element_by_element() -> None:
    pattern = ad.sparsity(ARRAYS["kron"])(np.ones(6)).toarray().astype(int)
    assert pattern.tolist() == [[1, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [0, 1, 1, 0, 0, 0], [0, 1, 0, 1, 0, 0]]
    stacked = lambda x: np.sum(np.array([x[0] * x[1], x[2], x[3]]) ** 3)
    pattern = ad.sparsity(stacked, kind="hessian")(np.ones(4)).toarray().astype(int)
    assert pattern.tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_what_looks_at_values_is_not_traced() -> None:
    sets = np.array([1.0, 2.0])
    assert traced(new_unions(2, 4), np.sort, (0,), (sets,), {}) is None
    assert traced(new_unions(2, 4), lambda x: x if x[0] > 0.0 else -x, (0,), (sets,), {}) is None
