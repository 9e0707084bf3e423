"""Rules of eigenvalues, singular values, and the roots of polynomials, which are eigenvalues, too.

What is not determined has no derivative: those of vectors of eigenvalues that are equal to rounding, and of those that
``full_matrices`` adds, are not numbers. The phases of eigenvectors of Hermitian matrices, and of singular vectors of
complex ones, are arbitrary: a cotangent that depends on them is not a number, and tangents are those of vectors that do
not turn. Eigenvectors of other matrices are normalised as LAPACK does it: of length one, their largest element real.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, constant, definition, general, linear, no_derivative, sample
from adjoint.runtime.arithmetic.numbers import divide, is_real
from adjoint.runtime.array_functions.arrays import fitted, unbroadcast
from adjoint.runtime.array_functions.linalg import (
    completed,
    conjugated,
    diagonal_matrix,
    diagonal_of,
    differences,
    distinct,
    folded,
    gaps,
    hermitian,
    hollow,
    narrowed,
    occupied,
    pivots,
    transposed,
    widened,
    without_phase,
)

ONE = np.ones((1, 1))
DEFINITE = [case(sample(3, 3, kind="definite")), case(sample(2, 3, 3, kind="definite"))]


def _real(x):
    return x if is_real(x) else np.real(x)


# --- symmetric and Hermitian matrices ---------------------------------------------------------------------------------


def eigh_jvp(dots, y, a, UPLO="L"):
    w, v = y
    inner = hermitian(v) @ completed(dots[0], UPLO == "L" or UPLO == "l") @ v
    return (_real(diagonal_of(inner)), v @ divide(hollow(inner), gaps(w) * distinct(w)))


def eigh_vjp(ct, y, a, UPLO="L"):
    w, v = y
    inner = diagonal_matrix(ct[0]) + divide(
        without_phase(transposed(v) @ ct[1]), gaps(w) * distinct(w, occupied(ct[1]))
    )
    return (folded(conjugated(v) @ inner @ transposed(v), UPLO == "L" or UPLO == "l"),)


def _eigvalsh_jvp(dots, y, a, UPLO="L"):
    _, v = np.linalg.eigh(a, UPLO)
    return _real(diagonal_of(hermitian(v) @ completed(dots[0], UPLO == "L" or UPLO == "l") @ v))


def _eigvalsh_vjp(ct, y, a, UPLO="L"):
    _, v = np.linalg.eigh(a, UPLO)
    return (folded(conjugated(v) @ diagonal_matrix(ct) @ transposed(v), UPLO == "L" or UPLO == "l"),)


general(
    np.linalg.eigh,
    eigh_jvp,
    eigh_vjp,
    results=2,
    result_class=type(np.linalg.eigh(ONE)),
    cases=[*DEFINITE, case(sample(3, 3, kind="definite"), "U")],
)
general(np.linalg.eigvalsh, _eigvalsh_jvp, _eigvalsh_vjp, cases=[*DEFINITE, case(sample(3, 3, kind="definite"), "U")])


# --- singular values --------------------------------------------------------------------------------------------------


def _svd_jvp(dots, y, a, full_matrices=True):
    size = np.shape(y[1])[-1]
    u, s, v = y[0][..., :size], y[1], hermitian(y[2])[..., :size]
    columns, rows = np.expand_dims(s, -2), np.expand_dims(s, -1)
    inner = hermitian(u) @ dots[0] @ v
    apart = gaps(s * s) * distinct(s)
    left = divide(hollow(inner * columns + rows * hermitian(inner)), apart)
    right = divide(hollow(rows * inner + hermitian(inner) * columns), apart)
    du = u @ left + divide(dots[0] @ v - u @ inner, columns)
    dv = v @ right + divide(hermitian(dots[0]) @ u - v @ hermitian(inner), columns)
    if not is_real(inner):
        turned = 0.5j * divide(np.imag(diagonal_of(inner)), s)
        du = unbroadcast(du + u * np.expand_dims(turned, -2), u)
        dv = unbroadcast(dv - v * np.expand_dims(turned, -2), v)
    if full_matrices:
        return (widened(du, y[0]), _real(diagonal_of(inner)), hermitian(widened(dv, hermitian(y[2]))))
    return (du, _real(diagonal_of(inner)), hermitian(dv))


def _svd_vjp(ct, y, a, full_matrices=True):
    size = np.shape(y[1])[-1]
    u, s, v = y[0][..., :size], y[1], hermitian(y[2])[..., :size]
    u_bar, v_bar = ct[0], hermitian(ct[2])
    if full_matrices:
        u_bar, v_bar = narrowed(u_bar, u), narrowed(v_bar, v)
    columns, rows = np.expand_dims(s, -2), np.expand_dims(s, -1)
    apart = gaps(s * s) * distinct(s, occupied(u_bar) | occupied(v_bar))
    of_u, of_v = transposed(u) @ u_bar, transposed(v) @ v_bar
    inner = divide(hollow(of_u - hermitian(of_u)), apart) * columns
    inner = inner + rows * divide(hollow(of_v - hermitian(of_v)), apart) + diagonal_matrix(ct[1])
    if not is_real(of_u):
        turned = np.imag(diagonal_of(of_u)) - np.imag(diagonal_of(of_v))
        inner = inner + diagonal_matrix(0.5j * divide(turned, s)) + 0.0 * without_phase(of_u + of_v)
    outside_u = divide(u_bar - conjugated(u) @ of_u, columns)
    outside_v = divide(v_bar - conjugated(v) @ of_v, columns)
    return (conjugated(u) @ (inner @ transposed(v) + hermitian(outside_v)) + outside_u @ transposed(v),)


general(
    np.linalg.svd,
    _svd_jvp,
    _svd_vjp,
    results=3,
    result_class=type(np.linalg.svd(ONE)),
    cases=[
        case(sample(4, 3, kind="distinct"), full_matrices=False),
        case(sample(3, 4, kind="distinct"), full_matrices=False),
        case(sample(3, 3, kind="distinct")),
        case(sample(2, 3, 3, kind="distinct")),
    ],
)


def _svdvals_jvp(dots, y, x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return _real(diagonal_of(hermitian(u) @ dots[0] @ hermitian(vh)))


def _svdvals_vjp(ct, y, x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return (conjugated(u) @ (np.expand_dims(ct, -1) * conjugated(vh)),)


general(
    np.linalg.svdvals,
    _svdvals_jvp,
    _svdvals_vjp,
    cases=[case(sample(4, 3, kind="distinct")), case(sample(2, 3, 4)), case(sample(3, 4, kind="complex"))],
)
definition(
    np.linalg.svd,
    lambda a, full_matrices=True, compute_uv=True: np.linalg.svdvals(a),
    when=lambda given: given.get("compute_uv", True) in (False, 0),
    cases=[case(sample(4, 3), compute_uv=False), case(sample(3, 4), False, 0)],
)


# --- other matrices ---------------------------------------------------------------------------------------------------


def _eig_jvp(dots, y, a):
    w, v = y
    inner = np.linalg.solve(v, dots[0] @ v)
    moved = v @ divide(hollow(inner), gaps(w))
    stretch = np.sum(_real(conjugated(v) * moved), axis=-2, keepdims=True)
    place = pivots(v)
    turn = np.sum(place * moved, axis=-2, keepdims=True) / np.sum(place * v, axis=-2, keepdims=True)
    return (
        diagonal_of(inner),
        moved - v * stretch if is_real(v) else unbroadcast(moved - v * (stretch + 1j * np.imag(turn)), v),
    )


def _eig_vjp(ct, y, a):
    w, v = y
    along = np.sum(ct[1] * v, axis=-2, keepdims=True)
    across = ct[1] - _real(along) * conjugated(v)
    if not is_real(v):
        place = pivots(v)
        across = across - place * (1j * np.imag(along) / np.sum(place * v, axis=-2, keepdims=True))
    inner = diagonal_matrix(ct[0]) + divide(hollow(transposed(v) @ across), gaps(w))
    return (unbroadcast(np.linalg.solve(transposed(v), inner @ transposed(v)), a),)


def _eigvals_jvp(dots, y, a):
    _, v = np.linalg.eig(a)
    return unbroadcast(diagonal_of(np.linalg.solve(v, dots[0] @ v)), y)


def _eigvals_vjp(ct, y, a):
    _, v = np.linalg.eig(a)
    return (unbroadcast(np.linalg.solve(transposed(v), diagonal_matrix(ct) @ transposed(v)), a),)


GENERAL = [
    case(np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 0.2], [-0.7, 0.4, 3.0]])),
    case(np.array([[1.0, 2.0, 0.5], [-1.5, 1.2, 0.2], [-0.7, 0.4, 3.0]])),
    case(np.array([[1.0, 2.0 + 1j], [0.3 - 0.7j, -1.0 + 0.4j]])),
    case(np.array([[[1.0, 2.0], [0.3, -1.0]], [[1.0, 2.0], [-0.3, 1.4]]])),
]
general(
    np.linalg.eig, _eig_jvp, _eig_vjp, results=2, result_class=type(np.linalg.eig(ONE)), dtype="unknown", cases=GENERAL
)
general(np.linalg.eigvals, _eigvals_jvp, _eigvals_vjp, dtype="unknown", cases=GENERAL)


def _roots_jvp(dots, y, p):
    degrees = np.arange(np.size(p) - 1, -1, -1)
    return unbroadcast(-divide(_powers(y, degrees) @ dots[0], _slope(y, p, degrees)), y)


def _roots_vjp(ct, y, p):
    degrees = np.arange(np.size(p) - 1, -1, -1)
    return (unbroadcast(-divide(ct, _slope(y, p, degrees)) @ _powers(y, degrees), p),)


def _powers(y, degrees):
    return np.expand_dims(y, 1) ** degrees


def _slope(y, p, degrees):
    """The derivative of the polynomial at its roots."""
    return _powers(y, degrees[1:]) @ (p[:-1] * degrees[:-1])


general(
    np.roots,
    _roots_jvp,
    _roots_vjp,
    dtype="unknown",
    shape="unknown",
    always_array=True,
    cases=[
        case(np.array([1.0, -6.0, 11.0, -6.5])),
        case(np.array([2.0, 1.0, 3.0])),
        case(np.array([1.0, 2.0j, 0.5])),
        case(np.array([1.5, -2.0, 0.0])),
    ],
)

# what these rules are made of

SQUARE = [case(sample(3, 3)), case(sample(2, 3, 3, kind="complex"))]
linear(hollow, lambda ct, m: hollow(ct), cases=SQUARE)
linear(without_phase, lambda ct, m: hollow(ct), cases=[case(sample(3, 3))])
linear(diagonal_matrix, lambda ct, d: diagonal_of(ct), cases=[case(sample(2, 3))])
linear(diagonal_of, lambda ct, m: diagonal_matrix(ct), cases=SQUARE)
linear(differences, lambda ct, w: np.sum(ct, axis=-2) - np.sum(ct, axis=-1), cases=[case(sample(2, 3))])
general(
    gaps,
    lambda dots, y, w: differences(dots[0]),
    lambda ct, y, w: (np.sum(ct, axis=-2) - np.sum(ct, axis=-1),),
    cases=[case(sample(2, 3))],
)
linear(widened, lambda ct, x, like: narrowed(ct, x), view_of=0, cases=[case(sample(3, 2), sample(3, 2))])
linear(narrowed, lambda ct, x_ct, x: fitted(ct, x_ct), cases=[case(sample(3, 2), sample(3, 2))])
no_derivative(pivots)
constant(distinct)
no_derivative(occupied)
