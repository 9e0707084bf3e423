"""Products of vectors, for Numba: a loop for each axis along which they are broadcast."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import register_jitable
from numba.np.numpy_support import as_dtype

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.general import _is_array, _made
from adjoint.native.runtime.overloads.joining import _axis_of
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions import plain, products


@overload(plain.cross, prefer_literal=True)
def _cross(a, b, axis=-1):
    along = _known_axis(axis, a, b)
    if along is None:
        return None
    dtype = np.result_type(as_dtype(a.dtype), as_dtype(b.dtype))
    rank = max(a.ndim, b.ndim)
    shape = {along % rank: "3"}
    lines = ["    check_vectors(a.shape[axis], b.shape[axis])"]
    for axes in _broadcast(along, a=a.ndim, b=b.ndim, out=rank):
        extents = [f"{name}.shape[{axes[name]}]" for name in ("a", "b") if name in axes]
        shape[axes["out"]] = f"common_extent({', '.join(extents)})" if len(extents) == 2 else extents[0]
    lines.append(f"    out = plain.zeros(({''.join(f'{shape[place]}, ' for place in range(rank))}), dtype)")
    lines += _loops(along, ("a", "b", "out"), a=a.ndim, b=b.ndim, out=rank)
    return _made("a, b, axis=-1", [*lines, "    return out"], dtype=dtype, **_NAMES)


@overload(products.cross_left, prefer_literal=True)
def _cross_left(ct, a, b, axis=-1):
    return _cotangent("a", ("b", "ct", "out"), axis, ct=ct, a=a, b=b)


@overload(products.cross_right, prefer_literal=True)
def _cross_right(ct, a, b, axis=-1):
    return _cotangent("b", ("ct", "a", "out"), axis, ct=ct, a=a, b=b)


def _cotangent(like, names, axis, **arrays):
    """The cotangent of one of two factors: the product of the others, summed to its shape."""
    along = _known_axis(axis, *arrays.values())
    if along is None or not _holds(arrays[like].dtype, [arrays[name].dtype for name in names[:2]]):
        return None
    ranks = {name: array.ndim for name, array in arrays.items()}
    lines = [
        "    check_vectors(a.shape[axis], b.shape[axis])",
        f"    out = plain.zeros({like}.shape, {like}.dtype)",
        *_loops(along, names, **ranks, out=ranks[like]),
    ]
    return _made("ct, a, b, axis=-1", [*lines, "    return out"], **_NAMES)


def _holds(dtype, others):
    """Whether an array can have products of numbers of other dtypes."""
    if isinstance(dtype, types.Float):
        return not any(isinstance(other, types.Complex) for other in others)
    return isinstance(dtype, types.Complex)


def _known_axis(axis, *arrays):
    """The axis of the elements of the vectors, if it is known, and all are arrays of numbers that have it."""
    if not all(_is_array(array) and isinstance(array.dtype, types.Number) for array in arrays):
        return None
    return _axis_of(axis, *[array.ndim for array in arrays])


def _broadcast(along, **ranks):
    """For each axis that is broadcast, from the last one back, where each of the arrays has it."""
    others = {name: [k for k in range(rank) if k != along % rank][::-1] for name, rank in ranks.items()}
    return [
        {name: own[place] for name, own in others.items() if place < len(own)}
        for place in range(max(map(len, others.values())))
    ]


def _loops(along, names, **ranks):
    """Loops that add the products of the vectors of two arrays to those of a third."""
    lines, items = [], {name: {along % ranks[name]: ":"} for name in names}
    axes = _broadcast(along, **ranks)
    for place in reversed(range(len(axes))):
        whole = next(name for name in ("ct", "out") if name in ranks)
        indent = "    " * (len(axes) - place)
        lines.append(f"{indent}for i{place} in range({whole}.shape[{axes[place][whole]}]):")
        for name in names:
            if name in axes[place]:
                items[name][axes[place][name]] = f"i{place} * step_along({name}.shape[{axes[place][name]}])"
    parts = [f"{name}[{', '.join(items[name][k] for k in sorted(items[name]))}]" for name in names]
    return [*lines, f"{'    ' * (len(axes) + 1)}add_cross({', '.join(parts)})"]


_EXTENTS = (2, 3) if np.lib.NumpyVersion(np.__version__) < "2.5.0" else (3,)


@register_jitable
def _check_vectors(mine, theirs):
    if mine not in _EXTENTS or theirs not in _EXTENTS:
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if mine == theirs == 2:
        raise ValueError(
            "np.cross of vectors of two elements gives numbers, where machine code has vectors: "
            "write a[0] * b[1] - a[1] * b[0]"
        )


@register_jitable
def _add_cross(one, other, out):
    """Adds a product to what has its first two elements or all three."""
    last = one[2] if one.shape[0] == 3 else one[0] * 0
    other_last = other[2] if other.shape[0] == 3 else other[0] * 0
    out[0] += one[1] * other_last - last * other[1]
    out[1] += last * other[0] - one[0] * other_last
    if out.shape[0] == 3:
        out[2] += one[0] * other[1] - one[1] * other[0]


_NAMES = {
    "common_extent": fused_loops.common_extent,
    "step_along": fused_loops.step_along,
    "check_vectors": _check_vectors,
    "add_cross": _add_cross,
}
