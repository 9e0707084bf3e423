"""Powers of whole numbers: Numba's own are whole numbers again, where Python's may be fractions."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable

from adjoint.ir.join import is_whole_number, kind_of_numbers, type_of_atom
from adjoint.ir.nodes import Atom, Call, Const, Function, Load, Statement, Store, Var
from adjoint.ir.rebuild import substitute
from adjoint.ir.types import FLOAT, INT
from adjoint.ir.walk import key_atoms, operands, statements_in, terminators_in
from adjoint.native.legalize.peepholes import POWERS
from adjoint.native.legalize.rewriting import Rewriting


def with_fractions(function: Function) -> Function:
    """The function with floats for powers of whole numbers that may be fractions, where they only meet floats."""
    return _Floating().function(function)


class _Floating(Rewriting):
    def __init__(self) -> None:
        super().__init__()
        self.chosen: frozenset[Var] = frozenset()
        self.made: dict[Var, Atom] = {}

    def function(self, function: Function) -> Function:
        outer = self.chosen
        self.chosen = outer | _that_meet_floats(function)
        rewritten = super().function(function)
        self.chosen = outer
        return rewritten

    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        if isinstance(statement, Call) and not self.chosen.isdisjoint(statement.targets):
            (base, exponent), (target,) = statement.args, statement.targets
            power = self.made[target] = Var(target.hint, FLOAT)
            if isinstance(base, Const):
                return (Call((power,), operator.pow, (Const(float(base.value)), exponent), (), statement.span),)
            number = Var(target.hint, FLOAT)
            conversion = Call((number,), float, (base,), (), statement.span)
            return conversion, Call((power,), operator.pow, (number, exponent), (), statement.span)
        return (substitute(statement, self.made) if self.made else statement,)


def _that_meet_floats(function: Function) -> frozenset[Var]:
    """Powers of whole numbers by such that are not known, of which nothing but floats is made."""
    statements = list(statements_in(function.body))
    powers = {part.targets[0] for part in statements if isinstance(part, Call) and _is_whole_power(part)}
    for statement in statements if powers else []:
        powers -= {atom for atom in operands(statement) if atom in powers and not _makes_a_float(statement, atom)}
    for end in terminators_in(function.body) if powers else []:
        powers -= set(operands(end))
    return frozenset(powers)


def _is_whole_power(call: Call) -> bool:
    match call:
        case Call(targets=(_,), callee=callee, args=(base, Var() as exponent)) if callee in POWERS:
            return all(is_whole_number(atom) and type_of_atom(atom) == INT for atom in (base, exponent))
        case _:
            return False


def _makes_a_float(statement: Statement, power: Atom) -> bool:
    match statement:
        case Call(callee=operator.truediv | builtins.float):
            return True
        case Call(callee=operator.add | operator.sub | operator.mul, args=(one, other)):
            return _is_of_floats(other if one == power else one)
        case Store(base=base, value=value, key=key):
            return value == power and power not in key_atoms(key) and _is_of_floats(base)
        case _:
            return False


def _is_of_floats(atom: Atom) -> bool:
    return kind_of_numbers(atom) in ("float", "complex")
