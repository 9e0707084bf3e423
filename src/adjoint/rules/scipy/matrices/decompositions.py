"""Decompositions of ``scipy.linalg``, eigenvalues of pairs of matrices, and functions of matrices."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import linalg

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import case, constant, definition, general, no_derivative, sample
from adjoint.rules.scipy.matrices.layout import ORDER
from adjoint.rules.scipy.matrices.stacks import each_matrix
from adjoint.runtime.array_functions.linalg import as_given, conjugated, hermitian, transposed, with_further_columns
from adjoint.runtime.numerical_methods.of_scipy.linalg import pivots, polar_factor, signs_of_factor

REGULAR, DEFINITE = sample(3, 3, kind="regular"), sample(3, 3, kind="definite")

# --- factors ----------------------------------------------------------------------------------------------------------


def _qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    if mode not in ("economic", "full", "r"):
        raise NotImplementedError("reflectors")
    order = pivots(a) if pivoting else None
    q, r = np.linalg.qr(a[:, order] if pivoting else a)
    rows, columns = np.shape(a)
    if mode == "r":
        r = np.concatenate([r, np.zeros((max(rows - columns, 0), columns))])
        return (r, order) if pivoting else (r,)
    if mode == "full" and rows > columns:
        r = np.concatenate([r, np.zeros((rows - columns, columns))])
        q = with_further_columns(q, as_given(a[:, order] if pivoting else a))
    return (q.copy(ORDER), r, order) if pivoting else (q.copy(ORDER), r)


def _qr_multiply(a, c, mode="right", pivoting=False, conjugate=False, overwrite_a=False, overwrite_c=False):
    if np.ndim(a) > 2:
        raise NotImplementedError("stacks of matrices")
    if conjugate:
        raise NotImplementedError("conjugate")
    order = pivots(a) if pivoting else None
    q, r = np.linalg.qr(a[:, order] if pivoting else a)
    product = np.matmul(q, c) if mode == "left" else np.matmul(c, q)
    if np.ndim(c) == 2:  # SciPy leaves it in a copy of the other matrix
        extents = np.shape(product) if mode == "left" else np.shape(c)
        memory = np.empty(extents, product.dtype, "C" if c.flags.c_contiguous else "F")[:, : np.shape(product)[1]]
        memory[...] = product
        product = memory
    return (product, r, order) if pivoting else (product, r)


def _factors_of(changed, q, signs):
    """The factors of a matrix, with the signs that SciPy's rotations lead to; ``q`` is a factor from before."""
    if np.shape(q)[0] == np.shape(q)[1] and np.shape(changed)[0] > np.shape(changed)[1]:
        raise np.linalg.LinAlgError("columns of 'q' beyond those of the matrix have no derivative: mode='economic'")
    turned, r = np.linalg.qr(changed)
    side = signs * np.sign(np.diagonal(stop_gradient(r)))
    return turned * side, np.expand_dims(side, 1) * r


def _product(Q, R):
    """The matrix of which these are the factors."""
    if np.ndim(Q) > 2:
        raise NotImplementedError("stacks of matrices")
    if np.any(np.tril(stop_gradient(R), -1)):
        raise np.linalg.LinAlgError("below the diagonal of 'R' there are no zeros: what SciPy finds has no derivative")
    return np.matmul(Q, np.triu(R))


def _in_copies_of(Q, R, factors):
    """Factors where SciPy leaves them: in parts of copies of the factors from before."""
    memory = (np.empty_like(Q), np.empty_like(R))
    parts = [whole[: np.shape(x)[0], : np.shape(x)[1]] for whole, x in zip(memory, factors, strict=True)]
    parts[0][...] = factors[0]
    parts[1][...] = factors[1]
    return parts[0], parts[1]


def _qr_update(Q, R, u, v, overwrite_qruv=False, check_finite=True):
    columns = [x if np.ndim(x) == 2 else np.expand_dims(x, 1) for x in (u, v)]
    changed = _product(Q, R) + np.matmul(columns[0], np.transpose(columns[1]))
    return _in_copies_of(Q, R, _factors_of(changed, Q, signs_of_factor(linalg.qr_update, Q, R, u, v)))


def _qr_delete(Q, R, k, p=1, which="row", overwrite_qr=False, check_finite=True):
    lines = _product(Q, R) if which == "row" else np.transpose(_product(Q, R))
    left = np.concatenate([lines[:k], lines[k + p :]])
    signs = signs_of_factor(linalg.qr_delete, Q, R, k, p, which)
    return _in_copies_of(Q, R, _factors_of(left if which == "row" else np.transpose(left), Q, signs))


