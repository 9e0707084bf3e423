"""The ranks of arguments by which the form of a rule is chosen."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.rules.kinds import UNCHECKED, Rank


def ranks_of(callee: Any, args: Sequence[ir.Atom], result: ir.Var) -> tuple[Rank, ...]:
    """The rank of each argument, 0 for numbers and None where it is not known."""
    ranks: list[Rank] = [ir.rank_of(type_of_atom(arg)) for arg in args]
    if callee is operator.truediv and not _is_of_python(result.type) and _may_be_zero(args[1]):
        ranks[1] = UNCHECKED
    return tuple(ranks)


def _is_of_python(type_: ir.Type | None) -> bool:
    return isinstance(type_, ir.Scalar) and type_.dtype is None


def _may_be_zero(divisor: ir.Atom) -> bool:
    return _is_of_python(type_of_atom(divisor)) and not (isinstance(divisor, ir.Const) and divisor.value != 0)
