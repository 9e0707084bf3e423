"""Key paths in ``wrt``: the part of an argument that a derivative is taken for."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from adjoint.frontend import containers, handlers, objects
from adjoint.frontend.core import Lowerer
from adjoint.frontend.inner import Active, activate
from adjoint.frontend.values import Record, Ref, TupleValue, Value
from adjoint.ir.nodes import Const
from adjoint.keypaths import KeyPath, WritableKeyPath
from adjoint.keypaths.steps import Field, Step, structure_of
from adjoint.records import dataclass

Keys = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A way into an argument."""

    known: Keys
    """The names and keys that lead through structure that is known when the derivative is compiled."""
    rest: tuple[Step, ...]
    """The steps that are left where the structure is only known at run time: taken in the gradient."""


WHOLE = Way((), ())


def way_into(lo: Lowerer, value: Value, path: KeyPath[Any, Any], node: ast.AST | None) -> Way:
    """How far the structure of an argument is known along a key path."""
    keys: list[Any] = []
    root = value
    for index, step in enumerate(path.steps):
        parts = _parts(lo, value)
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
    cls, parts = objects.class_of(lo, value), _parts(lo, value) or {}
    name = "a value" if cls is None else cls.__qualname__
    if cls in (list, tuple):
        return f"{name} of {len(parts)}"
    return f"{name}({', '.join(str(key).removeprefix('.') for key in parts)})"


def _parts(lo: Lowerer, value: Value) -> dict[Any, Value] | None:
    """The parts of a value by field name or key."""
    match value:
        case TupleValue(items=items, cls=cls):
            named = zip(getattr(cls, "_fields", ()), items, strict=False)
            return dict(enumerate(items)) | {f".{name}": item for name, item in named}
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            prefix = record.cls not in (list, dict)
            return {f".{key}" if prefix else key: part for key, part in record.parts}
        case _:
            return None


def _key(step: Step, value: Value, parts: dict[Any, Value]) -> Any:
    if isinstance(step, Field):
        key: Any = f".{step.name}"
        if isinstance(value, TupleValue) and key in parts:
            return getattr(value.cls, "_fields").index(step.name)  # noqa: B009
        return key
    if isinstance(step.key, int) and step.key < 0:
        return step.key + len([part for part in parts if isinstance(part, int)])
    return step.key


def written(keys: Keys) -> str:
    """Known keys as one would write them after a name."""
    return "".join(key if isinstance(key, str) and key.startswith(".") else f"[{key!r}]" for key in keys)


def part_at(lo: Lowerer, value: Value, keys: Keys) -> Value:
    """The part of a value that known keys lead to."""
    for key in keys:
        parts = _parts(lo, value)
        assert parts is not None
        value = parts[key]
    return value


def activate_part(lo: Lowerer, value: Value, keys: Keys, active: Active, hint: str) -> Value:
    """A copy of an argument of which one part is varied: wherever what holds the part is referred to."""
    holders = [value]
    for key in keys:
        holders.append(part_at(lo, holders[-1], (key,)))
    place = max((i for i, holder in enumerate(holders[:-1]) if isinstance(holder, Ref)), default=None)
    if place is None:
        return _in_tuples(lo, value, keys, active, hint)
    holder = holders[place]
    assert isinstance(holder, Ref)
    return _Copy(lo, active, hint, holder, keys[place], keys[place + 1 :]).of(value)


def _in_tuples(lo: Lowerer, value: Value, keys: Keys, active: Active, hint: str) -> Value:
    if not keys:
        return activate(lo, value, active, hint)
    assert isinstance(value, TupleValue)
    items = list(value.items)
    names = getattr(value.cls, "_fields", None)
    below = names[keys[0]] if names else f"{hint}_{keys[0]}"
    items[keys[0]] = _in_tuples(lo, items[keys[0]], keys[1:], active, below)
    return TupleValue(tuple(items), value.cls)


@dataclass(eq=False, slots=True)
class _Copy:
    """Copies what an argument consists of, with one slot varied."""

    lo: Lowerer
    active: Active
    hint: str
    holder: Ref
    key: Any
    tail: Keys

    def of(self, value: Value) -> Value:
        match value:
            case TupleValue(items=items, cls=cls):
                return TupleValue(tuple(map(self.of, items)), cls)
            case Ref() if value in self.active.copies:
                return self.active.copies[value]
            case Ref():
                record = self.lo.store[value]
                assert isinstance(record, Record)
                copy = self.active.copy_of(value)
                prefix = record.cls not in (list, dict)
                parts = [(key, self.slot(value, f".{key}" if prefix else key, part)) for key, part in record.parts]
                self.lo.store[copy] = Record(record.cls, tuple(parts))
                return copy
            case _:
                return value

    def slot(self, holder: Ref, key: Any, part: Value) -> Value:
        if holder is not self.holder or key != self.key or type(key) is not type(self.key):
            return self.of(part)
        hint = key.removeprefix(".") if isinstance(key, str) and key.removeprefix(".").isidentifier() else self.hint
        return _in_tuples(self.lo, part, self.tail, self.active, hint)


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


def follow(lo: Lowerer, gradient: Value, steps: Sequence[Step], node: ast.AST | None) -> Value:
    """The part of a gradient that further steps lead to."""
    for step in steps:
        if isinstance(step, Field):
            gradient = objects.attribute(lo, gradient, step.name, node)
        else:
            gradient = containers.subscript(lo, gradient, Const(step.key), node)
    return gradient
