"""The runtime's functions for Numba: what each does with numbers and arrays, decided by type.

Importing this module declares them; it is imported only where something is compiled.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc, union-attr, call-arg"

from __future__ import annotations

import numpy as np
from numba import typed
from numba.core import types
from numba.extending import register_jitable
from numba.np.numpy_support import as_dtype, from_dtype

from adjoint.native.runtime.declaring import overload
from adjoint.runtime import copies, objects, tangents
from adjoint.runtime.array_functions import arrays, plain, sequences


def _is_array(x):
    return isinstance(x, types.Array)


def _is_number(x):
    return isinstance(x, (types.Number, types.Boolean))


def _float_like(x):
    """The dtype that a derivative of an array or number of this type has."""
    dtype = as_dtype(x.dtype if _is_array(x) else x)
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def _zero_of(a, b):
    """Zero in the dtype of a quotient or product."""
    kinds = [as_dtype(part.dtype if _is_array(part) else part) for part in (a, b)]
    kind = np.result_type(*kinds)
    return kind.type(0) if kind.kind in "fc" else np.float64(0.0)


# Ranges and lengths


@overload(reversed)
def _reversed(sequence):
    if not isinstance(sequence, types.RangeType):
        return None

    def reverse(sequence):
        start, step = sequence.start, sequence.step
        return range(start + (len(sequence) - 1) * step, start - step, -step)

    return reverse


@overload(objects.check_length)
def _check_length(sequence, count):
    return lambda sequence, count: objects.check_size(len(sequence), count)


@overload(objects.check_size)
def _check_size(size, count):
    def check_size(size, count):
        if size > count:
            raise ValueError("too many values to unpack")
        if size < count:
            raise ValueError("not enough values to unpack")

    return check_size


# Arrays


@overload(copies.owned)
def _owned(x):
    return (lambda x: x.copy()) if _is_array(x) else (lambda x: x)


@overload(copies.of_dtype)
def _of_dtype(x, dtype):
    if x.dtype == getattr(dtype, "dtype", None):
        return lambda x, dtype: x
    return lambda x, dtype: x.astype(dtype)


@overload(arrays.zeros_like)
@overload(tangents.shadow_like)
def _zeros_like(x):
    if _is_array(x):
        dtype = _float_like(x)
        return lambda x: plain.zeros(x.shape, dtype)
    return _zero_number(x)


@overload(tangents.shadow)
@overload(tangents.shadow_of_values)
def _shadow(x):
    if isinstance(x, types.List) or (isinstance(x, types.UniTuple) and not isinstance(x, types.BaseNamedTuple)):
        return lambda x: [tangents.shadow(item) for item in x]
    if isinstance(x, types.DictType):
        return _shadow_of_dict(x)
    if _is_number(x) and not isinstance(x, (types.Integer, types.Boolean)):
        return lambda x: x * 0.0
    if _is_array(x) and isinstance(x.dtype, (types.Float, types.Complex)):
        return lambda x: plain.zeros_in_shape(x)
    return None


def _shadow_of_dict(x):
    if not isinstance(x.value_type, (types.Float, types.Complex, types.Array)):
        return None
    keys, values = x.key_type, x.value_type

    def shadow(x):
        out = typed.Dict.empty(keys, values)
        for key, value in x.items():
            out[key] = tangents.shadow(value)
        return out

    return shadow


@overload(tangents.shadow_or_zeros)
def _shadow_or_zeros(shadow, x):
    """Of what compiled code computes with, a shadow is never missing: arrays of integers have one of floats."""
    return (lambda shadow, x: shadow) if _is_array(shadow) or _is_number(shadow) else None


@overload(tangents.finish)
def _finish(shadow, like):
    if isinstance(like, types.List):
        return lambda shadow, like: [tangents.finish(shadow[place], like[place]) for place in range(len(like))]
    if isinstance(like, types.UniTuple) and not isinstance(like, types.BaseNamedTuple):
        parts = "".join(f"finish(shadow[{place}], like[{place}]), " for place in range(like.count))
        return _made("shadow, like", [f"    return ({parts})"], finish=tangents.finish)
    if _is_number(like) and not isinstance(like, (types.Integer, types.Boolean)):
        return lambda shadow, like: shadow
    if _is_array(like) and _is_array(shadow) and like.dtype == shadow.dtype:
        return lambda shadow, like: shadow.copy()
    return None


@overload(tangents.zero_tangent)
def _zero_tangent(x, memo=None):
    if isinstance(x, types.List) and isinstance(x.dtype, (types.Float, types.Complex, types.Array)):
        return lambda x, memo=None: [tangents.zero_tangent(item) for item in x]
    if _is_array(x) and isinstance(x.dtype, (types.Float, types.Complex)):
        return lambda x, memo=None: plain.zeros(x.shape, x.dtype)
    return (lambda x, memo=None: x * 0) if isinstance(x, (types.Float, types.Complex)) else None


@overload(tangents.zero_number)
def _zero_number(x):
    if isinstance(x, types.Complex):
        return lambda x: 0j
    return (lambda x: 0.0) if _is_number(x) else None


@overload(arrays.count)
def _count(x, axis=None):
    if axis is not None and not isinstance(axis, (types.NoneType, types.Omitted)):
        return None
    return (lambda x, axis=None: x.size) if _is_array(x) else (lambda x, axis=None: 1)


@overload(arrays.reshape_like)
def _reshape_like(ct, x):
    if _is_array(x):
        return lambda ct, x: np.ascontiguousarray(ct).reshape(x.shape)
    return lambda ct, x: arrays.unbroadcast(ct, x)


@overload(plain.reshaped)
def _reshaped(x, shape):
    """A copy where the elements do not lie one behind the other."""
    if not _is_array(x) or not isinstance(shape, (types.Integer, types.BaseTuple)):
        return None
    if not isinstance(shape, types.BaseTuple):
        return lambda x, shape: np.ascontiguousarray(x).reshape(shape)

    def reshaped(x, shape):
        if x.size == 0:
            _check_empty_shape(shape)
        return np.ascontiguousarray(x).reshape(shape)

    return reshaped


@register_jitable
def _check_empty_shape(shape):
    """Any extent would do for the one that is not told if another is zero."""
    some, unknown = 1, 0
    for extent in shape:
        if extent == -1:
            unknown += 1
        else:
            some *= extent
    if unknown == 1 and some == 0:
        raise ValueError("cannot reshape array of size 0 into this shape")


@overload(arrays.reverse_cumsum)
def _reverse_cumsum(ct, x, axis=None):
    if not _is_array(ct) or ct.ndim != 1 or not _is_array(x) or x.ndim != 1:
        return None
    zero = ct.dtype(0)

    def reverse_cumsum(ct, x, axis=None):
        out = plain.empty_like(ct)
        total = zero
        for place in range(ct.shape[0] - 1, -1, -1):
            total += ct[place]
            out[place] = total
        return out

    return reverse_cumsum


@overload(arrays.undiff)
def _undiff(ct, x, n=1, axis=-1):
    if not _is_array(ct) or ct.ndim != 1 or not _is_array(x) or ct.dtype != x.dtype:
        return None

    def undiff(ct, x, n=1, axis=-1):
        if ct.shape[0] == 0:
            return plain.zeros(x.shape[0], ct.dtype)
        for _ in range(n):
            wide = plain.zeros(ct.shape[0] + 1, ct.dtype)
            for place in range(ct.shape[0]):
                wide[place] -= ct[place]
                wide[place + 1] += ct[place]
            ct = wide
        return ct

    return undiff


@overload(arrays.unbroadcast)
def _unbroadcast(ct, like):
    if _is_array(like):
        return _to_array(ct, like)
    if not _is_number(like):
        return None
    to_real = isinstance(ct.dtype if _is_array(ct) else ct, types.Complex) and not isinstance(like, types.Complex)
    if _is_array(ct):
        kind = as_dtype(like).type if isinstance(like, (types.Float, types.Complex)) else np.float64
        return (lambda ct, like: kind(ct.sum().real)) if to_real else (lambda ct, like: kind(ct.sum()))
    kind = as_dtype(like).type if isinstance(like, (types.Float, types.Complex)) else np.float64
    return (lambda ct, like: kind(ct.real)) if to_real else (lambda ct, like: kind(ct))


@overload(arrays.match)
def _match(x, like):
    return lambda x, like: arrays.unbroadcast(x, like)


@overload(arrays.spread, prefer_literal=True)
def _spread(ct, x, axis=None, keepdims=False):
    if not _is_array(x):
        return lambda ct, x, axis=None, keepdims=False: arrays.unbroadcast(ct, x)
    dtype = _float_like(x)
    if _is_number(ct) and not _loses(ct, dtype):
        return lambda ct, x, axis=None, keepdims=False: np.full(x.shape, ct, dtype)
    index = _index_of_reduced(ct, x, axis, keepdims)
    if index is None or _loses(ct, dtype):
        return None
    lines = [
        "    out = plain.empty(x.shape, dtype)",
        *_nest(_extents("x", x.ndim), f"out[{_all_axes(x.ndim)}] = ct[{index}]"),
    ]
    return _made("ct, x, axis=None, keepdims=False", [*lines, "    return out"], np=np, dtype=dtype)


@overload(arrays.empty_product)
def _empty_product(a, b):
    if not _is_array(a) or not _is_array(b) or b.ndim > 2 or a.dtype != b.dtype:
        return None
    extents = [f"a.shape[{axis}]" for axis in range(a.ndim - 1)] + (["b.shape[1]"] if b.ndim == 2 else [])
    if not extents:
        return None
    lines = [
        f"    if a.shape[{a.ndim - 1}] != b.shape[0]:",
        "        raise ValueError('matmul: the inner extents of two arrays differ')",
        f"    return plain.empty(({', '.join(extents)},), dtype)",
    ]
    return _made("a, b", lines, dtype=as_dtype(a.dtype))


@overload(arrays.empty_sum)
def _empty_sum(a, b):
    if not _is_array(a) or not _is_array(b) or a.dtype != b.dtype:
        return None
    dtype = as_dtype(a.dtype)
    return lambda a, b: np.empty(np.broadcast_shapes(a.shape, b.shape), dtype)


@overload(arrays.share, prefer_literal=True)
def _share(ct, y, x, axis=None, keepdims=False):
    if not _is_array(x):
        return lambda ct, y, x, axis=None, keepdims=False: arrays.unbroadcast(ct, x)
    if not isinstance(x.dtype, types.Float):
        return None
    dtype = as_dtype(x.dtype)
    if _is_number(y) and _is_number(ct):
        place = of_ct = ""
        lines = ["    shares = 0", *_nest(_extents("x", x.ndim), f"shares += x[{_all_axes(x.ndim)}] == y")]
        lines.append("    part = ct / max(shares, 1)")
        value = "part"
    else:
        place = _index_of_reduced(y, x, axis, keepdims)
        of_ct = _index_of_reduced(ct, x, axis, keepdims)
        if place is None or (of_ct is None and not _is_number(ct)):
            return None
        lines = ["    shares = plain.zeros(y.shape, np.int64)"]
        lines += _nest(_extents("x", x.ndim), f"shares[{place}] += x[{_all_axes(x.ndim)}] == y[{place}]")
        value = f"{'ct' if _is_number(ct) else f'ct[{of_ct}]'} / max(shares[{place}], 1)"
    held = f"y[{place}]" if place else "y"
    lines.append("    out = plain.zeros(x.shape, dtype)")
    inner = f"if x[{_all_axes(x.ndim)}] == {held}: out[{_all_axes(x.ndim)}] = {value}"
    lines += [*_nest(_extents("x", x.ndim), inner), "    return out"]
    return _made("ct, y, x, axis=None, keepdims=False", lines, np=np, dtype=dtype)


def _all_axes(rank):
    return ", ".join(f"i{axis}" for axis in range(rank)) or "()"


def _nest(extents, *lines, depth=1):
    """Loops with ``i0, i1, ...`` up to some extents, and lines inside of all of them."""
    loops = [f"{'    ' * (axis + depth)}for i{axis} in range({extent}):" for axis, extent in enumerate(extents)]
    return [*loops, *[f"{'    ' * (len(extents) + depth)}{line}" for line in lines]]


def _extents(array, rank):
    return [f"{array}.shape[{axis}]" for axis in range(rank)]


def _loses(ct, dtype):
    """Whether something of a cotangent is lost in memory of a dtype: the imaginary part."""
    return dtype.kind != "c" and isinstance(ct.dtype if _is_array(ct) else ct, types.Complex)


def _index_of_reduced(reduced, x, axis, keepdims):
    """The element of a reduction of ``x`` that belongs to one of ``x``; None where that is not known from types."""
    axes = _literal_axes(axis, x.ndim)
    kept = getattr(keepdims, "literal_value", keepdims)
    if axes is None or not isinstance(kept, bool) or not _is_array(reduced):
        return None
    if reduced.ndim != (x.ndim if kept else x.ndim - len(axes)):
        return None
    items = [f"i{place}" if place not in axes else "0" for place in range(x.ndim) if kept or place not in axes]
    return ", ".join(items) or "()"


def _literal_axes(axis, rank):
    """The axes of a reduction, counted from the first; None where they are not known from types."""
    if axis is None or isinstance(axis, (types.NoneType, types.Omitted)):
        return tuple(range(rank))
    value = getattr(axis, "literal_value", axis)
    return (value % rank,) if isinstance(value, int) else None


@overload(sequences.fill_cotangent)
def _fill_cotangent(ct, fill_value):
    return lambda ct, fill_value: arrays.unbroadcast(ct, fill_value)


def _only_tuple(leaves):
    """What starred parameters hold: Numba gives them as one tuple, or one by one."""
    return leaves[0] if len(leaves) == 1 and isinstance(leaves[0], types.BaseTuple) else leaves


@overload(sequences.array_of)
def _array_of(template, *leaves):
    items = [types.unliteral(leaf) for leaf in _only_tuple(leaves)]
    if not items or not all(isinstance(leaf, (types.Number, types.Boolean)) for leaf in items):
        return None
    kind = np.result_type(*(as_dtype(leaf) for leaf in items))
    cast = {"f": "float", "c": "complex", "i": "int", "b": "bool"}.get(kind.kind)
    shape = _shape_of(template)
    if cast is None or shape is None:
        return None
    numbers = [  # Numba makes no float of a truth value
        f"{cast}(1 if leaves[{k}] else 0), " if isinstance(leaf, types.Boolean) else f"{cast}(leaves[{k}]), "
        for k, leaf in enumerate(items)
    ]
    lines = [f"    items = ({''.join(numbers)})"]
    lines += [f"    out = plain.empty({shape}, dtype)"]
    for path in np.ndindex(*shape):
        lines.append(f"    out[{', '.join(map(str, path))}] = items[template{''.join(f'[{k}]' for k in path)}]")
    return _made("template, *leaves", [*lines, "    return out"], np=np, dtype=kind)


@overload(sequences.array_leaf)
def _array_leaf(ct, template, place, leaf):
    shape = _shape_of(template)
    if shape is None or not _is_number(leaf):
        return None
    lines = ["    total = 0.0"]
    for path in np.ndindex(*shape):
        lines.append(f"    if template{''.join(f'[{k}]' for k in path)} == place:")
        lines.append(f"        total += ct[{', '.join(map(str, path))}]")
    return _made("ct, template, place, leaf", [*lines, "    return total"])


def _shape_of(template):
    """The shape of nested tuples of whole numbers; None if they have none."""
    if isinstance(template, types.Integer):
        return ()
    parts = {_shape_of(part) for part in template}
    (part,) = parts if len(parts) == 1 else (None,)
    return None if part is None else (len(template), *part)


def _made(params, body, **namespace):
    namespace |= {"plain": plain, "__name__": __name__}
    exec("\n".join([f"def made({params}):", *body]), namespace)
    return namespace["made"]


def _to_array(ct, like):
    """Sums or repeats ``ct`` to the shape of ``like``."""
    dtype = _float_like(like)
    loses = _loses(ct, dtype)
    if _is_number(ct):
        if loses:
            return lambda ct, like: np.full(like.shape, ct.real, dtype)
        return lambda ct, like: np.full(like.shape, ct, dtype)
    if not _is_array(ct):
        return None
    same = "ct" if ct.ndim == like.ndim and ct.dtype == from_dtype(dtype) else ""
    return _loops(ct.ndim, like.ndim, dtype, ".real" if loses else "", same)


def _loops(mine, theirs, dtype, part="", same=""):
    """A nest of loops over the larger of two shapes; axes of extent 1 stand still.

    ``part``: what of an element is added; ``same``: what to return where the shapes agree, if not a copy.
    """
    rank = max(mine, theirs)
    lines = []
    if same:
        lines += ["    if ct.shape == like.shape:", f"        return {same}"]
    lines += ["    out = plain.zeros(like.shape, dtype)"]
    of_ct, of_out = [], []
    for axis in range(rank):
        indent = "    " * (axis + 1)
        here, there = axis - (rank - mine), axis - (rank - theirs)
        extents = [f"{name}.shape[{k}]" for name, k in (("ct", here), ("like", there)) if k >= 0]
        extent = f"max({', '.join(extents)})" if len(extents) > 1 else extents[0]
        if len(extents) > 1:  # an empty array stays empty
            extent = f"(0 if min({', '.join(extents)}) == 0 else {extent})"
        lines.append(f"{indent}for i{axis} in range({extent}):")
        of_ct += [f"i{axis} if ct.shape[{here}] != 1 else 0"] if here >= 0 else []
        of_out += [f"i{axis} if like.shape[{there}] != 1 else 0"] if there >= 0 else []
    indent = "    " * (rank + 1)
    lines += [f"{indent}out[{', '.join(of_out) or '()'}] += ct[{', '.join(of_ct) or '()'}]{part}", "    return out"]
    return _made("ct, like", lines, np=np, dtype=dtype)
