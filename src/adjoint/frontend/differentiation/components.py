"""The component of a result that is differentiated: an entry of a tuple, list or dict, or a field of an object."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.frontend.differentiation.refusals.arguments import object_of
from adjoint.frontend.differentiation.wrt import refusal
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Method, Value
from adjoint.keypaths.parts import PartOf, as_part
from adjoint.records import dataclass
from adjoint.types.structure import CONTAINERS, DICTS

if TYPE_CHECKING:
    from adjoint.keypaths.steps import Step


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a result: its shape, and how many leaves come before it."""

    shape: joins.Shape
    start: int
    keys: tuple[Any, ...] = ()
    """The way to it; attribute names behind a dot."""


def component(lo: Lowerer, function: Value, shape: joins.Shape, result: Any, node: ast.AST | None) -> Component:
    """What the option ``result`` of an operator means in a result of this shape; all of it where it is None."""
    found = Component(shape, 0)
    if result is None:
        return found
    from adjoint.keypaths.steps import Item  # lazy

    choice = as_part(result)
    steps: tuple[Step | str, ...]
    match choice:
        case bool():
            steps = ()
        case int():
            steps = (Item(choice),)
        case str():
            steps = (choice,)
        case PartOf(path=path):
            steps = path.steps
        case _:
            steps = ()
    if not steps:
        label = f"result={result!r} is no index, name or key path"
        raise refusal(lo, "AD0421", function, node, label)
    for step in steps:
        inside = _step(found, step)
        if inside is None:
            label = f"result={result!r}, but the function returns {_described(shape)}"
            raise refusal(lo, "AD0421", function, node, label)
        found = inside
    return found


def _step(whole: Component, step: Step | str) -> Component | None:
    """The component one step further; None where there is none, or it is only known at run time."""
    match whole.shape:
        case joins.TupleShape(cls=cls, items=items):
            names = getattr(cls, "_fields", ())
            keys: list[Any] = list(range(len(items)))
            place = _place(step, keys, names)
        case joins.RefShape(ref=None, record=joins.RecordShape(cls=cls, keys=given, items=items)):
            plain = cls in CONTAINERS
            keys = list(given) if plain else [f".{key}" for key in given]
            place = _place(step, keys if plain else [], () if plain else given)
        case _:
            return None
    if place is None:
        return None
    before = sum(1 for item in items[:place] for _ in joins.leaf_types(item, ""))
    return Component(items[place], whole.start + before, (*whole.keys, keys[place]))


def _place(step: Step | str, keys: list[Any], names: tuple[Any, ...]) -> int | None:
    """Where among its neighbours the part lies that a step leads to: by key, by index from either end, or by name."""
    from adjoint.keypaths.steps import Field  # lazy

    if isinstance(step, Field):
        return names.index(step.name) if step.name in names else None
    if isinstance(step, str):
        if step in names:
            return names.index(step)
        return keys.index(step) if step in keys else None
    key = step.key
    if isinstance(key, int) and key < 0 and keys == list(range(len(keys))):
        key += len(keys)
    return next((place for place, each in enumerate(keys) if type(each) is type(key) and each == key), None)


def _described(shape: joins.Shape) -> str:
    """What a result is, with the names of its parts."""
    match shape:
        case joins.TupleShape(cls=cls, items=items):
            names = getattr(cls, "_fields", None)
            return f"a tuple of {len(items)}" if names is None else f"{cls.__name__}({', '.join(names)})"
        case joins.RefShape(record=joins.RecordShape(cls=cls, keys=keys)) if cls in DICTS:
            return f"a dict with the keys {', '.join(map(repr, keys))}"
        case joins.RefShape(record=joins.RecordShape(cls=cls, keys=keys)) if cls is list:
            return f"a list of {len(keys)}"
        case joins.RefShape(record=joins.RecordShape(cls=cls, keys=keys)):
            return f"{cls.__name__}({', '.join(map(str, keys))})"
        case _:
            return describe(shape)


_KINDS = {"bool": "a boolean", "int": "an integer", "complex": "a complex number"}


def describe(shape: joins.Shape) -> str:
    """What a value is, in a few words."""
    match shape:
        case joins.Leaf(type=ir.Array(dims=dims)):
            return "an array of a rank that is not known here" if dims is None else f"an array of rank {len(dims)}"
        case joins.TupleShape(items=items):
            return f"a tuple of {len(items)}"
        case joins.RefShape(record=record):
            return object_of(record.cls)
        case joins.Leaf(type=ir.Scalar(kind=kind)) if kind in _KINDS:
            return _KINDS[kind]
        case joins.Leaf(type=ir.Opaque(cls=cls)) if cls is not None:
            return "None" if cls is type(None) else object_of(cls)
        case joins.Same(value=ir.Const(value=constant)):
            return repr(constant)
        case joins.ComposedShape(template=Method()):
            return "a method, which is not called"
        case joins.Same() | joins.ComposedShape():
            return "a function"
        case joins.UnionShape(options=options):
            return " or ".join(dict.fromkeys(map(describe, options)))
        case joins.Leaf(type=ir.Scalar() | ir.Number()):
            return "a number"
        case _:
            return "something of a kind that is not known"
