"""Iterations of a loop abreast: what differs between them is a bundle, with which machines compute as with numbers.

What iterations add to a number or a place that they share, they add up among themselves first.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.reachable import all_memory
from adjoint.differentiation.directions.dependence import Inseparable
from adjoint.differentiation.directions.simd import Bundling
from adjoint.ir.join import kind_of_numbers, type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild, rebuild_terminator
from adjoint.ir.walk import free_vars, operands, statements_in
from adjoint.native.loops.reductions import OPERATORS
from adjoint.native.loops.vectorize.if_conversion import chosen, differing, places_of
from adjoint.native.vectors.forms import vector_form
from adjoint.records import replace
from adjoint.runtime.arithmetic import bundles, fused_loops, numbers
from adjoint.runtime.array_functions import arrays

TOGETHER = bundles.ITERATIONS
"""So many iterations go abreast."""

_SIZE = ir.Const(TOGETHER)
_SUMS = (operator.add, operator.sub, fused_loops.plus)
_ARITHMETIC = (
    *(*_SUMS, operator.mul, operator.neg, operator.truediv, numbers.divide, numbers.times),
    *(numbers.quotient, numbers.product, numbers.selected),
)
_POWERS: dict[Any, Any] = {
    **dict.fromkeys((operator.pow, np.power, np.float_power), operator.pow),
    math.pow: math.pow,
    numbers.power: vector_form(numbers.power),
}
"""Powers, and what they are called for bundles."""
_OF_MATH = (math.exp, math.log, math.tanh, math.sin, math.cos, math.sqrt, math.fabs)
_NAMED: dict[Any, Any] = {
    np.sign: bundles.bundle_sign,
    abs: bundles.bundle_magnitude,
    np.abs: bundles.bundle_magnitude,
    numbers.sign: bundles.bundle_sign,
    np.sqrt: bundles.bundle_sqrt,
    numbers.sqrt: bundles.bundle_sqrt,
    **{callee: vector_form(callee) for callee in (np.exp, np.log, numbers.log, np.tanh, np.sin, np.cos)},
    **dict.fromkeys((np.maximum, fused_loops.largest), bundles.bundle_maximum),
    **dict.fromkeys((np.minimum, fused_loops.smallest), bundles.bundle_minimum),
    **dict.fromkeys(_OF_MATH),
}
"""Functions of numbers, and what they are called for bundles if that is something else."""
_LOADS = (bundles.bundle_at, bundles.bundle_down, bundles.bundle_across)
_STORES = (bundles.put_bundle, bundles.put_bundle_down, bundles.put_bundle_across)
_EXTREMES: dict[Any, Any] = {max: operator.gt, min: operator.lt}
"""Functions of two numbers that give the first unless the second compares so."""
_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
_LOGIC: dict[Any, Any] = {
    operator.not_: bundles.bundle_not,
    operator.and_: bundles.bundle_both,
    operator.or_: bundles.bundle_either,
}
"""Functions of truth values, and what they are called for bundles."""
_OF_CONDITIONS = (*_LOGIC.values(), bundles.bundle_choice)
_OF_THE_FIRST = (bundles.bundle_from, *_LOADS, *_STORES)
"""What is told the number of the first iteration, as such."""


def abreast(body: ir.Block, index: ir.Var, sums: Sequence[ir.Var]) -> ir.Block | None:
    """The body of a loop for a bundle of iterations.

    Parameters
    ----------
    body
        The body for one iteration; iterations may be run in any order.
    index
        The number of the iteration, which is not negative; of the first one in the result.
    sums
        What iterations add to: one number for each value that the body hands on.

    Returns
    -------
    Block or None
        None where something differs between iterations that cannot be in a bundle.
    """
    end = body.terminator
    assert isinstance(end, ir.Continue)
    if has_bundles(body):
        return None
    preparation = _Preparation(body, index, dict(zip(sums, end.values, strict=True)))
    try:
        statements = _Abreast(preparation.function(), index).statements()
    except Inseparable:
        return None
    return ir.Block(statements, end)


def has_bundles(block: ir.Block) -> bool:
    """Whether a block computes with bundles already."""
    calls = (part for part in statements_in(block) if isinstance(part, ir.Call))
    return any(getattr(call.callee, "__module__", None) == bundles.__name__ for call in calls)


class _Preparation:
    """A body in which calls stand between what differs between iterations and what does not.

    These are sums over the iterations, the numbers of the iterations, and elements that each iteration has of its own.
    """

    def __init__(self, body: ir.Block, index: ir.Var, sums: dict[ir.Var, ir.Atom]) -> None:
        self._body = body
        self._index = index
        self._sums = sums
        self._numbers = ir.Var(index.hint, ir.FLOAT, index.named)
        self._shared = {storage.find() for var in free_vars(body) for storage in all_memory(var.type)}
        self._differing = differing(body, index, self._shared)
        self._sure = places_of(body)

    def function(self) -> ir.Function:
        """The body as a function of all that is not its own."""
        first = ir.Call((self._numbers,), bundles.bundle_from, (self._index, _SIZE))
        body = ir.Block((first, *self._block(self._body).statements), ir.Return(()))
        return ir.Function("iterations", free_vars(body), body)

    def _block(self, block: ir.Block) -> ir.Block:
        return ir.Block(tuple(new for old in block.statements for new in self._statement(old)), block.terminator)

    def _statement(self, statement: ir.Statement) -> Iterator[ir.Statement]:
        match statement:
            case ir.Load(target=target) if self._is_own(statement):
                yield self._loaded(statement, target)
            case ir.Store() if self._is_own(statement):
                yield from self._stored(statement)
            case ir.Store(base=ir.Var() as base) if self._is_shared(base):
                yield from self._sum(statement)
            case ir.Call(callee=callee, args=args, targets=(target,)) if callee in _SUMS and self._adds_up(args):
                part = next(arg for arg in args if arg not in self._sums)
                if not self._can_be_added(part, target):
                    raise Inseparable
                total = ir.Var(target.hint, target.type)
                yield ir.Call((total,), bundles.bundle_total, (self._as_number(part), _SIZE), (), statement.span)
                yield replace(statement, args=tuple(total if arg is part else arg for arg in args))
            case ir.If(cond=cond) if cond in self._differing:
                for new in chosen(statement, self._differing, self._sure):
                    yield from self._statement(new)
            case ir.Call(args=args, targets=(target,)) if _is_double(target) or kind_of_numbers(target) == "bool":
                yield replace(statement, args=tuple(map(self._as_number, args)))
            case _:
                yield map_blocks(statement, self._block)

    def _as_number(self, atom: ir.Atom) -> ir.Atom:
        """The number of the iteration as one with which bundles compute."""
        return self._numbers if atom is self._index else atom

    def _is_own(self, access: ir.Load | ir.Store) -> bool:
        """Whether an access is to an element that only one iteration has."""
        type_, key = type_of_atom(access.base), access.key
        if not isinstance(type_, ir.Array) or type_.dtype != np.float64 or not isinstance(key, ir.Subscript):
            return False
        are_numbers = all(isinstance(item, (ir.Var, ir.Const)) and type_of_atom(item) == ir.INT for item in key.items)
        is_element = are_numbers and len(key.items) == len(type_.dims or ()) <= 2
        return is_element and key.items.count(self._index) == 1

    def _access(self, forms: Sequence[Any], access: ir.Load | ir.Store, *value: ir.Atom) -> ir.Call:
        """The access to such elements of all iterations."""
        assert isinstance(access.key, ir.Subscript)
        places = access.key.items
        form = forms[0] if len(places) == 1 else forms[1 + places.index(self._index)]
        return ir.Call((), form, (access.base, *places, *value, _SIZE), (), access.span)  # type: ignore[arg-type]

    def _loaded(self, access: ir.Load | ir.Store, target: ir.Var) -> ir.Call:
        return replace(self._access(_LOADS, access), targets=(target,))

    def _stored(self, store: ir.Store) -> Iterator[ir.Statement]:
        value = self._as_number(store.value)
        if kind_of_numbers(value) == "bool":
            raise Inseparable
        if store.mode in OPERATORS:
            element, added = ir.Var("element", ir.FLOAT), ir.Var("element", ir.FLOAT)
            yield self._loaded(store, element)
            yield ir.Call((added,), OPERATORS[store.mode], (element, value), (), store.span)
            value = added
        elif store.mode != "set":
            raise Inseparable
        yield self._access(_STORES, store, value)

    def _is_shared(self, base: ir.Var) -> bool:
        return any(storage.find() in self._shared for storage in all_memory(base.type))

    def _adds_up(self, args: tuple[ir.Atom, ...]) -> bool:
        return sum(arg in self._sums for arg in args) == 1

    def _can_be_added(self, part: ir.Atom, into: ir.Atom) -> bool:
        """Whether a sum of what iterations add is of the kind of what they add it to."""
        if part is self._index:
            return kind_of_numbers(into) == "float"
        return kind_of_numbers(part) != "bool"

    def _sum(self, store: ir.Store) -> Iterator[ir.Statement]:
        """Adds to one place what all iterations add to it."""
        type_ = type_of_atom(store.value)
        if not isinstance(type_, ir.Scalar) or not self._can_be_added(store.value, store.base):
            raise Inseparable
        if store.mode not in OPERATORS or self._index in operands(store)[1:]:
            raise Inseparable
        total = ir.Var("total", type_)
        yield ir.Call((total,), bundles.bundle_total, (self._as_number(store.value), _SIZE), (), store.span)
        yield replace(store, value=total)


class _Abreast(Bundling):
    """Writes for bundles what depends on the number of the iteration."""

    def __init__(self, function: ir.Function, index: ir.Var) -> None:
        super().__init__(function, [index], TOGETHER)
        self._function = function
        self._index = index
        self._names: dict[ir.Var, ir.Var] = {}

    def statements(self) -> tuple[ir.Statement, ...]:
        """The statements of the body."""
        found = ir.Block(
            tuple(new for old in self._function.body.statements for new in self.statement(old)), ir.Return(())
        )
        for part in statements_in(found):
            of_the_first = isinstance(part, ir.Call) and part.callee in _OF_THE_FIRST
            if not of_the_first and self._index in operands(part):
                raise Inseparable
        return self._renamed(found).statements

    def _renamed(self, block: ir.Block) -> ir.Block:
        """The block with names for bundles: what has the name of a number has the type of a number."""
        statements = tuple(rebuild(old, self._name, self._renamed, self._bound) for old in block.statements)
        return ir.Block(statements, rebuild_terminator(block.terminator, self._name, self._renamed))

    def _name(self, atom: ir.Atom) -> ir.Atom:
        return self._bound(atom) if isinstance(atom, ir.Var) else atom

    def _bound(self, var: ir.Var) -> ir.Var:
        if var is not self._index and var not in self._names:
            self._names[var] = ir.Var(f"each_{var.hint}", var.type, var.named) if self.moves(var) else var
        return self._names.get(var, var)

    def moves(self, atom: ir.Atom) -> bool:
        """Whether an atom becomes a bundle, also one of truth values, or an array of bundles."""
        return self.is_condition(atom) or super().moves(atom)

    def is_condition(self, atom: ir.Atom) -> bool:
        """Whether an atom becomes a bundle of truth values."""
        return kind_of_numbers(atom) == "bool" and self.depends(atom)

    def call(self, call: ir.Call) -> Iterator[ir.Statement]:
        if call.callee in (*_OF_THE_FIRST, *_OF_CONDITIONS):
            yield call
            return
        for arg in call.args:
            self.moves(arg)
        if call.callee in _COMPARISONS and not any(map(self.is_condition, call.args)):
            yield call
        elif call.callee in _LOGIC and all(kind_of_numbers(arg) == "bool" for arg in call.args):
            yield replace(call, callee=_LOGIC[call.callee])
        elif call.callee is numbers.choose and self.is_condition(call.args[0]):
            yield replace(call, callee=bundles.bundle_choice)
        else:
            yield from super().call(call)

    def computed(self, call: ir.Call) -> Iterator[ir.Statement]:
        callee, args = call.callee, call.args
        if any(map(self.is_condition, args)):
            raise Inseparable
        if call.kwargs or not all(map(_is_number, (*args, *call.targets))):
            yield from self.array(call)
        elif callee in _ARITHMETIC:
            yield call
        elif callee is arrays.unbroadcast and all(map(_is_double, args)):
            yield replace(call, callee=operator.pos, args=args[:1])
        elif callee in _POWERS and _is_double(args[1]):
            yield replace(call, callee=_POWERS[callee])
        elif callee in _NAMED:
            yield replace(call, callee=_NAMED[callee] or callee)
        elif callee in _EXTREMES and len(args) == 2:
            exceeds = ir.Var("each_t", ir.BOOL)
            yield ir.Call((exceeds,), _EXTREMES[callee], args[::-1], (), call.span)
            yield replace(call, callee=bundles.bundle_choice, args=(exceeds, *args[::-1]))
        else:
            raise Inseparable


def _is_number(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), ir.Scalar)


def _is_double(atom: ir.Atom) -> bool:
    """Whether it is a double, or a constant."""
    type_ = type_of_atom(atom)
    return isinstance(atom, ir.Const) or (isinstance(type_, ir.Scalar) and type_.kind == "float")


__all__ = ["TOGETHER", "abreast"]
