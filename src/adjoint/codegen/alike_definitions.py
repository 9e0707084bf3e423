"""Functions of one text that say the same, line by line, are written once.

Closures of one place that capture what has another structure are lowered each on its own: behind all passes they may
differ in the names of their parameters alone.
"""

from __future__ import annotations

from typing import Any

from adjoint import ir
from adjoint.differentiation.definitions import called_by, with_firsts


def with_alike_united(function: ir.Function) -> ir.Function:
    """The function with one definition where it calls several that say the same."""
    found = called_by(function)
    firsts: dict[ir.Definition, ir.Definition] = {}
    for place, definition in enumerate(found):
        known = [other for other in found[:place] if other.name == definition.name and other not in firsts]
        first = next((other for other in known if _Pairs().same(other, definition)), None)
        if first is not None:
            firsts[definition] = first
    return with_firsts(function, firsts) if firsts else function


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
