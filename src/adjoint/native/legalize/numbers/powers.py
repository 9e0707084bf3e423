"""Powers of whole numbers: those of machine code are whole numbers again, where Python's may be fractions.

Checks that a power is real go where the power follows: it gets all of its checks behind the passes on loops.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable

from adjoint import ir
from adjoint.ir.join import is_whole_number, kind_of_numbers, type_of_atom
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import key_atoms, operands, statements_in, terminators_in
from adjoint.native.legalize.rewriting import Rewriting
from adjoint.runtime.arithmetic.complex_powers import check_real

_POWERS = (operator.pow, pow)


def with_fractions(function: ir.Function) -> ir.Function:
    """The function with floats for powers of whole numbers that may be fractions, where they only meet floats.

    Checks that powers are real are left to the powers.
    """
    return _Floating().function(function)


class _Floating(Rewriting):
    def __init__(self) -> None:
        super().__init__()
        self.chosen: frozenset[ir.Var] = frozenset()
        self.made: dict[ir.Var, ir.Atom] = {}

    def function(self, function: ir.Function) -> ir.Function:
        outer = self.chosen
        self.chosen = outer | _that_meet_floats(function)
        rewritten = super().function(function)
        self.chosen = outer
        return rewritten

    def block(self, block: ir.Block) -> ir.Block:
        block = super().block(block)
        powers = {part.args for part in block.statements if isinstance(part, ir.Call) and part.callee in _POWERS}
        kept = [
            part
            for part in block.statements
            if not (isinstance(part, ir.Call) and part.callee is check_real and part.args in powers)
        ]
        return ir.Block(tuple(kept), block.terminator)

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        if isinstance(statement, ir.Call) and not self.chosen.isdisjoint(statement.targets):
            (base, exponent), (target,) = statement.args, statement.targets
            power = self.made[target] = ir.Var(target.hint, ir.FLOAT)
            if isinstance(base, ir.Const):
                return (ir.Call((power,), operator.pow, (ir.Const(float(base.value)), exponent), (), statement.span),)
            number = ir.Var(target.hint, ir.FLOAT)
            conversion = ir.Call((number,), float, (base,), (), statement.span)
            return conversion, ir.Call((power,), operator.pow, (number, exponent), (), statement.span)
        return (substitute(statement, self.made) if self.made else statement,)


def _that_meet_floats(function: ir.Function) -> frozenset[ir.Var]:
    """Powers of whole numbers by such that are not known, of which nothing but floats is made."""
    statements = list(statements_in(function.body))
    powers = {part.targets[0] for part in statements if isinstance(part, ir.Call) and _is_whole_power(part)}
    for statement in statements if powers else []:
        powers -= {atom for atom in operands(statement) if atom in powers and not _makes_a_float(statement, atom)}
    for end in terminators_in(function.body) if powers else []:
        powers -= set(operands(end))
    return frozenset(powers)


def _is_whole_power(call: ir.Call) -> bool:
    match call:
        case ir.Call(targets=(_,), callee=callee, args=(base, ir.Var() as exponent)) if callee in _POWERS:
            return all(is_whole_number(atom) and type_of_atom(atom) == ir.INT for atom in (base, exponent))
        case _:
            return False


def _makes_a_float(statement: ir.Statement, power: ir.Atom) -> bool:
    match statement:
        case ir.Call(callee=operator.truediv | builtins.float):
            return True
        case ir.Call(callee=operator.add | operator.sub | operator.mul, args=(one, other)):
            return _is_of_floats(other if one == power else one)
        case ir.Store(base=base, value=value, key=key):
            return value == power and power not in key_atoms(key) and _is_of_floats(base)
        case _:
            return False


def _is_of_floats(atom: ir.Atom) -> bool:
    return kind_of_numbers(atom) in ("float", "complex")
