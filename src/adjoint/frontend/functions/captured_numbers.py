"""Numbers that are known, and that functions find outside: where they are not the same in all calls, they are given.

So closures of one place that were made with other numbers are one function. What is the same stays part of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from adjoint import ir
from adjoint.frontend.data.outside.captures import functions_in, names_in
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.values import Cell, Closure, Method, Partial, Record, Ref, TupleValue, Value

Way = tuple[str | int, ...]


@contextmanager
def numbers_given(lo: Lowerer, closure: Closure, args: Mapping[str, Value]) -> Iterator[dict[ir.Atom, ir.Const]]:
    """Has variables for the numbers that a function is given, as long as a call of it is lowered; tells which they are.

    What is found out here of further calls holds for the earlier ones when lowering starts again.
    """
    code = closure.source.node
    given = _Given(lo, lo.settings.captured_numbers.setdefault(code, {}))
    if code not in lo.settings.numbers_kept:
        given.function(closure, ())
        for name, arg in args.items():
            for function in functions_in(lo, arg, Closure):
                given.function(function, (name,))
    try:
        yield given.numbers
    finally:
        for key, held in given.before.items():
            given.store[key] = held


def gives_none(lo: Lowerer, code: ast.AST) -> bool:
    """Has a function keep all numbers that it finds outside; False where it did."""
    known = lo.settings.captured_numbers.get(code, {})
    if code in lo.settings.numbers_kept or None not in known.values():
        return False
    lo.settings.numbers_kept.add(code)
    return True


class _Given:
    """A walk through what a function finds outside.

    Attributes
    ----------
    known
        The numbers by the ways to them; None for those that are given.
    numbers
        What the variables stand for.
    before
        What variables and objects hold outside of this call.
    """

    def __init__(self, lo: Lowerer, known: dict[Way, ir.Const | None]) -> None:
        self.lo = lo
        self.store = lo.store
        self.known = known
        self.numbers: dict[ir.Atom, ir.Const] = {}
        self.before: dict[Cell | Ref, Value] = {}
        self.seen: set[Closure | Cell | Ref] = set()

    def function(self, closure: Closure, way: Way) -> None:
        if closure in self.seen:
            return
        self.seen.add(closure)
        used = names_in(closure.source.node)
        for name, cell in closure.cells.items():
            if name in used:
                self._held(cell, (*way, name))

    def _held(self, key: Cell | Ref, way: Way) -> None:
        held = self.store.get(key)
        if held is None or key in self.seen:
            return
        self.seen.add(key)
        value = self._value(held, way)
        if value is not held:
            self.before[key] = held
            self.store[key] = value

    def _value(self, value: Value, way: Way) -> Value:
        match value:
            case ir.Const(value=int() | float() | complex() as number) if not isinstance(number, bool):
                return self._number(value, way)
            case Closure():
                self.function(value, way)
            case Ref():
                self._held(value, way)
            case Record(cls=cls, parts=parts):
                items = self._items([(str(key), part) for key, part in parts], way)
                return Record(cls, tuple(zip(value.keys, items, strict=True))) if items else value
            case TupleValue(items=parts, cls=cls):
                items = self._items(enumerate(parts), way)
                return TupleValue(items, cls) if items else value
            case Method(function=function, receiver=receiver):
                items = self._items((("function", function), ("self", receiver)), way)
                return Method(*items) if items else value
            case Partial(function=function, args=args, kwargs=kwargs):
                items = self._items((("function", function), *enumerate(args), *kwargs), way)
                named = zip((name for name, _ in kwargs), items[1 + len(args) :], strict=False)
                return Partial(items[0], items[1 : 1 + len(args)], tuple(named)) if items else value
        return value

    def _items(self, parts: Iterable[tuple[str | int, Value]], way: Way) -> tuple[Value, ...]:
        """The parts of a value as they are now; none where they are what they were."""
        parts = list(parts)
        items = tuple(self._value(part, (*way, name)) for name, part in parts)
        return items if any(item is not part for item, (_, part) in zip(items, parts, strict=True)) else ()

    def _number(self, number: ir.Const, way: Way) -> ir.Atom:
        type_ = type_of(number)
        way = (*way, str(type_))
        known = self.known.setdefault(way, number)
        if known == number:
            return number
        if known is not None:
            self.known[way] = None
            self.lo.run_data.has_grown = True
        hint = next((part for part in reversed(way[:-1]) if isinstance(part, str)), "t")
        given = ir.Var(hint if hint.isidentifier() else "t", type_, True)
        self.numbers[given] = number
        return given
