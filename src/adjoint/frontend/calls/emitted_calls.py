"""Calls are emitted into the open block, or folded where all is known."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import TupleValue, Value
from adjoint.frontend.syntax.operators import COMPARE, SAFE_TO_FOLD
from adjoint.ir.nodes import Atom, Call, Const, Var
from adjoint.ir.types import Tuple
from adjoint.rules import registry
from adjoint.rules.typing import type_of_call
from adjoint.types.constant_types import EXAMPLES


def call_any(lo: Lowerer, callee: Any, atoms: list[Any], node: ast.AST | None, **kwargs: Any) -> Value:
    """A call with any number of results; several come as a tuple."""
    pairs = tuple(kwargs.items())
    types_ = type_of_call(callee, atoms, pairs)
    rule = registry.rule_for(callee)
    lo.at(node)
    span = lo.span(node)
    if len(types_) == 1 and not (rule is not None and rule.results > 1):
        target = Var("t", types_[0])
        lo.emit(Call((target,), callee, tuple(atoms), pairs, span))
        return target
    if rule is not None and rule.results == len(types_):
        targets = tuple(Var("t", type_) for type_ in types_)
        lo.emit(Call(targets, callee, tuple(atoms), pairs, span))
        return TupleValue(targets, rule.result_class)
    target = Var("shape" if callee is np.shape else "t", Tuple(tuple(types_)))
    lo.emit(Call((target,), callee, tuple(atoms), pairs, span))
    return target


def call(lo: Lowerer, callee: Any, atoms: Sequence[Atom], node: ast.AST | None) -> Atom:
    """A call with one result; what is known is computed here."""
    if callee in SAFE_TO_FOLD and all(_folds(callee, a) for a in atoms):
        try:
            return Const(callee(*(a.value for a in atoms)))  # type: ignore[union-attr]
        except Exception:  # raises at run time too
            pass
    lo.at(node)
    return lo.open.call(callee, *atoms)


_COMPARISONS = frozenset(COMPARE.values())


def _folds(callee: Any, value: Atom) -> bool:
    """Whether an operator is applied to a value here and now: arithmetic of floats is left to be read."""
    if not isinstance(value, Const):
        return False
    if type(value.value) is float:
        return callee in _COMPARISONS or (callee is operator.neg and math.isinf(value.value))
    known = (bool, int, str, bytes, tuple, type, np.dtype, *EXAMPLES)
    return value.value is None or isinstance(value.value, known) or callable(value.value)
