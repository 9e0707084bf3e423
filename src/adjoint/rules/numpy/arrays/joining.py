"""Rules of the NumPy functions that make one array of parts: they append, insert, delete, repeat, lay in blocks."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.conversions import of_dtype
from adjoint.rules.declare import case, definition, linear, no_derivative, number, sample
from adjoint.runtime.array_functions import places


def _append(arr, values, axis=None):
    if axis is None:
        return np.concatenate([np.ravel(arr), np.ravel(values)])
    return np.concatenate([arr, values], axis=axis)


def _delete(arr, obj, axis=None):
    if axis is None:
        return np.take(np.ravel(arr), places.all_but(np.size(arr), obj))
    return np.take(arr, places.all_but(np.shape(arr)[axis], obj), axis=axis)


definition(
    np.append,
    _append,
    cases=[case(sample(3), sample(2)), case(sample(2, 3), 1.5), case(sample(2, 3), sample(4, 3), axis=0)],
)
definition(
    np.delete,
    _delete,
    arrays=("arr",),
    cases=[
        case(sample(5), 1),
        case(sample(5), [0, -1]),
        case(sample(5), slice(1, 4, 2)),
        case(sample(5), np.array([True, False, False, True, False])),
        case(sample(2, 3), 4),
        case(sample(4, 3), [1, 1], axis=-2),
    ],
)
linear(
    np.insert,
    lambda ct, arr, obj, values, axis=None: (
        places.uninserted(ct, arr, obj, values, axis),
        places.insertions(ct, arr, obj, values, axis),
    ),
    wrt=(0, 2),
    shape="unknown",
    cases=[
        case(sample(4), 1, number()),
        case(sample(4), 2, sample(3)),
        case(sample(4), [3, 0], sample(2)),
        case(sample(4), [3, 0], number()),
        case(sample(2, 3), 1, sample(3), axis=0),
        case(sample(2, 3), -1, sample(2), axis=1),
        case(sample(2, 3), [0, 2], sample(2, 1), 1),
    ],
)
definition(
    np.resize,
    lambda a, new_shape: np.take(np.ravel(a), places.repeated(np.size(a), new_shape)),
    arrays=("a",),
    cases=[case(sample(6), (2, 3)), case(sample(2, 2), 7), case(sample(2, 3), (2, 2))],
)
definition(
    np.diagflat, lambda v, k=0: np.diag(np.ravel(v), k), cases=[case(sample(3)), case(sample(2, 2), -1), case(1.5)]
)
definition(
    np.dstack,
    lambda tup: np.concatenate([np.atleast_3d(part) for part in tup], axis=2),
    arrays=(),
    cases=[case([sample(3), sample(3)]), case([sample(2, 3), sample(2, 3)]), case([sample(2, 1, 3), sample(2, 1, 2)])],
)


def _broadcast_arrays(*args):
    shape = np.broadcast_shapes(*[np.shape(arg) for arg in args])
    return tuple([np.broadcast_to(arg, shape) for arg in args])


definition(np.broadcast_arrays, _broadcast_arrays, cases=[case(sample(3), number()), case(sample(4, 1), sample(3))])


def _rollaxis(a, axis, start=0):
    rank = np.ndim(a)
    source = axis % rank
    target = start + rank if start < 0 else start
    return np.moveaxis(a, source, target - 1 if source < target else target)


definition(
    np.rollaxis,
    _rollaxis,
    cases=[case(sample(2, 4, 3), 2), case(sample(2, 4, 3), 0, 3), case(sample(2, 4, 3), -1, start=-2)],
)


def _block(arrays):
    depth = _depth(arrays)
    return _laid_out(arrays, -depth, max(depth, _highest_rank(arrays)))


def _depth(part):
    return 1 + _depth(part[0]) if isinstance(part, list) else 0


def _highest_rank(part):
    return max([_highest_rank(inner) for inner in part]) if isinstance(part, list) else np.ndim(part)


def _laid_out(part, axis, rank):
    if isinstance(part, list):
        return np.concatenate([_laid_out(inner, axis + 1, rank) for inner in part], axis=axis)
    return np.reshape(part, (1,) * (rank - np.ndim(part)) + np.shape(part))


definition(
    np.block,
    _block,
    arrays=(),
    cases=[
        case([sample(3), sample(2), number()]),
        case([[sample(2, 3), sample(2, 1)], [sample(1, 3), sample(1, 1)]]),
        case([[sample(2, 2)], [sample(2)]]),
    ],
)


def _ediff1d(ary, to_end=None, to_begin=None):
    flat = np.ravel(ary)
    differences = flat[1:] - flat[:-1]
    dtype = np.result_type(flat)
    begun = differences if to_begin is None else np.concatenate([of_dtype(np.ravel(to_begin), dtype), differences])
    return begun if to_end is None else np.concatenate([begun, of_dtype(np.ravel(to_end), dtype)])


definition(
    np.ediff1d,
    _ediff1d,
    cases=[case(sample(5)), case(sample(2, 2), sample(2)), case(sample(3), to_begin=number(), to_end=0.5)],
)

# what these rules are made of

no_derivative(places.all_but, places.repeated)
linear(
    places.uninserted,
    lambda ct, y_ct, arr, obj, values, axis=None: np.insert(ct, obj, np.zeros_like(values), axis),
    cases=[case(sample(5), sample(4), 1, 0.5), case(sample(2, 5), sample(2, 3), [0, 2], sample(2, 2), 1)],
)
linear(
    places.insertions,
    lambda ct, y_ct, arr, obj, values, axis=None: np.insert(np.zeros_like(arr), obj, ct, axis),
    cases=[case(sample(5), sample(4), 1, number()), case(sample(2, 5), sample(2, 3), [0, 2], sample(2, 1), 1)],
)
