"""Writes of imaginary parts as writes of complex numbers.

Of a view of real parts, the same view of the shadow is the shadow. Of imaginary parts it is not: cotangents are paired
without conjugation, so a store there would have to move their negatives. Where such memory is written, what is done
through the view is done to the array itself: ``z.imag[k] = v`` is ``z[k] = complex_of(z[k], v)``, and what is read of
the view is the imaginary part of a copy, made where it is read.
"""

from __future__ import annotations

import operator
from collections.abc import Set

import numpy as np

from adjoint.differentiation.reverse.memory.gathers import REORDERED, copies
from adjoint.ir.builder import Builder
from adjoint.ir.effects import effects_of
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Const,
    Function,
    Key,
    Load,
    Return,
    Statement,
    Store,
    Subscript,
    Var,
)
from adjoint.ir.rebuild import map_blocks, rebuild
from adjoint.ir.types import Array, Number, Scalar
from adjoint.ir.walk import operands, read_counts, statements_in
from adjoint.rules.registry import rule_for
from adjoint.rules.typing import type_of_call
from adjoint.runtime.array_functions.arrays import complex_of

_ALSO_OF_COMPLEX = (*REORDERED, np.ndarray.transpose)
"""Functions that always give a view: of the imaginary parts, the imaginary parts of the same view."""
_SHAPES = (np.shape, np.size, np.ndim, len)
_IDENTITIES = (np.may_share_memory, np.shares_memory, operator.is_, operator.is_not)
"""Functions that look at the memory itself, not at what lies in it."""


def with_complex_stores(function: Function) -> Function:
    """The same function, in which nothing is written through a view of imaginary parts where that can be seen."""
    if not any(map(_is_written_view, statements_in(function.body))):
        return function
    rewriter = _Rewriter()
    body = rewriter.block(function.body)
    body = _without(body, set(rewriter.whole) - set(read_counts(body)))
    return Function(function.name, function.params, body, function.doc)


def _is_written_view(statement: Statement) -> bool:
    if not isinstance(statement, Call) or statement.callee is not np.imag or len(statement.args) != 1:
        return False
    (base,), (target,) = statement.args, statement.targets
    if not isinstance(base, Var) or not isinstance(base.type, Array) or not isinstance(target.type, Array):
        return False
    dtype = base.type.dtype
    return base.type.storage.written and dtype is not None and dtype.kind == "c"


