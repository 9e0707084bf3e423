"""Variables to which a loop only adds, in whatever branches and inner loops."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Set
from typing import Any

from adjoint import ir
from adjoint.diagnostics import Span
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in, terminators_in
from adjoint.runtime.arithmetic import fused_loops

OPERATORS: dict[str, Any] = {"add": operator.add, "sub": operator.sub}
"""What a store that accumulates does, by its mode."""
NEUTRAL = {"add": ir.Const(-0.0), "sub": ir.Const(0.0)}
"""What leaves every number as it is, by the mode: also a zero of either sign."""


def adds_up(loop: ir.Loop, slot: int) -> bool:
    """Whether a loop only adds to the variable that it carries in a slot, and nobody reads it meanwhile."""
    ends = list(leaves(loop.body))
    if not all(isinstance(end, ir.Continue) for end in ends):
        return False
    found = _States(loop.params[slot], loop.body)
    values = [end.values[slot] for end in ends if isinstance(end, ir.Continue)]
    found.passed.update(values)
    uses = Counter(atom for node in (*statements_in(loop.body), *terminators_in(loop.body)) for atom in operands(node))
    return all(value in found.states for value in values) and all(
        uses[state] == found.passed[state] for state in found.states
    )


def adds_in_order(loop: ir.Loop) -> bool:
    """Whether a loop adds to numbers that it carries, in the order of its iterations."""
    return any(
        param.type == ir.FLOAT
        and adds_up(loop, slot)
        and _has_sums_in_order(loop.body, _States(param, loop.body).states)
        for slot, param in enumerate(loop.params)
    )


def _has_sums_in_order(body: ir.Block, states: Set[ir.Atom]) -> bool:
    return any(
        isinstance(call, ir.Call)
        and call.callee in (operator.add, operator.sub)
        and not states.isdisjoint(call.targets)
        for call in statements_in(body)
    )


def in_free_order(body: ir.Block, params: Iterable[ir.Var]) -> ir.Block:
    """A loop's body that adds to some of the numbers that the loop carries in an order that is free."""
    states: set[ir.Atom] = set()
    for param in params:
        if param.type == ir.FLOAT:
            states |= _States(param, body).states
    return _in_free_order(body, states) if states else body


def _in_free_order(block: ir.Block, states: Set[ir.Atom]) -> ir.Block:
    def inner(part: ir.Block) -> ir.Block:
        return _in_free_order(part, states)

    statements: list[ir.Statement] = []
    for statement in block.statements:
        statements += _freely(statement, states) if isinstance(statement, ir.Call) else [map_blocks(statement, inner)]
    return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, inner))


def _freely(call: ir.Call, states: Set[ir.Atom]) -> list[ir.Statement]:
    """A call; if it adds to a sum, in free order."""
    if call.callee not in (operator.add, operator.sub) or states.isdisjoint(call.targets):
        return [call]
    total, part = call.args if call.args[0] in states else call.args[::-1]
    return added(call.targets[0], total, part, "add" if call.callee is operator.add else "sub", call.span)


def added(target: ir.Var, total: ir.Atom, part: ir.Atom, mode: str, span: Span | None) -> list[ir.Statement]:
    """What adds to a sum in free order, or takes away from it."""
    if mode == "add":
        return [ir.Call((target,), fused_loops.plus, (total, part), (), span)]
    negative = ir.Var("t", ir.FLOAT)
    return [
        ir.Call((negative,), operator.neg, (part,), (), span),
        ir.Call((target,), fused_loops.plus, (total, negative), (), span),
    ]


class _States:
    """What a sum is on its way through a loop's body, and how often each of that is handed on as such."""

    def __init__(self, param: ir.Var, body: ir.Block) -> None:
        self.states: set[ir.Atom] = {param}
        self.passed: Counter[ir.Atom] = Counter()
        self._block(body)

    def _block(self, block: ir.Block) -> None:
        for statement in block.statements:
            match statement:
                case ir.Call():
                    self._call(statement)
                case ir.If():
                    self._choice(statement)
                case ir.Loop(over=ir.Range()):
                    self._loop(statement)
                case _:
                    pass
        for inner in blocks_of(block.terminator):
            self._block(inner)

    def _call(self, call: ir.Call) -> None:
        if call.callee not in (operator.add, operator.sub, fused_loops.plus):
            return
        total, part = call.args
        if part in self.states and call.callee is not operator.sub:
            total, part = part, total
        if total in self.states and part not in self.states:
            self.passed[total] += 1
            self.states.update(call.targets)

    def _choice(self, choice: ir.If) -> None:
        self._block(choice.then)
        self._block(choice.orelse)
        ends = [end for block in (choice.then, choice.orelse) for end in leaves(block)]
        for place, target in enumerate(choice.targets):
            values = [end.values[place] for end in ends if hasattr(end, "values")]
            if all(value in self.states for value in values):
                self.states.add(target)
                self.passed.update(values)

    def _loop(self, loop: ir.Loop) -> None:
        ends = list(leaves(loop.body))
        slots = [slot for slot, init in enumerate(loop.inits) if init in self.states]
        self.states.update(loop.params[slot] for slot in slots)
        self._block(loop.body)
        for slot in slots:
            values = [end.values[slot] for end in ends if hasattr(end, "values")]
            if all(value in self.states for value in values):
                self.states.add(loop.targets[slot])
                self.passed.update([loop.inits[slot], *values])
