"""Declared derivatives of series: ``y' = D(x) x'``, where what the differential ``D`` reads are series, too.

So higher orders come from the declared derivative's own source, which runs with series of one order less. The function
that it is the derivative of, which it may call as it stands, is found order by order: what is declared asks for it
up to the order below.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.diagnostics import error
from adjoint.differentiation.finish import finish
from adjoint.differentiation.forward.forward import forward
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.runtime.taylor.functions import running
from adjoint.runtime.taylor.series import (
    NotCovered,
    Series,
    coefficient,
    holds_series,
    order_in,
    truncated,
    value_of,
)
from adjoint.runtime.taylor.solved import shaped

Lift = Callable[[ir.Function], ir.Function]


def with_declared_kept(function: ir.Function, lift: Lift, known: dict[ir.Definition, ir.Definition]) -> ir.Function:
    """A function whose declared derivatives are still there when reverse derivatives are written out."""

    def block(old: ir.Block) -> ir.Block:
        statements = tuple([statement(map_blocks(each, block)) for each in old.statements])
        return ir.Block(statements, rebuild_terminator(old.terminator, lambda atom: atom, block))

    def statement(old: ir.Statement) -> ir.Statement:
        match old:
            case ir.Call(callee=ir.Surgery(name=name)):
                raise error("AD0423", old.span, f"{name!r} changes cotangents, and a series has none")
            case ir.Call(callee=ir.Declared()):
                return ir.Call(old.targets, DeclaredSeries(old, lift), old.args, old.kwargs, old.span)
            case ir.Call(callee=ir.Definition() as callee):
                if callee not in known:
                    assert callee.function is not None
                    made = known[callee] = callee.unfilled()
                    made.function = with_declared_kept(callee.function, lift, known)
                return ir.Call(old.targets, known[callee], old.args, old.kwargs, old.span)
        return old

    return ir.Function(function.name, function.params, block(function.body), function.doc)


class DeclaredSeries:
    """The values of a call of a declared derivative, of series."""

    def __init__(self, call: ir.Call, lift: Lift) -> None:
        self.call = call
        self.lift = lift
        self.declared: ir.Declared = call.callee
        self.__name__ = f"{self.declared.name}_series"
        self.__module__ = __name__
        if any(
            isinstance(arg, ir.Var) and ir.is_handle(arg.type) and not isinstance(arg.type, ir.Array)
            for arg in call.args
        ):
            raise error("AD0423", call.span, "the derivative of this is declared, with a list, dict or object")
        args = self.declared.arguments_of(call)
        self.varying = [
            place for place, arg in enumerate(args) if isinstance(arg, ir.Var) and ir.carries_derivative(arg.type)
        ]

    def __call__(self, *args: Any) -> Any:
        start = self.declared.arguments
        values = [_owned(value_of(value)) for value in args[start : start + len(self.call.targets)]]
        varying = [args[place] for place in self.varying]
        if any(map(holds_series, varying)) and order_in(varying) > 0:
            for place, tangent in zip(self.declared.seeds, self._derivative(args, order_in(varying)), strict=True):
                values[place] = _integrated(values[place], tangent, order_in(varying))
        return tuple(values) if len(values) > 1 else values[0]

    def _derivative(self, args: tuple[Any, ...], order: int) -> tuple[Any, ...]:
        """The series of the derivatives of the values, of one order less."""
        given = [
            truncated(arg, order - 1)
            for arg, atom in zip(args, self.call.args, strict=True)
            if isinstance(atom, ir.Var)
        ]
        with running(order - 1):
            found = self._tangents(*given, *(_derived(args[place], order) for place in self.varying))
        return found if len(self.declared.seeds) > 1 else (found,)

    @cached_property
    def _tangents(self) -> Callable[..., Any]:
        """The tangents of the values, from what the call is given and the tangents of what varies."""
        call = self.call
        listed = [ir.Var(arg.hint, arg.type, True) for arg in call.args if isinstance(arg, ir.Var)]
        atoms = iter(listed)
        args = tuple([next(atoms) if isinstance(arg, ir.Var) else arg for arg in call.args])
        targets = tuple([ir.Var(target.hint, target.type) for target in call.targets])
        body = ir.Block((ir.Call(targets, call.callee, args, (), call.span),), ir.Return(targets))
        places = [place for place, param in enumerate(listed) if any(param is args[each] for each in self.varying)]
        function = forward(ir.Function("right_hand_side", tuple(listed), body), places, self.declared.seeds)
        end = function.body.terminator
        assert isinstance(end, ir.Return)
        tangents = ir.Return(end.values[len(targets) :])
        made = ir.Function(function.name, function.params, ir.Block(function.body.statements, tangents))
        return load(emit(finish(self.lift(made))))


def _owned(value: Any) -> Any:
    return np.copy(value) if isinstance(value, np.ndarray) else value


def _derived(value: Any, order: int) -> Any:
    """The derivative of what is a series of this order, or does not vary."""
    if isinstance(value, Series):
        return Series(order - 1, [(place + 1) * value.at(place + 1) for place in range(order)])
    return coefficient(value, 1)


def _integrated(value: Any, tangent: Any, order: int) -> Series:
    """The series of which the first coefficient and the derivative are given."""
    return Series(order, [value, *[shaped(coefficient(tangent, n) / (n + 1), value) for n in range(order)]])


# The function itself, where what is declared calls it as it stands

_found: ContextVar[dict[Any, tuple[Any, Series]] | None] = ContextVar("series of declared functions", default=None)
"""What is known so far of calls, by the function and the identity of the arguments, which are kept with it."""


def of_opaque(callee: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], run: Any) -> Any:
    """What a function whose derivative is declared gives of series; ``run`` calls it by its declaration."""
    name = getattr(callee, "__name__", "a function")
    if kwargs:
        raise NotCovered(f"{name!r} with named arguments")
    known = _found.get() or {}
    if _key(callee, args) in known:
        return known[_key(callee, args)][1]
    first = _owned(callee(*map(value_of, args)))
    if not isinstance(first, (float, complex, np.floating, np.complexfloating, np.ndarray)):
        raise NotCovered(f"{name!r}, which returns no number or array,")
    parts = [first]
    for order in range(1, order_in(args) + 1):
        given = tuple([truncated(arg, order) for arg in args])
        so_far = Series(order, [*parts, first * float("nan")])
        token = _found.set({**known, _key(callee, given): (given, so_far)})
        try:
            with running(order):
                parts.append(coefficient(run(callee, given), order))
        finally:
            _found.reset(token)
    return Series(order_in(args), parts)


def _key(callee: Any, args: tuple[Any, ...]) -> tuple[int, ...]:
    return (id(callee), *map(id, args))
