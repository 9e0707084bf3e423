"""Ranks and dtypes of arrays that were not known where a statement was written, and are where it is compiled."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.ir.nodes import (
    Atom,
    Block,
    Call,
    Const,
    Continue,
    Function,
    If,
    Load,
    Loop,
    Slice,
    Statement,
    Subscript,
    Var,
)
from adjoint.ir.types import Array, Dim, Number, Scalar, Type
from adjoint.ir.walk import blocks_of, leaves, rebuild, rebuild_terminator, statements_in
from adjoint.rules.typing import type_of_call


def with_known_ranks(function: Function) -> Function:
    """The function with the types of its arrays as far as they follow from those of its arguments."""
    retyping = _Retyping(_unsure(function.body))
    return Function(function.name, function.params, retyping.block(function.body), function.doc)


class _Retyping:
    def __init__(self, unsure: set[Var]) -> None:
        self.known: dict[Var, Atom] = {var: Var(var.hint, Number(), var.named) for var in unsure}

    def atom(self, atom: Atom) -> Atom:
        return self.known.get(atom, atom) if isinstance(atom, Var) else atom

    def binder(self, var: Var) -> Var:
        known = self.known.get(var, var)
        return known if isinstance(known, Var) else var

    def block(self, block: Block) -> Block:
        statements = [self.statement(statement) for statement in block.statements]
        return Block(tuple(statements), rebuild_terminator(block.terminator, self.atom, self.block))

    def statement(self, statement: Statement) -> Statement:
        found = rebuild(statement, self.atom, self.block, self.binder)
        match found:
            case Call(targets=(Var(type=Array() as vague) as target,)) if _is_vague(vague):
                (better,) = type_of_call(found.callee, found.args, found.kwargs)
            case Load(target=Var(type=Array() as vague) as target, base=Var(type=Array() as base)) if _is_vague(vague):
                better = _loaded(base, found)
            case _:
                return found
        if not isinstance(better, Array) or better.dims is None or better.dtype is None:
            return found
        new = Var(target.hint, Array(better.dtype, better.dims, vague.storage), target.named)
        self.known[target] = new
        return rebuild(found, self.atom, binder=lambda var: new if var is target else var)


def _unsure(body: Block) -> set[Var]:
    """What is an array on some paths only: where paths meet, one of them brings a number, or nothing."""
    flows: list[tuple[Atom, Var]] = []
    for statement in statements_in(body):
        if isinstance(statement, If):
            for block in blocks_of(statement):
                for leaf in leaves(block):
                    flows += zip(getattr(leaf, "values", ()), statement.targets, strict=False)
        elif isinstance(statement, Loop):
            flows += zip(statement.inits, statement.params, strict=True)
            flows += zip(statement.params, statement.targets, strict=False)
            for leaf in leaves(statement.body):
                into = statement.params if isinstance(leaf, Continue) else statement.targets
                flows += zip(getattr(leaf, "values", ()), into, strict=False)
    found: set[Var] = set()
    grows = True
    while grows:
        new = {var for value, var in flows if isinstance(var.type, Array) and not _is_array(value, found)}
        grows = not new <= found
        found |= new
    return found


def _is_array(value: Atom, unsure: set[Var]) -> bool:
    return isinstance(value, Var) and isinstance(value.type, Array) and value not in unsure


def _is_vague(type_: Array) -> bool:
    return type_.dims is None or type_.dtype is None


def _loaded(base: Array, load: Load) -> Type:
    """The type of what basic indices select."""
    if base.dims is None or not isinstance(load.key, Subscript):
        return base
    dims = _selected(base.dims, load.key.items)
    return Array(base.dtype, dims)


def _selected(dims: Sequence[Dim], items: Sequence[Atom | Slice]) -> tuple[Dim, ...] | None:
    found: list[Dim] = []
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
        elif isinstance(item, Slice):
            whole = all(_is(part, None) for part in (item.lower, item.upper, item.step))
            first = left.pop(0)
            found.append(first if whole else "any")
        elif _is_number(item):
            left.pop(0)
        else:
            return None
    return (*found, *left)


def _is(item: Atom | Slice, value: object) -> bool:
    return isinstance(item, Const) and item.value is value


def _is_number(item: Atom) -> bool:
    if isinstance(item, Const):
        return type(item.value) is int
    return isinstance(item, Var) and isinstance(item.type, Scalar) and item.type.kind == "int"
