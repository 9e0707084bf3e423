"""Rules of NumPy's products of vectors, matrices and tensors."""

# mypy: allow-untyped-defs, allow-untyped-calls

import operator

import numpy as np

from adjoint.rules.declare import bilinear, case, definition, general, linear, no_derivative, number, or_zero, sample
from adjoint.runtime.array_functions import arrays, products
from adjoint.runtime.array_functions.arrays import (
    dot_left,
    dot_right,
    matmul_left,
    matmul_right,
    tensordot_left,
    tensordot_right,
    unbroadcast,
)
from adjoint.runtime.array_functions.products import (
    adjoint_subscripts,
    collected_subscripts,
    convolve_part,
    cross_left,
    cross_right,
    einsum_expand,
    kron_left,
    kron_right,
)
from adjoint.runtime.array_functions.sparse import (
    elements_product,
    in_format,
    sparse_times,
    times_sparse,
    transposed_sparse,
)

MODES = ("full", "same", "valid")
BY_RANK = {
    (1, 1): lambda ct, a, b: (ct * b, ct * a),
    (2, 1): lambda ct, a, b: (np.outer(ct, b), a.T @ ct),
    (1, 2): lambda ct, a, b: (b @ ct, np.outer(a, ct)),
    (2, 2): lambda ct, a, b: (ct @ b.T, a.T @ ct),
}
FLAT = [
    case(sample(3), sample(3)),
    case(sample(4, 3), sample(3)),
    case(sample(3), sample(3, 4)),
    case(sample(4, 3), sample(3, 5)),
]
BATCHED = [
    case(sample(2, 4, 3), sample(2, 3, 5)),
    case(sample(4, 3), sample(2, 3, 5)),
    case(sample(6, 1, 4, 3), sample(2, 3, 5)),
    case(sample(2, 4, 3), sample(3)),
    case(sample(3), sample(2, 3, 5)),
]

for _matmul in (np.matmul, operator.matmul):
    bilinear(
        _matmul,
        lambda ct, a, b: (matmul_left(ct, a, b), matmul_right(ct, a, b)),
        by_rank=BY_RANK,
        commutative=True,
        cases=FLAT + BATCHED,
    )
bilinear(
    np.dot,
    lambda ct, a, b: (dot_left(ct, a, b), dot_right(ct, a, b)),
    by_rank=BY_RANK,
    commutative=True,
    cases=[*FLAT, case(sample(2, 4, 3), sample(6, 3, 5)), case(sample(2, 4, 3), sample(3)), case(number(), sample(3))],
)
bilinear(
    np.outer,
    lambda ct, a, b: (arrays.reshape_like(ct @ np.ravel(b), a), arrays.reshape_like(np.ravel(a) @ ct, b)),
    by_rank={(1, 1): lambda ct, a, b: (ct @ b, a @ ct)},
    cases=[case(sample(3), sample(4)), case(sample(2, 3), sample(4))],
)
bilinear(
    np.vdot,
    lambda ct, a, b: (arrays.reshape_like(np.conj(ct * b), a), arrays.reshape_like(ct * np.conj(a), b)),
    by_rank={(1, 1): lambda ct, a, b: (np.conj(ct * b), ct * np.conj(a))},
    cases=[case(sample(3), sample(3)), case(sample(2, 3), sample(2, 3))],
)
bilinear(
    np.inner,
    lambda ct, a, b: (arrays.inner_left(ct, a, b), arrays.inner_right(ct, a, b)),
    by_rank={(1, 1): lambda ct, a, b: (ct * b, ct * a), (2, 2): lambda ct, a, b: (ct @ b, ct.T @ a)},
    commutative=True,
    cases=[
        case(sample(3), sample(3)),
        case(sample(4, 3), sample(5, 3)),
        case(sample(4, 3), sample(3)),
        case(number(), sample(3)),
        case(number(), sample(2, 3)),
        case(sample(4, 3), number()),
        case(sample(3), sample(2, 4, 3)),
        case(sample(2, 4, 3), sample(5, 3)),
        case(sample(2, 3), sample(5, 4, 3)),
    ],
)
bilinear(
    np.tensordot,
    lambda ct, a, b, axes=2: (tensordot_left(ct, a, b, axes), tensordot_right(ct, a, b, axes)),
    cases=[
        case(sample(2, 4, 3), sample(4, 3, 5)),
        case(sample(4, 3), sample(3, 5), axes=1),
        case(sample(2, 4, 3), sample(3, 5, 2), axes=([0, 2], [2, 0])),
        case(sample(2), sample(3), axes=0),
    ],
)
bilinear(
    np.cross,
    lambda ct, a, b, *, axis=-1: (cross_left(ct, a, b, axis), cross_right(ct, a, b, axis)),
    cases=[case(sample(3), sample(3)), case(sample(4, 3), sample(3)), case(sample(3, 4), sample(3, 4), axis=0)],
)
bilinear(
    np.kron,
    lambda ct, a, b: (kron_left(ct, a, b), kron_right(ct, a, b)),
    cases=[case(sample(2, 3), sample(4, 2)), case(sample(3), sample(2)), case(sample(3), sample(2, 2))],
)
bilinear(
    np.convolve,
    lambda ct, a, v, mode="full": (convolve_part(ct, v, a, mode), convolve_part(ct, a, v, mode)),
    cases=[
        case(sample(5), sample(3)),
        case(sample(5), sample(3), "same"),
        case(sample(3), sample(5), "valid"),
        case(sample(5), sample(2), mode="valid"),
    ],
)


