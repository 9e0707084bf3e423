"""Turning compile-time structure into a value that exists at run time."""

from __future__ import annotations

import ast
import builtins
import itertools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.opaque.arguments import refuse_made_here
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.handed_on import handed_on
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.options.choices import Several
from adjoint.frontend.interpreter.values import (
    Cell,
    Closure,
    GeneratorContext,
    GeneratorObject,
    GeneratorValue,
    IteratorValue,
    Method,
    Partial,
    RangeValue,
    Record,
    Ref,
    SliceValue,
    TupleValue,
    Union,
    Value,
    local_mark,
)
from adjoint.frontend.iterators.coming_back import come_back
from adjoint.frontend.iterators.iterators import drawn
from adjoint.frontend.objects.classes import refuse_made_again
from adjoint.rules.types_of_values import abstract
from adjoint.runtime import display
from adjoint.runtime.objects import make_object, untagged
from adjoint.sources.definitions import code_of_part
from adjoint.types.structure import DICTS, is_namedtuple_class


def materialize(lo: Lowerer, value: Value, node: ast.AST | None, *, observer: bool = False) -> ir.Atom:
    """An atom for ``value``.

    A tuple or list becomes a fresh one with the same parts, which is right for whoever only reads it
    (``observer`` says that of objects, too); an object that must keep its identity makes lowering start again
    with that object existing at run time.
    """
    match value:
        case ir.Var() if lo.settings.tagged and ir.is_tagged_within(value.type):
            return _untagged(lo, value, node, observer)
        case ir.Var(type=ir.List(element=part) | ir.Dict(value=part)) if observer and _holds_tuples(part):
            return _untagged(lo, value, node, observer)
        case ir.Var(type=ir.List(is_tuple=True)) if observer:
            return _call(lo, tuple, [value])
        case ir.Var() | ir.Const():
            return value
        case ir.Undefined():
            raise lo.problem("AD0304", node, "a variable is read that is not assigned")
        case TupleValue(items=items, cls=cls):
            atoms = [materialize(lo, item, node, observer=observer) for item in items]
            if cls is not tuple:
                refuse_made_again(lo, cls, node)
                return _call(lo, cls, atoms if is_namedtuple_class(cls) else [_call(lo, display.make_tuple, atoms)])
            if all(isinstance(atom, ir.Const) for atom in atoms):
                return ir.Const(tuple(atom.value for atom in atoms))  # type: ignore[union-attr]
            return _call(lo, display.make_tuple, atoms)
        case Ref():
            return _object(lo, value, node, observer)
        case RangeValue(start=start, stop=stop, step=step):
            return _call(lo, range, [start, stop, step])
        case SliceValue(lower=lower, upper=upper, step=step):
            return _call(lo, slice, [lower, upper, step])
        case IteratorValue(kind="flat", parts=(array,)):
            return _call(lo, np.ndarray.flatten, [materialize(lo, array, node)])
        case IteratorValue(kind="lazy" | "pairwise"):
            return materialize(lo, drawn(lo, value, node), node, observer=observer)
        case IteratorValue(kind="count" | "cycle" as kind, parts=parts):
            return _call(lo, getattr(itertools, kind), [materialize(lo, part, node) for part in parts])
        case IteratorValue(kind="items" | "values", parts=(Ref() as owner,)) if lo.store[owner].cls not in DICTS:  # type: ignore[union-attr]
            label = "a view of the attributes of an object is handed out"
            raise lo.problem("AD0301", node, label, helps=("make a list of it: list(...)",))
        case IteratorValue(kind="items" | "keys" | "values" as kind, parts=(table,)):
            return _call(lo, getattr(dict, kind), [materialize(lo, table, node, observer=observer)])
        case IteratorValue(kind=kind, parts=parts):
            return _call(
                lo, getattr(builtins, kind), [materialize(lo, part, node, observer=observer) for part in parts]
            )
        case Closure(function=function) if function is not None:
            return ir.Const(function)
        case Partial() | Method() if observer:
            return ir.Const(None)
        case Method(function=ir.Const(value=function), receiver=ir.Const(value=receiver)):
            return ir.Const(getattr(receiver, function.__name__))
        case Union():
            label = "a value that has several structures is used where one is needed"
            raise Several(lo.problem("AD0402", node, label), value)
        case GeneratorValue() | GeneratorObject() | GeneratorContext():
            come_back(lo, value)
            label = "a generator is handed to code that is not visible, or to a container"
            raise lo.problem("AD0305", node, label, helps=("make a list of its items: list(...)",))
        case Closure() if (alone := _capturing_nothing(lo, value)) is not None:
            return ir.Const(alone)
        case Closure():
            label = "a function made here is handed to code whose body is not visible"
            raise lo.problem("AD0202", node, label, helps=("make it outside, and hand it to the function",))
        case _:
            raise lo.problem("AD0202", node, "this value cannot be handed to code whose body is not visible")


