"""The function that a user's call runs: arguments taken apart, the derivative, and results put together.

An entry is lowered from the very call: ``grad(f)(x, y)`` is the operator applied to the values of ``f``, ``x`` and
``y``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal

from adjoint import ir
from adjoint.differentiation.reverse import split
from adjoint.frontend.calls.opaque.arguments import refuse_made_here
from adjoint.frontend.calls.opaque.library_classes import causes
from adjoint.frontend.data.element_types import lift_written
from adjoint.frontend.data.lists_of_objects import Stacked
from adjoint.frontend.data.outside.written import refuse_written
from adjoint.frontend.differentiation import result_seeds
from adjoint.frontend.differentiation.inner_functions import lower_inner, name_of
from adjoint.frontend.differentiation.inside import operators
from adjoint.frontend.differentiation.refusals.arguments import refuse_arrays_of_other_classes
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves, layouts, tangent_of
from adjoint.frontend.differentiation.wrt import parameter_names
from adjoint.frontend.entry.captured import Captured, code_guards
from adjoint.frontend.entry.class_guards import class_guards
from adjoint.frontend.entry.inputs import enter, entered_root, with_lifted_marked
from adjoint.frontend.entry.restarts import Entry, attempt
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.returned import returned
from adjoint.frontend.interpreter.state.attempts import Settings
from adjoint.frontend.interpreter.values import NONE, Operator, TupleValue, Value
from adjoint.ir.rebuild import inline, substitute
from adjoint.ir.walk import free_vars
from adjoint.records import replace
from adjoint.runtime import display
from adjoint.target import ALL_INLINED, MACHINE, PYTHON, Target
from adjoint.types.structure import CONTAINERS

if TYPE_CHECKING:
    from adjoint.differentiation.reverse import Split


def lower_operator(
    kind: str,
    function: Any,
    options: tuple[tuple[str, Any], ...],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    target: Target = PYTHON,
) -> Entry:
    """The entry of ``kind(function, **options)(*args, **kwargs)``."""

    def build(lo: Lowerer) -> Entry:
        fn = entered_root(lo, function)
        names = parameter_names(lo, fn, None)
        params, values, named = entered(lo, names, args, kwargs)
        result = operators.call_operator(lo, Operator(kind, fn, options), values, named, None)
        refuse_made_here(lo, result, None)
        return finish_entry(lo, f"{_plain_name(fn)}_{kind}", params, result)

    return attempt(build, Settings(target=target))


def lower_helper(function: Callable[..., Any], given: Sequence[ir.Type | ir.Atom]) -> ir.Function:
    """A plain function of arguments of some types; those that are known are no parameters."""

    def build(lo: Lowerer) -> Entry:
        lo.run_data.all_constant = True
        fn = ir.Const(function)
        names = parameter_names(lo, fn, None)
        values: list[Value] = []
        for place, each in enumerate(given):
            name = names[place] if place < len(names) else f"arg_{place}"
            values.append(each if isinstance(each, ir.Atom) else ir.Var(name, each, True))
        params = [value for value in values if isinstance(value, ir.Var)]
        return finish_entry(lo, function.__name__, params, lo.call(fn, values, {}, None))

    return attempt(build, Settings(target=replace(MACHINE, inlined=ALL_INLINED))).function


def lower_jvp(
    function: Any, primals: Sequence[Any], tangents: Sequence[Any], target: Target = PYTHON, has_aux: bool = False
) -> Entry:
    """The entry of ``jvp(function, primals, tangents)``: a function of the primals and the tangents."""

    from adjoint.frontend.differentiation.inside import pushforwards  # lazy

    def build(lo: Lowerer) -> Entry:
        fn = entered_root(lo, function)
        names = parameter_names(lo, fn, None)
        params, values, _ = entered(lo, names, primals, {})
        dots: list[Value] = []
        for i, tangent in enumerate(tangents):
            hint = f"{names[i] if i < len(names) else f'arg_{i}'}_dot"
            if tangent is None:
                params.append(ir.Var(hint, ir.Opaque(type(None)), True))
                dots.append(NONE)
            else:
                found: list[ir.Var] = []
                dots.append(enter(lo, tangent, ("tangent", i), hint, found.append))
                params.append(found[0] if found else ir.Var(hint, ir.Opaque(type(tangent)), True))
        result = pushforwards.jvp(lo, fn, values, dots, None, has_aux)
        refuse_made_here(lo, result, None)
        return finish_entry(lo, f"{_plain_name(fn)}_jvp", params, result)

    return attempt(build, Settings(target=target))


def lower_vjp(
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    mode: Literal["", "linearize", "transpose"] = "",
    target: Target = PYTHON,
    has_aux: bool = False,
) -> Entry:
    """The entry of ``vjp(function, *args)``: a primal that returns ``(value, residuals)``, and its adjoint.

    ``linearize`` adds the differential, which is the adjoint transposed. ``transpose`` refuses what is not linear.
    With ``has_aux`` the second item of the value counts as a constant.
    """

    def build(lo: Lowerer) -> Entry:
        fn = entered_root(lo, function)
        names = parameter_names(lo, fn, None)
        params, values, named = entered(lo, names, args, kwargs)
        places = [i for i, value in enumerate(values) if any(True for _ in differentiable_leaves(lo, value))]
        if not places:
            refuse_arrays_of_other_classes(lo, fn, values)
        layout = layouts(lo, [values[i] for i in places], lasting=True)
        stacked = Stacked(lo, lower_inner(lo, fn, values, named, places, None))
        inner = stacked.inner
        result_seeds.refuse_several_kinds(lo, fn, inner.shape, None)
        if mode == "transpose":
            from adjoint.frontend.differentiation.linear_maps import refuse_other_than_linear  # lazy

            refuse_other_than_linear(lo, fn, inner)
        varying = range(len(inner.results))
        if has_aux:
            varying = range(result_seeds.first_of_pair(lo, fn, inner, None))
        outputs = tuple(i for i in varying if ir.carries_derivative(inner.results[i]))
        halves, value, atoms = primal_half(lo, stacked, outputs)
        adjoint, residuals = _adjoint(
            lo, fn, halves, stacked, outputs, places, values, layout, atoms[len(inner.results) :]
        )
        differential = None
        if mode == "linearize":
            from adjoint.frontend.differentiation.linear_maps import lower_differential, seen_to_be_linear  # lazy

            linear = seen_to_be_linear(stacked, halves.adjoint, outputs)
            if linear is not None:
                differential, residuals = lower_differential(lo, fn, stacked, linear, outputs, atoms, residuals, values)
        pack = lo.open.call(display.make_tuple, *residuals)
        both = lo.open.call(display.make_tuple, value, pack)
        entry = finish_entry(lo, f"{_plain_name(fn)}_primal", params, both)
        paths = list(leaf_paths(inner.shape, ()))
        seeds = tuple(paths[i][1:] if has_aux else paths[i] for i in outputs)
        return replace(entry, adjoint=adjoint, seeds=seeds, differential=differential)

    return attempt(build, Settings(target=target))


def primal_half(lo: Lowerer, stacked: Stacked, outputs: tuple[int, ...]) -> tuple[Split, ir.Atom, tuple[ir.Atom, ...]]:
    """Emits the primal of a function that is split; its halves, the value, and the leaves of that and the residuals."""
    inner = stacked.inner
    halves = split(inner.function, tuple(range(inner.count)), outputs, target=lo.settings.target)
    atoms = inline(lo.open, halves.primal, inner.atoms)
    stacked.put_back()
    result = joins.build(inner.shape, iter(atoms[: len(inner.results)]), lo.store)
    refuse_made_here(lo, result, None)
    return halves, returned(lo, result), atoms


def leaf_paths(shape: joins.Shape, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Where the leaves of a result lie: attribute names of objects behind a dot."""
    match shape:
        case joins.Leaf():
            yield path
        case joins.TupleShape(items=items):
            for i, item in enumerate(items):
                yield from leaf_paths(item, (*path, i))
        case joins.RefShape(record=record):
            plain = record.cls in CONTAINERS
            for key, item in zip(record.keys, record.items, strict=True):
                yield from leaf_paths(item, (*path, key if plain else f".{key}"))
        case joins.UnionShape(options=options):
            yield path
            for option in options:
                yield from leaf_paths(option, path)