def _qr_insert(Q, R, u, k, which="row", rcond=None, overwrite_qru=False, check_finite=True):
    lines = _product(Q, R) if which == "row" else np.transpose(_product(Q, R))
    added = np.expand_dims(u, 0) if np.ndim(u) == 1 else (u if which == "row" else np.transpose(u))
    whole = np.concatenate([lines[:k], added, lines[k:]])
    signs = signs_of_factor(linalg.qr_insert, Q, R, u, k, which)
    q, r = _factors_of(whole if which == "row" else np.transpose(whole), Q, signs)
    return q.copy(ORDER), r.copy(ORDER)


def _svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    if not compute_uv:
        return np.linalg.svdvals(a)
    u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
    return u.copy(ORDER), s, vh.copy(ORDER)


no_derivative(pivots)
constant(signs_of_factor)
_Q, _R = np.linalg.qr(np.array([[1.0, 0.3, -0.4], [0.2, -1.5, 0.7], [0.6, 0.1, 1.2], [-0.3, 0.8, 0.5]]))
definition(
    linalg.qr_multiply,
    _qr_multiply,
    cases=[
        case(sample(4, 3), sample(2, 4)),
        case(REGULAR, sample(3, 2), "left"),
        case(REGULAR, sample(3), "left"),
        case(REGULAR, sample(3), pivoting=True),
    ],
)
definition(linalg.qr_update, _qr_update, cases=[case(_Q, _R, sample(4), sample(3))])
definition(linalg.qr_delete, _qr_delete, cases=[case(_Q, _R, 1, 1, "col"), case(_Q, _R, 0)])
definition(
    linalg.qr_insert,
    _qr_insert,
    cases=[case(_Q, _R, sample(3), 1), case(_Q, _R, sample(2, 3), 2)],
)
definition(
    linalg.qr,
    each_matrix(_qr),
    cases=[
        case(sample(4, 3), mode="economic"),
        case(REGULAR, mode="economic", check_finite=False),
        case(REGULAR),
        case(sample(4, 3), mode="r"),
        case(sample(4, 3), mode="economic", pivoting=True),
        case(sample(3, 4), mode="r", pivoting=True),
    ],
)
definition(
    linalg.svd,
    _svd,
    cases=[
        case(sample(4, 3), full_matrices=False),
        case(REGULAR, False),
        case(REGULAR),
        case(sample(4, 3), compute_uv=False),
    ],
)


def _polar_parts(factor, a):
    """The stretch of a polar decomposition, and what solves ``x @ stretch + stretch @ x == y``."""
    stretch = hermitian(factor) @ a
    return 0.5 * (stretch + hermitian(stretch))


def _polar_jvp(dots, factor, a):
    stretch = _polar_parts(factor, a)
    inner = hermitian(factor) @ dots[0]
    turn = linalg.solve_sylvester(stretch, stretch, inner - hermitian(inner))
    outside = dots[0] - factor @ inner
    return hermitian(np.linalg.solve(stretch, hermitian(outside))) + factor @ turn


def _polar_vjp(ct, factor, a):
    stretch = _polar_parts(factor, a)
    bar = conjugated(ct)
    inner = hermitian(factor) @ bar
    turn = linalg.solve_sylvester(stretch, stretch, inner)
    outside = hermitian(np.linalg.solve(stretch, hermitian(bar - factor @ inner)))
    return (conjugated(outside + factor @ (turn - hermitian(turn))),)


general(
    polar_factor,
    _polar_jvp,
    _polar_vjp,
    cases=[case(REGULAR), case(sample(4, 3)), case(sample(3, 3, kind="complex"))],
)


def _polar(a, side="right"):
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    rows, columns = np.shape(a)
    factor = polar_factor(a) if rows >= columns else hermitian(polar_factor(hermitian(a)))
    stretch = hermitian(factor) @ a if side == "right" else a @ hermitian(factor)
    return factor.copy(), (0.5 * (stretch + hermitian(stretch))).copy()


definition(
    linalg.polar,
    each_matrix(_polar),
    cases=[*[case(sample(*shape), side) for shape in ((3, 3), (4, 3), (2, 3)) for side in ("right", "left")]],
)

# --- pairs of matrices ------------------------------------------------------------------------------------------------


