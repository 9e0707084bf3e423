"""Calls of a function whose derivative is declared, as it stands: nobody looks into it.

What it gives is a number or an array, unless its annotation says otherwise: then the parts of a tuple, of an object or
of a typed dict are read from it. Items of what has no annotation are read as they are: it may be a tuple or a list.
"""

from __future__ import annotations

import ast
import inspect
import sys
import typing
from collections.abc import Sequence
from types import FunctionType
from typing import Any, get_args, get_origin

import numpy as np

from adjoint import ir
from adjoint.frontend.data.outside.captures import captured_by
from adjoint.frontend.declared.parameters import called_by
from adjoint.frontend.differentiation.fitting import every_leaf
from adjoint.frontend.entry.captured import has_fields
from adjoint.frontend.functions.closures import closure_of
from adjoint.frontend.functions.inlining import call_closure
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Closure, Method, Partial, Record, Ref, Site, TupleValue, Value
from adjoint.frontend.objects.construction import call_class
from adjoint.rules.declarations import Declaration, callee_of, value_of
from adjoint.runtime.cotangents import as_array
from adjoint.sources.definitions import underlying
from adjoint.types.classes.annotations import annotations_of, field_types, has_annotations

_NUMBERS = (float, np.ndarray)


def call_original(
    lo: Lowerer, declaration: Declaration, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """The function itself, of which nothing is known but that it writes none of its arguments; a class as ever.

    One that is handed a function made inside of the program is read.
    """
    if isinstance(declaration.fn, type):
        return call_class(lo, declaration.fn, args, kwargs, node)
    function = underlying(declaration.fn)
    if function is not None and any(map(_is_made_here, (*args, *kwargs.values()))):
        return _read(lo, declaration, function, args, kwargs, node)
    atoms = [materialize(lo, value, node, observer=True) for value in args]
    named = tuple((name, materialize(lo, value, node, observer=True)) for name, value in kwargs.items())
    returned = _returned(declaration.fn)
    target = ir.Var("t", _type_of(returned))
    lo.run_data.originals.add(target)
    lo.at(node)
    lo.emit(ir.Call((target,), callee_of(declaration), tuple(atoms), named, lo.span(node)))
    if isinstance(target.type, ir.Array) and target.type.dims is not None:
        checked = ir.Var("t", target.type)
        said = (ir.Const(len(target.type.dims)), ir.Const(target.type.dtype), ir.Const(declaration.name))
        lo.emit(ir.Call((checked,), as_array, (target, *said), (), lo.span(node)))
        lo.run_data.originals.add(checked)
        target = checked
    place = () if node is None else lo.site(node).place
    return _parts(lo, target, returned, ("original", *place))


def _is_made_here(value: Value) -> bool:
    """Whether a value is a function, or holds one, that exists in the program only."""
    match value:
        case Closure(function=function):
            return function is None
        case Method(function=inner):
            return _is_made_here(inner)
        case Partial(function=inner, args=given, kwargs=named):
            return any(map(_is_made_here, (inner, *given, *[part for _, part in named])))
        case _:
            return False


def _read(
    lo: Lowerer,
    declaration: Declaration,
    function: FunctionType,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    """The value that the body gives, through which no derivative flows."""
    value = call_closure(lo, closure_of(lo, function, node), args, kwargs, node)
    if lo.block is None or not isinstance(value, ir.Var):
        return value
    given = [leaf for each in (*args, *kwargs.values()) for leaf in (*every_leaf(lo, each), *captured_by(lo, each))]
    target = ir.Var("t", ir.fresh(value.type))
    lo.run_data.originals.add(target)
    lo.at(node)
    lo.emit(ir.Call((target,), value_of(declaration), (value, *given), (), lo.span(node)))
    return target


def _returned(function: Any) -> Any:
    """The annotation of what a function returns; `inspect.Parameter.empty` where there is none."""
    holder = function
    if not has_annotations(holder) or isinstance(holder, type) or has_fields(holder):
        holder = called_by(function)
    annotation = annotations_of(holder).get("return", _of_c(function))
    if not isinstance(annotation, str):
        return annotation
    scope = getattr(holder, "__globals__", None) or vars(sys.modules.get(getattr(holder, "__module__", ""), typing))
    try:
        return eval(annotation, dict(scope))
    except Exception:  # names that only a type checker knows
        return {"np.ndarray": np.ndarray, "numpy.ndarray": np.ndarray}.get(annotation, Any)


def _of_c(function: Any) -> Any:
    """What a function of a shared library returns, as its user said."""
    if type(function).__module__ == "_cffi_backend":
        kind = sys.modules["_cffi_backend"].typeof(function)
        name = kind.result.cname if kind.kind == "function" else ""
    else:
        name = getattr(getattr(function, "restype", None), "__name__", "").removeprefix("c_")
    return float if name in ("double", "float") else inspect.Parameter.empty


def _type_of(annotation: Any) -> ir.Type:
    if annotation is inspect.Parameter.empty:
        return ir.Number()
    kind = get_origin(annotation) or annotation
    if kind in _NUMBERS:
        return ir.FLOAT if kind is float else _array(annotation)
    return ir.Opaque(kind) if isinstance(kind, type) and kind is not object else ir.OPAQUE


def _array(annotation: Any) -> ir.Array:
    """An array of the rank and the dtype that ``np.ndarray[tuple[int, int], np.dtype[np.float64]]`` tells."""
    shape, dtype = (*get_args(annotation), None, None)[:2]
    rank, scalar = get_args(shape), get_args(dtype)
    is_told = get_origin(shape) is tuple and Ellipsis not in rank and len(scalar) == 1
    if not is_told or not (isinstance(scalar[0], type) and issubclass(scalar[0], np.inexact)):
        return ir.Array(None, None)
    return ir.Array(np.dtype(scalar[0]), tuple("any" for _ in rank))


def _parts(lo: Lowerer, base: ir.Var, annotation: Any, way: tuple[Any, ...]) -> Value:
    """What a value that is annotated so is made of; ``way`` tells it from others that this call gives."""
    kind = get_origin(annotation) or annotation
    if kind is tuple and Ellipsis not in get_args(annotation):
        return TupleValue(_items(lo, base, get_args(annotation), way)) if get_args(annotation) else base
    if not isinstance(kind, type) or kind in _NUMBERS or kind.__module__ in ("builtins", "numpy"):
        return base
    fields = field_types(annotation)
    if issubclass(kind, tuple):
        names = getattr(kind, "_fields", ())
        return TupleValue(_items(lo, base, [fields.get(name, Any) for name in names], way), kind) if names else base
    if not fields:
        return base
    is_dict = issubclass(kind, dict)
    parts = [
        (name, _part(lo, base, ir.Subscript((ir.Const(name),)) if is_dict else ir.Attribute(name), part, (*way, name)))
        for name, part in fields.items()
    ]
    ref = Ref(Site(way), base)
    lo.store[ref] = Record(dict if is_dict else kind, tuple(parts))
    return ref


def _items(lo: Lowerer, base: ir.Var, annotations: Sequence[Any], way: tuple[Any, ...]) -> tuple[Value, ...]:
    parts = enumerate(annotations)
    return tuple([_part(lo, base, ir.Subscript((ir.Const(place),)), part, (*way, place)) for place, part in parts])


def _part(lo: Lowerer, base: ir.Var, key: ir.Key, annotation: Any, way: tuple[Any, ...]) -> Value:
    target = ir.Var(key.name if isinstance(key, ir.Attribute) else "t", _type_of(annotation))
    lo.emit(ir.Load(target, base, key, lo.open.span))
    return _parts(lo, target, annotation, way)
