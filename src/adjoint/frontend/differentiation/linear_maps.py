"""Linear maps: the differential of a function as one, from what its primal keeps; functions that are to be linear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adjoint import ir
from adjoint.analysis.dependence.linearity import first_other, is_linear
from adjoint.analysis.memory.one_memory import with_memory_told
from adjoint.diagnostics import diagnostic
from adjoint.differentiation.finish import finish
from adjoint.differentiation.reverse import expand
from adjoint.frontend.data.lists_of_objects import Stacked
from adjoint.frontend.differentiation.inner_functions import Inner, name_of
from adjoint.frontend.differentiation.result_tangents import owned_tangents, result_tangent
from adjoint.frontend.differentiation.tangent_values import varying_parts
from adjoint.frontend.differentiation.wrt import refusal
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import Record, Ref, TupleValue, Union, Value
from adjoint.ir.rebuild import clone, substitute
from adjoint.ir.walk import free_vars
from adjoint.optimize.dead_code import remove_dead_code
from adjoint.optimize.touch_up.zeros_by_shape import with_named_shapes
from adjoint.records import dataclass
from adjoint.runtime.array_functions.arrays import zeros_like
from adjoint.target import Target
from adjoint.types.structure import CONTAINERS


@dataclass(frozen=True, slots=True)
class Differential:
    """The differential of a function at a point.

    Attributes
    ----------
    function
        Takes residuals and one tangent per differentiable leaf of the arguments, and gives the tangent of the result.
    residuals
        Which of those that the primal returns it takes.
    pulled_back
        How many of them the adjoint takes: the first ones.
    paths
        For each tangent the argument, and the way to the leaf in it.
    """

    function: ir.Function
    residuals: tuple[int, ...]
    pulled_back: int
    paths: tuple[tuple[Any, ...], ...]


def seen_to_be_linear(stacked: Stacked, adjoint: ir.Function, outputs: tuple[int, ...]) -> ir.Function | None:
    """The adjoint as it can be transposed: linear in its seeds as its text shows, and writing to no memory but its own.

    Where zeros are strong, it is not: what is zero times infinity depends on where the seed is zero. Where a part of
    the result is of one of several structures, the primals of the others are unbound.
    """
    told = with_memory_told(adjoint)
    if told is None or stacked.fields or joins.has_options(stacked.inner.shape):
        return None
    seeds = range(len(told.params) - len(outputs), len(told.params))
    plain = all(isinstance(told.params[place].type, (ir.Scalar, ir.Array, ir.Number)) for place in seeds)
    return told if plain and is_linear(told, seeds) else None


def lower_differential(
    lo: Lowerer,
    fn: Value,
    stacked: Stacked,
    adjoint: ir.Function,
    outputs: tuple[int, ...],
    atoms: Sequence[ir.Atom],
    residuals: list[ir.Atom],
    values: Sequence[Value],
) -> tuple[Differential, list[ir.Atom]]:
    """The adjoint transposed: linear in the seeds, so that its own adjoint with respect to them does not need any.

    ``atoms`` are the results of the primal and what the adjoint reads, ``residuals`` the latter and what else has been
    kept for it. Gives the residuals with those that are needed besides.
    """
    inner = stacked.inner
    results, kept = atoms[: len(inner.results)], atoms[len(inner.results) :]
    active = inner.function.params[: inner.count]
    outer_block, outer_store = lo.open, lo.store
    root = lo.fork(outer_store)
    params = adjoint.params
    taken = [ir.Var(var.hint, var.type, var.named) for var in params[: len(kept)]]
    seeds = params[len(kept) :]
    zeros = [_zero(lo, results[place], seed) for place, seed in zip(outputs, seeds, strict=True)]
    dots = [ir.Var(f"{param.hint}_dot", ir.fresh(param.type), True) for param in active]
    derived = ir.Derived(adjoint, tuple(range(len(kept), len(params))), tuple(range(len(active))))
    unused = tuple(ir.Var("unused", ir.fresh(param.type)) for param in active)
    names = [name for _, name in joins.leaf_types(inner.shape, "y")]
    made = tuple(
        ir.Var(f"{names[place]}_dot", ir.fresh(seed.type), True) for place, seed in zip(outputs, seeds, strict=True)
    )
    lo.emit(ir.Call((*unused, *made), derived, (*taken, *zeros, *dots)))
    owned = owned_tangents(lo, inner.shape, results, dict(zip(outputs, made, strict=True)))
    tangent = result_tangent(lo, inner.shape, results, owned)
    lo.open.terminator = ir.Return((materialize(lo, tangent, None, observer=True),))
    block = root.seal()
    lo.block, lo.store = outer_block, outer_store
    own = {*taken, *dots}
    extra = {var: ir.Var(var.hint, var.type, var.named) for var in free_vars(block) if var not in own}
    function = ir.Function(
        f"{name_of(fn)}_differential", (*taken, *extra.values(), *dots), substitute(block, dict(extra))
    )
    places = (*range(len(kept)), *range(len(residuals), len(residuals) + len(extra)))
    paths = tuple((i, *path) for i, value in enumerate(values) for path in tangent_paths(lo, value, (), set()))
    return Differential(function, places, len(residuals), paths), [*residuals, *extra]


def finished(function: ir.Function, target: Target) -> ir.Function:
    """A differential as it is compiled: without the adjoint, of which it reads shapes only.

    Cotangents of cotangents are called what they are: tangents.
    """
    alone = remove_dead_code(with_named_shapes(expand(function, None, target)))
    found = finish(alone, target=target)
    return ir.Function(found.name, found.params, clone(found.body, {}, _tangent_hint), found.doc)


def _tangent_hint(hint: str) -> str:
    return f"{hint.removesuffix('_bar_bar')}_dot" if hint.endswith("_bar_bar") else hint


def _zero(lo: Lowerer, result: ir.Atom, seed: ir.Var) -> ir.Atom:
    """A zero cotangent of a result."""
    if isinstance(seed.type, ir.Scalar) and seed.type.dtype is None:
        return ir.Const(0j if seed.type.kind == "complex" else 0.0)
    target = ir.Var("zero", ir.fresh(seed.type))
    lo.emit(ir.Call((target,), zeros_like, (result,)))
    return target


def tangent_paths(lo: Lowerer, value: Value, path: tuple[Any, ...], seen: set[Ref]) -> Iterator[tuple[Any, ...]]:
    """Where in an argument its differentiable leaves lie, in their order; attribute names behind a dot."""
    match value:
        case ir.Var(type=type_) if ir.carries_derivative(type_):
            yield path
        case ir.Const(value=float()):
            yield path
        case TupleValue(items=items):
            for place, item in enumerate(items):
                yield from tangent_paths(lo, item, (*path, place), seen)
        case Union(options=options):
            for option in options:
                yield from tangent_paths(lo, option, path, seen)
        case Ref() if value not in seen:
            seen.add(value)
            record = lo.store[value]
            assert isinstance(record, Record)
            for key, item in varying_parts(record):
                named = record.cls not in CONTAINERS
                yield from tangent_paths(lo, item, (*path, f".{key}" if named else key), seen)


def refuse_other_than_linear(lo: Lowerer, fn: Value, inner: Inner) -> None:
    """Refuses a function that is not seen to be linear in its arguments, at the statement where that is lost."""
    found = first_other(inner.function, range(inner.count))
    if found is None:
        return
    if isinstance(found, ir.Function) or found.span is None:
        raise refusal(lo, "AD0425", fn, None, "what this returns is not a linear combination of the arguments")
    raise Problem(diagnostic("AD0425", found.span, "this is not linear in the arguments"))
