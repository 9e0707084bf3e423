"""Rules of ``np.linalg``: systems of equations, determinants, factorisations that are not of eigenvalues.

Factorisations of symmetric and Hermitian matrices (``cholesky``, ``eigh``) look at one triangle. So do their
derivatives: a cotangent has all that belongs to a pair of elements in the one that is looked at. Only so are they right
also where a program fills one triangle, or changes its elements one by one.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from adjoint.rules.declare import case, constant, definition, general, linear, no_derivative, or_zero, sample
from adjoint.runtime.arithmetic.numbers import is_real
from adjoint.runtime.array_functions import linalg
from adjoint.runtime.array_functions.arrays import copy_laid_out_like, fitted, unbroadcast
from adjoint.runtime.array_functions.cholesky import by_blocks, cholesky_pullback
from adjoint.runtime.array_functions.linalg import (
    as_columns,
    cofactors,
    cofactors_along,
    completed,
    conjugated,
    folded,
    from_columns,
    hermitian,
    lower_half,
    scaled_by,
    skew,
    solving,
    transposed,
    unskew,
)
from adjoint.runtime.array_functions.lu import inverse_factored, lu_factors, slogdet_factored, solve_factored
from adjoint.runtime.array_functions.triangular import solve_triangular

ONE = np.ones((1, 1))
QRResult = type(np.linalg.qr(ONE))
SQUARE = [case(sample(3, 3, kind="regular")), case(sample(2, 3, 3, kind="regular"))]
SQUARES = [*SQUARE, case(sample(3, 3, kind="complex")), case(sample(2, 3, 3, kind="complex"))]
DEFINITE = [case(sample(3, 3, kind="definite")), case(sample(2, 3, 3, kind="definite"))]


def _solve_jvp(dots, y, a, b):
    residual = as_columns(dots[1], b) - np.matmul(dots[0], as_columns(y, b))
    return from_columns(np.linalg.solve(a, residual), b)


def _solve_vjp(ct, y, a, b):
    b_bar = np.linalg.solve(transposed(a), as_columns(ct, b))
    a_bar = -np.matmul(b_bar, transposed(as_columns(y, b)))
    return (unbroadcast(a_bar, a), unbroadcast(from_columns(b_bar, b), b))


def _solve_vector(ct, y, a, b):
    b_bar = np.linalg.solve(a.T, ct)
    return (-np.outer(b_bar, y), b_bar)


def _solve_matrix(ct, y, a, b):
    b_bar = np.linalg.solve(a.T, ct)
    return (-b_bar @ y.T, b_bar)


general(
    np.linalg.solve,
    _solve_jvp,
    _solve_vjp,
    by_rank={(2, 1): _solve_vector, (2, 2): _solve_matrix},
    cases=[
        case(sample(3, 3, kind="regular"), sample(3)),
        case(sample(3, 3, kind="regular"), sample(3, 2)),
        case(sample(2, 3, 3, kind="regular"), sample(3, 2)),
        case(sample(2, 3, 3, kind="regular"), sample(3)),
    ],
)
TRIANGLES_TO_SOLVE = [
    case(np.array([[2.0, 0.0, 0.0], [0.3, 1.5, 0.0], [-0.7, 0.4, 1.2]]), sample(3, 2), True),
    case(np.array([[2.0, 0.3, -0.7], [0.0, 1.5, 0.4], [0.0, 0.0, 1.2]]), sample(3, 2), False),
    case(np.stack([np.eye(3) + 0.2 * np.eye(3, k=-1)] * 2), sample(2, 3, 2), True),
]


def _solve_triangular_jvp(dots, y, a, b, lower):
    return solve_triangular(a, dots[1] - dots[0] @ y, lower)


def _solve_triangular_vjp(ct, y, a, b, lower):
    b_bar = solve_triangular(transposed(a), ct, not lower)
    return (-b_bar @ transposed(y), b_bar)


general(solve_triangular, _solve_triangular_jvp, _solve_triangular_vjp, fresh=True, cases=TRIANGLES_TO_SOLVE)
no_derivative(lu_factors, view_of=0, results=2)  # what is made of matrices and solutions once all is differentiated
no_derivative(solve_factored, inverse_factored, fresh=True)
no_derivative(slogdet_factored, results=2)
general(
    np.linalg.inv,
    lambda dots, y, a: -y @ dots[0] @ y,
    lambda ct, y, a: (-transposed(y) @ ct @ transposed(y),),
    by_rank={(2,): lambda ct, y, a: (-y.T @ ct @ y.T,)},
    cases=SQUARES,
)
general(
    np.linalg.det,
    lambda dots, y, a: np.sum(dots[0] * cofactors(a), axis=(-2, -1)),
    lambda ct, y, a: (scaled_by(cofactors(a), ct),),
    by_rank={(2,): lambda ct, y, a: (ct * cofactors(a),)},
    cases=[*SQUARES, case(np.array([[1.0, 2.0], [2.0, 4.0]]))],
)


def _of_one(matrix):
    return np.sum(matrix, axis=(-2, -1))


def _third(a, one, other):
    """The third derivative of the determinant of a regular matrix along two directions, which is symmetric in all."""
    c, size = cofactors(a), np.linalg.det(a)
    turned = cofactors_along(a, other)
    along = scaled_by(turned, _of_one(c * one)) + scaled_by(c, _of_one(turned * one))
    along = along - turned @ transposed(one) @ c - c @ transposed(one) @ turned
    return scaled_by(along - scaled_by(cofactors_along(a, one), _of_one(c * other)), 1 / size)


general(
    cofactors,
    lambda dots, y, a: cofactors_along(a, dots[0]),
    lambda ct, y, a: (cofactors_along(a, ct),),
    cases=[*SQUARES, case(np.array([[1.0, 2.0], [2.0, 4.0]]))],
)
general(
    cofactors_along,
    lambda dots, y, a, direction: cofactors_along(a, dots[1]) + _third(a, direction, dots[0]),
    lambda ct, y, a, direction: (_third(a, direction, ct), cofactors_along(a, ct)),
    cases=[case(sample(3, 3, kind="regular"), sample(3, 3)), case(sample(2, 2, kind="regular"), sample(2, 2))],
)


def _slogdet_jvp(dots, y, a):
    relative = np.sum(dots[0] * transposed(np.linalg.inv(a)), axis=(-2, -1))
    if is_real(a):
        return (0.0 * y[0], relative)
    return (unbroadcast(1j * y[0] * np.imag(relative), y[0]), np.real(relative))


def _slogdet_vjp(ct, y, a):
    if is_real(a):
        return (scaled_by(transposed(np.linalg.inv(a)), ct[1]),)
    return (scaled_by(transposed(np.linalg.inv(a)), ct[1] + 1j * np.imag(ct[0] * y[0])),)


def _slogdet_of_one(ct, y, a):
    if is_real(a):
        return (ct[1] * np.linalg.inv(a).T,)
    return ((ct[1] + 1j * np.imag(ct[0] * y[0])) * np.linalg.inv(a).T,)


general(
    np.linalg.slogdet,
    _slogdet_jvp,
    _slogdet_vjp,
    by_rank={(2,): _slogdet_of_one},
    results=2,
    result_class=type(np.linalg.slogdet(ONE)),
    cases=SQUARES,
)


def _cholesky_jvp(dots, y, a, /, *, upper=False):
    lower = hermitian(y) if upper else y
    inner = solve_triangular(lower, hermitian(solve_triangular(lower, completed(dots[0], not upper), True)), True)
    dot = lower @ lower_half(inner)
    return hermitian(dot) if upper else dot


def _cholesky_vjp(ct, y, a, /, *, upper=False):
    if upper:
        return (hermitian(cholesky_pullback(hermitian(ct), hermitian(y))),)
    return (cholesky_pullback(ct, y),)


general(
    np.linalg.cholesky,
    _cholesky_jvp,
    _cholesky_vjp,
    cases=[*DEFINITE, *[case(*call.args, upper=True) for call in DEFINITE]],
)


def _cholesky_pullback_jvp(dots, y, ct, factor):
    inner = solve_triangular(transposed(factor), transposed(dots[1]), False)
    return cholesky_pullback(dots[0] + inner @ ct, factor) - folded((y + hermitian(y)) @ hermitian(inner))


def _cholesky_pullback_vjp(ct, y, cotangent, factor):
    whole = completed(ct)
    inner = solve_triangular(factor, hermitian(solve_triangular(factor, whole, True)), True)
    moved = factor @ lower_half(inner)
    both = moved @ transposed(cotangent) - whole @ conjugated(y + hermitian(y))
    return (moved, transposed(solve_triangular(factor, both, True)))


LOWER = np.array([[2.0, 0.0, 0.0], [0.3, 1.5, 0.0], [-0.7, 0.4, 1.2]])
FACTORS = [case(sample(3, 3), LOWER), case(sample(2, 3, 3), np.stack([LOWER, 2 * LOWER]))]
general(cholesky_pullback, _cholesky_pullback_jvp, _cholesky_pullback_vjp, fresh=True, cases=FACTORS)
no_derivative(by_blocks, fresh=True)  # machine code calls it, once all is differentiated


# --- factorisations of rectangular matrices ---------------------------------------------------------------------------


def _qr_jvp(dots, y, a):
    q, r = y
    size = np.shape(q)[-1]
    x = transposed(solve_triangular(transposed(r[..., :size]), transposed(dots[0][..., :size]), True))
    inner = hermitian(q) @ x
    q_dot = x - q @ (inner - skew(inner))
    return (q_dot, np.triu(hermitian(q_dot) @ a + hermitian(q) @ dots[0]))


def _qr_vjp(ct, y, a):
    q, r = y
    r_bar = np.triu(ct[1])
    q_bar = ct[0] + conjugated(a) @ hermitian(r_bar)
    inner = transposed(q) @ q_bar
    leading = q_bar - conjugated(q) @ (inner - unskew(inner))
    leading = transposed(solve_triangular(r[..., : np.shape(q)[-1]], transposed(leading), False))
    return (conjugated(q) @ r_bar + fitted(leading, a),)


general(
    np.linalg.qr,
    _qr_jvp,
    _qr_vjp,
    results=2,
    result_class=QRResult,
    cases=[
        case(sample(4, 3, kind="distinct")),
        case(sample(3, 3, kind="distinct")),
        case(sample(2, 3, 5, kind="distinct")),
        case(sample(4, 3, kind="complex")),
        case(sample(3, 4, kind="complex")),
    ],
)
definition(
    np.linalg.qr,
    lambda a, mode="reduced": np.linalg.qr(a),
    when=lambda given: given.get("mode") == "reduced",
    cases=[case(sample(4, 3), mode="reduced")],
)
definition(
    np.linalg.qr,
    lambda a, mode="reduced": np.linalg.qr(a)[1],
    when=lambda given: given.get("mode") == "r",
    cases=[case(sample(4, 3), mode="r")],
)


def _complete_qr(a, mode="reduced"):
    q, r = np.linalg.qr(a)
    rows, columns = np.shape(a)[-2:]
    if rows <= columns:
        return QRResult(q, r)
    below = np.zeros((*np.shape(a)[:-2], rows - columns, columns), r.dtype)
    return QRResult(linalg.with_further_columns(q, linalg.as_given(a)), np.concatenate([r, below], axis=-2))


general(
    linalg.with_further_columns,
    lambda dots, y, q, a: np.concatenate([dots[0], np.full(np.shape(y[..., np.shape(q)[-1] :]), np.nan)], axis=-1),
    lambda ct, y, q, a: (linalg.within_columns(ct, q), None),
    fixed=(1,),
    cases=[case(sample(3, 3), np.eye(3))],
)
constant(linalg.as_given, view_of=0)
linear(linalg.within_columns, lambda ct, whole, q: fitted(ct, whole), view_of=0, cases=[case(sample(3, 3), np.eye(3))])
definition(
    np.linalg.qr,
    _complete_qr,
    when=lambda given: given.get("mode") == "complete",
    cases=[case(sample(3, 3, kind="distinct"), mode="complete"), case(sample(3, 4, kind="distinct"), mode="complete")],
)


def _pinv_jvp(dots, y, a):
    da, da_h, y_h = dots[0], hermitian(dots[0]), hermitian(y)
    outside = y @ y_h @ (da_h - da_h @ a @ y)
    inside = (da_h - y @ a @ da_h) @ y_h @ y
    return outside + inside - y @ da @ y


def _pinv_vjp(ct, y, a):
    ct_h, y_t, y_c, a_c = hermitian(ct), transposed(y), conjugated(y), conjugated(a)
    outside = (ct_h - a_c @ (y_c @ ct_h)) @ y_c @ y_t
    inside = y_t @ y_c @ (ct_h - (ct_h @ y_c) @ a_c)
    return (outside + inside - y_t @ ct @ y_t,)


RECTANGULAR = [
    case(sample(4, 3, kind="distinct")),
    case(sample(3, 4, kind="distinct")),
    case(sample(4, 3, kind="complex")),
    case(sample(3, 4, kind="complex")),
]
general(np.linalg.pinv, _pinv_jvp, _pinv_vjp, cases=[*RECTANGULAR, case(sample(2, 4, 3)), case(sample(2, 3, 4))])
general(
    solving,
    lambda dots, y, a, rcond=None: _pinv_jvp(dots, y, a),
    lambda ct, y, a, rcond=None: _pinv_vjp(ct, y, a),
    cases=RECTANGULAR,
)


# --- least squares ----------------------------------------------------------------------------------------------------


def _least_squares_jvp(dots, y, a, b, rcond=None):
    x, inverse, a_dot_h = as_columns(y, b), solving(a, rcond), hermitian(dots[0])
    off = as_columns(b, b) - a @ x
    moved = inverse @ (as_columns(dots[1], b) - dots[0] @ x)
    outside = inverse @ (hermitian(inverse) @ (a_dot_h @ off))
    within = a_dot_h @ (hermitian(inverse) @ x)
    return from_columns(moved + outside + within - inverse @ (a @ within), b)


def _least_squares_vjp(ct, y, a, b, rcond=None):
    x, inverse, ct_ = as_columns(y, b), solving(a, rcond), as_columns(ct, b)
    ct_h, inverse_c = hermitian(ct_), conjugated(inverse)
    off = conjugated(as_columns(b, b) - a @ x)
    b_bar = transposed(inverse) @ ct_
    outside = (off @ ct_h) @ inverse_c @ transposed(inverse)
    within = transposed(inverse) @ conjugated(x) @ (ct_h - (ct_h @ inverse_c) @ conjugated(a))
    return (outside + within - b_bar @ transposed(x), from_columns(b_bar, b))


SYSTEMS = [
    case(sample(5, 3, kind="distinct"), sample(5)),
    case(sample(5, 3, kind="distinct"), sample(5, 2)),
    case(sample(3, 5, kind="distinct"), sample(3)),
    case(sample(3, 3, kind="regular"), sample(3, 2)),
    case(sample(5, 3, kind="complex"), sample(5, 2)),
    case(sample(3, 4, kind="complex"), sample(3, kind="complex")),
]
general(linalg.least_squares, _least_squares_jvp, _least_squares_vjp, fixed=(2,), cases=SYSTEMS)
no_derivative(linalg.least_squares_rank)


def _lstsq(a, b, rcond=None):
    x = linalg.least_squares(a, b, rcond)
    rank = linalg.least_squares_rank(a, b, rcond)
    if rank == np.shape(a)[1] and np.shape(a)[0] > rank:
        residuals = np.sum(np.abs(as_columns(b, b) - a @ as_columns(x, b)) ** 2, axis=0)
    else:
        residuals = np.zeros(0)
    return x, residuals, rank, np.linalg.svdvals(a)


definition(np.linalg.lstsq, _lstsq, cases=[*SYSTEMS, case(sample(5, 3), sample(5), rcond=1e-6)])


# --- products and tensors ---------------------------------------------------------------------------------------------


def _matrix_power(a, n):
    if n < 0:
        a = np.linalg.inv(a)
        n = -n
    if n == 1:
        return a
    if n == 0:
        return copy_laid_out_like(np.eye(np.shape(a)[-1], dtype=np.result_type(a)) + np.zeros_like(a), a)
    result = a
    for _ in range(n - 1):
        result = np.matmul(result, a)
    return result


def _multi_dot(arrays):
    product = arrays[0]
    for array in arrays[1:]:
        product = np.dot(product, array)
    return product


definition(
    np.linalg.matrix_power,
    _matrix_power,
    cases=[case(sample(3, 3, kind="regular"), n) for n in (0, 1, 3, -2)],
)
definition(np.linalg.multi_dot, _multi_dot, arrays=(), cases=[case([sample(4, 3), sample(3, 2), sample(2, 5)])])


def _tensorinv(a, ind=2):
    shape = np.shape(a)
    rows = math.prod(shape[ind:])
    return np.reshape(np.linalg.inv(np.reshape(a, (rows, -1))), (*shape[ind:], *shape[:ind]))


def _tensorsolve(a, b, axes=None):
    if axes is not None:
        kept = [k for k in range(np.ndim(a)) if k not in axes]
        a = np.transpose(a, [*kept, *axes])
    unknown = np.shape(a)[np.ndim(b) :]
    return np.reshape(np.linalg.solve(np.reshape(a, (np.size(b), -1)), np.ravel(b)), unknown)


definition(
    np.linalg.tensorinv,
    _tensorinv,
    cases=[case(np.eye(6).reshape(2, 3, 6) + 0.1, ind=2), case(np.eye(6).reshape(6, 3, 2) + 0.1, ind=1)],
)
definition(
    np.linalg.tensorsolve,
    _tensorsolve,
    cases=[
        case(np.eye(6).reshape(2, 3, 6) + 0.1, sample(2, 3)),
        case(np.eye(6).reshape(2, 6, 3) + 0.1, sample(6), (0,)),
    ],
)
no_derivative(np.linalg.matrix_rank)

# what these rules are made of

MATRICES = [case(sample(3, 3)), case(sample(2, 3, 3, kind="complex"))]
TRIANGLES = [*MATRICES, case(sample(3, 3), False), case(sample(3, 3, kind="complex"), False)]

linear(transposed, lambda ct, a: transposed(ct), view_of=0, cases=[case(sample(2, 4, 3))])
linear(as_columns, lambda ct, x, b: from_columns(ct, b), view_of=0, cases=[case(sample(3), sample(3))])
linear(from_columns, lambda ct, x, b: as_columns(ct, b), view_of=0, cases=[case(sample(3, 1), sample(3))])
linear(lower_half, lambda ct, m: lower_half(ct), fresh=True, cases=[case(sample(3, 3))])
linear(completed, lambda ct, m, lower=True: folded(ct, lower), fresh=True, cases=TRIANGLES)
linear(folded, lambda ct, x_ct, lower=True: completed(ct, lower), fresh=True, cases=TRIANGLES)
linear(skew, lambda ct, m: unskew(ct), cases=MATRICES)
linear(unskew, lambda ct, m: skew(ct), cases=MATRICES)
linear(conjugated, lambda ct, a: conjugated(ct), view_of=0, cases=MATRICES)
linear(hermitian, lambda ct, a: hermitian(ct), view_of=0, cases=MATRICES)
general(
    scaled_by,
    lambda dots, y, m, factor: scaled_by(dots[0], factor) + scaled_by(m, or_zero(dots[1])),
    lambda ct, y, m, factor: (scaled_by(ct, factor), unbroadcast(np.sum(ct * m, axis=(-2, -1)), factor)),
    cases=[case(sample(2, 3, 3), sample(2)), case(sample(3, 3), 1.5)],
)
