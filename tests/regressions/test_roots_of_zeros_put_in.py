"""Roots of arrays into which constant zeros were put: nothing depends on anything there, in forward mode neither."""

import numpy as np
import pytest

import adjoint as ad

X = np.array([1.0, 3.0, 2.0])


def filled(x):
    d = x[:, None] * x
    np.fill_diagonal(d, 0.0)
    return np.sqrt(d)


def filled_outer(x):
    d = np.outer(x, x)
    np.fill_diagonal(d, 0.0)
    return np.sqrt(d)


def filled_gram(x):
    column = x.reshape(3, 1)
    d = column @ column.T
    np.fill_diagonal(d, 0.0)
    return np.sqrt(d)


def filled_einsum(x):
    d = np.einsum("i,j->ij", x, x)
    d[np.arange(3), np.arange(3)] = 0.0
    return np.sqrt(d)


def written_outer(x):
    d = np.outer(x, x)
    d[0, 1] = x[2] * x[2]
    return np.sqrt(d)


def written_kron(x):
    d = np.kron(x, x[:2])
    view = d[1:4]
    view[:] = x * x
    return np.sqrt(d)


def scaled_outer(x):
    d = np.outer(x, x)
    d *= x[0]
    d[:, 1] = 0.0
    return np.sqrt(d)


def put_in_front(x):
    d = np.roll(x * x, 1)
    d[0] = 0.0
    return np.sqrt(d)


PROGRAMS = {
    "pad": lambda x: np.sqrt(np.pad(x * x, 1)),
    "pad_of_x": lambda x: np.sqrt(np.pad(x, 1)),
    "cbrt": lambda x: np.cbrt(np.pad(x * x, 1)),
    "power": lambda x: np.pad(x * x, 1) ** 0.3,
    "insert": lambda x: np.sqrt(np.insert(x * x, 1, 0.0)),
    "insert_in_front": lambda x: np.sqrt(np.insert(x * x, 0, 0.0)),
    "delete": lambda x: np.sqrt(np.delete(np.insert(x * x, 0, 0.0), 1)),
    "array": lambda x: np.sqrt(np.array([0.0, x[0] * x[1], x[0]])),
    "matrix": lambda x: np.sqrt(np.array([[0.0, x[0] * x[1]], [x[2], 0.0]])),
    "starred": lambda x: np.sqrt(np.array([0.0, *(x * x)])),
    "vstack": lambda x: np.sqrt(np.vstack([np.zeros(3), x * x])),
    "append": lambda x: np.sqrt(np.append(x * x, 0.0)),
    "r_": lambda x: np.sqrt(np.r_[0.0, x * x]),
    "diag": lambda x: np.sqrt(np.diag(x * x)),
    "tril": lambda x: np.sqrt(np.tril(x[:, None] * x)),
    "cumsum": lambda x: np.sqrt(np.cumsum(np.insert(x * x, 0, 0.0))),
    "filled": filled,
    "outer": lambda x: np.sqrt(np.outer(x, x)),
    "matmul": lambda x: np.sqrt(x[:, None] @ x[None, :]),
    "of_zeros_put_in": lambda x: np.sqrt(np.outer(np.insert(x * x, 1, 0.0), x)),
    "convolve": lambda x: np.sqrt(np.convolve(x, x)),
    "convolve_same": lambda x: np.sqrt(np.convolve(x, x[:2], "same")),
    "tensordot_axes": lambda x: np.sqrt(np.tensordot(x, x, axes=0)),
    "inner": lambda x: np.sqrt(np.inner(x[:, None], x[:, None])),
    "dot": lambda x: np.sqrt(np.diag(x) @ np.insert(x, 0, 0.0)[:3]),
    "kron": lambda x: np.sqrt(np.kron(x, x[:2])),
    "einsum": lambda x: np.sqrt(np.einsum("i,j->ij", x, x)),
    "einsum_dot": lambda x: np.sqrt(np.einsum("i,i->", x, x)),
    "einsum_of_three": lambda x: np.sqrt(np.einsum("i,i,i->", x, x, x)),
    "einsum_of_elements": lambda x: np.sqrt(np.einsum("i,i->i", x, x)),
    "prod": lambda x: np.sqrt(np.prod(x)),
    "norm": lambda x: np.sqrt(np.linalg.norm(x)),
    "det": lambda x: np.sqrt(np.linalg.det(np.diag(x[:2]))),
    "matrix_power": lambda x: np.sqrt(np.linalg.matrix_power(np.diag(x), 2)),
    "solve": lambda x: np.sqrt(np.linalg.solve(np.diag(x + 1.0), x * x)),
    "var": lambda x: np.sqrt(np.var(x)),
    "interp": lambda x: np.sqrt(np.interp(x[0], np.array([0.0, 1.0]), x[1:])),
    "sorted": lambda x: np.sqrt(np.sort(x * x)),
    "along": lambda x: np.sqrt(np.take_along_axis(x * x, np.array([2, 1, 0]), 0)),
    "rows": lambda x: np.apply_along_axis(lambda row: np.sqrt(row @ row), 1, np.outer(x, x)),
    "correlate": lambda x: np.sqrt(np.correlate(x, x, "full")),
    "filled_outer": filled_outer,
    "filled_gram": filled_gram,
    "filled_einsum": filled_einsum,
    "written_outer": written_outer,
    "written_kron": written_kron,
    "scaled_outer": scaled_outer,
    "put_in_front": put_in_front,
}


ZERO_BY_CHANCE = "of_zeros_put_in", "dot", "matrix_power"
"""Products with zeros that were put in: computed zeros, at which the root has no slope."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_forward_and_reverse(name) -> None:
    program = PROGRAMS[name]
    for at in (X, np.zeros(3), np.array([0.0, 1.0, 2.0])):
        with np.errstate(all="ignore"):
            value, pullback = ad.vjp(program, at)
            rows = [pullback(unit.reshape(value.shape))[0] for unit in np.eye(value.size)]
            tangents = [np.ravel(ad.jvp(program, (at,), (unit,))[1]) for unit in np.eye(3)]
        assert np.allclose(np.transpose(tangents), rows, rtol=1e-12, equal_nan=True)
        assert at is not X or name in ZERO_BY_CHANCE or np.all(np.isfinite(rows))
