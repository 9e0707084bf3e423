"""Short ways to write IR by hand."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.ir.join import join_atoms

_COMPARISONS = (operator.lt, operator.gt, operator.le, operator.ge, operator.eq, operator.ne, operator.not_)


def vector(*, written: bool = False) -> ir.Array:
    type_ = ir.Array(np.dtype(float), ("many",))
    if written:
        type_.storage.mark_written()
    return type_


def type_of_call(callee: Any, args: Any, kwargs: Any) -> tuple[ir.Type, ...]:
    """Good enough for floats and vectors: a comparison is a truth value, everything else is like its arguments."""
    if callee in _COMPARISONS:
        return (ir.BOOL,)
    if callee in (np.zeros_like, np.zeros):
        return (vector(),)
    types = [join_atoms((arg,)) for arg in args]
    return (vector(),) if any(isinstance(type_, ir.Array) for type_ in types) else (ir.FLOAT,)


def build(write: Callable[..., Any], *types: ir.Type, names: str = "xyzw") -> ir.Function:
    """A function of parameters ``x, y, ...`` whose results ``write(builder, *params)`` gives."""
    params = tuple(ir.Var(name, type_) for name, type_ in zip(names, types, strict=False))
    builder = Builder(type_of_call)
    results = write(builder, *params)
    values = results if isinstance(results, tuple) else (results,)
    return ir.Function("f", params, builder.block(ir.Return(values)))


def choose(builder: Builder, cond: ir.Atom, then: Callable[..., Any], orelse: Callable[..., Any]) -> tuple[ir.Var, ...]:
    """An ``If`` whose sides ``then(builder)`` and ``orelse(builder)`` give the atoms to yield."""
    blocks: list[ir.Block] = []
    yielded: list[tuple[ir.Atom, ...]] = []
    for side in (then, orelse):
        inner = builder.nested()
        values = side(inner) or ()
        values = values if isinstance(values, tuple) else (values,)
        yielded.append(values)
        blocks.append(inner.block(ir.Yield(values)))
    targets = tuple(ir.Var("k", join_atoms(pair)) for pair in zip(*yielded, strict=True))
    builder.emit(ir.If(cond, blocks[0], blocks[1], targets))
    return targets
