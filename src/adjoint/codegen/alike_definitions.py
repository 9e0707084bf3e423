"""Functions of one text that say the same, line by line, are written once.

Closures of one place that capture what has another structure are lowered each on its own: behind all passes they may
differ in the names of their parameters alone. A function that is called beside its primal half is that half, where this
does the same and gives more.
"""

from __future__ import annotations

from typing import Any

from adjoint import ir
from adjoint.differentiation.definitions import called_by, everywhere, with_firsts
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, map_statements
from adjoint.ir.walk import operands
from adjoint.runtime import display


def with_alike_united(function: ir.Function) -> ir.Function:
    """The function with one definition where it calls several that say the same."""
    found = called_by(function)
    firsts: dict[ir.Definition, ir.Definition] = {}
    for place, definition in enumerate(found):
        known = [other for other in found[:place] if other.name == definition.name and other not in firsts]
        first = next((other for other in known if _Pairs().same(other, definition)), None)
        if first is not None:
            firsts[definition] = first
    return _with_primals(with_firsts(function, firsts) if firsts else function)


def _with_primals(function: ir.Function) -> ir.Function:
    """The function with primal halves called for functions that these say the same as; nobody reads what they keep."""
    found = called_by(function)
    names = {definition.name for definition in found}
    plain = [each for each in found if f"{each.name}_primal" in names]
    halves = {
        each: half
        for each in plain
        for half in found
        if half.name == f"{each.name}_primal" and _gives_more(each.function, half.function)
    }
    if not halves:
        return function

    def called(statement: ir.Statement) -> ir.Statement:
        if not isinstance(statement, ir.Call) or statement.callee not in halves:
            return map_blocks(statement, lambda block: map_statements(block, called))
        half = halves[statement.callee]
        assert half.function is not None
        kept = operands(half.function.body.terminator)[len(statement.targets) :]
        more = tuple(ir.Var("kept", type_of_atom(each) or ir.OPAQUE) for each in kept)
        return ir.Call((*statement.targets, *more), half, statement.args, statement.kwargs, statement.span)

    def changed(each: ir.Function) -> ir.Function:
        body = map_statements(each.body, called)
        return each if body is each.body else ir.Function(each.name, each.params, body, each.doc)

    return everywhere(function, changed)


def _gives_more(one: ir.Function | None, other: ir.Function | None) -> bool:
    """Whether a function does what another does, and gives more than this, which it may pack."""
    end, longer = (None if each is None else each.body.terminator for each in (one, other))
    if one is None or other is None or not isinstance(end, ir.Return) or not isinstance(longer, ir.Return):
        return False
    mine, theirs = one.body.statements, other.body.statements
    packing = theirs[len(mine) :]
    if not all(isinstance(each, ir.Call) and each.callee is display.make_tuple for each in packing):
        return False
    parts = one.params, mine, end.values
    others = other.params, theirs[: len(mine)], longer.values[: len(end.values)]
    return len(longer.values) > len(end.values) and _Pairs().same(parts, others)


class _Pairs:
    """What of one function stands for what of another: variables, and definitions that are taken to say the same."""

    def __init__(self) -> None:
        self.others: dict[ir.Var | ir.Definition, ir.Var | ir.Definition] = {}
        self.taken: set[ir.Var | ir.Definition] = set()

    def same(self, one: Any, other: Any) -> bool:
        """Whether two parts of functions are the same but for the names of variables."""
        kind = type(one)
        if kind is not type(other):
            return False
        if kind is ir.Var or kind is ir.Definition:
            return self._paired(one, other)
        if kind is tuple:
            return len(one) == len(other) and all(map(self.same, one, other))
        if kind.__module__ == ir.Function.__module__ and kind is not ir.Const:
            parts: tuple[str, ...] = tuple(kind.__dataclass_fields__)
            return all(self.same(getattr(one, name), getattr(other, name)) for name in parts)
        return one is other or bool(one == other)

    def _paired(self, one: Any, other: Any) -> bool:
        known = self.others.get(one)
        if known is not None or other in self.taken:
            return known is other
        self.others[one] = other
        self.taken.add(other)
        if not isinstance(one, ir.Definition):
            return True
        return one is other or (one.checkpoints is other.checkpoints and self.same(one.function, other.function))