def _adjoint(
    lo: Lowerer,
    fn: Value,
    halves: Split,
    stacked: Stacked,
    outputs: tuple[int, ...],
    places: Sequence[int],
    values: Sequence[Value],
    layout: Mapping[ir.Atom, ir.Var],
    residuals: Sequence[ir.Atom],
) -> tuple[ir.Function, list[ir.Atom]]:
    """The second half as a function of its residuals and of one cotangent per differentiable result."""
    outer_block, outer_store = lo.open, lo.store
    root = lo.fork(outer_store)
    kept = halves.adjoint.params[: len(residuals)]
    taken = [ir.Var(var.hint, var.type, var.named) for var in kept]
    result_types = list(joins.leaf_types(stacked.inner.shape, "y"))
    taken_seeds = zip(outputs, halves.adjoint.params[len(residuals) :], strict=True)
    seeds = [ir.Var(f"{result_types[i][1]}_bar", param.type, True) for i, param in taken_seeds]
    cotangents = inline(lo.open, halves.adjoint, (*taken, *seeds))
    bars = iter(stacked.cotangents([as_var(lo, atom) for atom in cotangents], layout))
    tangents: list[Value] = []
    for i, value in enumerate(values):
        tangents.append(tangent_of(lo, value, bars, layout) if i in places else NONE)
    atom = materialize(lo, TupleValue(tuple(tangents)), None, observer=True)
    root_block = lo.open
    root_block.terminator = ir.Return((atom,))
    block = root.seal()
    lo.block, lo.store = outer_block, outer_store
    own = set(taken) | set(seeds)
    extra = tuple(var for var in free_vars(block) if var not in own)
    inner_extra = {var: ir.Var(var.hint, var.type, var.named) for var in extra}
    block = substitute(block, inner_extra)
    adjoint = ir.Function(f"{_plain_name(fn)}_adjoint", (*taken, *inner_extra.values(), *seeds), block)
    return adjoint, [*residuals, *extra]


