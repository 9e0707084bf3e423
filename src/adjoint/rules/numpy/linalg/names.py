"""Names that ``np.linalg`` has for functions of NumPy, and the products of vectors and matrices in stacks."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, definition, sample

STACKS = [
    case(sample(3), sample(3)),
    case(sample(4, 3), sample(3)),
    case(sample(2, 1, 3), sample(4, 3)),
    case(sample(3, kind="complex"), sample(3, kind="complex")),
]


def _vecdot(x1, x2, /, *, axis=-1):
    if axis == -1:
        dots = np.sum(np.conjugate(x1) * x2, axis=-1)
    else:
        dots = np.sum(np.conjugate(np.moveaxis(x1, axis, -1)) * np.moveaxis(x2, axis, -1), axis=-1)
    return dots.copy() if np.ndim(dots) > 1 else dots


for _dot in (np.vecdot, np.linalg.vecdot):
    definition(_dot, _vecdot, cases=[*STACKS, case(sample(3, 4), sample(3, 4), axis=0)])
if hasattr(np, "matvec"):
    definition(
        np.matvec,
        lambda x1, x2, /: np.squeeze(np.matmul(x1, np.expand_dims(x2, -1)), -1),
        cases=[case(sample(4, 3), sample(3)), case(sample(2, 4, 3), sample(5, 1, 3))],
    )
    definition(
        np.vecmat,
        lambda x1, x2, /: np.squeeze(np.matmul(np.conjugate(np.expand_dims(x1, -2)), x2), -2),
        cases=[case(sample(4), sample(4, 3)), case(sample(5, 1, 4, kind="complex"), sample(2, 4, 3))],
    )


def _outer(x1, x2, /):
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError("Input arrays must be one-dimensional")
    return np.outer(x1, x2)


def _cross(x1, x2, /, *, axis=-1):
    if np.shape(x1)[axis] != 3 or np.shape(x2)[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    return np.cross(x1, x2, axis=axis)


definition(np.linalg.matmul, lambda x1, x2, /: np.matmul(x1, x2), cases=[case(sample(2, 4, 3), sample(3, 5))])
definition(np.linalg.outer, _outer, cases=[case(sample(4), sample(3))])
definition(np.linalg.cross, _cross, cases=[case(sample(4, 3), sample(3)), case(sample(3, 4), sample(3, 4), axis=0)])
definition(
    np.linalg.tensordot,
    lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes),
    cases=[case(sample(4, 3), sample(4, 3)), case(sample(4, 3), sample(3, 4), axes=1)],
)
definition(
    np.linalg.trace,
    lambda x, /, *, offset=0: np.trace(x, offset, -2, -1),
    cases=[case(sample(2, 4, 3)), case(sample(2, 4, 3), offset=1)],
)
definition(
    np.linalg.diagonal,
    lambda x, /, *, offset=0: np.diagonal(x, offset, -2, -1),
    cases=[case(sample(2, 4, 3)), case(sample(4, 3), offset=-1)],
)
if np.linalg.matrix_transpose is not np.matrix_transpose:
    definition(np.linalg.matrix_transpose, lambda x, /: np.matrix_transpose(x), cases=[case(sample(2, 4, 3))])
