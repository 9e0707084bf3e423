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

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.shapes.shape_arguments import EXTENTS
from adjoint.differentiation.reverse.memory.gathers import REORDERED, copies
from adjoint.ir.builder import Builder
from adjoint.ir.item_types import type_of_item
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild, without_statements
from adjoint.ir.walk import operands, read_counts, statements_in
from adjoint.rules.registry import rule_for
from adjoint.rules.typing import type_of_call
from adjoint.runtime.array_functions.arrays import complex_of

_ALSO_OF_COMPLEX = (*REORDERED, np.ndarray.transpose)
"""Functions that always give a view: of the imaginary parts, the imaginary parts of the same view."""
_IDENTITIES = (np.may_share_memory, np.shares_memory, operator.is_, operator.is_not)
"""Functions that look at the memory itself, not at what lies in it."""


def with_complex_stores(function: ir.Function) -> ir.Function:
    """The same function, in which nothing is written through a view of imaginary parts where that can be seen."""
    if not any(map(_is_written_view, statements_in(function.body))):
        return function
    rewriter = _Rewriter()
    body = rewriter.block(function.body)
    idle = set(rewriter.whole) - set(read_counts(body))
    body = without_statements(body, lambda statement: _makes(statement, idle))
    return ir.Function(function.name, function.params, body, function.doc)


def _is_written_view(statement: ir.Statement) -> bool:
    if not isinstance(statement, ir.Call) or statement.callee is not np.imag or len(statement.args) != 1:
        return False
    (base,), (target,) = statement.args, statement.targets
    if not isinstance(base, ir.Var) or not isinstance(base.type, ir.Array) or not isinstance(target.type, ir.Array):
        return False
    dtype = base.type.dtype
    return base.type.storage.written and dtype is not None and dtype.kind == "c"


class _Rewriter:
    """``whole`` has, for each view of imaginary parts, the same view of the complex numbers."""

    def __init__(self) -> None:
        self.whole: dict[ir.Atom, ir.Var] = {}

    def block(self, block: ir.Block) -> ir.Block:
        builder = Builder(type_of_call)
        for statement in block.statements:
            builder.span = statement.span
            self.statement(builder, statement)
        end = block.terminator
        match end:
            case ir.Branch():
                end = ir.Branch(end.cond, self.block(end.then), self.block(end.orelse), end.span)
            case ir.Return(values=values):
                end = ir.Return(tuple([self.view(builder, value) for value in values]), end.span)
        return builder.block(end)

    def statement(self, builder: Builder, statement: ir.Statement) -> None:
        match statement:
            case ir.Call() if _is_written_view(statement):
                (base,) = statement.args
                assert isinstance(base, ir.Var)
                self.whole[statement.targets[0]] = base
                builder.emit(statement)
            case ir.Call():
                self.call(builder, statement)
            case ir.Load(base=ir.Var() as base, key=ir.Subscript()) if base in self.whole:
                self.load(builder, statement, self.whole[base])
            case ir.Store(base=ir.Var() as base, value=value) if isinstance(base.type, ir.Array):
                moved = ir.Store(base, statement.key, self.read(builder, value), statement.mode, statement.span)
                self.store(builder, moved)
            case _:
                builder.emit(map_blocks(statement, self.block))

    def load(self, builder: Builder, load: ir.Load, base: ir.Var) -> None:
        """What is read of a view: of the array, and of that the imaginary part."""
        assert isinstance(base.type, ir.Array)
        target, dtype = load.target, base.type.dtype
        assert dtype is not None
        match target.type:
            case ir.Scalar():
                whole = builder.load(base, load.key, ir.Scalar("complex", dtype))
            case ir.Array(dims=dims, storage=storage) if copies(load.key) is not None:
                whole = builder.load(base, load.key, ir.Array(dtype, dims, storage))
                if storage.written:
                    self.whole[target] = whole
            case _:
                builder.emit(load)
                return
        builder.emit(ir.Call((target,), np.imag, (whole,), (), load.span))

    def call(self, builder: Builder, call: ir.Call) -> None:
        viewed = self.whole.get(call.args[0]) if call.args and call.callee in _ALSO_OF_COMPLEX else None
        type_ = call.targets[0].type if call.targets else None
        if viewed is not None and isinstance(type_, ir.Array):
            assert isinstance(viewed.type, ir.Array)
            whole = ir.Var("t", ir.Array(viewed.type.dtype, type_.dims, type_.storage))
            builder.emit(ir.Call((whole,), call.callee, (viewed, *call.args[1:]), call.kwargs, call.span))
            builder.emit(ir.Call(call.targets, np.imag, (whole,), (), call.span))
            self.whole[call.targets[0]] = whole
        elif call.callee in EXTENTS:
            builder.emit(rebuild(call, lambda atom: self.whole.get(atom, atom)))
        elif self.reads_only(call):
            builder.emit(rebuild(call, lambda atom: self.read(builder, atom)))
        else:
            builder.emit(call)

    def reads_only(self, call: ir.Call) -> bool:
        """Whether a call computes from what lies in views of imaginary parts, and keeps none of them."""
        if not any(atom in self.whole for atom in operands(call)) or rule_for(call.callee) is None:
            return False
        found = effects_of(call)
        shared = call.args[found.view_of : found.view_of + 1] if found.view_of is not None else ()
        keeps = found.hands_on or any(atom in self.whole for atom in shared)
        return found.known and not keeps and not found.writes and call.callee not in _IDENTITIES

    def read(self, builder: Builder, atom: ir.Atom) -> ir.Atom:
        """What lies in a view of imaginary parts now; any other value as it is."""
        whole = self.whole.get(atom)
        return atom if whole is None else builder.call(np.imag, builder.call(np.copy, whole))

    def view(self, builder: Builder, atom: ir.Atom) -> ir.Atom:
        """The view, made anew."""
        whole = self.whole.get(atom)
        return atom if whole is None else builder.call(np.imag, whole)

    def store(self, builder: Builder, store: ir.Store) -> None:
        base = self.whole.get(store.base)
        if base is None or not isinstance(type_of_atom(store.value), (ir.Scalar, ir.Array, ir.Number)):
            builder.emit(store)
            return
        if store.mode == "set":
            real = self.current(builder, base, store.key)
        else:
            real = ir.Const(
                0.0 if store.mode == "sub" else -0.0
            )  # what changes no real part, not even the sign of a zero
        builder.store(base, store.key, _joined(builder, real, store.value), store.mode)

    def current(self, builder: Builder, base: ir.Var, key: ir.Key | None) -> ir.Atom:
        """The complex numbers of which the imaginary parts are replaced."""
        return base if not isinstance(key, ir.Subscript) else builder.load(base, key, type_of_item(base.type, key))


def _makes(statement: ir.Statement, idle: Set[ir.Atom]) -> bool:
    """Whether a statement makes a view of imaginary parts through which nothing is done any more."""
    return isinstance(statement, ir.Call) and statement.callee is np.imag and statement.targets[0] in idle


def _joined(builder: Builder, real: ir.Atom, imag: ir.Atom) -> ir.Var:
    real_type, imag_type = type_of_atom(real), type_of_atom(imag)
    if isinstance(imag_type, ir.Scalar) and imag_type.kind != "complex" and isinstance(real_type, ir.Scalar):
        part = builder.call(np.real, real) if real_type.kind == "complex" else real
        return builder.call(complex, part, imag)
    return builder.call(complex_of, real, imag)


__all__ = ["with_complex_stores"]
