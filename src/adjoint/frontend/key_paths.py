"""Key paths: how far the structure of a value is known along them, what they lead to, and calls of their methods."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from adjoint.frontend import containers, handlers, objects
from adjoint.frontend.core import Lowerer
from adjoint.frontend.values import TupleValue, Value
from adjoint.frontend.ways import Way, parts_of
from adjoint.ir.nodes import Const
from adjoint.keypaths import KeyPath, WritableKeyPath
from adjoint.keypaths.steps import Field, Step, structure_of


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
    cls, parts = objects.class_of(lo, value), parts_of(lo, value) or {}
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
            gradient = objects.attribute(lo, gradient, step.name, node)
        else:
            gradient = containers.subscript(lo, gradient, Const(step.key), node)
    return gradient


@handlers.handles(KeyPath.get)
def _get(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    path, value = [*args, *kwargs.values()]
    return follow(lo, value, path.value.steps, node) if isinstance(path, Const) else NotImplemented


@handlers.handles(WritableKeyPath.set)
def _set(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    path, value, *rest = args
    if not isinstance(path, Const) or not path.value.steps:
        return NotImplemented
    part = rest[0] if rest else kwargs["part"]
    *before, last = path.value.steps
    holder = follow(lo, value, before, node)
    if isinstance(last, Field):
        objects.set_attribute(lo, holder, last.name, part, node)
    else:
        containers.set_item(lo, holder, Const(last.key), part, node)
    return Const(None)
