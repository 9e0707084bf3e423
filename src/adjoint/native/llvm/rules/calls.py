"""Which calls have a form in LLVM IR: the modules of rules, and what functions of numbers do to arrays."""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any

# each adds to the table
from adjoint.native.llvm.rules import (  # noqa: F401
    bundles,
    checks,
    exceptions,
    functions,
    numbers,
    overlap,
)
from adjoint.native.llvm.rules.arithmetic import complexes, powers, vectors  # noqa: F401
from adjoint.native.llvm.rules.array_functions import (  # noqa: F401
    by_helpers,
    elementwise,
    joining,
    lines,
    makers,
)
from adjoint.native.llvm.rules.containers import lists, parts, searches, shadows, structs  # noqa: F401
from adjoint.native.llvm.rules.helpers import helper
from adjoint.native.llvm.rules.linear_algebra import (  # noqa: F401
    bundled_products,
    decompositions,
    delayed_products,
    einsum,
    factored,
    products,
    systems,
)
from adjoint.native.llvm.rules.of_python import calls, objects  # noqa: F401
from adjoint.native.llvm.rules.table import RULES, Rule

_AS_WRITTEN = (
    *(f"adjoint.runtime.array_functions.{name}" for name in ("linalg", "arrays", "sequences", "scans")),
    *(f"adjoint.runtime.sets.{name}" for name in ("entries", "numbers")),
)
"""Whose functions are what their text says, where there is no rule."""

for _callee, _write in complexes.OF_COMPLEX.items():
    RULES[_callee] = complexes.where_complex(_callee, _write, RULES.get(_callee))
for _callee in elementwise.ELEMENTWISE:
    RULES[_callee] = elementwise.of_elements(_callee, RULES[_callee])
RULES["truth"] = objects.of_objects(RULES["truth"])
RULES[operator.add] = exceptions.joined_texts(RULES[operator.add])


def rule_of(callee: Any) -> Rule | None:
    """What a call of a function becomes; None where that is not known."""
    try:
        found = RULES.get(callee)
    except TypeError:  # not hashable
        return None
    if found is None and structs.is_of_fields(callee):
        return structs.made_of(callee)
    if found is None and isinstance(callee, FunctionType) and callee.__module__ in _AS_WRITTEN:
        return helper(_without_rule(callee), callee)
    return found


def _without_rule(function: FunctionType) -> FunctionType:
    """A function of the same text: nothing else is said of it."""
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
