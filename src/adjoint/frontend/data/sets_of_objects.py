"""Sets of objects that are equal to themselves only: lists in which each is once.

Whether an empty set is to hold such objects is found out where one is added, or looked for: lowering starts again.
"""

from __future__ import annotations

import ast
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.emitted_calls import call
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import TupleValue, Value
from adjoint.frontend.iterators.items import static_items
from adjoint.frontend.iterators.iterators import is_lazy
from adjoint.frontend.library.in_python.object_set import ObjectSet
from adjoint.frontend.objects import construction
from adjoint.frontend.objects.classes import class_of, is_object


@handles(set)
def _set(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if node is None or kwargs or len(args) > 1:
        return NotImplemented
    if args and is_lazy(args[0]):
        return lo.call(ir.Const(set), [lo.call(ir.Const(list), args, {}, node)], {}, node)
    items = static_items(lo, args[0], node) if args else []
    if items is None or not all(counts_as_itself(lo, item) for item in items):
        return NotImplemented
    place = lo.site(node).place[0]
    if place in lo.settings.object_sets:
        return construction.construct(lo, ObjectSet, [TupleValue(tuple(items))], {}, node)
    if items:
        _hold_objects(lo, place)
    made = call(lo, set, [], node)
    assert isinstance(made, ir.Var)
    lo.run_data.sets[made] = place
    return made


def _hold_objects(lo: Lowerer, place: Any) -> None:
    lo.settings.object_sets.add(place)
    raise Restart


def counts_as_itself(lo: Lowerer, value: Value) -> bool:
    """Whether a value is an object of a user's class that does not say when objects are equal."""
    cls = class_of(lo, value) if is_object(lo, value) else None
    return cls is not None and all(getattr(cls, name) is getattr(object, name) for name in ("__eq__", "__hash__"))


@handles(set.add, set.discard, set.remove)
def _add(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if len(args) == 2:
        note_object(lo, args[0], args[1])
    return NotImplemented


def note_object(lo: Lowerer, container: Value, item: Value) -> None:
    """Starts again where an object is put into a set, or looked for in one, that was made empty."""
    place = lo.run_data.sets.get(container) if isinstance(container, ir.Var) else None
    if place is not None and counts_as_itself(lo, item):
        _hold_objects(lo, place)
