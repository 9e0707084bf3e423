"""Functions that stay ones, as they were lowered, and which calls they serve.

A function is lowered anew for a call that finds something else outside of it. Variables may be others there: calls hand
them over. So closures of one place are one function, whatever they capture, as long as that has one structure.
"""

from __future__ import annotations

import ast
from typing import Any

from adjoint import ir
from adjoint.frontend.data.outside.captures import Surroundings, surroundings
from adjoint.frontend.data.outside.lookups import LookedUp, note_all
from adjoint.frontend.functions.returned_arrays import HandedOut
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Closure, GivenValue, Value
from adjoint.records import dataclass, field


@dataclass(eq=False, slots=True)
class Called:
    """A recursive function for one structure of arguments.

    Attributes
    ----------
    kind
        Its code, the structure of its arguments, and for which function they are made: calls that it may serve are
        of one kind.
    closure, args
        The function and the arguments of the call for which it was lowered.
    outside
        What it found outside of itself; while it is lowered what it captures.
    looked_up
        What else it found there than what it captures.
    unfinished
        The functions that it calls, and that were being lowered around it.
    """

    definition: ir.Definition
    kind: tuple[Any, ...]
    closure: Closure
    args: tuple[Value, ...]
    outside: Surroundings
    code: ast.AST
    size: int
    result: joins.Shape | None = None
    extras: tuple[ir.Var, ...] = ()
    """Variables from outside that the body uses: further arguments of every call."""
    calls: list[ir.Call] = field(default_factory=list)
    moved: set[ir.Var] = field(default_factory=set)
    """Variables from outside that are others where the function calls itself."""
    lowering: bool = True
    sources: dict[int, HandedOut] = field(default_factory=dict)
    """By their places, arrays that it makes and returns as values: nobody writes them, here or where it is called."""
    is_recursive: bool = False
    """Whether it was called while it was lowered: else what it returns is settled by lowering it once."""
    looked_up: tuple[LookedUp, ...] = ()
    unfinished: tuple[Called, ...] = ()

    def see(self, lo: Lowerer) -> None:
        """Takes down what is outside of the function, behind its lowering."""
        self.outside = surroundings(lo, self.closure, self.args, self.looked_up)

    def serves(self, now: Surroundings) -> bool:
        """Whether a call can be one of this function, which finds that outside."""
        if self.outside.form != now.form:
            return False
        if self.outside.vars == now.vars and self.outside.objects == now.objects:
            return True
        if any(each.lowering for each in self.unfinished):
            return False
        return {*self.extras} <= {*self.outside.vars} and not _names_objects(self.result)


def serving(
    lo: Lowerer, kind: tuple[Any, ...], closure: Closure, args: tuple[Value, ...]
) -> tuple[Called, Surroundings] | None:
    """A function that was lowered for another call and serves this one, with what is outside of this one."""
    for called in dict.fromkeys(lo.run_data.definitions.values()):
        if not called.lowering and called.kind == kind:
            now = surroundings(lo, closure, args, called.looked_up)
            if called.serves(now):
                return called, now
    return None


def note_call(lo: Lowerer, called: Called) -> None:
    """What a function looks up is looked up by those that call it."""
    if lo.run_data.lookups:
        note_all(lo, called.looked_up)
        unfinished = (called,) if called.lowering else called.unfinished
        lo.run_data.lookups[-1].unfinished.update(dict.fromkeys(each for each in unfinished if each.lowering))


def _names_objects(result: joins.Shape | None) -> bool:
    """Whether a function returns what it found outside, as what it is, and not its numbers."""
    match result:
        case joins.Same(value=value):
            return not isinstance(value, (ir.Const, GivenValue))
        case joins.RefShape(record=record):
            return _names_objects(record)
        case joins.TupleShape(items=items) | joins.RecordShape(items=items) | joins.ComposedShape(items=items):
            return any(map(_names_objects, items))
        case joins.UnionShape(options=options):
            return any(map(_names_objects, options))
        case _:
            return False
