"""Calls of functions whose bodies are not visible: what they return may have captured what they were given."""

from __future__ import annotations

import ast
import types
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects
from adjoint.frontend.calls.emitted_calls import call_any, refuse_linked
from adjoint.frontend.calls.opaque.arguments import (
    any_carries,
    compares_by_identity,
    keep_identity,
    keep_track,
    lend,
    refuse_made_here,
)
from adjoint.frontend.calls.opaque.library_classes import look_where_it_comes_from
from adjoint.frontend.data import making
from adjoint.frontend.functions.function_values import as_annotated, returned_by
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Value
from adjoint.frontend.iterators.iterators import drawn
from adjoint.runtime import display
from adjoint.types.classes.annotations import annotations_of


def call_opaque(lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    known = _text_of(lo, constant, args, kwargs, node)
    if known is not None:
        return known
    if _goes_through(constant):
        args = [drawn(lo, value, node) for value in args]
    facts = effects(constant)
    for value in (*args, *kwargs.values()):
        if constant not in (list.index, list.count) or not compares_by_identity(lo, value):
            refuse_made_here(lo, value, node)
        keep_track(lo, value)
        if not (facts.known and facts.pure):
            keep_identity(lo, value)
    atoms = [_handed_out(lo, value, node) for value in args]
    pairs = {name: _handed_out(lo, value, node) for name, value in kwargs.items()}
    lend(constant, atoms, pairs)
    result = call_any(lo, constant, list(atoms), node, **pairs)
    _note_given(lo, result, (*atoms, *pairs.values()))
    if isinstance(result, ir.Var) and type(result.type) is ir.Opaque and annotations_of(constant):
        return as_annotated(lo, result, returned_by(constant), node)
    return result


def _goes_through(constant: Any) -> bool:
    """Whether a function draws all items of an iterator at once, and only looks at them."""
    is_of_text = isinstance(constant, types.BuiltinFunctionType) and isinstance(constant.__self__, (str, bytes))
    return constant is str.join or (is_of_text and constant.__name__ == "join")


def _text_of(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """What a method of a text that is known gives: ``"a b".split()``."""
    if not isinstance(constant, types.BuiltinFunctionType) or not isinstance(constant.__self__, str):
        return None
    if not all(isinstance(value, ir.Const) for value in (*args, *kwargs.values())):
        return None
    try:
        found = constant(*[arg.value for arg in args], **{name: value.value for name, value in kwargs.items()})  # type: ignore[union-attr]
    except Exception:  # raises at run time too
        return None
    return making.new_list(lo, [ir.Const(item) for item in found], node) if isinstance(found, list) else ir.Const(found)


def _handed_out(lo: Lowerer, value: Value, node: ast.AST | None) -> ir.Atom:
    """An argument as others see it: what stands for a tuple is one."""
    atom = materialize(lo, value, node)
    return lo.open.call(tuple, atom) if making.is_tuple(value) else atom


def call_opaque_variable(
    lo: Lowerer, function: ir.Var, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    if isinstance(function.type, (ir.Scalar, ir.Array, ir.Number)):
        raise lo.mistake(TypeError, node, f"{function.hint!r} is a number or an array, and cannot be called")
    if any_carries(lo, args, kwargs):
        look_where_it_comes_from(lo, function)
    for value in (*args, *kwargs.values()):
        refuse_made_here(lo, value, node)
        keep_track(lo, value)
    atoms: list[ir.Atom] = [function, *(_handed_out(lo, value, node) for value in args)]
    named = {name: _handed_out(lo, value, node) for name, value in kwargs.items()}
    refuse_linked(lo, (*atoms, *named.values()), node)
    lend(display.call, atoms, named)
    pairs = tuple(named.items())
    target = ir.Var("t", ir.OPAQUE)
    lo.emit(ir.Call((target,), display.call, tuple(atoms), pairs, lo.span(node)))
    _note_given(lo, target, (*atoms, *named.values()))
    known = next((item.read(lo.run_data.root) for item in lo.run_data.inputs if item.var is function), None)
    if annotations_of(known):  # the very object is part of the key of the specialisation
        return as_annotated(lo, target, returned_by(known), node)
    return target


def _note_given(lo: Lowerer, result: Value, given: tuple[ir.Atom, ...]) -> None:
    """Takes down what a function that nobody sees was given: what it returns may have captured that."""
    if isinstance(result, ir.Var) and type(result.type) is ir.Opaque:
        lo.run_data.made_with[result] = given
