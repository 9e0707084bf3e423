"""Rules of ``np.linalg``.

Factorisations of symmetric matrices (``cholesky``, ``eigh``) look at one triangle; their derivatives take the
matrix to stay symmetric, and their cotangents are symmetric.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, definition, general, linear, no_derivative, sample
from adjoint.runtime.arrays import share, share_forward, spread, unbroadcast
from adjoint.runtime.linalg import (
    as_columns,
    cofactors,
    diagonal_matrix,
    diagonal_of,
    differences,
    from_columns,
    hollow,
    lower_half,
    mirror,
    scaled_by,
    skew,
    transposed,
)
from adjoint.runtime.numbers import divide, power, sign, times

SQUARE = [case(sample(3, 3, kind="regular")), case(sample(2, 3, 3, kind="regular"))]
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
general(
    np.linalg.inv,
    lambda dots, y, a: -y @ dots[0] @ y,
    lambda ct, y, a: (-transposed(y) @ ct @ transposed(y),),
    by_rank={(2,): lambda ct, y, a: (-y.T @ ct @ y.T,)},
    cases=SQUARE,
)
general(
    np.linalg.det,
    lambda dots, y, a: np.sum(dots[0] * cofactors(a), axis=(-2, -1)),
    lambda ct, y, a: (scaled_by(cofactors(a), ct),),
    by_rank={(2,): lambda ct, y, a: (ct * cofactors(a),)},
    cases=[*SQUARE, case(np.array([[1.0, 2.0], [2.0, 4.0]]))],
)


def _cofactors_jvp(dots, y, a):
    inner = np.sum(y * dots[0], axis=(-2, -1))
    return scaled_by(scaled_by(y, inner) - y @ transposed(dots[0]) @ y, 1 / np.linalg.det(a))


def _cofactors_vjp(ct, y, a):
    inner = np.sum(y * ct, axis=(-2, -1))
    return (scaled_by(scaled_by(y, inner) - y @ transposed(ct) @ y, 1 / np.linalg.det(a)),)


general(cofactors, _cofactors_jvp, _cofactors_vjp, cases=SQUARE)
general(
    np.linalg.slogdet,
    lambda dots, y, a: (0.0 * y[0], np.sum(dots[0] * transposed(np.linalg.inv(a)), axis=(-2, -1))),
    lambda ct, y, a: (scaled_by(transposed(np.linalg.inv(a)), ct[1]),),
    by_rank={(2,): lambda ct, y, a: (ct[1] * np.linalg.inv(a).T,)},
    results=2,
    cases=SQUARE,
)


def _cholesky_jvp(dots, y, a):
    inner = np.linalg.solve(y, transposed(np.linalg.solve(y, mirror(dots[0]))))
    return y @ lower_half(inner)


def _cholesky_vjp(ct, y, a):
    half = lower_half(transposed(y) @ ct)
    return (mirror(np.linalg.solve(transposed(y), transposed(np.linalg.solve(transposed(y), transposed(half))))),)


general(np.linalg.cholesky, _cholesky_jvp, _cholesky_vjp, cases=DEFINITE)


def _eigh_jvp(dots, y, a):
    w, v = y
    inner = transposed(v) @ mirror(dots[0]) @ v
    return (diagonal_of(inner), v @ divide(hollow(inner), differences(w)))


def _eigh_vjp(ct, y, a):
    w, v = y
    inner = diagonal_matrix(ct[0]) + divide(hollow(transposed(v) @ ct[1]), differences(w))
    return (mirror(v @ inner @ transposed(v)),)


def _eigvalsh_jvp(dots, y, a):
    _, v = np.linalg.eigh(a)
    return diagonal_of(transposed(v) @ mirror(dots[0]) @ v)


def _eigvalsh_vjp(ct, y, a):
    _, v = np.linalg.eigh(a)
    return (mirror(v @ diagonal_matrix(ct) @ transposed(v)),)


general(np.linalg.eigh, _eigh_jvp, _eigh_vjp, results=2, cases=DEFINITE)
general(np.linalg.eigvalsh, _eigvalsh_jvp, _eigvalsh_vjp, cases=DEFINITE)


def _svd_jvp(dots, y, a, full_matrices=True):
    u, s, vh = y
    v = transposed(vh)
    columns, rows = np.expand_dims(s, -2), np.expand_dims(s, -1)
    inner = transposed(u) @ dots[0] @ v
    gaps = differences(s * s)
    left = divide(hollow(inner * columns + rows * transposed(inner)), gaps)
    right = divide(hollow(rows * inner + transposed(inner) * columns), gaps)
    du = u @ left + (dots[0] @ v - u @ inner) / columns
    dv = v @ right + (transposed(dots[0]) @ u - v @ transposed(inner)) / columns
    return (du, diagonal_of(inner), transposed(dv))


def _svd_vjp(ct, y, a, full_matrices=True):
    u, s, vh = y
    v = transposed(vh)
    u_bar, v_bar = ct[0], transposed(ct[2])
    columns, rows = np.expand_dims(s, -2), np.expand_dims(s, -1)
    gaps = differences(s * s)
    of_u, of_v = transposed(u) @ u_bar, transposed(v) @ v_bar
    inner = divide(hollow(of_u - transposed(of_u)), gaps) * columns + rows * divide(
        hollow(of_v - transposed(of_v)), gaps
    )
    outside_u = (u_bar - u @ of_u) / columns
    outside_v = (v_bar - v @ of_v) / columns
    return (u @ (inner + diagonal_matrix(ct[1])) @ vh + outside_u @ vh + u @ transposed(outside_v),)


general(
    np.linalg.svd,
    _svd_jvp,
    _svd_vjp,
    results=3,
    cases=[
        case(sample(4, 3, kind="distinct"), full_matrices=False),
        case(sample(3, 4, kind="distinct"), full_matrices=False),
        case(sample(3, 3, kind="distinct")),
    ],
)


def _svdvals_jvp(dots, y, x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return diagonal_of(transposed(u) @ dots[0] @ transposed(vh))


def _svdvals_vjp(ct, y, x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return (u @ (np.expand_dims(ct, -1) * vh),)


general(np.linalg.svdvals, _svdvals_jvp, _svdvals_vjp, cases=[case(sample(4, 3, kind="distinct"))])


def _qr_jvp(dots, y, a):
    q, r = y
    x = transposed(np.linalg.solve(transposed(r), transposed(dots[0])))
    inner = transposed(q) @ x
    turn = skew(inner)
    return (x - q @ (inner - turn), (inner - turn) @ r)


def _qr_vjp(ct, y, a):
    q, r = y
    m = r @ transposed(ct[1]) - transposed(ct[0]) @ q
    inner = ct[0] + q @ (np.tril(m) + transposed(np.tril(m, -1)))
    return (transposed(np.linalg.solve(r, transposed(inner))),)


general(
    np.linalg.qr,
    _qr_jvp,
    _qr_vjp,
    results=2,
    cases=[case(sample(4, 3, kind="distinct")), case(sample(3, 3, kind="distinct"))],
)


def _pinv_jvp(dots, y, a):
    da, da_t, y_t = dots[0], transposed(dots[0]), transposed(y)
    outside = y @ y_t @ (da_t - da_t @ a @ y)
    inside = (da_t - y @ a @ da_t) @ y_t @ y
    return outside + inside - y @ da @ y


def _pinv_vjp(ct, y, a):
    ct_t, y_t = transposed(ct), transposed(y)
    outside = (ct_t - a @ (y @ ct_t)) @ y @ y_t
    inside = y_t @ y @ (ct_t - (ct_t @ y) @ a)
    return (outside + inside - y_t @ ct @ y_t,)


general(
    np.linalg.pinv,
    _pinv_jvp,
    _pinv_vjp,
    cases=[case(sample(4, 3, kind="distinct")), case(sample(3, 4, kind="distinct"))],
)


# --- norms ------------------------------------------------------------------------------------------------------------


def _norm_vjp(ct, y, x, ord=None, axis=None, keepdims=False):
    if ord is None or ord == "fro":
        return (times(x, spread(divide(ct, y), x, axis, keepdims)),)
    if (axis is None and np.ndim(x) == 2) or isinstance(axis, tuple):
        raise NotImplementedError(f"the matrix norm of order {ord!r}")
    if ord == 2:
        return (times(x, spread(divide(ct, y), x, axis, keepdims)),)
    if ord == 1:
        return (sign(x) * spread(ct, x, axis, keepdims),)
    if ord in (np.inf, -np.inf):
        return (sign(x) * share(ct, y, np.abs(x), axis, keepdims),)
    scaled = spread(divide(ct, power(y, ord - 1)), x, axis, keepdims)
    return (times(sign(x), power(np.abs(x), ord - 1) * scaled),)


def _norm_jvp(dots, y, x, ord=None, axis=None, keepdims=False):
    if ord is None or ord == "fro":
        return divide(np.sum(x * dots[0], axis=axis, keepdims=keepdims), y)
    if (axis is None and np.ndim(x) == 2) or isinstance(axis, tuple):
        raise NotImplementedError(f"the matrix norm of order {ord!r}")
    if ord == 2:
        return divide(np.sum(x * dots[0], axis=axis, keepdims=keepdims), y)
    if ord == 1:
        return np.sum(sign(x) * dots[0], axis=axis, keepdims=keepdims)
    if ord in (np.inf, -np.inf):
        return share_forward(sign(x) * dots[0], y, np.abs(x), axis, keepdims)
    weights = times(sign(x), power(np.abs(x), ord - 1))
    return divide(np.sum(weights * dots[0], axis=axis, keepdims=keepdims), power(y, ord - 1))


general(
    np.linalg.norm,
    _norm_jvp,
    _norm_vjp,
    cases=[
        case(sample(4)),
        case(sample(4, 3)),
        case(sample(4, 3), axis=1),
        case(sample(4, 3), axis=1, keepdims=True),
        case(sample(4, 3), "fro"),
        case(sample(4), 2),
        case(sample(4), 1),
        case(sample(4), np.inf),
        case(sample(4, 3), 3, axis=0),
        case(sample(2, 4, 3), axis=(1, 2)),
    ],
)


def _matrix_power(a, n):
    if n < 0:
        a = np.linalg.inv(a)
        n = -n
    if n == 1:
        return a
    result = np.eye(np.shape(a)[-1]) + np.zeros_like(a)
    for _ in range(n):
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
definition(np.linalg.multi_dot, _multi_dot, cases=[case([sample(4, 3), sample(3, 2), sample(2, 5)])])
no_derivative(np.linalg.matrix_rank)

# what these rules are made of

linear(transposed, lambda ct, a: transposed(ct), view_of=0, cases=[case(sample(2, 4, 3))])
linear(as_columns, lambda ct, x, b: from_columns(ct, b), view_of=0, cases=[case(sample(3), sample(3))])
linear(from_columns, lambda ct, x, b: as_columns(ct, b), view_of=0, cases=[case(sample(3, 1), sample(3))])
linear(lower_half, lambda ct, m: lower_half(ct), cases=[case(sample(3, 3))])
linear(mirror, lambda ct, m: mirror(ct), cases=[case(sample(3, 3))])
linear(skew, lambda ct, m: np.tril(ct - transposed(ct), -1), cases=[case(sample(3, 3))])
linear(hollow, lambda ct, m: hollow(ct), cases=[case(sample(3, 3))])
linear(diagonal_matrix, lambda ct, d: diagonal_of(ct), cases=[case(sample(2, 3))])
linear(diagonal_of, lambda ct, m: diagonal_matrix(ct), cases=[case(sample(2, 3, 3))])
linear(differences, lambda ct, w: np.sum(ct, axis=-2) - np.sum(ct, axis=-1), cases=[case(sample(2, 3))])
general(
    scaled_by,
    lambda dots, y, m, factor: scaled_by(dots[0], factor) + scaled_by(m, dots[1]),
    lambda ct, y, m, factor: (scaled_by(ct, factor), unbroadcast(np.sum(ct * m, axis=(-2, -1)), factor)),
    cases=[case(sample(2, 3, 3), sample(2)), case(sample(3, 3), 1.5)],
)
