"""Calls of helpers: functions of loops over numbers, each written once for each kind of arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adjoint import ir
from adjoint.diagnostics import DifferentiationError
from adjoint.native.compile.not_native import NotNative
from adjoint.native.helpers.lowering import Given, lowered
from adjoint.native.llvm.rules.table import RULES, Rule
from adjoint.native.llvm.values import (
    ArrayKind,
    Kind,
    Known,
    ListKind,
    NothingKind,
    Number,
    TupleKind,
    Unsupported,
    Value,
    dtype_of,
    kind,
)
from adjoint.native.llvm.writing.emission import Emission, known_value

_NUMBERS = {"f8": ir.FLOAT, "i8": ir.INT, "b1": ir.BOOL, "c8": ir.Scalar("complex")}
_SORTS: dict[str, ir.ScalarKind] = {"f": "float", "c": "complex"}
_ANY: ir.Dim = "any"
_TRUTHS = {"true": True, "false": False}


def helper(function: Callable[..., Any], *callees: Any) -> Rule:
    """What calls of a helper become; declared of functions that it stands for."""

    signature = inspect.signature(function)

    def write(e: Emission, *args: Value, **named: Value) -> Value:
        values = _in_order(signature, args, named)
        given = tuple(map(_told, values))
        varying = [value for value, each in zip(values, given, strict=True) if not isinstance(each, ir.Const)]
        form = _lowered(function, given)
        if form in e.program.helpers:
            raise Unsupported("a helper that calls itself")
        e.program.helpers.add(form)
        try:
            return e.called(form, form, varying, ())
        finally:
            e.program.helpers.discard(form)

    RULES.update(dict.fromkeys(callees, write))
    return write


def _in_order(signature: inspect.Signature, args: Sequence[Value], named: Mapping[str, Value]) -> list[Value]:
    """The arguments in the order of the parameters; defaults up to the last that is given."""
    bound = signature.bind(*args, **named)
    last = max((place for place, name in enumerate(signature.parameters) if name in bound.arguments), default=-1)
    found: list[Value] = []
    for name, param in list(signature.parameters.items())[: last + 1]:
        if param.kind is param.VAR_POSITIONAL:
            found += bound.arguments.get(name, ())
        else:
            found.append(bound.arguments[name] if name in bound.arguments else known_value(param.default))
    return found


def _told(value: Value) -> ir.Const | Kind:
    """What a helper is made for: the kind of an argument; what it is, of truths and whole numbers that are known."""
    match value:
        case Known(value=known):
            return ir.Const(known)
        case Number(kind="b1", name=name) if name in _TRUTHS:
            return ir.Const(_TRUTHS[name])
        case Number(kind="i8", name=name) if name.lstrip("-").isdigit():
            return ir.Const(int(name))
    return kind(value)


@functools.cache
def _lowered(function: Callable[..., Any], given: tuple[ir.Const | Kind, ...]) -> ir.Function:
    types = [each if isinstance(each, ir.Const) else type_of(each) for each in given]
    try:
        return lowered(function, types)
    except (DifferentiationError, NotNative) as problem:
        raise Unsupported(f"{function.__name__} of such arguments") from problem


def type_of(given: Kind) -> Given:
    """The type of values of a kind; bundles are like the numbers that they stand for."""
    match given:
        case str():
            return _NUMBERS.get(given[:2]) or ir.Scalar(_SORTS.get(given[0], "int"), dtype_of(given[:2]))
        case ArrayKind(element=element, rank=rank, read_only=read_only):
            return ir.Array(dtype_of(element[:2]), (_ANY,) * rank, ir.Storage(written=not read_only))
        case TupleKind(items=items):
            return ir.Tuple(tuple(_plain_type(item) for item in items))
        case ListKind(element=element) if element is not None:
            return ir.List(_plain_type(element))
        case NothingKind():
            return ir.Const(None)
    raise Unsupported("helpers of such arguments")


def _plain_type(given: Kind) -> ir.Type:
    found = type_of(given)
    if not isinstance(found, ir.Type):
        raise Unsupported("helpers of such arguments")
    return found
