"""Powers with negative whole exponents as quotients: Numba's own raise at zero, also where NumPy's are infinite."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from adjoint.backend.rewriting import Rewriting
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Call, Const, Function, Load, Statement, Store, Var
from adjoint.ir.types import Scalar


def with_quotients(function: Function) -> Function:
    """The function with ``1 / x**n`` in place of ``x**-n``."""
    return _Dividing().function(function)


class _Dividing(Rewriting):
    def statement(self, statement: Call | Load | Store) -> Iterable[Statement]:
        match statement:
            case Call(targets=(target,), callee=callee, args=(base, Const(value=int() as exponent))) if exponent < 0:
                kind = type_of_atom(base)
                if callee not in (operator.pow, pow) or not isinstance(kind, Scalar) or kind.kind != "float":
                    return (statement,)
                power = Var(target.hint, kind)
                one = Const(1.0 if kind.dtype is None else kind.dtype.type(1.0))
                first = Call((power,), operator.pow, (base, Const(-exponent)), (), statement.span)
                return first, Call((target,), operator.truediv, (one, power), (), statement.span)
            case _:
                return (statement,)
