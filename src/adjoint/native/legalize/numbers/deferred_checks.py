"""Checks of arithmetic after a loop rather than in it, so that the loop becomes vector code.

An iteration notes which of its checks failed first, the loop which iteration was the first; behind the loop that is
what is refused. Until then nobody sees what the loop did: it writes only memory that the function made, and nothing
that a refused value led to decides where.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.reachable import memory_seen
from adjoint.ir.join import is_float, type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator
from adjoint.ir.walk import blocks_of, key_atoms, leaves, operands, statements_in, terminators_in, with_inner
from adjoint.native.legalize.numbers.arithmetic_checks import is_checked_operation
from adjoint.native.vectors.calls import chained
from adjoint.runtime.arithmetic import checks, fused_loops

_MOST = 60
_NOTES = {
    checks.check_divisor: checks.note_divisor,
    checks.check_domain: checks.note_domain,
    checks.check_range: checks.note_range,
    checks.check_power: checks.note_power,
}


def with_deferred_checks(function: ir.Function, handed: Collection[ir.Storage] | None = None) -> ir.Function:
    """The function with the checks of its innermost loops behind them, where only the speed tells.

    Parameters
    ----------
    function
        The function.
    handed
        Memory that others see; None for that of the parameters.
    """
    handed = memory_seen(function, handed)
    return ir.Function(function.name, function.params, _block(function.body, handed), function.doc)


def _block(block: ir.Block, handed: Collection[ir.Storage]) -> ir.Block:
    def inner(part: ir.Block) -> ir.Block:
        return _block(part, handed)

    statements: list[ir.Statement] = []
    for statement in block.statements:
        if isinstance(statement, ir.Guarded):
            statements.append(statement)
        elif isinstance(statement, ir.Loop) and _may_defer(statement, handed):
            statements += _Deferring(statement).statements
        else:
            statements.append(map_blocks(statement, inner))
    return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, inner))


# Which loops


def _may_defer(loop: ir.Loop, handed: Collection[ir.Storage]) -> bool:
    over = loop.over
    if not isinstance(over, ir.Range) or over.backward or not isinstance(over.step, ir.Const) or over.step.value < 1:
        return False
    inside = statements_in(loop.body)
    found = [statement for statement in inside if _is_check(statement)]
    if loop.exit is not None or not 0 < len(found) <= _MOST:
        return False
    if not all(isinstance(end, (ir.Yield, ir.Continue, ir.Branch)) for end in terminators_in(loop.body)):
        return False
    waiting = chained(loop)
    if any(not waiting.isdisjoint(operands(check)) for check in found):
        return False
    return all(_is_quiet(statement, handed) for statement in inside) and _Led(loop).places_are_sure


def _is_check(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Call) and not statement.targets and _is_one_of(statement, _NOTES)


def _is_one_of(call: ir.Call, callees: object) -> bool:
    return type(call.callee).__hash__ is not None and call.callee in callees  # type: ignore[operator]


def _is_quiet(statement: ir.Statement, handed: Collection[ir.Storage]) -> bool:
    """Whether a statement raises nothing but what can be deferred, and is seen by nobody."""
    match statement:
        case ir.Call() if _is_check(statement):
            return statement.callee is not checks.check_divisor or is_float(statement.args[0])
        case ir.Call():
            return all(map(_is_number, operands(statement))) and _raises_nothing(statement)
        case ir.Load(base=ir.Var(type=ir.Array())):
            return True
        case ir.Store(base=ir.Var(type=ir.Array(storage=storage))):
            return storage.find() not in handed
        case ir.If():
            return True
        case _:
            return False


def _is_number(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) or isinstance(type_of_atom(atom), ir.Scalar)


_WHOLE = (operator.floordiv, operator.mod, operator.pow, operator.lshift, operator.rshift, divmod, pow, int, round)
_RAISING = (
    *(fused_loops.same_extent, fused_loops.fits_extent, fused_loops.common_extent, fused_loops.some),
    *(fused_loops.contracts_extent, fused_loops.selects_extent, fused_loops.inside_extent, fused_loops.common_places),
)
_QUIET_MODULES = (
    "_operator",
    "builtins",
    "math",
    "numpy",
    "adjoint.runtime.arithmetic.indices",
    "adjoint.runtime.arithmetic.numbers",
    "adjoint.runtime.array_functions.arrays",
)


def _raises_nothing(call: ir.Call) -> bool:
    return only_computes(call) and (not _is_one_of(call, _WHOLE) or any(map(is_float, call.args)))


def only_computes(call: ir.Call) -> bool:
    """Whether a call does nothing but compute, and raises nothing but what is checked in arithmetic."""
    found = effects_of(call)
    if not (found.known and found.pure) or _is_one_of(call, _RAISING):
        return False
    module = getattr(call.callee, "__module__", None) or type(call.callee).__module__
    return module in (*_QUIET_MODULES, fused_loops.__name__)


class _Led:
    """What values that may be refused lead to, in a loop."""

    def __init__(self, loop: ir.Loop) -> None:
        self.places_are_sure = True
        self._vars: set[ir.Var] = set()
        self._memory: set[ir.Storage] = set()
        known = -1
        while known < len(self._vars) + len(self._memory):
            known = len(self._vars) + len(self._memory)
            self._block(loop.body)
            for end in leaves(loop.body):
                values = getattr(end, "values", ())
                self._vars.update(param for param, value in zip(loop.params, values, strict=True) if self._has(value))

    def _has(self, *atoms: ir.Atom) -> bool:
        return any(isinstance(atom, ir.Var) and atom in self._vars for atom in atoms)

    def _block(self, block: ir.Block) -> None:
        for statement in block.statements:
            self._statement(statement)
        for inner in blocks_of(block.terminator):
            self._block(inner)

    def _statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Load(base=base, key=key, target=target):
                self.places_are_sure &= not self._has(*key_atoms(key))
                if (
                    isinstance(base, ir.Var)
                    and isinstance(base.type, ir.Array)
                    and base.type.storage.find() in self._memory
                ):
                    self._vars.add(target)
            case ir.Store(base=base, key=key, value=value):
                self.places_are_sure &= not self._has(*key_atoms(key))
                if self._has(value) and isinstance(base, ir.Var) and isinstance(base.type, ir.Array):
                    self._memory.add(base.type.storage.find())
            case ir.Call():
                if is_checked_operation(statement) or self._has(*operands(statement)):
                    self._vars.update(statement.targets)
            case ir.If(cond=cond):
                self._choice(statement, self._has(cond))
            case _:
                pass

    def _choice(self, statement: ir.If, is_led: bool) -> None:
        for inner in blocks_of(statement):
            self._block(inner)
            if is_led and any(isinstance(part, (ir.Load, ir.Store)) for part in statements_in(inner)):
                self.places_are_sure = False
            for end in leaves(inner):
                values = getattr(end, "values", ())
                pairs = zip(statement.targets, values, strict=False)
                self._vars.update(target for target, value in pairs if is_led or self._has(value))


# How


class _Deferring:
    """A loop that only notes what fails, and what is refused behind it."""

    def __init__(self, loop: ir.Loop) -> None:
        self.loop = loop
        self.checks = [part for part in statements_in(loop.body) if isinstance(part, ir.Call) and _is_check(part)]
        self.none = ir.Const(len(self.checks))
        self.index = loop.index or ir.Var("i", ir.INT)
        self.first = ir.Var("first", ir.INT)
        last = ir.Var("first", ir.INT)
        changed = ir.Loop(
            loop.over,
            self.index,
            (*loop.params, self.first),
            (*loop.inits, ir.Const(checks.NEVER)),
            self._block(loop.body, self.none),
            (*loop.targets, last),
            None,
            loop.span,
        )
        self.statements: list[ir.Statement] = [changed, *self._refusals(last)]

    def _block(self, block: ir.Block, found: ir.Atom) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in block.statements:
            if isinstance(statement, ir.Call) and statement in self.checks:
                found = self._noted(statement, found, statements)
            elif isinstance(statement, ir.If) and any(map(_is_check, with_inner(statement))):
                found = self._chosen(statement, found, statements)
            else:
                statements.append(statement)
        end = self._end(block.terminator, found, statements)
        return ir.Block(tuple(statements), end)

    def _noted(self, check: ir.Call, found: ir.Atom, statements: list[ir.Statement]) -> ir.Var:
        target = ir.Var("found", ir.INT)
        args = check.args[:1] if check.callee is checks.check_divisor else check.args
        place = ir.Const(self.checks.index(check))
        statements.append(ir.Call((target,), _NOTES[check.callee], (found, place, *args), (), check.span))
        return target

    def _chosen(self, statement: ir.If, found: ir.Atom, statements: list[ir.Statement]) -> ir.Var:
        target = ir.Var("found", ir.INT)
        then, orelse = self._block(statement.then, found), self._block(statement.orelse, found)
        statements.append(ir.If(statement.cond, then, orelse, (*statement.targets, target), statement.span))
        return target

    def _end(self, end: ir.Terminator, found: ir.Atom, statements: list[ir.Statement]) -> ir.Terminator:
        match end:
            case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
                return ir.Branch(cond, self._block(then, found), self._block(orelse, found), span)
            case ir.Continue(values=values):
                first = ir.Var("first", ir.INT)
                statements.append(ir.Call((first,), checks.earlier, (self.first, self.index, found, self.none)))
                return ir.Continue((*values, first))
            case ir.Yield(values=values):
                return ir.Yield((*values, found))
            case _:
                raise AssertionError(end)

    def _refusals(self, first: ir.Var) -> Iterator[ir.Statement]:
        kinds: dict[tuple[Any, tuple[str, ...]], int] = {}
        for place, check in enumerate(self.checks):
            refused = _refused(check)
            kinds[refused] = kinds.get(refused, 0) | 1 << place
        for (refusal, words), places in kinds.items():
            args: tuple[ir.Atom, ...] = (first, self.none, ir.Const(places), *map(ir.Const, words))
            yield ir.Call((), refusal, args, (), self.loop.span)


def _refused(check: ir.Call) -> tuple[Any, tuple[str, ...]]:
    """What refuses behind the loop what a check refuses, and the words that tell what."""
    first, *_ = [arg.value for arg in check.args if isinstance(arg, ir.Const) and isinstance(arg.value, str)] or [""]
    if check.callee is checks.check_power:
        return checks.refuse_power, (first,)
    if check.callee is checks.check_divisor:
        return checks.refuse, ("ZeroDivisionError", first)
    if check.callee is checks.check_domain:
        return checks.refuse, ("ValueError", checks.OUTSIDE_SAID)
    return checks.refuse, ("OverflowError", checks.GROWN_SAID)
