"""Calls of functions whose source is at hand: inlined in the open block, unless they stay functions."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from adjoint import ir, records
from adjoint.frontend.control import binding_flags
from adjoint.frontend.entry import inputs
from adjoint.frontend.entry.local_fixpoints import lowered_call
from adjoint.frontend.functions.activations import (
    activation,
    is_deep,
    is_kept,
    is_structural,
    is_too_often,
    note_inlined,
)
from adjoint.frontend.functions.called_forms import form_of_call
from adjoint.frontend.functions.parameters import bind
from adjoint.frontend.interpreter.core import MAX_INLINE_DEPTH, Lowerer
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import NONE, Cell, Closure, Value
from adjoint.sources.scope import own_yields, scope_of

MANY_ACTIVATIONS = 4
"""A function that is inlined in itself more often than this may be too deep for it."""


def call_closure(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    code = closure.source.node
    if lo.run_data.lookups:
        lo.run_data.lookups[-1].closures[closure] = None
    for name, cell in closure.cells.items():
        inputs.fill_cell(lo, cell, name, node, closure.globals)
    if own_yields(code):
        from adjoint.frontend.iterators.generators.loops import made_by_call  # lazy

        return made_by_call(lo, closure, args, kwargs, node)
    return lowered_call(lo, lambda: _lowered_call(lo, closure, args, kwargs, node), code)


def _lowered_call(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of a function that is inlined, or lowered once for several calls."""
    code = closure.source.node
    form = functools.partial(form_of_call, lo, args, kwargs)
    if code in lo.settings.called or is_kept(lo, closure, form):
        from adjoint.frontend.functions.recursion import call_definition  # lazy

        return call_definition(lo, closure, args, kwargs, node)
    active = activation(lo, closure)
    if active is not None and not is_structural(lo, active, args):
        lo.settings.called.add(code)
        if is_deep(lo):  # as where Python's stack comes to its end before
            lo.settings.called |= lo.settings.nested
        raise Restart(code)
    if active is not None and is_too_often(lo, code):
        lo.settings.called.add(code)
        lo.settings.often.add(code)
        raise Restart(code)
    if lo.depth > MAX_INLINE_DEPTH:
        lo.settings.called.add(code)
        raise Restart(code)
    before = lo.run_data.emitted
    result = run_closure(lo, closure, args, kwargs, node)
    note_inlined(lo, code, before, form)
    return result


def run_closure(
    lo: Lowerer,
    closure: Closure,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
    returned: Callable[[Value], Value] | None = None,
    *,
    stays_function: bool = False,
) -> Value:
    """Runs the body of a function in the open block; ``returned`` is applied where a value is returned."""
    outer_keys = set(lo.store)
    frame = activated(lo, closure, args, kwargs, node)
    frame.returned = returned
    if stays_function and frame.call_span is not None:
        frame.call_span = records.replace(frame.call_span, is_one_of_many=True)
    span = lo.open.span
    lo.frame, lo.depth = frame, lo.depth + 1
    recorded = (closure.source.node, tuple(args), closure.function)
    if sum(active is closure.source.node for active, *_ in lo.run_data.activations) >= MANY_ACTIVATIONS:
        lo.settings.nested.add(closure.source.node)
    lo.run_data.activations.append(recorded)
    body = closure.source.node.body

    def execute() -> Value:
        if isinstance(body, list):
            if lo.settings.adjoined and closure.source.node in lo.settings.adjoined:
                from adjoint.frontend.iterators.effect_watches import taken_down  # lazy

                with taken_down(lo, frame.log):
                    lo.run(body)
            else:
                lo.run(body)
            return NONE
        value = lo.evaluate(body)
        return value if returned is None else returned(value)

    try:
        result = lo.run_region(execute)
    finally:
        lo.frame, lo.depth = frame.caller, lo.depth - 1
        assert lo.run_data.activations.pop() is recorded
    if lo.block is not None:
        lo.block.span = span
    if not frame.makes_closures:
        for cell in frame.cells.values():
            if cell not in outer_keys:
                lo.store.pop(cell, None)
    return result


def activated(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Frame:
    """An activation of a function, its parameters bound."""
    scope = scope_of(closure.source.node)
    bound = bind(lo, closure, args, kwargs, node)
    cells = {name: Cell(name) for name in sorted(scope.local)}
    for name in scope.nonlocals:
        cells[name] = closure.cells[name]
    frame = Frame(closure, cells, lo.frame, lo.span(node))
    if lo.run_data.lookups:
        lo.run_data.lookups[-1].own.update(cells.values())
    parameters = closure.source.node.args
    first = [*parameters.posonlyargs, *parameters.args][:1]
    if first and closure.owner is not None:
        frame.self_cell = cells[first[0].arg]
    if lo.settings.tracked:
        from adjoint.frontend.flow.derivatives import bound_parameters  # lazy

        bound = bound_parameters(lo, closure.source.node, bound)
        frame.given = bound
    for name, value in bound.items():
        lo.store[cells[name]] = value
    binding_flags.watch(lo, frame)
    if any(map(_may_be_annotated, bound.values())):
        _as_annotated(lo, frame, bound, node)
    return frame


def _may_be_annotated(value: Value) -> bool:
    """Whether nothing is known of a value but what an annotation may say."""
    return isinstance(value, ir.Var) and type(value.type) is ir.Opaque and value.type.signature is None


def _as_annotated(lo: Lowerer, frame: Frame, bound: dict[str, Value], node: ast.AST | None) -> None:
    """Takes arguments of which nothing is known for the function values that the annotations of parameters say."""
    spec = frame.closure.source.node.args
    annotations = {p.arg: p.annotation for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if p.annotation}
    if not annotations:
        return
    from adjoint.frontend.functions.function_values import as_annotated, meaning  # lazy

    for name, value in bound.items():
        if name in annotations and _may_be_annotated(value):
            said = meaning(lo, annotations[name], frame.closure.globals)
            lo.store[frame.cells[name]] = as_annotated(lo, value, said, node)
