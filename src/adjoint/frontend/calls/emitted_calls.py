"""Calls are emitted into the open block, or folded where all is known."""

from __future__ import annotations

import ast
import enum
import math
import operator
import types
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from adjoint import ir
from adjoint.frontend.calls.power_domains import may_be_complex
from adjoint.frontend.data.read_only_views import note_view
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.handed_on import handed_on
from adjoint.frontend.interpreter.values import TupleValue, Value
from adjoint.frontend.syntax.operators import COMPARE, SAFE_TO_FOLD
from adjoint.rules import registry
from adjoint.rules.typing import surely_raises, type_of_call
from adjoint.runtime.arithmetic.complex_powers import check_real
from adjoint.types.classes.constant_types import EXAMPLES


def refuse_linked(lo: Lowerer, atoms: Iterable[Any], node: ast.AST | None) -> None:
    """Refuses to hand objects that refer to each other to what does not know that they are numbers here.

    So are containers whose items are tuples here, which say what structure each has.
    """
    atoms = list(atoms)
    is_tagged = (atom for atom in atoms if isinstance(atom, ir.Var) and ir.is_tagged_within(atom.type))
    tagged = next(is_tagged, None) if lo.settings.tagged else None
    if tagged is not None:
        raise handed_on(lo, tagged, node)
    if not lo.run_data.pools:
        return
    found = next((cls for atom in atoms if isinstance(atom, ir.Var) and (cls := ir.linked_class_in(atom.type))), None)
    if found is None:
        return
    if found.__module__.startswith("adjoint."):
        raise lo.problem(
            "AD0301", node, "an iterator is handed on as a whole", helps=("hand over a list: list(items)",)
        )
    label = f"an object of the class {found.__name__!r}, whose objects refer to each other, is handed on as a whole"
    problem = lo.problem("AD0301", node, label, helps=("hand over its attributes",))
    lo.settings.refused_linked = True
    raise problem


def _is_inside(callee: Any, atoms: Sequence[Any]) -> bool:
    """Whether a call only asks for the place of an object in a container: where that says when objects are equal."""
    if callee is not operator.contains or not isinstance(atoms[0], ir.Var):
        return False
    if isinstance(atoms[0].type, ir.Dict):
        return not (isinstance(atoms[1], ir.Var) and ir.linked_class_in(atoms[1].type))
    cls: Any = ir.linked_class_in(atoms[0].type)
    is_one = isinstance(atoms[1], ir.Var) and isinstance(atoms[1].type, ir.Reference)
    return isinstance(atoms[0].type, ir.List) and is_one and cls is not None and cls.__eq__ is object.__eq__


def call_any(lo: Lowerer, callee: Any, atoms: list[Any], node: ast.AST | None, **kwargs: Any) -> Value:
    """A call with any number of results; several come as a tuple."""
    pairs = tuple(kwargs.items())
    refuse_linked(lo, (*atoms, *kwargs.values()), node)
    types_ = type_of_call(callee, atoms, pairs)
    rule = registry.rule_for(callee)
    lo.at(node)
    span = lo.span(node)
    if types_ in _NOT_KNOWN and (message := surely_raises(callee, atoms, pairs)) is not None:
        raise lo.mistake(AxisError, node, message)
    if len(types_) == 1 and not (rule is not None and rule.results > 1):
        target = ir.Var("shape" if callee is np.shape else "t", types_[0])
        lo.emit(ir.Call((target,), callee, tuple(atoms), pairs, span))
        note_view(lo, target, callee, atoms, pairs)
        return target
    if rule is not None and rule.results == len(types_):
        targets = tuple(ir.Var("t", type_) for type_ in types_)
        lo.emit(ir.Call(targets, callee, tuple(atoms), pairs, span))
        return TupleValue(targets, rule.result_class)
    target = ir.Var("shape" if callee is np.shape else "t", ir.Tuple(tuple(types_)))
    lo.emit(ir.Call((target,), callee, tuple(atoms), pairs, span))
    return target


def call(lo: Lowerer, callee: Any, atoms: Sequence[ir.Atom], node: ast.AST | None) -> ir.Atom:
    """A call with one result; what is known is computed here."""
    if callee in SAFE_TO_FOLD and all(_folds(callee, a) for a in atoms):
        try:
            return ir.Const(callee(*(a.value for a in atoms)))  # type: ignore[union-attr]
        except Exception:  # raises at run time too
            pass
    if not _is_inside(callee, atoms):
        refuse_linked(lo, atoms, node)
    lo.at(node)
    if callee is operator.pow and not lo.run_data.all_constant:
        base, exponent = atoms
        if may_be_complex(base, exponent, lo.open.statements):
            lo.emit(ir.Call((), check_real, (base, exponent), (), lo.span(node)))
    return lo.open.call(callee, *atoms)


_NOT_KNOWN = ((ir.Number(),), (ir.OPAQUE,))
"""The types of what examples do not tell: no call of them returned."""
_COMPARISONS = frozenset(COMPARE.values())
EQUALITIES = (operator.eq, operator.ne, operator.is_, operator.is_not)
_OF_PYTHON = (object.__eq__, int.__eq__, str.__eq__)


def _folds(callee: Any, value: ir.Atom) -> bool:
    """Whether an operator is applied to a value here and now: arithmetic of floats is left to be read."""
    if not isinstance(value, ir.Const):
        return False
    if type(value.value) is float:
        return callee in _COMPARISONS or (callee is operator.neg and math.isinf(value.value))
    if isinstance(value.value, enum.Enum) and callee in EQUALITIES:
        return type(value.value).__eq__ in _OF_PYTHON
    known = (bool, int, str, bytes, tuple, type, types.ModuleType, np.dtype, *EXAMPLES)
    return value.value is None or isinstance(value.value, known) or callable(value.value)
