"""Ranks and dtypes of arrays that were not known where a statement was written, and are where it is compiled."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.ir.join import is_whole_number
from adjoint.ir.rebuild import rebuild, rebuild_terminator
from adjoint.ir.walk import blocks_of, leaves, statements_in
from adjoint.rules.typing import type_of_call
from adjoint.runtime.array_functions import arrays, products


def with_known_ranks(function: ir.Function) -> ir.Function:
    """The function with the types of its arrays as far as they follow from those of its arguments."""
    retyping = _Retyping(_unsure(function.body))
    return ir.Function(function.name, function.params, retyping.block(function.body), function.doc)


class _Retyping:
    def __init__(self, unsure: set[ir.Var]) -> None:
        self.known: dict[ir.Var, ir.Atom] = {var: ir.Var(var.hint, ir.Number(), var.named) for var in unsure}

    def atom(self, atom: ir.Atom) -> ir.Atom:
        return self.known.get(atom, atom) if isinstance(atom, ir.Var) else atom

    def binder(self, var: ir.Var) -> ir.Var:
        known = self.known.get(var, var)
        return known if isinstance(known, ir.Var) else var

    def block(self, block: ir.Block) -> ir.Block:
        statements = [self.statement(statement) for statement in block.statements]
        return ir.Block(tuple(statements), rebuild_terminator(block.terminator, self.atom, self.block))

    def statement(self, statement: ir.Statement) -> ir.Statement:
        found = rebuild(statement, self.atom, self.block, self.binder)
        constant = _constant(found)
        if constant is not None:
            (target,) = found.targets  # type: ignore[union-attr]
            self.known[target] = constant
            return found
        match found:
            case ir.Call(targets=(ir.Var(type=vague) as target,)) if _is_vague(vague):
                (better,) = type_of_call(found.callee, found.args, found.kwargs)
            case ir.Load(target=ir.Var(type=ir.Array() as vague) as target, base=ir.Var(type=ir.Array() as base)) if (
                _is_vague(vague)
            ):
                better = _loaded(base, found)
            case _:
                return found
        if not isinstance(better, (ir.Array, ir.Scalar)) or _is_vague(better):
            return found
        if isinstance(better, ir.Array) and isinstance(vague, ir.Array):
            better = ir.Array(better.dtype, better.dims, vague.storage)
        elif isinstance(vague, ir.Array):
            return found
        new = ir.Var(target.hint, better, target.named)
        self.known[target] = new
        return rebuild(found, self.atom, binder=lambda var: new if var is target else var)


_FOLDED = (
    *(arrays.inverse_axes, arrays.opposite, products.adjoint_subscripts, products.collected_subscripts),
    *(operator.add, operator.sub, operator.mul),
)
"""What is computed of axes, ranks and subscripts."""


def _constant(statement: ir.Statement) -> ir.Const | None:
    """What a call gives that is about ranks alone; None for other statements."""
    match statement:
        case ir.Call(targets=(_,), callee=np.ndim, args=(ir.Var(type=ir.Array(dims=tuple() as dims)),), kwargs=()):
            return ir.Const(len(dims))
        case ir.Call(targets=(_,), callee=callee, args=args, kwargs=()) if any(callee is known for known in _FOLDED):
            values = [
                arg.value for arg in args if isinstance(arg, ir.Const) and isinstance(arg.value, (int, str, tuple))
            ]
            return ir.Const(callee(*values)) if len(values) == len(args) else None
        case _:
            return None


def _unsure(body: ir.Block) -> set[ir.Var]:
    """What is an array on some paths only: where paths meet, one of them brings a number, or nothing."""
    flows: list[tuple[ir.Atom, ir.Var]] = []
    for statement in statements_in(body):
        if isinstance(statement, ir.If):
            for block in blocks_of(statement):
                for leaf in leaves(block):
                    flows += zip(getattr(leaf, "values", ()), statement.targets, strict=False)
        elif isinstance(statement, ir.Loop):
            flows += zip(statement.inits, statement.params, strict=True)
            flows += zip(statement.params, statement.targets, strict=False)
            for leaf in leaves(statement.body):
                into = statement.params if isinstance(leaf, ir.Continue) else statement.targets
                flows += zip(getattr(leaf, "values", ()), into, strict=False)
    found: set[ir.Var] = set()
    grows = True
    while grows:
        new = {var for value, var in flows if isinstance(var.type, ir.Array) and not _is_array(value, found)}
        grows = not new <= found
        found |= new
    return found


def _is_array(value: ir.Atom, unsure: set[ir.Var]) -> bool:
    return isinstance(value, ir.Var) and isinstance(value.type, ir.Array) and value not in unsure


def _is_vague(type_: ir.Type) -> bool:
    if isinstance(type_, ir.Array):
        return type_.dims is None or type_.dtype is None
    return isinstance(type_, ir.Number) or type_ == ir.OPAQUE


def _loaded(base: ir.Array, load: ir.Load) -> ir.Type:
    """The type of what basic indices select."""
    if base.dims is None or not isinstance(load.key, ir.Subscript):
        return base
    dims = _selected(base.dims, load.key.items) or _at_places(base.dims, load.key.items)
    return ir.Array(base.dtype, dims)


def _selected(dims: Sequence[ir.Dim], items: Sequence[ir.Atom | ir.Slice]) -> tuple[ir.Dim, ...] | None:
    found: list[ir.Dim] = []
    left = list(dims)
    taken = sum(1 for item in items if not _is(item, None) and not _is(item, Ellipsis))
    for item in items:
        if _is(item, None):
            found.append("one")
        elif _is(item, Ellipsis):
            skipped = len(dims) - taken
            found += left[:skipped]
            del left[:skipped]
        elif not left:
            return None
        elif isinstance(item, ir.Slice):
            whole = all(_is(part, None) for part in (item.lower, item.upper, item.step))
            first = left.pop(0)
            found.append(first if whole else "any")
        elif is_whole_number(item):
            left.pop(0)
        else:
            return None
    return (*found, *left)


def _at_places(dims: Sequence[ir.Dim], items: Sequence[ir.Atom | ir.Slice]) -> tuple[ir.Dim, ...] | None:
    """The extents of what arrays of places select, slices and numbers beside them."""
    taken = [place for place, item in enumerate(items) if not isinstance(item, ir.Slice)]
    ranks = [_rank_of_places(items[place]) for place in taken]
    if len(items) > len(dims) or None in ranks or not any(ranks):
        return None
    kept: list[ir.Dim] = ["any" if place < len(items) else dim for place, dim in enumerate(dims) if place not in taken]
    first = taken[0] if taken == list(range(taken[0], taken[-1] + 1)) else 0
    of_places: list[ir.Dim] = ["any"] * max(rank for rank in ranks if rank is not None)
    return (*kept[:first], *of_places, *kept[first:])


def _rank_of_places(item: ir.Atom | ir.Slice) -> int | None:
    """The rank of an array of whole numbers, 0 for one number; None for other items."""
    if not isinstance(item, ir.Slice) and is_whole_number(item):
        return 0
    match item:
        case ir.Var(type=ir.Array(dtype=dtype, dims=tuple() as dims)) if dtype is not None and dtype.kind in "iu":
            return len(dims)
        case ir.Var(type=ir.List(element=ir.Scalar(kind="int"))):
            return 1
        case _:
            return None


def _is(item: ir.Atom | ir.Slice, value: object) -> bool:
    return isinstance(item, ir.Const) and item.value is value
