"""Index-set splitting: a loop that compares its index with a number is a loop before that number and one behind it.

In each of them the branch is decided, so that nothing keeps them from vector units: of ``for j in range(n): if j != i``
there are a loop up to ``i`` and one from ``i + 1`` on. The order of the iterations stays what it was.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.shapes.index_order import IndexOrder
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.rebuild import clone, map_blocks, rebuild_terminator, substitute
from adjoint.ir.walk import defined_by, statements_in, terminators_in
from adjoint.native.costs import LONGEST_SPLIT, MOST_SPLITS
from adjoint.records import replace
from adjoint.rules.typing import type_of_call


def with_index_sets_split(function: ir.Function) -> ir.Function:
    """The function with innermost loops split at the numbers with which they compare their indices."""
    if not any(isinstance(statement, ir.Loop) and _comparison(statement) for statement in statements_in(function.body)):
        return function
    splitting = _Splitting(IndexOrder(function))
    return ir.Function(function.name, function.params, splitting.block(function.body), function.doc)


class _Comparison(NamedTuple):
    """A truth value by which a loop decides: ``compare(index, number)``; ``made`` computes that in each iteration."""

    truth: ir.Var
    compare: Callable[[Any, Any], bool]
    number: ir.Atom
    made: ir.Call | None


_MIRRORED: dict[Any, Any] = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
    operator.eq: operator.eq,
    operator.ne: operator.ne,
}


def _comparison(loop: ir.Loop) -> _Comparison | None:
    """The first comparison of a loop's index with a number that stays, by which the loop decides."""
    over, inside = loop.over, defined_by(loop)
    if not isinstance(over, ir.Range) or over.step != ir.Const(1) or loop.index is None or not _is_simple(loop):
        return None
    deciding = [s.cond for s in loop.body.statements if isinstance(s, ir.If) and _yields(s.then) and _yields(s.orelse)]
    if isinstance(loop.body.terminator, ir.Branch):
        deciding.append(loop.body.terminator.cond)
    calls = [statement for statement in loop.body.statements if isinstance(statement, ir.Call)]
    made: dict[ir.Atom, ir.Call] = {target: call for call in calls for target in call.targets}
    for call in calls:
        compare = _comparing(call, loop.index)
        if compare is None or call.targets[0] not in deciding:
            continue
        (number,) = (arg for arg in call.args if arg is not loop.index)
        own = made.get(number)
        is_sum = own is not None and own.callee in (operator.add, operator.sub) and inside.isdisjoint(own.args)
        if type_of_atom(number) == ir.INT and (is_sum or number not in inside):
            return _Comparison(call.targets[0], compare, number, own if is_sum else None)
    return None


def _comparing(call: ir.Call, index: ir.Var) -> Callable[[Any, Any], bool] | None:
    """How a call compares an index with something else, that on the right."""
    if call.callee not in (*_MIRRORED,) or call.args.count(index) != 1:
        return None
    return call.callee if call.args[0] is index else _MIRRORED[call.callee]  # type: ignore[no-any-return]


def _is_simple(loop: ir.Loop) -> bool:
    """Whether a loop is short, innermost, computes with numbers and elements, and runs to its end."""
    statements = statements_in(loop.body)
    if len(loop.targets) > len(loop.params) or loop.exit is not None or len(statements) > LONGEST_SPLIT:
        return False
    if not all(map(_only_computes, statements)):
        return False
    return all(isinstance(end, (ir.Continue, ir.Yield)) for end in terminators_in(loop.body))


def _only_computes(statement: ir.Statement) -> bool:
    match statement:
        case ir.Call():
            return effects_of(statement).pure
        case ir.Load(base=base) | ir.Store(base=base):
            return is_array(base)
        case _:
            return isinstance(statement, ir.If)


def _yields(block: ir.Block) -> bool:
    return isinstance(block.terminator, ir.Yield)


