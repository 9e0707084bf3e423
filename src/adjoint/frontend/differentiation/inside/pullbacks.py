"""``vjp`` in code that is lowered: the function is inlined, its pullback is written out where it is called."""

from __future__ import annotations

import ast

import numpy as np

from adjoint import ir
from adjoint.analysis.draws import draws, may_give_something_else
from adjoint.analysis.effects import written_places
from adjoint.frontend.calls.definitions import is_for_a_rule
from adjoint.frontend.differentiation.inner_functions import Inner, copy_as, lower_inner, targets_of_call
from adjoint.frontend.differentiation.refusals.arguments import refuse_arrays_of_other_classes
from adjoint.frontend.differentiation.result_seeds import first_of_pair
from adjoint.frontend.differentiation.tangent_values import converted, differentiable_leaves, paired, tangent_of
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Pullback, TupleValue, Value
from adjoint.frontend.library import python_functions
from adjoint.ir.rebuild import inline


def vjp(
    lo: Lowerer,
    function: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
    has_aux: bool = False,
) -> Value:
    """The value of a function, and a pullback that is written out where it is called; ``aux`` behind them."""
    places = tuple(i for i, value in enumerate(args) if any(True for _ in differentiable_leaves(lo, value)))
    if not places:
        refuse_arrays_of_other_classes(lo, function, args, node)
    inner = lower_inner(lo, function, args, kwargs, places, node)
    count = first_of_pair(lo, function, inner, node) if has_aux else len(inner.results)
    is_drawn = draws(inner.function)
    if is_drawn or (may_give_something_else(inner.function) and not is_for_a_rule(lo)):
        helps = (
            "draw beforehand what it needs" if is_drawn else "call beforehand what gives it, and hand that on",
            "or take the value and the gradient in one: ad.value_and_grad(f)",
        )
        what = "would draw other numbers" if is_drawn else "may find something else: it calls what is not looked into"
        raise lo.problem("AD0301", node, f"the pullback runs a function again that {what}", helps=helps)
    if lo.run_data.changed:  # the pullback is written out later, for the arguments as they are now
        raise joins.NeedsRuntime(tuple(original.site for original, _, _ in lo.run_data.changed))
    kept = Inner(
        inner.function, tuple(_kept(lo, atom) for atom in inner.atoms), inner.count, inner.shape, inner.results
    )
    atoms = inline(lo.open, inner.function, inner.atoms)
    value = joins.build(inner.shape, iter(atoms), lo.store)
    if not has_aux:
        return TupleValue((value, Pullback(kept, value, count, tuple(args), places)))
    assert isinstance(value, TupleValue)
    own, aux = value.items
    return TupleValue((own, Pullback(kept, own, count, tuple(args), places), aux))


def _kept(lo: Lowerer, atom: ir.Atom) -> ir.Atom:
    """What an argument is now, for a pullback that is called later."""
    match atom:
        case ir.Var(type=ir.Array()):
            return converted(lo, np.copy, [atom], atom)
        case ir.Var(type=type_) if _is_flat(type_):
            copied = python_functions.call(lo, python_functions.copied, [atom], None)
            assert isinstance(copied, ir.Var)
            return copied
        case _:
            return atom


def _operands(lo: Lowerer, inner: Inner, node: ast.AST | None) -> tuple[ir.Atom, ...]:
    """The arguments for one call of a pullback, which may write them as the function does."""
    atoms = list(inner.atoms)
    for place in written_places(inner.function):
        param = inner.function.params[place]
        if isinstance(param.type, ir.Array):
            atoms[place] = copy_as(lo, atoms[place], param)
        elif _is_flat(param.type):
            atoms[place] = _kept(lo, atoms[place])
    in_rule = lo.run_data.all_constant and not lo.run_data.of_users  # which writes nothing in between
    for atom in () if in_rule else atoms:
        if isinstance(atom, ir.Var) and _changes(atom.type):
            raise lo.problem("AD0303", node, "an argument of the function may have changed since ad.vjp was called")
    return tuple(atoms)


def _changes(type_: ir.Type) -> bool:
    """Whether there is memory to a value that :func:`_kept` does not copy and that something writes."""
    return (
        not _is_flat(type_)
        and not isinstance(type_, ir.Array)
        and any(storage.written for storage in ir.storages(type_))
    )


def _is_flat(type_: ir.Type) -> bool:
    """Whether a value is a list of numbers."""
    return isinstance(type_, ir.List) and (type_.element is None or isinstance(type_.element, (ir.Scalar, ir.Number)))


def call_pullback(
    lo: Lowerer, pullback: Pullback, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """One cotangent per positional argument of the function, None for one that cannot be differentiated."""
    if len(args) != 1 or kwargs:
        raise lo.problem("AD0203", node, "a pullback takes one cotangent, of the structure of the value")
    inner = pullback.inner
    differentiable = [i for i, type_ in enumerate(inner.results[: pullback.count]) if ir.carries_derivative(type_)]
    given = list(paired(lo, pullback.value, args[0], node))
    if len(given) != len(differentiable):
        raise lo.problem("AD0409", node, "the cotangent does not have the structure of the value")
    chosen = [(i, atom) for i, atom in zip(differentiable, given, strict=True) if atom != NONE]
    derived = ir.Derived(inner.function, tuple(range(inner.count)), tuple(i for i, _ in chosen))
    targets, cotangents = targets_of_call(inner, "value")
    seeds = tuple(atom for _, atom in chosen)
    operands = _operands(lo, inner, node)
    lo.emit(ir.Call((*targets, *cotangents), derived, (*operands, *seeds), (), lo.span(node)))
    leaves_left = iter(cotangents)
    return TupleValue(
        tuple(
            tangent_of(lo, value, leaves_left, {}) if place in pullback.places else NONE
            for place, value in enumerate(pullback.args)
        )
    )