def _capturing_nothing(lo: Lowerer, closure: Closure) -> types.FunctionType | None:
    """The function itself, of one that is made here and captures nothing; where it can be told."""
    given = {name: lo.store.get(value) if isinstance(value, Cell) else value for name, value in _defaults(closure)}
    code = code_of_part(closure.source)
    if code is None or code.co_freevars or closure.attributes:
        return None
    if not all(isinstance(value, ir.Const) for value in given.values()):
        return None
    made = lo.run_data.functions.get(code)
    if made is None:
        made = lo.run_data.functions[code] = types.FunctionType(code, closure.globals, closure.source.name)
        constants = {name: value.value for name, value in given.items()}  # type: ignore[union-attr]
        made.__defaults__ = tuple([constants[place] for place in range(len(closure.defaults))])
        made.__kwdefaults__ = {name: constants[name] for name in closure.kw_defaults}
    return made


def _defaults(closure: Closure) -> Iterator[tuple[Any, Value | Cell]]:
    yield from enumerate(closure.defaults)
    yield from closure.kw_defaults.items()


def _untagged(lo: Lowerer, value: ir.Var, node: ast.AST | None, observer: bool) -> ir.Atom:
    """What others see of a container whose items have several structures: a copy, if they only look at it."""
    layout = layout_of(value.type)
    if not observer or layout is None:
        raise handed_on(lo, value, node)
    seen = ir.Var(value.hint, ir.OPAQUE)
    lo.emit(ir.Call((seen,), untagged, (value, ir.Const(layout)), (), lo.span(node)))
    return seen


def _holds_tuples(type_: ir.Type | None) -> bool:
    """Whether tuples whose lengths are known at run time only lie in a container: in memory they are lists."""
    match type_:
        case ir.List(element=part) | ir.Dict(value=part):
            return (isinstance(type_, ir.List) and type_.is_tuple) or _holds_tuples(part)
        case _:
            return False


def layout_of(type_: ir.Type | None) -> Any:
    """How what lies in a container is to be read, for `untagged`; None where nobody can say."""
    options = ir.options_of(type_)
    match type_:
        case ir.Tuple() if options is not None:
            parts = [layout_of(option) for option in options]
            return None if None in parts else ("tagged", options[0] == ir.OF_NONE, *parts)
        case ir.List(element=part) | ir.Dict(value=part):
            inner = "as it is" if part is None else layout_of(part)
            name = "dict" if isinstance(type_, ir.Dict) else "tuple of any" if type_.is_tuple else "list"
            return None if inner is None else (name, inner)
        case ir.Tuple(items=items) if not ir.stands_for_another(type_):
            parts = [layout_of(item) for item in items]
            return None if None in parts else ("tuple", *parts)
        case _:
            return None if ir.is_tagged_within(type_) else "as it is"


def _call(lo: Lowerer, callee: Any, atoms: list[ir.Atom]) -> ir.Atom:
    return lo.open.call(callee, *atoms)


def _object(lo: Lowerer, ref: Ref, node: ast.AST | None, observer: bool) -> ir.Atom:
    record = lo.store[ref]
    assert isinstance(record, Record)
    if record.cls is list:
        atoms = [materialize(lo, item, node, observer=observer) for item in record.items]
        return _call(lo, display.make_list, atoms)
    if record.cls in DICTS:
        if record.cls is not dict:
            raise NeedsRuntime(tuple(original_sites((ref.site,))))  # what is made here is a plain dict
        flat: list[ir.Atom] = []
        for key, item in record.parts:
            flat += [ir.Const(key), materialize(lo, item, node, observer=observer)]
        return _call(lo, display.make_dict, flat)
    if ref.origin is not None:
        return ref.origin
    if observer:
        return snapshot(lo, ref, node)
    raise NeedsRuntime((ref.site,))


def snapshot(lo: Lowerer, ref: Ref, node: ast.AST | None) -> ir.Atom:
    """A new object with the present parts, for whoever only looks at it."""
    record = lo.store[ref]
    assert isinstance(record, Record)
    if local_mark(record.cls) is not None:
        refuse_made_here(lo, ref, node)
    atoms = [materialize(lo, lo.known_part(ref, item), node, observer=True) for item in record.items]
    names = ir.Const(record.keys)
    types: dict[str, ir.Type] = {
        key: (atom.type if isinstance(atom, ir.Var) else abstract(atom.value))  # type: ignore[union-attr]
        for key, atom in zip(record.keys, atoms, strict=True)
    }
    target = ir.Var("obj", ir.Instance(record.cls, types))
    lo.emit(ir.Call((target,), make_object, (ir.Const(record.cls), names, *atoms), (), lo.open.span))
    return target