def _correlate(a, v, mode="valid"):
    if len(v) > len(a):
        return np.flip(_slid(np.conjugate(v), a, mode))
    return _slid(a, np.conjugate(v), mode)


def _slid(longer, shorter, mode):
    return np.convolve(longer, np.flip(shorter), mode)


definition(
    np.correlate,
    _correlate,
    cases=[
        *[case(sample(m), sample(n), mode) for m, n in ((5, 3), (3, 5), (4, 2), (2, 4)) for mode in MODES],
        case(sample(3), sample(2)),
        *[case(sample(m, kind="complex"), sample(n, kind="complex"), "same") for m, n in ((4, 2), (2, 4))],
    ],
)


def _einsum_jvp(dots, y, subscripts, *operands, optimize=False):
    along = [_einsum_along(dots[k + 1], subscripts, operands[:k], operands[k + 1 :]) for k in range(len(operands))]
    return sum(along)


def _einsum_along(dot, subscripts, before, after):
    return 0.0 if dot is None else np.einsum(subscripts, *before, dot, *after)  # whole numbers have no tangent


def _einsum_vjp(ct, y, subscripts, *operands, optimize=False):
    ranks = [np.ndim(operand) for operand in operands]
    return (None, *[_einsum_part(ct, subscripts, k, ranks, *operands) for k in range(len(operands))])


def _einsum_part(ct, subscripts, k, ranks, *operands):
    part = np.einsum(adjoint_subscripts(subscripts, k, *ranks), ct, *operands[:k], *operands[k + 1 :])
    return einsum_expand(part, operands[k], subscripts, k, *ranks)


def _einsum_form(constants):
    """The form for operands whose labels are known."""
    subscripts = constants.get(0)
    if not isinstance(subscripts, str) or "..." in subscripts:
        return None
    terms = subscripts.replace(" ", "").partition("->")[0].split(",")
    ranks = tuple(map(len, terms))
    adjoint = [adjoint_subscripts(subscripts, k, *ranks) for k in range(len(terms))]

    def vjp(ct, y, subscripts, *operands, optimize=False):
        return (None, *[cotangent(ct, k, operands) for k in range(len(operands))])

    def cotangent(ct, k, operands):
        part = np.einsum(adjoint[k], ct, *operands[:k], *operands[k + 1 :])
        if adjoint[k].partition("->")[2] == terms[k]:
            return unbroadcast(part, operands[k])
        return einsum_expand(part, operands[k], subscripts, k, *ranks)

    return vjp


