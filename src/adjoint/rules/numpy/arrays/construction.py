"""Rules of the NumPy functions that make arrays."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, constant, definition, general, linear, no_derivative, number, observer, sample
from adjoint.runtime.array_functions.arrays import unbroadcast, zeros_like
from adjoint.runtime.array_functions.sequences import fill_cotangent, unarray

constant(np.zeros, np.ones, np.empty, np.eye, np.identity, np.tri, always_array=True, arrays=())
constant(np.zeros_like, np.ones_like, np.empty_like)
no_derivative(np.indices, np.can_cast, np.result_type, np.finfo, np.iinfo, np.dtype)
no_derivative(np.array_repr, np.array_str, np.array2string)
observer(np.save, np.savetxt, np.savez, np.savez_compressed, pure=False)


def _arange_jvp(dots, y, *given, dtype=None):
    dot = 0.0 * y
    if len(given) > 1 and dots[0] is not None:
        dot = dot + dots[0]
    if len(given) > 2 and dots[2] is not None:
        dot = dot + dots[2] * np.arange(len(y))
    return dot


def _arange_vjp(ct, y, *given, dtype=None):
    if len(given) == 1:
        return (0.0,)
    start = unbroadcast(ct, given[0])
    if len(given) == 2:
        return (start, 0.0)
    return (start, 0.0, unbroadcast(ct * np.arange(len(y)), given[2]))


general(
    np.arange,
    _arange_jvp,
    _arange_vjp,
    always_array=True,
    shape="unknown",
    arrays=(),
    cases=[case(0.3, 2.1), case(0.3, 2.1, 0.5), case(-0.3, -2.1, -0.7)],
)
definition(
    np.vander,
    lambda x, N=None, increasing=False: np.expand_dims(x, 1) ** _powers(np.size(x) if N is None else N, increasing),
    cases=[case(sample(3)), case(sample(4), 3), case(np.array([0.0, 2.0]), 3, increasing=True)],
)


def _powers(number, increasing):
    return np.arange(number) if increasing else np.arange(number - 1, -1, -1)


def _kaiser(M, beta):
    """The window of Kaiser; only its width is a whole number."""
    if M < 2:
        return np.ones(max(int(M), 0))
    half = (M - 1) / 2.0
    along = np.sqrt(np.maximum(1.0 - ((np.arange(0, M) - half) / half) ** 2.0, 0.0))
    return np.i0(beta * along) / np.i0(beta)


definition(np.kaiser, _kaiser, arrays=(), cases=[case(5, 1.3), case(6, 8.6)])
linear(
    np.full,
    lambda ct, shape, fill_value, dtype=None: fill_cotangent(ct, fill_value),
    wrt=(1,),
    always_array=True,
    cases=[case((4, 3), number()), case((4, 3), sample(3)), case(4, number())],
)
linear(
    np.full_like,
    lambda ct, a, fill_value, dtype=None: fill_cotangent(ct, fill_value),
    wrt=(1,),
    cases=[case(sample(4, 3), number())],
)


def _linspace(ct, start, stop, num=50, endpoint=True):
    weights = np.reshape(np.linspace(0.0, 1.0, num, endpoint), (-1,) + (1,) * (np.ndim(ct) - 1))
    return (fill_cotangent(ct * (1 - weights), start), fill_cotangent(ct * weights, stop))


linear(
    np.linspace,
    _linspace,
    wrt=(0, 1),
    always_array=True,
    cases=[
        case(number(), number(), 5),
        case(number(), number(), num=4, endpoint=False),
        case(sample(3), sample(3), 4),
    ],
)


def _linspace_and_step(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    divisions = num - 1 if endpoint else num
    step = (stop - start) / divisions if divisions > 0 else np.nan * (stop - start)
    return np.linspace(start, stop, num, endpoint), step


definition(
    np.linspace,
    _linspace_and_step,
    when=lambda given: given.get("retstep") in (True, 1) and given.get("dtype") is None and given.get("axis", 0) == 0,
    cases=[case(0.3, 1.7, 5, retstep=True), case(sample(3), 2.0, num=4, endpoint=False, retstep=True)],
)


def _of_floats(dtype):
    """Whether a dtype that is known is one of floats."""
    return isinstance(dtype, (type, np.dtype)) and np.issubdtype(dtype, np.inexact)


definition(
    np.linspace,
    lambda start, stop, num=50, endpoint=True, retstep=False, dtype=None: np.linspace(
        start, stop, num, endpoint
    ).astype(dtype),
    when=lambda given: given.get("retstep", False) in (False, 0) and _of_floats(given.get("dtype")),
    cases=[
        case(number(), number(), 5, dtype=np.float64),
        case(sample(3), 2.0, num=4, endpoint=False, dtype=np.dtype(complex)),
    ],
)


def _weights(num, endpoint, *ends):
    """How far on the way each element is, along an axis before those of the ends."""
    rank = max([np.ndim(end) for end in ends])
    return np.reshape(np.linspace(0.0, 1.0, num, endpoint), (-1,) + (1,) * rank)


def _geomspace(start, stop, num=50, endpoint=True):
    return start * (stop / start) ** _weights(num, endpoint, start, stop)


def _logspace(start, stop, num=50, endpoint=True, base=10.0):
    if np.ndim(base) > 0:
        raise NotImplementedError("bases in an array")
    return base ** np.linspace(start, stop, num, endpoint)


definition(
    np.geomspace,
    _geomspace,
    cases=[
        case(number("positive"), number("positive"), 5),
        case(2.0, 5, num=4, endpoint=False),
        case(-2.0, -3.0, 4),
        case(1j, 2 + 1j, 3),
        case(sample(3, kind="positive"), number("positive"), 4),
    ],
)
definition(
    np.logspace,
    _logspace,
    cases=[
        case(number(), number(), 5),
        case(0, number(), num=4, endpoint=False, base=2),
        case(sample(3), 1.0, 4, base=number("positive")),
    ],
)

for _convert in (np.array, np.asarray, np.ascontiguousarray, np.asanyarray, np.asfortranarray):
    linear(
        _convert,
        lambda ct, a, dtype=None, copy=None: unarray(ct, a),
        view_of=None if _convert is np.array else 0,
        arrays=() if _convert is np.array else ("a",),
        always_array=True,
        cases=[case(sample(4, 3)), case([number(), number()]), case([[number()], [number()]])],
    )
definition(
    np.fromiter,
    lambda iter, dtype, count=-1: np.array(_first_items(iter, count), dtype=dtype),
    arrays=(),
    cases=[case([number(), number()], float), case([number(), 2.0], float, -1)],
)


def _first_items(items, count):
    if count != -1:
        raise NotImplementedError("some of the items")
    return [item for item in items]  # noqa: C416


for _scalar in (np.float64, np.float32, np.complex128, np.complex64):
    linear(_scalar, lambda ct, x=0.0: unarray(ct, x), view_of=0, cases=[case(number()), case(sample(3))])
no_derivative(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_, np.intp)

linear(
    fill_cotangent,
    lambda ct, y_ct, fill_value: zeros_like(y_ct) + ct,
    view_of=0,
    cases=[case(sample(4, 3), sample(3)), case(sample(4, 3), number())],
)


def _meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    swapped = indexing == "xy" and len(xi) > 1
    lines = tuple(_along(x, 1 - k if swapped and k < 2 else k, len(xi)) for k, x in enumerate(xi))
    if sparse:
        return tuple(line.copy() for line in lines) if copy else lines
    sizes = tuple(np.size(line) for line in lines)
    shape = (sizes[1], sizes[0], *sizes[2:]) if swapped else sizes
    grids = tuple(np.broadcast_to(line, shape) for line in lines)
    return tuple(grid.copy() for grid in grids) if copy else grids


def _along(x, axis, rank):
    return np.reshape(np.asarray(x), (1,) * axis + (-1,) + (1,) * (rank - axis - 1))


definition(
    np.meshgrid,
    _meshgrid,
    cases=[
        case(sample(3), sample(4)),
        case(sample(3), sample(4), sample(2), indexing="ij"),
        case(sample(3), sample(2, 2), sparse=True),
        case(sample(3), sample(4), copy=False),
        case(sample(3)),
    ],
)


def _from_dlpack(x, /, *, device=None, copy=None):
    return np.copy(x) if copy else x[...]


definition(
    np.from_dlpack, _from_dlpack, cases=[case(sample(3)), case(sample(2, 3), device="cpu"), case(sample(3), copy=True)]
)