class _Splitting:
    def __init__(self, order: IndexOrder) -> None:
        self._order = order

    def block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in block.statements:
            current = map_blocks(statement, self.block)
            statements += self.loop(current, MOST_SPLITS) if isinstance(current, ir.Loop) else [current]
        return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, self.block))

    def loop(self, loop: ir.Loop, splits: int) -> list[ir.Statement]:
        """The loops that stand for one, each of which may be split again."""
        found, over = _comparison(loop), loop.over
        if found is None or not splits or not isinstance(over, ir.Range):
            return [loop]
        builder = Builder(type_of_call, loop.span)
        parts = []
        for start, stop, truth in self._ranges(over, found, builder):
            body = _decided(loop.body, found.truth, truth)
            part = replace(loop, over=replace(over, start=start, stop=stop), body=body)
            if not _does_nothing(part):
                parts.append(part)
        if not parts:
            return [loop]
        order = parts[::-1] if over.backward else parts
        inits, statements = loop.inits, list(builder.statements)
        for part in order:
            copy = clone(ir.Block((replace(part, inits=inits),), ir.Yield(loop.targets)))
            (again,) = copy.statements
            assert isinstance(again, ir.Loop) and isinstance(copy.terminator, ir.Yield)
            inits = copy.terminator.values
            if part is order[-1]:
                again = replace(again, targets=loop.targets)
            statements += self.loop(again, splits - 1)
        return statements

    def _ranges(self, over: ir.Range, found: _Comparison, builder: Builder) -> list[tuple[ir.Atom, ir.Atom, bool]]:
        """Parts of a range, which may be empty, and how the comparison turns out in each."""
        compare, number, start, stop = found.compare, found.number, over.start, over.stop
        if found.made is not None:
            number = builder.call(found.made.callee, *found.made.args, hint="edge")

        def from_(distance: int) -> ir.Atom:
            place = _sum(number, distance, builder)
            return (
                place if self._order.is_at_most(start, found.number, -distance) else _of_two(max, place, start, builder)
            )

        def up_to(distance: int) -> ir.Atom:
            place = _sum(number, distance, builder)
            return place if self._order.is_at_most(found.number, stop, distance) else _of_two(min, place, stop, builder)

        if compare in (operator.eq, operator.ne):
            at = compare(0, 0)
            return [(start, up_to(0), not at), (from_(0), up_to(1), at), (from_(1), stop, not at)]
        edge, below = int(compare in (operator.le, operator.gt)), compare(0, 1)
        return [(start, up_to(edge), below), (from_(edge), stop, not below)]


def _sum(number: ir.Atom, distance: int, builder: Builder) -> ir.Atom:
    if isinstance(number, ir.Const):
        return ir.Const(number.value + distance)
    return builder.call(operator.add, number, ir.Const(distance), hint="edge") if distance else number


def _of_two(choose: Callable[[int, int], int], one: ir.Atom, other: ir.Atom, builder: Builder) -> ir.Atom:
    if isinstance(one, ir.Const) and isinstance(other, ir.Const):
        return ir.Const(choose(one.value, other.value))
    return builder.call(choose, one, other, hint="edge")


def _decided(block: ir.Block, truth: ir.Var, value: bool) -> ir.Block:
    """A loop's body where it is known how a comparison turns out."""
    known: dict[ir.Var, ir.Atom] = {truth: ir.Const(value)}
    statements: list[ir.Statement] = []
    for statement in block.statements:
        if isinstance(statement, ir.If) and statement.cond is truth:
            side = substitute(statement.then if value else statement.orelse, known)
            assert isinstance(side.terminator, ir.Yield)
            statements += side.statements
            known.update(zip(statement.targets, side.terminator.values, strict=True))
        else:
            statements.append(substitute(statement, known))
    end = block.terminator
    if isinstance(end, ir.Branch) and end.cond is truth:
        side = substitute(end.then if value else end.orelse, known)
        return ir.Block((*statements, *side.statements), side.terminator)
    return ir.Block(tuple(statements), substitute(end, known))


def _does_nothing(loop: ir.Loop) -> bool:
    """Whether a loop hands on what it was handed, and leaves nothing behind."""
    end = loop.body.terminator
    return (
        isinstance(end, ir.Continue)
        and end.values == loop.params
        and all(
            isinstance(statement, ir.Load) or (isinstance(statement, ir.Call) and effects_of(statement).pure)
            for statement in loop.body.statements
        )
    )
