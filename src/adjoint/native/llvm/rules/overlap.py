"""Which arrays share memory."""

from __future__ import annotations

import numpy as np

from adjoint.native.llvm.rules import arrays, checks, numbers
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import Array, Number, Value, size_of
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime import tangents


@rule(np.may_share_memory)
def _may_overlap(e: Emission, a: Value, b: Value) -> Number:
    bounds = [_bounds(e, arrays.array(x)) for x in (a, b)]
    (first, end), (other, other_end) = bounds
    overlap = checks.both_words(
        e, e.writer.op(f"icmp ult ptr {first}, {other_end}"), e.writer.op(f"icmp ult ptr {other}, {end}")
    )
    filled = [e.writer.compare("sgt", arrays.size(e, arrays.array(x)), "0") for x in (a, b)]
    return Number("b1", checks.both_words(e, overlap, *filled))


@rule(tangents.follow_view)
def _follow_view(e: Emission, shadow: Value, base: Value, like: Value, like_base: Value) -> Array:
    """A shadow that lies in that of another array if, and only if, the arrays themselves do."""
    given = arrays.array(shadow)
    follows, wanted = _may_overlap(e, shadow, base), _may_overlap(e, like, like_base)
    lost = numbers.both(e, wanted, numbers.negation(e, follows))
    e.check(lost.name, ValueError, "a tangent is laid out differently from the array that it belongs to")
    keeps = numbers.either(e, wanted, numbers.negation(e, follows))
    return arrays.one_of(e, keeps.name, given, lambda: arrays.copied(e, given))


def _bounds(e: Emission, x: Array) -> tuple[str, str]:
    """The addresses between which the elements of an array lie."""
    first = last = "0"
    for extent, stride in zip(x.shape, x.strides, strict=True):
        reach = e.writer.mul(e.writer.sub(extent, "1"), stride)
        first = e.writer.add(first, e.writer.least(reach, "0"))
        last = e.writer.add(last, e.writer.most(reach, "0"))
    end = e.writer.add(last, str(size_of(x.kind.element)))
    return e.writer.place(x.data, first), e.writer.place(x.data, end)
