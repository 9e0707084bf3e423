"""Functions that return numbers or, on some paths, what has no derivative: these raise when they run."""

from __future__ import annotations

import ast
import operator
from collections.abc import Collection, Iterator, Mapping

from adjoint import ir
from adjoint.differentiation.reverse.blind_spots import of_unknown_kind
from adjoint.frontend.data.tagged_items import may_hold_none
from adjoint.frontend.differentiation.components import describe
from adjoint.frontend.differentiation.refusals.arguments import object_of
from adjoint.frontend.differentiation.wrt import refusal, source_of
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import NONE, TupleValue, Union, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import filled_lists
from adjoint.ir.walk import leaves, operands, statements_in, targets_of
from adjoint.records import replace

_WITHOUT_DERIVATIVE = (type(None), int, str, bytes, type)
"""Classes of what functions return where they have no number to return."""


def without_constants(lo: Lowerer, function: Value, name: str, value: Value, node: ast.AST | None) -> Value:
    """The result of a function, where that is None, a text or another constant on some paths.

    A function that comes to its end without a ``return`` has forgotten one: that is refused.
    """
    if not isinstance(value, Union):
        return _without_none(lo, name, value, node)
    others = [place for place, option in enumerate(value.options) if not _is_constant(option)]
    if len(others) != 1 or len(value.options) == 1:
        return value
    if any(_is_none(option) for option in value.options):
        from adjoint.sources.missing_return import missing_return  # lazy

        if missing_return(source_of(function)):
            return value
    (place,) = others
    is_value = lo.open.call(operator.eq, value.tag, ir.Const(place))
    rest = [joins.shape_of(option, lo.store) for i, option in enumerate(value.options) if i != place]

    def refuse() -> Value:
        text = f"{name!r} returns {' or '.join(dict.fromkeys(map(describe, rest)))} here, which has no derivative"
        lo.stop(ir.Raise(lo.open.call(TypeError, ir.Const(text)), None, lo.span(node)))
        return ir.UNDEFINED

    return lo.branch(is_value, lambda: value.options[place], refuse, node)


def _without_none(lo: Lowerer, name: str, value: Value, node: ast.AST | None) -> Value:
    """Lists that were made of None, and have been filled: as lists of what they were filled with."""
    if isinstance(value, TupleValue):
        return replace(value, items=tuple([_without_none(lo, name, item, node) for item in value.items]))
    if not (isinstance(value, ir.Var) and may_hold_none(value)):
        return value
    said = ir.Const(f"None lies in what {name!r} returns, which has no derivative")
    return python_functions.call(lo, filled_lists.all_there, [value, said], node)


def _is_constant(option: Value) -> bool:
    """Whether nothing of a value carries a derivative."""
    if isinstance(option, TupleValue):
        return all(map(_is_constant, option.items))
    if isinstance(option, ir.Const):
        return isinstance(option.value, _WITHOUT_DERIVATIVE)
    cls = option.type.cls if isinstance(option, ir.Var) and isinstance(option.type, ir.Opaque) else None
    return cls is not None and issubclass(cls, _WITHOUT_DERIVATIVE)


def _is_none(option: Value) -> bool:
    return option == NONE or (isinstance(option, ir.Var) and option.type == ir.Opaque(type(None)))


# Results that vary, and of which it is not known what they are


def unknown_result(
    lo: Lowerer,
    function: Value,
    lowered: ir.Function,
    shape: joins.Shape,
    places: Collection[int],
    varied: Collection[ir.Atom],
    node: ast.AST | None,
) -> Problem:
    """The refusal of a function of whose results some vary, and are of no kind that is known."""
    body = lowered.body
    ends = [leaf for leaf in leaves(body) if isinstance(leaf, ir.Return)]
    if isinstance(shape, joins.UnionShape):
        count = len(list(joins.leaf_types(shape, "")))
        results = [result for end in ends for result in end.values[1:count]]  # behind the number that says which it is
    else:
        results = [end.values[place] for end in ends for place in places]
    made_by = {var: statement for statement in statements_in(body) for var in targets_of(statement)}
    kinds = dict.fromkeys(_told(made_by, each) for result in results for each in _joined(made_by, result))
    if len(kinds) > 1:
        helps = ("return a value of the same kind on all paths, a number: float(...)",)
        return refusal(lo, "AD0407", function, node, f"this returns {' or '.join(kinds)}", helps=helps)
    unknown: set[ir.Atom] = set()
    for statement in statements_in(body):
        made = [var for var in targets_of(statement) if var in varied and not ir.carries_derivative(var.type)]
        if made and unknown.isdisjoint(operands(statement)):
            return Problem(of_unknown_kind(statement, made[0]))
        unknown.update(made)
    label = "what this returns depends on the arguments, but its kind is not known"
    return refusal(lo, "AD0401", function, node, label)


def _told(made_by: Mapping[ir.Var, ir.Statement], atom: ir.Atom) -> str:
    """What a value is, in a few words."""
    if isinstance(atom, ir.Const):
        is_other = not (callable(atom.value) or isinstance(atom.value, (int, float, complex, type(None))))
        return object_of(type(atom.value)) if is_other else describe(joins.Same(atom))
    assert isinstance(atom, ir.Var)
    made = made_by.get(atom)
    if isinstance(atom.type, ir.Opaque) and isinstance(made, ir.Call) and isinstance(made.callee, type):
        return object_of(made.callee)
    return describe(joins.Leaf(atom.type))


def _joined(made_by: Mapping[ir.Var, ir.Statement], value: ir.Atom, seen: Collection[ir.Var] = ()) -> Iterator[ir.Atom]:
    """What a value may be, on each path to where it is."""
    if isinstance(value, ir.Undefined) or value in seen:
        return
    made = made_by.get(value) if isinstance(value, ir.Var) else None
    if not isinstance(made, (ir.If, ir.Loop)):
        yield value
        return
    assert isinstance(value, ir.Var)
    place = targets_of(made).index(value)
    sides = (made.then, made.orelse) if isinstance(made, ir.If) else (made.body,)
    for leaf in (leaf for side in sides for leaf in leaves(side)):
        if isinstance(leaf, (ir.Yield, ir.Exit)) and place < len(leaf.values):
            yield from _joined(made_by, leaf.values[place], (*seen, value))
