"""What a declared derivative gives, in the structure of what that belongs to: an argument, or the value.

Where its kind is not known it is looked at when the derivative runs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.differentiation.components import describe
from adjoint.frontend.differentiation.tangent_values import (
    converted,
    differentiable_leaves,
    tangent_record,
    varying_parts,
)
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import NONE, Record, Ref, Site, TupleValue, Union, Value, is_atom
from adjoint.frontend.iterators.items import items_if_known
from adjoint.runtime import tangents
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.runtime.cotangents import check_cotangent
from adjoint.types.structure import DICTS


class Fitting:
    """What a declared derivative gives for one argument, or for the value.

    ``whose`` names that in messages, ``where`` begins one at run time, and ``refusal`` makes one at compile time.
    """

    def __init__(
        self, lo: Lowerer, node: ast.AST | None, refusal: Callable[[str], Problem], where: str, whose: str
    ) -> None:
        self.lo = lo
        self.node = node
        self.refusal = refusal
        self.where = where
        self.whose = whose
        self.open: list[Ref] = []

    def leaves(self, arg: Value, given: Value) -> Iterator[ir.Atom]:
        """What is given for the numbers and arrays of a value, in the order of :func:`every_leaf`."""
        lo = self.lo
        if given == NONE:
            yield from (NONE for _ in every_leaf(lo, arg, self.open))
            return
        if isinstance(given, Union) and is_atom(arg):
            given = on_each_option(lo, given, lambda option: or_zero(lo, arg, option), self.node)
        match arg:
            case ir.Var(type=type_) if ir.carries_derivative(type_):
                yield self.fitting(arg, type_, given)
            case ir.Const(value=float()):
                yield self.fitting(arg, ir.FLOAT, given)
            case TupleValue(items=items):
                parts = items_of(lo, given)
                if parts is None or len(parts) != len(items):
                    raise self.misfit(given, f"a tuple of {len(items)}")
                for item, part in zip(items, parts, strict=True):
                    yield from self.leaves(item, part)
            case Ref() if arg not in self.open:
                self.open.append(arg)
                yield from self.parts(arg, given)
                self.open.pop()
            case Union():
                raise self.refusal(f"{self.whose} is of several kinds")

    def parts(self, arg: Ref, given: Value) -> Iterator[ir.Atom]:
        """What is given for the parts of an object, a list or a dict."""
        lo, record = self.lo, self.lo.store[arg]
        assert isinstance(record, Record)
        parts = varying_parts(record)
        if record.cls is list:
            items = items_of(lo, given)
            if items is None or len(items) != len(parts):
                raise self.misfit(given, f"a list of {len(parts)}")
            found: dict[Any, Value] = dict(enumerate(items))
        else:
            held = lo.store.get(given)
            if not isinstance(held, Record) or held.cls is list or (held.cls in DICTS) != (record.cls in DICTS):
                raise self.misfit(given, _kind_of_record(record))
            found = dict(held.parts)
            unknown = [key for key in found if key not in dict(record.parts)]
            if unknown:
                raise self.misfit(given, f"{_kind_of_record(record)}, which has no {unknown[0]!r}")
        for key, part in parts:
            yield from self.leaves(part, found.get(key, NONE))

    def misfit(self, given: Value, wanted: str) -> Problem:
        return self.refusal(f"this returns {described(self.lo, given)} for {self.whose}, not {wanted}")

    def fitting(self, arg: ir.Atom, type_: ir.Type, given: Value) -> ir.Atom:
        """What is given for one number, array or container, in the kind and shape of that."""
        lo = self.lo
        if ir.is_handle(type_) and not isinstance(type_, ir.Array):
            atom = materialize(lo, given, self.node, observer=True)
            return converted(lo, tangents.to_shadow, [atom, arg], arg)  # type: ignore[arg-type]
        if not is_atom(given) or (isinstance(given, ir.Const) and not is_number(given.value)):
            raise self.misfit(given, _kind(type_))
        assert isinstance(given, (ir.Var, ir.Const))
        found = joins.type_of(given)
        if not may_fit(found, type_):
            raise self.misfit(given, _kind(type_))
        if surely_fits(found, type_):
            return ir.Const(float(given.value)) if isinstance(given, ir.Const) and type(given.value) is int else given
        target = ir.Var("ct", ir.fresh(type_))
        said = ir.Const(f"{self.where} gives, for {self.whose},")
        lo.emit(ir.Call((target,), check_cotangent, (given, arg, said), (), lo.span(self.node)))
        return target


def or_zero(lo: Lowerer, like: Value, given: Value) -> Value:
    """What is given, or a zero where that is None."""
    if given != NONE:
        return given
    if isinstance(like, ir.Var) and not isinstance(like.type, ir.Scalar):
        return lo.open.call(zeros_like, like)
    return ir.Const(0.0)


def every_leaf(lo: Lowerer, value: Value, within: Sequence[Ref] = ()) -> Iterator[ir.Atom]:
    """The numbers and arrays of a value that carry a derivative; what occurs twice in it is given twice."""
    return differentiable_leaves(lo, value, within, once=False)


def vector_of(lo: Lowerer, value: Value, leaves: Iterator[ir.Var], within: Sequence[Ref] = ()) -> Value:
    """A tangent or cotangent of the structure of a value; None at what has no derivative."""
    match value:
        case ir.Var(type=type_) if ir.carries_derivative(type_):
            return next(leaves)
        case ir.Const(value=constant) if isinstance(constant, float):
            return next(leaves)
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple([vector_of(lo, item, leaves, within) for item in items]), cls)
        case Ref() if value not in within:
            record = lo.store[value]
            assert isinstance(record, Record)
            parts = tuple([(key, vector_of(lo, part, leaves, (*within, value))) for key, part in varying_parts(record)])
            ref = Ref(Site(("cotangent", *value.site.place)))
            lo.store[ref] = tangent_record(record.cls, parts)
            return ref
        case _:
            return NONE


def items_of(lo: Lowerer, value: Value) -> list[Value] | None:
    if isinstance(value, TupleValue):
        return list(value.items)
    record = lo.store.get(value)
    if isinstance(record, Record) and record.cls is list:
        return list(record.items)
    if isinstance(value, ir.Var) and isinstance(value.type, (ir.List, ir.Tuple)):
        return items_if_known(lo, value, None)
    return None


def is_sequence(lo: Lowerer, value: Value) -> bool:
    record = lo.store.get(value)
    in_record = isinstance(record, Record) and record.cls is list
    return (
        isinstance(value, TupleValue)
        or in_record
        or (isinstance(value, ir.Var) and isinstance(value.type, (ir.List, ir.Tuple)))
    )


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.generic, np.ndarray)) and not isinstance(value, bool)


def may_fit(found: ir.Type, type_: ir.Type) -> bool:
    """Whether a cotangent of a type may have the kind and shape of its value."""
    match found, type_:
        case (ir.Number() | ir.Opaque(cls=None), _) | (_, ir.Number()):
            return True
        case ir.Scalar(kind=kind), ir.Scalar(kind=own):
            return kind != "bool" and (kind != "complex" or own == "complex")
        case ir.Array(dtype=dtype, dims=dims), ir.Scalar(kind=own):
            return dims in (None, ()) and not (dtype is not None and dtype.kind == "c" and own != "complex")
        case ir.Scalar(), ir.Array(dims=dims):
            return dims in (None, ())
        case ir.Array(dtype=dtype, dims=dims), ir.Array(dtype=own, dims=mine):
            real = own is not None and own.kind != "c"
            if (dtype is not None and dtype.kind == "c" and real) or (dtype is not None and dtype.kind not in "fciu"):
                return False
            return (
                dims is None
                or mine is None
                or (
                    len(dims) == len(mine)
                    and not any({"one", "many"} == {a, b} for a, b in zip(dims, mine, strict=True))
                )
            )
        case _:
            return False


def surely_fits(found: ir.Type, type_: ir.Type) -> bool:
    return isinstance(found, ir.Scalar) and isinstance(type_, ir.Scalar)


def _kind(type_: ir.Type) -> str:
    match type_:
        case ir.Scalar(kind=kind):
            return "a complex number" if kind == "complex" else "a number"
        case ir.Array(dims=dims):
            return "an array" if dims is None else f"an array of rank {len(dims)}"
        case ir.List():
            return "a list"
        case _:
            return "a number or an array"


def _kind_of_record(record: Record) -> str:
    return "a dict" if record.cls in DICTS else f"a tangent of class {record.cls.__name__!r}"


def described(lo: Lowerer, value: Value) -> str:
    if isinstance(value, ir.Const) and is_number(value.value):
        return f"the number {value.value!r}"
    if not is_atom(value) and not isinstance(value, (TupleValue, Ref, Union)):
        return "a function"
    return describe(joins.shape_of(value, lo.store))