general(
    np.einsum,
    _einsum_jvp,
    _einsum_vjp,
    by_constants=_einsum_form,
    cases=[
        case("ij,jk->ik", sample(4, 3), sample(3, 5)),
        case("ij,jk", sample(4, 3), sample(3, 5)),
        case("ii", sample(3, 3)),
        case("iij->j", sample(3, 3, 2)),
        case("ij->", sample(4, 3)),
        case("ij,ij,kj->k", sample(4, 3), sample(4, 3), sample(2, 3)),
        case("...ij,...jk->...ik", sample(2, 4, 3), sample(3, 5)),
        case("i,j", sample(3), sample(2)),
        case("ij,k->i", sample(4, 3), sample(2)),
        case("ij,jk,kl->il", sample(4, 3), sample(3, 2), sample(2, 3), optimize=True),
        case("ij,jk->ik", sample(4, 3), sample(3, 2), optimize="greedy"),
    ],
)

general(
    products.einsum_of_one,
    lambda dots, y, subscripts, operand: products.einsum_of_one(subscripts, dots[1]),
    _einsum_vjp,
    by_constants=_einsum_form,
    view_of=1,
    cases=[case("ii->i", sample(3, 3)), case("ij->ji", sample(4, 3))],
)

# what these rules are made of

general(
    matmul_left,
    lambda dots, y, ct, a, b: matmul_left(dots[0], a, b) + matmul_left(ct, a, dots[2]),
    lambda u, y, ct, a, b: (np.matmul(u, b), None, matmul_right(ct, u, b)),
    cases=[case(sample(2, 4, 5), sample(2, 4, 3), sample(2, 3, 5)), case(sample(4), sample(4, 3), sample(3))],
)
general(
    matmul_right,
    lambda dots, y, ct, a, b: matmul_right(dots[0], a, b) + matmul_right(ct, dots[1], b),
    lambda u, y, ct, a, b: (np.matmul(a, u), matmul_left(ct, a, u), None),
    cases=[case(sample(2, 4, 5), sample(2, 4, 3), sample(2, 3, 5)), case(sample(4), sample(4, 3), sample(3))],
)
general(
    dot_left,
    lambda dots, y, ct, a, b: dot_left(dots[0], a, b) + dot_left(ct, a, dots[2]),
    lambda u, y, ct, a, b: (np.dot(u, b), None, dot_right(ct, u, b)),
    cases=[case(sample(2, 4, 6, 5), sample(2, 4, 3), sample(6, 3, 5))],
)
general(
    dot_right,
    lambda dots, y, ct, a, b: dot_right(dots[0], a, b) + dot_right(ct, dots[1], b),
    lambda u, y, ct, a, b: (np.dot(a, u), dot_left(ct, a, u), None),
    cases=[case(sample(2, 4, 6, 5), sample(2, 4, 3), sample(6, 3, 5))],
)
general(
    tensordot_left,
    lambda dots, y, ct, a, b, axes=2: tensordot_left(dots[0], a, b, axes) + tensordot_left(ct, a, dots[2], axes),
    lambda u, y, ct, a, b, axes=2: (np.tensordot(u, b, axes), None, tensordot_right(ct, u, b, axes)),
    cases=[case(sample(2, 5), sample(2, 4, 3), sample(4, 3, 5))],
)
general(
    tensordot_right,
    lambda dots, y, ct, a, b, axes=2: tensordot_right(dots[0], a, b, axes) + tensordot_right(ct, dots[1], b, axes),
    lambda u, y, ct, a, b, axes=2: (np.tensordot(a, u, axes), tensordot_left(ct, a, u, axes), None),
    cases=[case(sample(2, 5), sample(2, 4, 3), sample(4, 3, 5))],
)
general(
    arrays.inner_left,
    lambda dots, y, ct, a, b: arrays.inner_left(dots[0], a, b) + arrays.inner_left(ct, a, or_zero(dots[2])),
    lambda u, y, ct, a, b: (np.inner(u, b), None, arrays.inner_right(ct, u, b)),
    cases=[case(sample(4, 5), sample(4, 3), sample(5, 3)), case(sample(2, 5), number(), sample(2, 5))],
)
general(
    arrays.inner_right,
    lambda dots, y, ct, a, b: arrays.inner_right(dots[0], a, b) + arrays.inner_right(ct, or_zero(dots[1]), b),
    lambda u, y, ct, a, b: (np.inner(a, u), arrays.inner_left(ct, a, u), None),
    cases=[case(sample(4, 5, 2), sample(4, 3), sample(5, 2, 3)), case(sample(2, 5), number(), sample(2, 5))],
)
general(
    kron_left,
    lambda dots, y, ct, a, b: kron_left(dots[0], a, b) + kron_left(ct, a, dots[2]),
    lambda u, y, ct, a, b: (np.kron(u, b), None, kron_right(ct, u, b)),
    cases=[case(sample(8, 6), sample(2, 3), sample(4, 2))],
)
general(
    kron_right,
    lambda dots, y, ct, a, b: kron_right(dots[0], a, b) + kron_right(ct, dots[1], b),
    lambda u, y, ct, a, b: (np.kron(a, u), kron_left(ct, a, u), None),
    cases=[case(sample(8, 6), sample(2, 3), sample(4, 2))],
)
general(
    cross_left,
    lambda dots, y, ct, a, b, axis=-1: cross_left(dots[0], a, b, axis) + cross_left(ct, a, dots[2], axis),
    lambda u, y, ct, a, b, axis=-1: (np.cross(u, b, axis=axis), None, cross_right(ct, u, b, axis)),
    cases=[case(sample(4, 3), sample(3), sample(4, 3)), case(sample(3, 4), sample(3, 4), sample(3, 4), 0)],
)
general(
    cross_right,
    lambda dots, y, ct, a, b, axis=-1: cross_right(dots[0], a, b, axis) + cross_right(ct, dots[1], b, axis),
    lambda u, y, ct, a, b, axis=-1: (np.cross(a, u, axis=axis), cross_left(ct, a, u, axis), None),
    cases=[case(sample(4, 3), sample(4, 3), sample(3))],
)
general(
    convolve_part,
    lambda dots, y, ct, other, like, mode="full": (
        convolve_part(dots[0], other, like, mode) + convolve_part(ct, dots[1], like, mode)
    ),
    lambda u, y, ct, other, like, mode="full": (
        np.convolve(u, other, mode),
        convolve_part(ct, u, other, mode),
        None,
    ),
    cases=[case(sample(7), sample(3), sample(5)), case(sample(5), sample(3), sample(5), "same")],
)
linear(
    einsum_expand,
    lambda ct, part, operand, subscripts, place, *ranks: unbroadcast(
        np.einsum(collected_subscripts(subscripts, place, *ranks), ct), part
    ),
    cases=[case(sample(2), sample(3, 3, 2), "iij->j", 0, 3), case(sample(4), sample(4, 3), "ij,k->i", 0, 2, 1)],
)
no_derivative(adjoint_subscripts, collected_subscripts, products.einsum_terms)

# --- products of constant sparse matrices -----------------------------------------------------------------------------

SPARSE = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
"""Stands for a sparse matrix, which has the same operators."""

no_derivative(transposed_sparse, in_format, elements_product)
linear(
    sparse_times,
    lambda ct, matrix, x: sparse_times(transposed_sparse(matrix), ct),
    wrt=(1,),
    fixed=(0,),
    cases=[case(SPARSE, sample(3)), case(SPARSE, sample(3, 4))],
)
linear(
    times_sparse,
    lambda ct, x, matrix: times_sparse(ct, transposed_sparse(matrix)),
    fixed=(1,),
    cases=[case(sample(2), SPARSE), case(sample(4, 2), SPARSE)],
)
