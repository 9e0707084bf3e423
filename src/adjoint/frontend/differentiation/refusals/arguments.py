"""Arguments that have no derivative: what they are, and what to hand over instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves
from adjoint.frontend.differentiation.wrt import parameter_names, refusal
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import Record, Ref, TupleValue, Value
from adjoint.runtime.arithmetic.checks import brings_arithmetic, ways_out
from adjoint.types.structure import CONTAINERS, DICTS, own_attribute


def check_differentiable(
    lo: Lowerer,
    function: Value,
    value: Value,
    place: int | str,
    node: ast.AST | None,
    args: Sequence[Value] = (),
    kwargs: Mapping[str, Value] | None = None,
) -> None:
    """Refuses an argument that has no derivative; the others are looked at for what may have been meant."""
    if _may_be(value) and any(True for _ in differentiable_leaves(lo, value)):
        described, helps = _array_of_another_class(lo, value, CONTAINERS)
        if helps:
            raise _problem(lo, function, "AD0404", f"{_argument(place)} {described}", place, helps, node)
        return
    given = None if node is not None else lo.run_data.arguments.get(place)
    described, helps = _array_of_another_class(lo, value)
    code = "AD0404"
    if not helps:
        code, described, helps = _refused(lo, value, given)
        described = f"is {described}"
    if code == "AD0404":
        helps = (*helps, *_others_that_vary(lo, function, place, args, kwargs or {}, node))
        helps = helps or ("numbers are given as floats, arrays of floats, or lists, dicts and dataclasses of these",)
    raise _problem(lo, function, code, f"{_argument(place)} {described}", place, helps, node)


def _argument(place: int | str) -> str:
    return f"argument {place!r}" if isinstance(place, str) else f"argument {place}"


def refuse_arrays_of_other_classes(
    lo: Lowerer, function: Value, args: Sequence[Value], node: ast.AST | None = None
) -> None:
    """Refuses arguments that are or hold arrays to the user, where a pullback gives None for all it is asked for."""
    for place, value in enumerate(args):
        described, ways = _array_of_another_class(lo, value)
        if ways:
            label = f"argument {place} {described}"
            raise refusal(lo, "AD0404", function, node, label, place=place, helps=ways)


def _array_of_another_class(
    lo: Lowerer, value: Value, within: tuple[type, ...] | None = None
) -> tuple[str, tuple[str, ...]]:
    """That a value is or holds an array with arithmetic of its own, and ways out; nothing of others.

    Objects of classes other than those ``within`` are not looked into: what they hold may be data.
    """
    for cls in _opaque_classes(lo, value, within):
        if issubclass(cls, np.ndarray) and brings_arithmetic(cls) and not issubclass(cls, np.recarray):
            verb = "is" if isinstance(value, ir.Var) and isinstance(value.type, ir.Opaque) else "holds"
            return f"{verb} {object_of(cls)}", ways_out(cls)
    return "", ()


def _opaque_classes(
    lo: Lowerer, value: Value, within: tuple[type, ...] | None, around: tuple[Ref, ...] = ()
) -> Iterator[type]:
    """The classes of what a value is or holds of which nothing but the class is known."""
    match value:
        case TupleValue(items=items):
            for item in items:
                yield from _opaque_classes(lo, item, within, around)
        case Ref() if value not in around:
            record = lo.store.get(value)
            if isinstance(record, Record) and (within is None or record.cls in within):
                for item in record.items:
                    yield from _opaque_classes(lo, item, within, (*around, value))
        case ir.Var(type=type_):
            yield from _opaque_types(type_, within)


def _opaque_types(type_: ir.Type | None, within: tuple[type, ...] | None) -> Iterator[type]:
    match type_:
        case ir.Opaque(cls=type() as cls):
            yield cls
        case ir.List(element=part) | ir.Dict(value=part):
            yield from _opaque_types(part, within)
        case ir.Tuple(items=parts):
            for each in parts:
                yield from _opaque_types(each, within)
        case ir.Instance(fields=fields) if within is None:
            for each in fields.values():
                yield from _opaque_types(each, within)


def holds_integers(lo: Lowerer, value: Value) -> bool:
    """Whether a container holds integers, among whatever else."""
    return isinstance(value, (Ref, TupleValue)) and "integer" in _contents(lo, value)[1]


def object_of(cls: type) -> str:
    """What an object of a class is, in a few words."""
    named: dict[type, str] = {str: "a string", list: "a list", dict: "a dict", set: "a set", tuple: "a tuple"}
    return named.get(cls, f"an object of class {cls.__name__!r}")


def _problem(
    lo: Lowerer,
    function: Value,
    code: str,
    label: str,
    place: int | str,
    helps: tuple[str, ...],
    node: ast.AST | None,
) -> Problem:
    return refusal(lo, code, function, node, label, place=place, helps=helps)


def _may_be(value: Value) -> bool:
    """Whether it is of no kind that is always refused."""
    match value:
        case ir.Var(type=ir.Scalar(kind="int")) | ir.Const(value=int()):
            return False
        case ir.Var(type=ir.Array(dtype=dtype)):
            return dtype is None or dtype.kind not in "iu"
        case ir.Var(type=ir.Opaque(cls=type() as cls)):
            return not hasattr(cls, "__next__")
        case _:
            return True


def _refused(lo: Lowerer, value: Value, given: Any) -> tuple[str, str, tuple[str, ...]]:
    """The code, what the argument is, and ways out."""
    match value:
        case ir.Const(value=bool() as flag):
            return "AD0404", repr(flag), ()
        case ir.Const(value=int() as number):
            return "AD0403", f"the integer {number}", (f"pass {float(number)}",)
        case ir.Const(value=str() as text):
            return "AD0404", repr(text), (f"pass a number: float({text!r})",) if _is_number(text) else ()
        case ir.Const(value=None):
            return "AD0404", "None", ()
        case ir.Const(value=constant):
            return "AD0404", "a constant" if not callable(constant) else "a function", ()
        case ir.Var(type=ir.Scalar(kind="int")):
            integer = int(given) if isinstance(given, (int, np.integer)) else None
            if integer is not None and abs(integer) < 2**53:
                return "AD0403", f"the integer {given}", (f"pass a float: {float(integer)} for {given}",)
            return "AD0403", "an integer", ("pass a float: 3.0 for 3",)
        case ir.Var(type=ir.Array(dtype=dtype)) if dtype is not None and dtype.kind in "iu":
            return "AD0403", f"an array of {dtype}", ("pass an array of floats: x.astype(float)",)
        case ir.Var(type=ir.Array(dtype=dtype)) if dtype is not None and dtype.kind == "O":
            return "AD0404", "an array of objects", ("pass an array of floats: x.astype(float)",)
        case ir.Var(type=ir.Array(dtype=dtype)) if dtype is not None:
            return "AD0404", f"an array of {dtype}", ()
        case ir.Var(type=ir.Opaque(cls=type() as cls)) if hasattr(cls, "__next__"):
            return (
                "AD0305",
                f"an iterator of class {cls.__name__!r}",
                ("hand over the list or array that it runs through", "or loop over it with 'for'"),
            )
        case ir.Var(type=ir.Opaque(cls=type() as cls)):
            return "AD0404", *_opaque(cls, given)
    return _container(lo, value)


def _opaque(cls: type, given: Any) -> tuple[str, tuple[str, ...]]:
    if brings_arithmetic(cls):
        return object_of(cls), ways_out(cls)
    if isinstance(given, np.ndarray) and given.dtype.names:
        first = given.dtype.names[0]
        return "an array of records", (f"pass its columns, which are arrays: a[{first!r}]",)
    if isinstance(given, np.ndarray):
        kind = "objects" if given.dtype.kind == "O" else given.dtype
        return f"an array of {kind}", ("pass an array of floats: x.astype(float)",)
    if cls.__module__.startswith("numba.typed"):
        return object_of(cls), (f"hand over Python's own: {'dict' if cls.__name__ == 'Dict' else 'list'}(xs)",)
    if cls.__module__.startswith("numba."):
        return object_of(cls), ("pass its numbers as arguments, or keep them in a dataclass",)
    if callable(own_attribute(given, "__array__")):
        return object_of(cls), ("hand over a plain array: np.asarray(x)",)
    return object_of(cls), _as_plain(cls)


def _as_plain(cls: type | None) -> tuple[str, ...]:
    """The way out for objects of classes that inherit from numbers, lists and dicts, or do what a dict does."""
    if cls is not None and issubclass(cls, (list, float)) and cls not in (list, float):
        plain = "list" if issubclass(cls, list) else "float"
        return (f"hand over a plain {plain}: {plain}(x)",)
    if cls is None or not issubclass(cls, (dict, MappingProxyType)):
        return ()
    plain = "hand over a plain dict: dict(x)"
    return (
        (plain, "or an object with its items as attributes: types.SimpleNamespace(**x)")
        if hasattr(cls, "__getattr__")
        else (plain,)
    )


def _container(lo: Lowerer, value: Value) -> tuple[str, str, tuple[str, ...]]:
    """A container of nothing that varies: of integers, or of something else."""
    cls, kinds = _contents(lo, value)
    holder = object_of(cls) if cls is not None else "something"
    if kinds == {"integer"}:
        if cls is list:
            return "AD0403", "a list of integers", ("pass floats: [float(x) for x in xs]",)
        if cls is tuple:
            return "AD0403", "a tuple of integers", ("pass floats: (1.0, 2.0) for (1, 2)",)
        if cls in DICTS:
            return "AD0403", "a dict of integers", ("pass floats: {'a': 1.0} for {'a': 1}",)
        return "AD0403", f"{holder} whose numbers are integers", ("give its fields floats, or the annotation float",)
    ways = () if cls in DICTS else _as_plain(cls)
    if not kinds:
        return "AD0404", holder if ways else f"{holder} in which there are no numbers", ways
    return "AD0404", f"{holder} in which there are no floats", ()


def _contents(lo: Lowerer, value: Value, around: tuple[Ref, ...] = ()) -> tuple[type | None, set[str]]:
    """The class of a container, and what kinds of leaves there are in it; those ``around`` are looked at already."""
    match value:
        case TupleValue(cls=cls, items=items):
            return cls, {kind for item in items for kind in _kinds(lo, item, around)}
        case Ref():
            record = lo.store.get(value)
            if value in around:
                return None, set()
            if isinstance(record, Record):
                return record.cls, {kind for item in record.items for kind in _kinds(lo, item, (*around, value))}
        case ir.Var(type=ir.List(element=element)):
            return list, _kinds_of(element)
        case ir.Var(type=ir.Dict(value=element)):
            return dict, _kinds_of(element)
        case ir.Var(type=ir.Instance(cls=cls, fields=fields)):
            return cls, {kind for field in fields.values() for kind in _kinds_of(field)}
    return None, {"other"}


def _kinds(lo: Lowerer, value: Value, around: tuple[Ref, ...]) -> set[str]:
    match value:
        case ir.Const(value=bool() | None | str()):
            return {"other"}
        case ir.Const(value=int()):
            return {"integer"}
        case ir.Var(type=ir.Scalar() | ir.Array() as type_):
            return _kinds_of(type_)
    return _contents(lo, value, around)[1]


def _kinds_of(type_: ir.Type | None) -> set[str]:
    match type_:
        case None:
            return set()
        case ir.Scalar(kind="int"):
            return {"integer"}
        case ir.Array(dtype=dtype) if dtype is not None and dtype.kind in "iu":
            return {"integer"}
        case ir.List(element=part) | ir.Dict(value=part):
            return _kinds_of(part)
        case _:
            return {"other"}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _others_that_vary(
    lo: Lowerer,
    function: Value,
    place: int | str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    node: ast.AST | None,
) -> tuple[str, ...]:
    """The help that names an argument that does vary, where there is one."""
    names = parameter_names(lo, function, node)
    for index, value in enumerate(args):
        if index != place and _may_be(value) and any(True for _ in differentiable_leaves(lo, value)):
            named = f"wrt={names[index]!r}" if index < len(names) else f"wrt={index}"
            return (f"name an argument that varies: {named}",)
    for name, value in kwargs.items():
        if name != place and _may_be(value) and any(True for _ in differentiable_leaves(lo, value)):
            return (f"name an argument that varies: wrt={name!r}",)
    return ()
