"""Assignment between parts of one array, which loops do element by element.

NumPy reads all of ``a[:-1]`` before it writes in ``a[1:] = a[:-1]`` and in ``a[1:] += a[:-1]``. Loops over
elements do not: a copy is read in place of what they have written already.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.alias import Aliases
from adjoint.native.legalize.rewriting import Rewriting


def without_overlaps(function: ir.Function) -> ir.Function:
    """The function with copies of what is stored in memory that it may lie in itself."""
    return _Separation().function(function)


class _Separation(Rewriting):
    def function(self, function: ir.Function) -> ir.Function:
        outer, self.aliases = getattr(self, "aliases", None), Aliases(function)
        separated = super().function(function)
        self.aliases = outer or self.aliases
        return separated

    def statement(self, statement: ir.Call | ir.Load | ir.Store) -> Iterable[ir.Statement]:
        match statement:
            case ir.Store(base=base, key=key, value=value, mode="set" | "add" | "sub" | "add_at" as mode, span=span):
                if self.may_overlap(base, value) and not (key is None and value is base):
                    assert isinstance(value, ir.Var)
                    copy = ir.Var(value.hint, ir.Array(value.type.dtype, value.type.dims))  # type: ignore[attr-defined]
                    return ir.Call((copy,), np.copy, (value,), (), span), ir.Store(base, key, copy, mode, span)
        return (statement,)

    def may_overlap(self, base: ir.Atom, value: ir.Atom) -> bool:
        if not isinstance(base, ir.Var) or not isinstance(value, ir.Var):
            return False
        if not isinstance(base.type, ir.Array) or not isinstance(value.type, ir.Array):
            return False
        return self.aliases.of(base) == self.aliases.of(value)
