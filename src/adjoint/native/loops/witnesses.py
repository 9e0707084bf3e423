"""Who may look at memory while a loop runs: whoever is left with it by an exception, and Python that the loop calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.reachable import memory_seen
from adjoint.ir.join import is_array
from adjoint.ir.walk import statements_in, targets_of, terminators_in
from adjoint.native.legalize.numbers.arithmetic_checks import refuses_something
from adjoint.native.legalize.numbers.deferred_checks import only_computes
from adjoint.target import Target


class Witnesses:
    """Who else sees the memory of a function.

    Parameters
    ----------
    function
        The function.
    handed
        Memory that others see; None for that of the parameters.
    target
        What it is made for: what of arithmetic raises exceptions.
    """

    def __init__(self, function: ir.Function, handed: Collection[ir.Storage] | None, target: Target) -> None:
        self._function = function
        self._handed = handed
        self._checked = target.checked

    def seen_in(self, body: ir.Block, written: Collection[ir.Storage]) -> frozenset[ir.Storage]:
        """Which of the memory that the body of a loop writes others may see before the loop has ended."""
        found = self._shared.intersection(written)
        return found if found and self._is_watched(body) else frozenset()

    @cached_property
    def _shared(self) -> frozenset[ir.Storage]:
        return memory_seen(self._function, self._handed).union(self._found())

    def _found(self) -> Iterator[ir.Storage]:
        """The memory of arrays that come from elsewhere: out of objects and containers, and from unknown calls."""
        for statement in statements_in(self._function.body):
            from_elsewhere = (isinstance(statement, ir.Call) and not effects_of(statement).known) or (
                isinstance(statement, ir.Load) and not is_array(statement.base)
            )
            for target in targets_of(statement):
                if from_elsewhere and isinstance(target.type, ir.Array):
                    yield target.type.storage.find()

    def _is_watched(self, body: ir.Block) -> bool:
        if any(isinstance(end, (ir.Raise, ir.Return)) for end in terminators_in(body)):
            return True
        if not all(only_computes(part) for part in statements_in(body) if isinstance(part, ir.Call)):
            return True
        is_checked = self._checked.divisions or self._checked.functions
        return is_checked and refuses_something(body, self._checked.functions)