def as_var(lo: Lowerer, atom: ir.Atom) -> ir.Var:
    if isinstance(atom, ir.Var):
        return atom
    return lo.open.call(operator.pos, atom)


def entered(
    lo: Lowerer, names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[ir.Var], list[Value], dict[str, Value]]:
    """One parameter of the entry for every argument of the call, used or not."""
    lo.run_data.arguments = dict(enumerate(args))
    lo.run_data.arguments.update(kwargs)
    params: list[ir.Var] = []
    values: list[Value] = []
    for i, argument in enumerate(args):
        hint = names[i] if i < len(names) else f"arg_{i}"
        values.append(_enter_one(lo, argument, ("argument", i), hint, params))
    named = {name: _enter_one(lo, value, ("argument", name), name, params) for name, value in kwargs.items()}
    return params, values, named


def _enter_one(lo: Lowerer, argument: Any, path: tuple[Any, ...], hint: str, params: list[ir.Var]) -> Value:
    found: list[ir.Var] = []
    value = enter(lo, argument, path, hint, found.append)
    params.append(found[0] if found else ir.Var(hint, ir.Opaque(type(argument)), True))
    return value


def _plain_name(fn: Value) -> str:
    return name_of(fn)


def finish_entry(lo: Lowerer, name: str, params: Sequence[ir.Var], result: Value) -> Entry:
    if isinstance(result, ir.Var) and isinstance(result.type, ir.Tuple):
        atom: ir.Atom = result  # with what a pullback keeps, as it is
    else:
        atom = returned(lo, result)
    lo.open.terminator = ir.Return((atom,))
    body = lo.root.seal()
    refuse_written(lo, body)
    if lo.run_data.flow:
        from adjoint.frontend.flow.derivatives import with_flow_settled  # lazy

        body = with_flow_settled(lo, body)
    prologue = (*lo.run_data.prologue.statements, *lo.run_data.starts[()])
    lift_written(lo)
    block = ir.Block((*prologue, *body.statements), body.terminator)
    read = set(free_vars(block))
    inputs = tuple([item for item in with_lifted_marked(lo) if item.var in read or not _is_left_out(lo, item)])
    function = ir.Function(name, (*params, *(item.var for item in inputs)), block)
    return Entry(
        function,
        inputs,
        (*lo.run_data.guards, *code_guards(_functions_read(lo)), *class_guards(lo.run_data.asked_classes)),
        tuple(lo.run_data.argument_guards),
        warnings=tuple(lo.run_data.warnings),
        definitions=lo.run_data.called_values,
        unseen=causes(lo),
        library=lo.settings.target.library,
    )


def _functions_read(lo: Lowerer) -> list[FunctionType]:
    """The functions that were followed, besides the one that is differentiated: that is known by its code."""
    root = getattr(lo.run_data.root, "__func__", lo.run_data.root)
    return [each for each in lo.run_data.closures if isinstance(each, FunctionType) and each is not root]


def _is_left_out(lo: Lowerer, item: Captured) -> bool:
    """Whether it is what a parameter is where nobody gives it, and all calls give it."""
    match item.path:
        case ("own_default", place):
            function = lo.run_data.root
        case ("default", FunctionType() as function, place):
            pass
        case _:
            return False
    return lo.run_data.defaults_taken.isdisjoint({(function, place), (function, None)})
