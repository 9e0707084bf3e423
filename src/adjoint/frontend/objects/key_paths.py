"""Key paths: how far the structure of a value is known along them, what they lead to, and calls of their methods."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_origin

import numpy as np

from adjoint import ir
from adjoint.frontend.calls import handlers
from adjoint.frontend.data import containers
from adjoint.frontend.data.item_writes import set_item
from adjoint.frontend.data.making import new_list
from adjoint.frontend.differentiation.differentiated_paths import Way, parts_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Ref, TupleValue, Value
from adjoint.frontend.objects.attribute_writes import set_attribute
from adjoint.frontend.objects.attributes import attribute
from adjoint.frontend.objects.classes import class_of
from adjoint.keypaths import KeyPath, WritableKeyPath
from adjoint.keypaths.static import is_read_only_field
from adjoint.keypaths.steps import Field, Item, Step, structure_of
from adjoint.keypaths.walk import (
    all_key_paths,
    all_writable_key_paths,
    recursively_all_key_paths,
    recursively_all_writable_key_paths,
    walk,
)


def way_into(lo: Lowerer, value: Value, path: KeyPath[Any, Any], node: ast.AST | None) -> Way:
    """How far the structure of an argument is known along a key path."""
    keys: list[Any] = []
    root = value
    for index, step in enumerate(path.steps):
        parts = parts_of(lo, value)
        if parts is None:
            return Way(tuple(keys), path.steps[index:])
        key = _key(step, value, parts)
        if key not in parts:
            way = "".join(map(str, path.steps[:index])) or "the argument"
            label = f"{path} does not fit: there is no {step} in {way}"
            notes = [f"{way} is {_structure(lo, value)}"] if index else []
            if path._origin is not None:
                notes.append(f"the key path is one of {structure_of(path._origin)}")
            raise lo.problem("AD0410", node, label, notes=[*notes, f"it was applied to {_structure(lo, root)}"])
        keys.append(key)
        value = parts[key]
    return Way(tuple(keys), ())


def _structure(lo: Lowerer, value: Value) -> str:
    cls, parts = class_of(lo, value), parts_of(lo, value) or {}
    name = "a value" if cls is None else cls.__qualname__
    if cls in (list, tuple):
        return f"{name} of {len(parts)}"
    return f"{name}({', '.join(str(key).removeprefix('.') for key in parts)})"


def _key(step: Step, value: Value, parts: dict[Any, Value]) -> Any:
    if isinstance(step, Field):
        key: Any = f".{step.name}"
        if isinstance(value, TupleValue) and key in parts:
            return getattr(value.cls, "_fields").index(step.name)  # noqa: B009
        return key
    if isinstance(step.key, int) and step.key < 0:
        return step.key + len([part for part in parts if isinstance(part, int)])
    return step.key


def follow(lo: Lowerer, gradient: Value, steps: Sequence[Step], node: ast.AST | None) -> Value:
    """The part of a gradient that further steps lead to."""
    for step in steps:
        if isinstance(step, Field):
            gradient = attribute(lo, gradient, step.name, node)
        else:
            gradient = containers.subscript(lo, gradient, ir.Const(step.key), node)
    return gradient


@handlers.handles(KeyPath.get)
def _get(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    path, value = [*args, *kwargs.values()]
    return follow(lo, value, path.value.steps, node) if isinstance(path, ir.Const) else NotImplemented


@handlers.handles(WritableKeyPath.set)
def _set(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    path, value, *rest = args
    if not isinstance(path, ir.Const) or not path.value.steps:
        return NotImplemented
    put(lo, value, path.value.steps, rest[0] if rest else kwargs["part"], node)
    return ir.Const(None)


def put(lo: Lowerer, value: Value, steps: Sequence[Step], part: Value, node: ast.AST | None) -> None:
    """Puts a part where steps lead."""
    *before, last = steps
    holder = follow(lo, value, before, node)
    if isinstance(last, Field):
        set_attribute(lo, holder, last.name, part, node)
    else:
        set_item(lo, holder, ir.Const(last.key), part, node)


def _listing(function: Any, recursive: bool, writable: bool) -> None:
    """Key paths of a class, or of a value of known structure, are a list at compile time: loops over it unroll."""

    @handlers.handles(function)
    def listed(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        given = [*args, *(part for name, part in kwargs.items() if name == "value")]
        value, rest = given[0], given[1:]
        wanted = kwargs.get("to", ir.Const(None))
        if rest or node is None:
            return NotImplemented
        if not isinstance(wanted, ir.Const):
            raise lo.problem("AD0301", node, _NO_FUNCTION)
        if isinstance(value, ir.Const):
            is_class = isinstance(value.value, type) or get_origin(value.value) is not None
            paths = function(value.value, to=wanted.value) if is_class else []
        else:
            filtered = _filter(lo, wanted.value, node)
            cls = class_of(lo, value)
            found = walk(value, lambda part, _: parts_with_steps(lo, part, node), recursive, ())
            paths = [
                (WritableKeyPath if assignable else KeyPath)(steps, cls)
                for steps, part, assignable in found
                if (assignable or not writable) and filtered(part)
            ]
        return new_list(lo, [ir.Const(path) for path in paths], node)


def parts_with_steps(lo: Lowerer, value: Value, node: ast.AST | None) -> Iterator[tuple[tuple[Step, ...], Value, bool]]:
    """The parts of a value with the steps to them, and whether they can be assigned to."""
    cls = class_of(lo, value)
    if isinstance(value, ir.Var) and not isinstance(value.type, (ir.Scalar, ir.Array, ir.Number, ir.Opaque)):
        label = "which parts this has is only known when it runs"
        raise lo.problem("AD0301", node, label, helps=("ask the class: Model.all_key_paths()",))
    if cls is None or not isinstance(value, (Ref, TupleValue)):
        return
    if getattr(cls, "key_paths", None) is not None:
        raise lo.problem("AD0301", node, f"{cls.__name__!r} says itself what its key paths are")
    for key, part in (parts_of(lo, value) or {}).items():
        if isinstance(key, str) and key.startswith("."):
            yield (Field(key[1:]),), part, not is_read_only_field(cls, key[1:])
        elif not getattr(cls, "_fields", ()):
            yield (Item(key),), part, not isinstance(value, TupleValue)


def _filter(lo: Lowerer, to: Any, node: ast.AST | None) -> Callable[[Value], bool]:
    if to is None:
        return lambda part: True
    if isinstance(to, tuple):
        options = [_filter(lo, option, node) for option in to]
        return lambda part: any(option(part) for option in options)
    if isinstance(to, np.dtype) or (isinstance(to, type) and issubclass(to, np.generic)):
        dtype = np.dtype(to)
        return lambda part: isinstance(part, ir.Var) and ir.same_dtype(getattr(part.type, "dtype", None), dtype)
    if isinstance(to, type):
        return lambda part: class_of(lo, part) is to
    raise lo.problem("AD0301", node, _NO_FUNCTION)


_NO_FUNCTION = "a function of the part as to= is not covered in code that is differentiated"


_listing(all_key_paths, recursive=False, writable=False)
_listing(all_writable_key_paths, recursive=False, writable=True)
_listing(recursively_all_key_paths, recursive=True, writable=False)
_listing(recursively_all_writable_key_paths, recursive=True, writable=True)