class _Rewriter:
    """``whole`` has, for each view of imaginary parts, the same view of the complex numbers."""

    def __init__(self) -> None:
        self.whole: dict[Atom, Var] = {}

    def block(self, block: Block) -> Block:
        builder = Builder(type_of_call)
        for statement in block.statements:
            builder.span = statement.span
            self.statement(builder, statement)
        end = block.terminator
        match end:
            case Branch():
                end = Branch(end.cond, self.block(end.then), self.block(end.orelse), end.span)
            case Return(values=values):
                end = Return(tuple([self.view(builder, value) for value in values]), end.span)
        return builder.block(end)

    def statement(self, builder: Builder, statement: Statement) -> None:
        match statement:
            case Call() if _is_written_view(statement):
                (base,) = statement.args
                assert isinstance(base, Var)
                self.whole[statement.targets[0]] = base
                builder.emit(statement)
            case Call():
                self.call(builder, statement)
            case Load(base=Var() as base, key=Subscript()) if base in self.whole:
                self.load(builder, statement, self.whole[base])
            case Store(base=Var() as base, value=value) if isinstance(base.type, Array):
                moved = Store(base, statement.key, self.read(builder, value), statement.mode, statement.span)
                self.store(builder, moved)
            case _:
                builder.emit(map_blocks(statement, self.block))

    def load(self, builder: Builder, load: Load, base: Var) -> None:
        """What is read of a view: of the array, and of that the imaginary part."""
        assert isinstance(base.type, Array)
        target, dtype = load.target, base.type.dtype
        assert dtype is not None
        match target.type:
            case Scalar():
                whole = builder.load(base, load.key, Scalar("complex", dtype))
            case Array(dims=dims, storage=storage) if copies(load.key) is not None:
                whole = builder.load(base, load.key, Array(dtype, dims, storage))
                if storage.written:
                    self.whole[target] = whole
            case _:
                builder.emit(load)
                return
        builder.emit(Call((target,), np.imag, (whole,), (), load.span))

    def call(self, builder: Builder, call: Call) -> None:
        viewed = self.whole.get(call.args[0]) if call.args and call.callee in _ALSO_OF_COMPLEX else None
        type_ = call.targets[0].type if call.targets else None
        if viewed is not None and isinstance(type_, Array):
            assert isinstance(viewed.type, Array)
            whole = Var("t", Array(viewed.type.dtype, type_.dims, type_.storage))
            builder.emit(Call((whole,), call.callee, (viewed, *call.args[1:]), call.kwargs, call.span))
            builder.emit(Call(call.targets, np.imag, (whole,), (), call.span))
            self.whole[call.targets[0]] = whole
        elif call.callee in _SHAPES:
            builder.emit(rebuild(call, lambda atom: self.whole.get(atom, atom)))
        elif self.reads_only(call):
            builder.emit(rebuild(call, lambda atom: self.read(builder, atom)))
        else:
            builder.emit(call)

    def reads_only(self, call: Call) -> bool:
        """Whether a call computes from what lies in views of imaginary parts, and keeps none of them."""
        if not any(atom in self.whole for atom in operands(call)) or rule_for(call.callee) is None:
            return False
        found = effects_of(call)
        shared = call.args[found.view_of : found.view_of + 1] if found.view_of is not None else ()
        keeps = found.hands_on or any(atom in self.whole for atom in shared)
        return found.known and not keeps and not found.writes and call.callee not in _IDENTITIES

    def read(self, builder: Builder, atom: Atom) -> Atom:
        """What lies in a view of imaginary parts now; any other value as it is."""
        whole = self.whole.get(atom)
        return atom if whole is None else builder.call(np.imag, builder.call(np.copy, whole))

    def view(self, builder: Builder, atom: Atom) -> Atom:
        """The view, made anew."""
        whole = self.whole.get(atom)
        return atom if whole is None else builder.call(np.imag, whole)

    def store(self, builder: Builder, store: Store) -> None:
        base = self.whole.get(store.base)
        if base is None or not isinstance(type_of_atom(store.value), (Scalar, Array, Number)):
            builder.emit(store)
            return
        if store.mode == "set":
            real = self.current(builder, base, store.key)
        else:
            real = Const(0.0 if store.mode == "sub" else -0.0)  # what changes no real part, not even the sign of a zero
        builder.store(base, store.key, _joined(builder, real, store.value), store.mode)

    def current(self, builder: Builder, base: Var, key: Key | None) -> Atom:
        """The complex numbers of which the imaginary parts are replaced."""
        from adjoint.frontend.syntax.indexing import type_of_item  # circular

        return base if not isinstance(key, Subscript) else builder.load(base, key, type_of_item(base.type, key))


def _without(block: Block, idle: Set[Atom]) -> Block:
    """A block without the views of imaginary parts through which nothing is done any more."""
    statements = [statement for statement in block.statements if not _makes(statement, idle)]
    inner = tuple([map_blocks(statement, lambda nested: _without(nested, idle)) for statement in statements])
    end = block.terminator
    if isinstance(end, Branch):
        end = Branch(end.cond, _without(end.then, idle), _without(end.orelse, idle), end.span)
    return Block(inner, end)


def _makes(statement: Statement, idle: Set[Atom]) -> bool:
    return isinstance(statement, Call) and statement.callee is np.imag and statement.targets[0] in idle


def _joined(builder: Builder, real: Atom, imag: Atom) -> Var:
    real_type, imag_type = type_of_atom(real), type_of_atom(imag)
    if isinstance(imag_type, Scalar) and imag_type.kind != "complex" and isinstance(real_type, Scalar):
        part = builder.call(np.real, real) if real_type.kind == "complex" else real
        return builder.call(complex, part, imag)
    return builder.call(complex_of, real, imag)


__all__ = ["with_complex_stores"]
