"""What a derivative computes that is the same in all directions: once, before any sweep."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import written_places
from adjoint.analysis.memory.alias import Aliases
from adjoint.differentiation.directions.dependence import Directed, facts_of
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.rebuild import clone_function, substitute
from adjoint.ir.walk import operands, statements_in, terminators_in, vars_used
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.optimize.touch_up.zeros_by_shape import with_named_shapes
from adjoint.records import dataclass
from adjoint.runtime import display
from adjoint.runtime.array_functions.arrays import share, share_forward

_COMPARING: dict[Any, int] = dict.fromkeys((operator.eq, operator.ne, np.equal, np.not_equal), 0)
_COMPARING |= dict.fromkeys((operator.lt, operator.le, operator.gt, operator.ge), 0)
_COMPARING |= dict.fromkeys((np.less, np.less_equal, np.greater, np.greater_equal), 0)
_COMPARING |= dict.fromkeys((share, share_forward), 1)
"""Functions that compare two of their arguments, and which is the first."""


@dataclass(frozen=True, slots=True)
class Beforehand:
    """A derivative in two parts.

    Attributes
    ----------
    before
        Takes what the derivative takes; gives the value of the function (None where a derivative gives none), then
        what sweeps need: a tuple of it all.
    sweep
        Takes what the derivative takes, then what sweeps need; gives the derivative in the direction.
    """

    before: ir.Function
    sweep: ir.Function


def beforehand(function: ir.Function, seeds: Sequence[int], *, with_value: bool) -> Beforehand | None:
    """The parts of a derivative; None where nothing costly is the same in all directions.

    Parameters
    ----------
    function
        A derivative.
    seeds
        The parameters that are the direction.
    with_value
        Whether it returns the value of the function and its derivative, or the derivative only.

    Raises
    ------
    Inseparable
        If it is not known what depends on the direction.
    """
    if written_places(function):
        return None  # it would be written once more
    calls = [statement for statement in statements_in(function.body) if isinstance(statement, ir.Call)]
    if not all(facts_of(call).known and call.callee is not display.draw for call in calls):
        return None  # who knows whether it would do the same twice
    directed = Directed(function, [function.params[place] for place in seeds])
    results = _results(function, directed, with_value)
    if results is None:
        return None
    value, derivative = results
    alone = _returning(function, derivative)
    costly = _Costly(function, alone, directed)
    once = [call for call in alone.body.statements if isinstance(call, ir.Call) and costly.holds(call)]
    while apart := _compared_with_others(once, alone):
        once = [call for call in once if apart.isdisjoint(call.targets)]
    made = {target: ir.Var(target.hint, target.type, target.named) for call in once for target in call.targets}
    rest = tuple(statement for statement in alone.body.statements if statement not in once)
    sweep = remove_dead_code(
        with_named_shapes(_with_body(alone, substitute(ir.Block(rest, alone.body.terminator), made)))
    )
    used = vars_used(sweep.body)
    kept = [target for call in once for target in call.targets if made[target] in used]
    if all(isinstance(target.type, ir.Scalar) and target.type.kind == "bool" for target in kept):
        return None  # tests are cheap beside what they are for
    params = (*function.params, *[made[target] for target in kept])
    together = ir.Var("results", ir.Tuple(tuple(type_of_atom(result) or ir.OPAQUE for result in (value, *kept))))
    pack = ir.Call((together,), display.make_tuple, (value, *kept))
    before = _returning(_with_body(function, ir.Block((*function.body.statements, pack), ir.Return(()))), together)
    return Beforehand(
        clone_function(before), clone_function(ir.Function(function.name, params, sweep.body, function.doc))
    )


def _compared_with_others(once: Sequence[ir.Call], function: ir.Function) -> set[ir.Atom]:
    """What calls that are made once give and a sweep compares with what it computes itself.

    Machine code may compute the same in two ways, which differ in the last bit: of an element that attains a maximum
    nobody would know.
    """
    made = {target for call in once for target in call.targets}
    found: set[ir.Atom] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call) and statement not in once and statement.callee in _COMPARING:
            compared = set(statement.args[_COMPARING[statement.callee] :][:2])
            computed = {atom for atom in compared - made if isinstance(atom, ir.Var) and atom not in function.params}
            if computed and not made.isdisjoint(compared):
                found |= compared & made
    return found


def _with_body(function: ir.Function, body: ir.Block) -> ir.Function:
    return ir.Function(function.name, function.params, body, function.doc)


def _returning(function: ir.Function, result: ir.Atom) -> ir.Function:
    """The part of a function that computes one of its variables."""
    return remove_dead_code(_with_body(function, ir.Block(function.body.statements, ir.Return((result,)))))


def _results(function: ir.Function, directed: Directed, with_value: bool) -> tuple[ir.Atom, ir.Atom] | None:
    """The value and the derivative that a function returns; None where it does not simply do so."""
    match function.body.terminator:
        case ir.Return(values=(result,)):
            if not with_value:
                return ir.Const(None), result
        case _:
            return None
    for statement in function.body.statements:
        if isinstance(statement, ir.Call) and statement.targets == (result,) and statement.callee is display.make_tuple:
            value, derivative = statement.args
            return None if directed.depends(value) else (value, derivative)
    return None


class _Costly:
    """Finds statements that compute with arrays what is the same in all directions.

    Parameters
    ----------
    function
        A derivative.
    alone
        The part of it that gives the derivative without the value.
    directed
        What depends on the direction.
    """

    def __init__(self, function: ir.Function, alone: ir.Function, directed: Directed) -> None:
        self._directed = directed
        self._aliases = Aliases(function)
        self._handed_on = self._aliases.classes(_handed_on(alone))

    def holds(self, call: ir.Call) -> bool:
        """Whether a call is one, and nobody can change its results."""
        if self._directed.is_repeated(call):
            return False
        facts = facts_of(call)
        if not (facts.pure and facts.known) or facts.view_of is not None or facts.hands_on or facts.reads is not None:
            return False
        reads = any(isinstance(arg, ir.Var) and isinstance(arg.type, ir.Array) for arg in call.args)
        return reads and all(map(self._stays, call.targets))

    def _stays(self, var: ir.Var) -> bool:
        if isinstance(var.type, ir.Array):
            return not self._aliases.is_written(var) and self._aliases.of(var) not in self._handed_on
        return isinstance(var.type, ir.Scalar)


def _handed_on(function: ir.Function) -> Iterator[ir.Atom]:
    """What somebody else may come to know as part of a result or of a structure."""
    for statement in statements_in(function.body):
        match statement:
            case ir.Call():
                facts = facts_of(statement)
                if facts.hands_on or not facts.known:
                    yield from operands(statement)
            case ir.Store(base=base, value=value) if not is_array(base):
                yield value
    for end in terminators_in(function.body):
        if isinstance(end, ir.Return):
            yield from operands(end)
