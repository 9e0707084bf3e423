"""What a function finds outside of itself: the values of the variables that it captures, and all that lies in them.

A function that is called rather than inlined is lowered once for all calls that find the same structure there. The
variables in it may be others in each call: they are told apart by their places.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from adjoint.frontend.core import Lowerer
from adjoint.frontend.values import (
    Closure,
    IteratorValue,
    Method,
    Operator,
    Partial,
    RangeValue,
    Record,
    Ref,
    SliceValue,
    SuperValue,
    TupleValue,
    Union,
)
from adjoint.ir.nodes import Var
from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The structure of what is outside of a function, and the variables in it, each once, in order."""

    form: Hashable
    vars: tuple[Var, ...]

    def moved(self, now: Surroundings) -> dict[Var, Var]:
        """What stands, in surroundings of the same structure, for each variable that is another one there."""
        return {old: new for old, new in zip(self.vars, now.vars, strict=True) if old is not new}


def surroundings(lo: Lowerer, closure: Closure, args: Iterable[Any]) -> Surroundings:
    """What a function finds where it is called; of its arguments, what the functions among them find."""
    walk = _Walk(lo)
    walk.closure(closure)
    for arg in args:
        walk.value(arg, captured=False)
    return Surroundings(tuple(walk.form), tuple(walk.vars))


class _Walk:
    def __init__(self, lo: Lowerer) -> None:
        self.lo = lo
        self.form: list[Hashable] = []
        self.vars: dict[Var, int] = {}
        self.seen: dict[object, int] = {}

    def closure(self, closure: Closure) -> None:
        self.form.append(closure.source.node)
        for name, cell in closure.cells.items():
            self.form.append(name)
            self.value(self.lo.store.get(cell), captured=True)
        self.values((*closure.defaults, *closure.kw_defaults.values()), captured=True)

    def values(self, values: Iterable[Any], *, captured: bool) -> None:
        for value in values:
            self.value(value, captured=captured)

    def value(self, value: Any, *, captured: bool) -> None:
        """Takes down a value; what is not ``captured`` is handed over, down to the functions in it."""
        match value:
            case Var(type=type_):
                if captured:
                    self.form.append((self.vars.setdefault(value, len(self.vars)), type_))
            case Closure() | Ref() if value in self.seen:
                self.form.append(self.seen[value])
            case Closure():
                self.seen[value] = len(self.seen)
                self.closure(value)
            case Ref():
                self.seen[value] = len(self.seen)
                self.value(self.lo.store.get(value), captured=captured)
            case Record(cls=cls, keys=keys, items=items):
                self.form.append((cls, tuple(map(repr, keys))))
                self.values(items, captured=captured)
            case TupleValue(items=items, cls=cls):
                self.form.append((cls, len(items)))
                self.values(items, captured=captured)
            case _:
                self.composed(value, captured=captured)

    def composed(self, value: Any, *, captured: bool) -> None:
        parts: tuple[Any, ...]
        match value:
            case Method(function=function, receiver=receiver):
                parts = (function, receiver)
            case Partial(function=function, args=args, kwargs=kwargs):
                self.form.append(tuple(name for name, _ in kwargs))
                parts = (function, *args, *(item for _, item in kwargs))
            case Operator(kind=kind, function=function, options=options):
                self.form.append((kind, repr(options)))
                parts = (function,)
            case RangeValue(start=start, stop=stop, step=step):
                parts = (start, stop, step)
            case SliceValue(lower=lower, upper=upper, step=step):
                parts = (lower, upper, step)
            case IteratorValue(kind=kind, parts=inner):
                self.form.append(kind)
                parts = inner
            case SuperValue(owner=owner, receiver=receiver):
                self.form.append(owner)
                parts = (receiver,)
            case Union(tag=tag, options=options):
                parts = (tag, *options)
            case _:
                self.form.append(value)
                return
        self.form.append((type(value), len(parts)))
        self.values(parts, captured=captured)
