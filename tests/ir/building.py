"""Short ways to write IR by hand."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.ir.builder import Builder
from adjoint.ir.join import join_atoms
from adjoint.ir.nodes import Atom, Block, Function, If, Return, Var, Yield
from adjoint.ir.types import BOOL, FLOAT, Array, Type

_COMPARISONS = (operator.lt, operator.gt, operator.le, operator.ge, operator.eq, operator.ne, operator.not_)


def vector(*, written: bool = False) -> Array:
    type_ = Array(np.dtype(float), ("many",))
    if written:
        type_.storage.mark_written()
    return type_


def type_of_call(callee: Any, args: Any, kwargs: Any) -> tuple[Type, ...]:
    """Good enough for floats and vectors: a comparison is a truth value, everything else is like its arguments."""
    if callee in _COMPARISONS:
        return (BOOL,)
    if callee in (np.zeros_like, np.zeros):
        return (vector(),)
    types = [join_atoms((arg,)) for arg in args]
    return (vector(),) if any(isinstance(type_, Array) for type_ in types) else (FLOAT,)


def build(write: Callable[..., Any], *types: Type, names: str = "xyzw") -> Function:
    """A function of parameters ``x, y, ...`` whose results ``write(builder, *params)`` gives."""
    params = tuple(Var(name, type_) for name, type_ in zip(names, types, strict=False))
    builder = Builder(type_of_call)
    results = write(builder, *params)
    values = results if isinstance(results, tuple) else (results,)
    return Function("f", params, builder.block(Return(values)))


def choose(builder: Builder, cond: Atom, then: Callable[..., Any], orelse: Callable[..., Any]) -> tuple[Var, ...]:
    """An ``If`` whose sides ``then(builder)`` and ``orelse(builder)`` give the atoms to yield."""
    blocks: list[Block] = []
    yielded: list[tuple[Atom, ...]] = []
    for side in (then, orelse):
        inner = builder.nested()
        values = side(inner) or ()
        values = values if isinstance(values, tuple) else (values,)
        yielded.append(values)
        blocks.append(inner.block(Yield(values)))
    targets = tuple(Var("k", join_atoms(pair)) for pair in zip(*yielded, strict=True))
    builder.emit(If(cond, blocks[0], blocks[1], targets))
    return targets
