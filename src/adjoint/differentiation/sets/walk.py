"""A function on sets: which elements of an argument each of its numbers depends on.

The walk is that of forward mode, and so is all memory: a set is a number that stands where a tangent stands, none is 0.
What forward mode computes, this unites. So whatever has a tangent has a set, and what has neither has no derivative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics import Diagnostic
from adjoint.differentiation.forward.forward import Session
from adjoint.differentiation.forward.statements import Forward
from adjoint.differentiation.reachability import Dependence
from adjoint.differentiation.sets.rules import SetRules, unknown
from adjoint.differentiation.sets.steering import VARYING, Reason
from adjoint.differentiation.sets.united import levels_of, united, with_primals_united
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import binders_of, operands, statements_in, targets_of
from adjoint.passes import Context
from adjoint.pipeline import run
from adjoint.runtime.sets import functions
from adjoint.runtime.sets.numbers import MOST_EXACT, exact_in
from adjoint.target import PYTHON, Target


def with_sets(
    function: ir.Function, wrt: tuple[int, ...], outputs: tuple[int, ...], target: Target = PYTHON
) -> ir.Function:
    """A function without dead code, on sets.

    Returns
    -------
    Function
        Its parameters are those of ``function``, the sets of each of ``wrt``, and the unions
        (:mod:`adjoint.runtime.sets.numbers`); its results those of ``function`` and the sets of each of ``outputs``.

    Raises
    ------
    DifferentiationError
        If it has no derivative, or does what has no form for sets (AD0412).
    """
    return _Session(False, target).derive(run(("dead-code",), function, Context(target)), wrt, outputs)


def with_pattern(
    function: ir.Function, outputs: tuple[int, ...], target: Target, for_all: bool
) -> tuple[ir.Function, list[Reason]]:
    """A function of which the first parameter varies, on sets; and what decides on them besides whole numbers.

    Parameters
    ----------
    for_all
        Whether the sets shall be the same in all calls with the same whole numbers and shapes, where that can be. Else,
        and where some reason is of the level ``VARYING``, they are those of one call.
    """
    reasons = [Reason(VARYING, "", None)]
    if for_all:
        levels = levels_of(function.params, 0)
        wide = run(("expand-derivatives", "dead-code"), with_primals_united(function, levels), Context(target))
        wide, reasons = united(wide, levels)
        if not any(reason.level == VARYING for reason in reasons):
            function = wide
    return with_sets(function, (0,), outputs, target), reasons


def most_exact(function: ir.Function) -> int:
    """Up to which number the floats of a function tell sets apart, as far as types and constants say."""
    return min(map(exact_in, _dtypes(function, set())), default=MOST_EXACT)


def _dtypes(function: ir.Function, seen: set[ir.Function]) -> Iterator[np.dtype[Any]]:
    seen.add(function)
    statements = statements_in(function.body)
    for statement in statements:
        callee = getattr(statement, "callee", None)
        inner = getattr(callee, "function", None)
        if isinstance(inner, ir.Function) and inner not in seen:
            yield from _dtypes(inner, seen)
        for atom in (*operands(statement), *targets_of(statement), *binders_of(statement), ir.Const(callee)):
            dtype = getattr(atom.type, "dtype", None) if isinstance(atom, ir.Var) else _as_dtype(atom)
            if isinstance(dtype, np.dtype):
                yield dtype


def _as_dtype(atom: ir.Atom) -> np.dtype[Any] | None:
    value = atom.value if isinstance(atom, ir.Const) else None
    if not isinstance(value, (str, type, np.dtype)):
        return None
    try:
        return np.dtype(value)
    except (TypeError, ValueError):
        return None


class _Session(Session):
    suffix = "sets"

    def not_forward(self, function: ir.Function, found: Dependence) -> list[Diagnostic]:
        return []

    def walked(
        self,
        function: ir.Function,
        found: Dependence,
        wrt: tuple[int, ...],
        outputs: tuple[int, ...],
        *,
        is_called: bool,
    ) -> ir.Function:
        return _Sets(self, found, wrt, outputs).function(function, is_called=is_called)


class _Sets(Forward):
    """The walk over one function."""

    rules: SetRules

    def __init__(self, session: Session, found: Dependence, wrt: tuple[int, ...], outputs: tuple[int, ...]) -> None:
        super().__init__(session, found, wrt, outputs)
        unions = ir.Var("unions", ir.Array(np.dtype(float), ("any", "any")))
        self.rules = SetRules(found, self.types, self.dots, session.layouts_read)
        self.rules.unions = unions
        self.besides = (unions,)

    def function(self, function: ir.Function, *, is_called: bool) -> ir.Function:
        params, body = self.derived(function)
        return ir.Function(f"{function.name}_sets", (*function.params, *params, self.rules.unions), body, function.doc)

    def statement(self, statement: ir.Statement, builder: Builder) -> None:
        if isinstance(statement, ir.Call) and isinstance(statement.callee, (ir.Declared, ir.Applied, ir.Derived)):
            self.of_unknown(statement, builder)
        else:
            super().statement(statement, builder)

    def of_unknown(self, call: ir.Call, builder: Builder) -> None:
        """A call of which nothing is known but that its results depend on its arguments."""
        builder.emit(call)
        sets = [dot for dot in map(self.rules.dot, call.args) if dot is not None]
        for target in call.targets:
            if self.found.active(target):
                self.dots[target] = self.rules.everything(builder, call, target, sets)

    def store(self, store: ir.Store, builder: Builder) -> None:
        if store.mode == "set":
            super().store(store, builder)
            return
        base = self.rules.dot(store.base)
        new = self.rules.dot(store.value)
        if base is None or new is None or not self.found.active_slot(store.base, store.key):
            return
        type_ = type_of_atom(store.base)
        if not isinstance(type_, ir.Array):
            self.add_to_item(store, base, new, builder)
            return
        if type_.dims is None:
            raise unknown(store, "it adds to an array of unknown rank")
        key = ir.WHOLE if store.key is None else store.key
        assert isinstance(key, ir.Subscript)
        if store.mode == "add_at":
            numbers = builder.call(functions.numbered, base)
            places = builder.load(numbers, key, _part(ir.Array(np.dtype(np.intp), type_.dims), key), "places")
            builder.effect(functions.added_at, self.rules.unions, base, places, new)
            return
        part = _part(self.types.of(type_), key)
        old = builder.load(base, key, part, "old")
        builder.emit(ir.Store(base, key, self.rules.added(builder, old, new, part), "set", store.span))

    def add_to_item(self, store: ir.Store, base: ir.Atom, new: ir.Atom, builder: Builder) -> None:
        """Adds to what lies in a container; to an array in place, as others may have it too."""
        content = self.found.content(store.base, store.key)
        if store.key is None or not isinstance(content, (ir.Scalar, ir.Array)):
            raise unknown(store, "it adds to what is neither a number nor an array")
        part = self.types.of(content)
        old = builder.load(base, store.key, part, "old")
        united = self.rules.added(builder, old, new, part)
        place = (old, ir.WHOLE) if isinstance(part, ir.Array) else (base, store.key)
        builder.emit(ir.Store(*place, united, "set", store.span))


def _part(type_: ir.Type, key: ir.Subscript) -> ir.Type:
    """The type of what lies at an index."""
    assert isinstance(type_, ir.Array) and type_.dims is not None
    if not all(isinstance(item, ir.Slice) or isinstance(type_of_atom(item), ir.Scalar) for item in key.items):
        return ir.Array(type_.dtype, None)
    slices = sum(isinstance(item, ir.Slice) for item in key.items)
    rank = len(type_.dims) - len(key.items) + slices
    if rank:
        return ir.Array(type_.dtype, tuple(["any" for _ in range(rank)]))
    is_complex = type_.dtype is not None and type_.dtype.kind == "c"
    return ir.Scalar("complex" if is_complex else "float", type_.dtype)
