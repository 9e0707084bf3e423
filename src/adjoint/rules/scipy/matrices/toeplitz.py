"""Systems of equations of Toeplitz in ``scipy.linalg``, in as many steps forwards as backwards."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import fft, linalg

from adjoint.rules.declare import bilinear, case, definition, general, sample
from adjoint.runtime.arithmetic.numbers import is_real
from adjoint.runtime.array_functions.linalg import conjugated
from adjoint.runtime.numerical_methods.of_scipy.linalg import lags, toeplitz_solution

C, R = np.array([3.0, 1.0, 0.3]), np.array([0.0, -0.4, 0.2])


def _product(c, r, x):
    """``toeplitz(c, r) @ x`` by a circulant of which it is a part."""
    n, m = np.size(c), np.size(r)
    around = np.concatenate([c, np.flip(r[1:])])
    count = n + m - 1
    columns = np.reshape(x, (m, -1))
    if (is_real(c) and is_real(r) and is_real(x)) or not np.iscomplexobj(around[0] + columns[0]):
        found = fft.irfft(fft.rfft(around)[:, None] * fft.rfft(columns, count, 0), count, 0)
    else:
        found = fft.ifft(fft.fft(around)[:, None] * fft.fft(columns, count, 0), count, 0)
    found = found[:n]
    return np.reshape(found, (n, *np.shape(x)[1:]))


def _solution_jvp(dots, y, c, r, b):
    return toeplitz_solution(c, r, dots[2] - _product(dots[0], dots[1], y))


def _solution_vjp(ct, y, c, r, b):
    turned = np.concatenate([c[:1], r[1:]])
    moved = toeplitz_solution(turned, c, ct)
    row = -lags(y, moved)
    return (-lags(moved, y), np.concatenate([0.0 * row[:1], row[1:]]), moved)


def _lags_vjp(ct, u, x):
    n = np.shape(u)[0]
    others = np.reshape(x, (n, -1))
    u_bar = np.reshape(_product(ct, 0.0 * ct, others), np.shape(u))
    columns = np.reshape(u, (n, -1))
    x_bar = [lags(columns[:, k], ct) for k in range(np.shape(columns)[1])]
    return (u_bar, np.reshape(np.stack(x_bar, axis=1), np.shape(x)))


general(
    toeplitz_solution,
    _solution_jvp,
    _solution_vjp,
    cases=[case(C, R, sample(3)), case(C, R, sample(3, 2)), case(C + 0.2j, R, sample(3))],
)
bilinear(lags, _lags_vjp, cases=[case(sample(4), sample(4)), case(sample(4, 2), sample(4, 2))])


def _column_and_row(c_or_cr):
    """The first column and the first row, which is the column's conjugate where none is given."""
    if isinstance(c_or_cr, list):
        return _column_and_row(np.array(c_or_cr))
    if max(map(np.ndim, c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,))) > 1:
        raise NotImplementedError("stacks of vectors")
    if isinstance(c_or_cr, tuple):
        c, r = c_or_cr
        return np.ravel(c), np.ravel(r)
    c = np.ravel(c_or_cr)
    return c, conjugated(c)


def _solve_toeplitz(c_or_cr, b, check_finite=True):
    c, r = _column_and_row(c_or_cr)
    return toeplitz_solution(c, r, b)


definition(
    linalg.solve_toeplitz,
    _solve_toeplitz,
    only=True,
    arrays=("b",),
    cases=[case(C, sample(3)), case((C, R), sample(3, 2)), case(C + 0.2j, sample(3))],
)


def _matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    c, r = _column_and_row(c_or_cr)
    return _product(c, r, x)


definition(
    linalg.matmul_toeplitz,
    _matmul_toeplitz,
    only=True,
    arrays=("x",),
    cases=[case(sample(4), sample(4)), case((sample(3), sample(3)), sample(3, 2))],
)