def _generalized(a, b, lower):
    """By the factor of the second matrix: the eigenvalues of a Hermitian matrix, of vectors that it turns."""
    factor = linalg.cholesky(b, lower=lower)
    root = factor if lower else np.conj(np.transpose(factor))
    half = np.tril(a) if lower else np.triu(a)
    other = np.conj(np.transpose(np.tril(a, -1) if lower else np.triu(a, 1)))
    inner = np.linalg.solve(root, np.conj(np.transpose(np.linalg.solve(root, half + other))))
    return root, inner


def _eigvalsh(a, b=None, *, lower=True, check_finite=True):
    _, inner = _generalized(a, b, lower)
    return np.linalg.eigvalsh(inner)


PAIRS = [case(REGULAR, DEFINITE), case(REGULAR, DEFINITE, lower=False)]
definition(linalg.eigvalsh, _eigvalsh, arity=2, cases=PAIRS)
definition(
    linalg.eigh,
    lambda a, b=None, *, lower=True, eigvals_only=False, check_finite=True: _eigvalsh(a, b, lower=lower),
    arity=2,
    when=lambda given: given.get("eigvals_only") is True,
    cases=[case(*pair.args, eigvals_only=True, **pair.kwargs) for pair in PAIRS],
)

# --- functions of matrices --------------------------------------------------------------------------------------------


def _declare_function(fn, cases):
    """Of ``[[a, e], [0, a]]`` the function has its derivative in the direction ``e`` above the diagonal."""

    def directional(a, e):
        n = np.shape(a)[-1]
        above = np.concatenate([a, e], axis=-1)
        below = np.concatenate([np.zeros_like(a), a], axis=-1)
        return fn(np.concatenate([above, below], axis=-2))[..., :n, n:]

    general(
        fn,
        lambda dots, y, A: directional(A, dots[0]),
        lambda ct, y, A: (transposed(directional(A, transposed(ct))),),
        dtype="unknown",
        cases=cases,
    )


SQUARE = [case(sample(3, 3))]
_declare_function(linalg.logm, [case(DEFINITE), case(np.array([[1.0, 0.4], [-0.3, 2.0]]))])
for function in (linalg.sinm, linalg.cosm, linalg.tanm, linalg.sinhm, linalg.coshm, linalg.tanhm):
    _declare_function(function, SQUARE)


# --- powers, signs ----------------------------------------------------------------------------------------------------


def _power_jvp(dots, y, A, t):
    return _power_directional(A, dots[0], t)


def _power_directional(a, e, t):
    n = np.shape(a)[-1]
    whole = np.concatenate([np.concatenate([a, e], axis=-1), np.concatenate([np.zeros_like(a), a], axis=-1)], axis=-2)
    return linalg.fractional_matrix_power(whole, t)[..., :n, n:]


general(
    linalg.fractional_matrix_power,
    _power_jvp,
    lambda ct, y, A, t: (transposed(_power_directional(A, transposed(ct), t)), None),
    dtype="unknown",
    fixed=(1,),
    arrays=("A",),
    cases=[case(DEFINITE, 0.3), case(np.array([[1.0, 0.4], [-0.3, 2.0]]), -1.4)],
)
_declare_function(linalg.signm, [case(REGULAR)])


# --- any function of a matrix -----------------------------------------------------------------------------------------


def _funm(A, func, disp=True):
    """By eigenvalues, as far as these differ: where they meet, it would take the slopes of ``func``, too."""
    if not disp:
        raise NotImplementedError("the estimate of an error")
    values, vectors = np.linalg.eig(A)
    _check_gaps(stop_gradient(values))
    found = np.matmul(vectors * func(values + 0.0j), np.linalg.inv(vectors))
    if not np.iscomplexobj(A) and np.all(np.abs(np.imag(stop_gradient(found))) <= _NEGLIGIBLE):
        return np.real(found)
    return found


def _check_gaps(values):
    apart = np.abs(np.expand_dims(values, 1) - values) + np.diag(np.full(np.size(values), np.inf))
    if np.min(apart) <= 1e-6 * np.max(np.abs(values)):
        raise np.linalg.LinAlgError("a function of a matrix has a known derivative where all eigenvalues differ")


_NEGLIGIBLE = 1e6 * np.finfo(float).eps
definition(
    linalg.funm,
    each_matrix(_funm),
    only=True,
    functional=True,
    arrays=("A",),
    cases=[
        case(np.array([[2.0, 0.3, -0.2], [0.1, -1.5, 0.6], [0.4, 0.2, 0.3]]), lambda x: x * x * x),
        case(np.array([[1.0, 2.0], [-0.5, 1.3]]), np.exp),
    ],
)
