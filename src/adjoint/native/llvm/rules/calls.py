"""Which calls have a form in LLVM IR: the modules of rules, and what functions of numbers do to arrays."""

from __future__ import annotations

from typing import Any

# each adds to the table
from adjoint.native.llvm.rules import (  # noqa: F401
    bundles,
    checks,
    elementwise,
    functions,
    lists,
    makers,
    numbers,
    parts,
    places,
)
from adjoint.native.llvm.rules.arithmetic import complexes, powers, vectors  # noqa: F401
from adjoint.native.llvm.rules.linear_algebra import bundled_products, delayed_products, products, systems  # noqa: F401
from adjoint.native.llvm.rules.table import RULES, Rule

for _callee, _write in complexes.OF_COMPLEX.items():
    RULES[_callee] = complexes.where_complex(_callee, _write, RULES.get(_callee))
for _callee in elementwise.ELEMENTWISE:
    RULES[_callee] = elementwise.of_elements(_callee, RULES[_callee])


def rule_of(callee: Any) -> Rule | None:
    """What a call of a function becomes; None where that is not known."""
    try:
        return RULES.get(callee)
    except TypeError:  # not hashable
        return None
