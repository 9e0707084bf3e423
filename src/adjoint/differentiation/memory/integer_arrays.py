"""Stores of what varies into arrays that may hold integers where paths meet: a check when the derivative runs."""

from __future__ import annotations

from adjoint import ir
from adjoint.analysis.shapes.unknown_dtypes import storages_of_integers
from adjoint.runtime.arithmetic.checks import check_floats


class FloatChecks:
    """The checks that a function needs: what is stored into an array of integers is cut off, and has no derivative."""

    def __init__(self, function: ir.Function) -> None:
        self._function = function
        self._integers: set[ir.Storage] | None = None

    def check(self, store: ir.Store) -> ir.Call | None:
        """What refuses a float in an array of integers; None where the type tells that it holds none."""
        base = store.base
        if store.mode != "set" or not isinstance(base, ir.Var) or not isinstance(base.type, ir.Array):
            return None
        if ir.is_float_dtype(base.type.dtype):
            return None
        if self._integers is None:
            self._integers = storages_of_integers(self._function)
        if base.type.storage.find() not in self._integers:
            return None
        name = ir.Const(base.hint if base.named else None)
        return ir.Call((), check_floats, (base, name, store.value), (), store.span)
