"""``grad`` and ``value_and_grad`` in code that is lowered: a call of the reverse derivative."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from adjoint import ir
from adjoint.diagnostics import Span
from adjoint.frontend.data.constants import lost_in_fields
from adjoint.frontend.data.lists_of_objects import Stacked
from adjoint.frontend.differentiation.changed_parts import take_over
from adjoint.frontend.differentiation.components import component
from adjoint.frontend.differentiation.differentiated_paths import written
from adjoint.frontend.differentiation.inner_functions import Inner, lower_inner, targets_of_call
from adjoint.frontend.differentiation.picked_arguments import Picked, pick
from adjoint.frontend.differentiation.refusals.arguments import holds_integers
from adjoint.frontend.differentiation.result_seeds import first_of_pair, seed_of
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves, layouts
from adjoint.frontend.differentiation.wrt import parameter_names, parameter_node, source_of, with_receiver
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Operator, TupleValue, Value
from adjoint.records import replace
from adjoint.runtime.arithmetic.checks import check_single


def gradient(
    lo: Lowerer,
    operator: Operator,
    options: dict[str, Any],
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    has_aux, wrt = bool(options.get("has_aux", False)), options.get("wrt", 0)
    function, wrt, args = with_receiver(lo, operator.function, wrt, args, kwargs, node)
    operator = replace(operator, function=function)
    picked = pick(lo, function, wrt, args, kwargs, node)
    keeps_writes = options.get("keep_writes", True)
    inner = lower_inner(lo, function, args, kwargs, picked.places, node, picked.ways, hands_out=keeps_writes)
    if not keeps_writes:
        from adjoint.frontend.differentiation.inside.defensive_copies import on_defensive_copies  # lazy

        inner = on_defensive_copies(lo, inner, node)
    if has_aux:
        first_of_pair(lo, operator.function, inner, node)
    part = component(lo, operator.function, inner.shape, 0 if has_aux else options.get("result"), node)
    seed = seed_of(lo, operator.function, inner, part, node)
    if node is None and not lo.regions:
        _warn_of_zero(lo, operator.function, inner, picked, part.start)
    layout = {} if lo.regions else layouts(lo, picked.values, lasting=False)
    stacked = Stacked(lo, inner)
    inner = stacked.inner
    targets, cotangents = targets_of_call(inner, "value")
    derived = ir.Derived(inner.function, tuple(range(inner.count)), (part.start,))
    lo.emit(ir.Call((*targets, *cotangents), derived, (*inner.atoms, seed), (), lo.span(node)))
    differentiated = targets[part.start]
    if _may_have_several_elements(differentiated.type):
        lo.emit(ir.Call((), check_single, (differentiated,), (), lo.span(node)))
    stacked.put_back()
    results = iter(targets)
    result = joins.build(inner.shape, results, lo.store)
    take_over(lo, inner.handed_out, results, node)
    gradient = picked.gradient(lo, iter(stacked.cotangents(cotangents, layout)), layout, node)
    if operator.kind == "value_and_grad":
        return TupleValue((result, gradient))
    if has_aux:
        assert isinstance(result, TupleValue)
        return TupleValue((gradient, result.items[1]))
    return gradient


def _warn_of_zero(
    lo: Lowerer,
    function: Value,
    inner: Inner,
    picked: Picked,
    output: int,
) -> None:
    from adjoint.frontend.differentiation.refusals.roundings import lost_in_roundings  # lazy
    from adjoint.frontend.differentiation.refusals.zero_derivatives import zero_derivatives  # lazy

    names = parameter_names(lo, function, None)
    source = source_of(function)
    arguments: list[tuple[str, Sequence[int], Span | None]] = []
    with_integers: list[str] = []
    start = 0
    for place, keys, value in zip(picked.places, picked.ways, picked.values, strict=True):
        end = start + sum(1 for _ in differentiable_leaves(lo, value))
        name = place if isinstance(place, str) else names[place] if place < len(names) else f"argument {place}"
        found = parameter_node(function, place)
        span = None if source is None else source.heading if found is None else source.span(found)
        arguments.append((name + written(keys), range(start, end), span))
        if holds_integers(lo, value):
            with_integers.append(name + written(keys))
        start = end
    found_zero = [*zero_derivatives(inner.function, arguments, (output,), with_integers)]
    told = [label.span for problem in found_zero for label in problem.labels]
    lo.run_data.warnings += (*found_zero, *lost_in_roundings(inner.function, inner.count, output, told))
    lo.run_data.warnings += lost_in_fields(lo, inner.function, inner.count, output)
    if lo.run_data.surgery:
        from adjoint.frontend.surgery.idle_surgery import idle_surgery  # lazy

        lo.run_data.warnings += idle_surgery(inner.function, range(inner.count), (output,))


def _may_have_several_elements(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Array) and (type_.dims is None or any(dim != "one" for dim in type_.dims))
