"""The function that a differential operator differentiates, lowered with fresh parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.analysis.small_integers import without_checks_of_small
from adjoint.analysis.unclear_kinds import asks_for_kinds
from adjoint.diagnostics import DifferentiationError
from adjoint.differentiation.definitions import called_by
from adjoint.frontend.calls.emitted_calls import refuse_linked
from adjoint.frontend.calls.opaque.library_classes import look_into_what_joins
from adjoint.frontend.data.constants import refuse_written_constants
from adjoint.frontend.data.written_views import refuse_written_views, with_copies_of_new_numbers
from adjoint.frontend.differentiation.changed_parts import (
    DIFFERENTIATED,
    HandedOut,
    handed_out,
    note_changes,
    without_puts,
)
from adjoint.frontend.differentiation.differentiated_paths import Active, activate_part, bind_to_copies
from adjoint.frontend.differentiation.refusals.hidden_ways import refuse_hidden_ways
from adjoint.frontend.differentiation.refusals.memos import refuse_memos
from adjoint.frontend.differentiation.refusals.results import unknown_result, without_constants
from adjoint.frontend.differentiation.refusals.two_names import refuse_written_under_two_names
from adjoint.frontend.differentiation.wrt import parameter_names, refusal, source_of
from adjoint.frontend.entry.operator_marks import MARK
from adjoint.frontend.functions.handled_calls import with_exceptions_kept
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.placeholders import with_values_handed_over
from adjoint.frontend.interpreter.state.blocks import Exiting
from adjoint.frontend.interpreter.state.signals import Restart, TakenInside
from adjoint.frontend.interpreter.values import (
    Closure,
    GeneratorContext,
    GeneratorObject,
    Method,
    Operator,
    Partial,
    TupleValue,
    Value,
)
from adjoint.frontend.objects.special_method_effects import refuse_acting_looks
from adjoint.ir.rebuild import substitute
from adjoint.ir.walk import free_vars, operands, statements_in, targets_of, terminators_in
from adjoint.records import dataclass
from adjoint.sources.scope import own_yields

_INACTIVE = (bool, int, str, bytes, type(None), type, np.dtype)


@dataclass(eq=False, slots=True)
class Inner:
    """A function to differentiate: its results are the leaves of ``shape``, and of what is handed out beside."""

    function: ir.Function
    atoms: tuple[ir.Atom, ...]
    """The arguments of the function: the active ones first."""
    count: int
    """How many are active."""
    shape: joins.Shape
    results: tuple[ir.Type, ...]
    handed_out: tuple[HandedOut, ...] = ()
    """What it changes outside of itself."""


def lower_inner(
    lo: Lowerer,
    function: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    places: Sequence[int | str],
    node: ast.AST | None,
    ways: Sequence[tuple[Any, ...]] | None = None,
    returned: Callable[[Value], Value] | None = None,
    what: str = DIFFERENTIATED,
    call: Callable[[list[Value]], Value] | None = None,
    *,
    hands_out: bool = False,
) -> Inner:
    """Lowers a function with the arguments at ``places``, or the parts of them at ``ways``, as fresh parameters.

    ``returned`` is applied to what it returns; ``what`` names the function in messages; ``call`` calls it, if that is
    more than to hand over the arguments. Where it ``hands_out`` what it changes, the caller takes it over.
    """
    outer_block, outer_store = lo.open, lo.store
    root = lo.fork(outer_store)
    active = Active([], [])
    new_args, new_kwargs = _activated(lo, function, args, kwargs, places, ways, active, node)
    before = dict(lo.store)
    with lo.beginning(node) as lists, lo.region("function") as region:
        value = lo.call(function, new_args, new_kwargs, node) if call is None else call(new_args)
        if returned is not None and lo.block is not None:
            value = returned(value)
        if lo.block is not None:
            value = without_constants(lo, function, name_of(function), value, node)
        lo.leave("return", value)
    if not region.exits:
        block = root.seal()
        raise _never_returns(lo, function, block, node)
    refuse_generators(lo, function, [leaf.value for leaf in region.exits], node)
    shape = lo.join_shapes([as_result(joins.shape_of(leaf.value, leaf.store)) for leaf in region.exits])
    refuse_linked(lo, [ir.Var(hint, type_) for type_, hint in joins.leaf_types(shape, "result")], node)
    refuse_written_under_two_names(lo, function, region, active, before, (*new_args, *new_kwargs.values()), node)
    beside: tuple[HandedOut, ...] = ()
    if lo.regions:
        note_changes(lo, region, active, before, node, what)
        beside = handed_out(lo, region, active) if hands_out and lo.frame is not None else ()

    def leave(leaf: Exiting) -> tuple[ir.Atom, ...]:
        place = region.exits.index(leaf)
        further = [atom for part in beside for atom in part.atoms(place, leaf, lo)]
        return (*joins.flatten(leaf.value, shape, leaf.store, leaf.block, lo.types), *further)

    block = without_puts(lo.finish(region, root, leave), beside)
    block = ir.Block((*lists, *block.statements), block.terminator)
    lo.block, lo.store = outer_block, outer_store
    if lo.run_data.flow:
        from adjoint.frontend.flow.derivatives import with_flow_settled  # lazy

        block = with_flow_settled(lo, block)
    if lo.run_data.has_grown and not lo.run_data.again:
        raise Restart  # it would be derived in vain; where lowering goes on, the rest of the program tells more
    if lo.run_data.definitions:
        from adjoint.frontend.functions.storage_unification import settle_memory  # lazy

        settle_memory(lo)
    own = set(active.params)
    free = tuple(var for var in free_vars(block) if var not in own)
    inner_free = {var: ir.Var(var.hint, var.type, var.named) for var in free}
    if free:
        block = substitute(block, inner_free)
    block = with_copies_of_new_numbers(block)
    params = (*active.params, *inner_free.values())
    block, lowered = _finished(lo, ir.Function(name_of(function), params, block), shape, active)
    refuse_written_constants(block)
    refuse_written_views(block)
    _check_results(lo, function, lowered, region.exits, shape, active.params, node)
    refuse_memos(lowered, active.params)
    refuse_acting_looks(lowered)
    if lo.frame is not None and lo.settings.kept and lo.settings.target.recomputes:
        _refuse_calls_if_singular(lowered)
    types = tuple(
        type_ for each in (shape, *(part.shape for part in beside)) for type_, _ in joins.leaf_types(each, "")
    )
    return Inner(lowered, (*active.atoms, *free), len(active.params), shape, types, beside)


def _activated(
    lo: Lowerer,
    function: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    places: Sequence[int | str],
    ways: Sequence[tuple[Any, ...]] | None,
    active: Active,
    node: ast.AST | None,
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, fresh parameters in place of what is differentiated."""
    names = parameter_names(lo, function, node)
    new_args, new_kwargs = list(args), dict(kwargs)
    for place, way in zip(places, ways or [()] * len(places), strict=True):
        active.copies.clear()  # arguments are varied one by one, also where one object is passed twice
        refuse_hidden_ways(lo, function, place, node)
        if isinstance(place, str):
            given = activate_part(lo, new_kwargs[place], way, active, place)
            new_kwargs[place] = bind_to_copies(lo, active, given)
        else:
            hint = names[place] if place < len(names) else "x"
            given = activate_part(lo, new_args[place], way, active, hint)
            new_args[place] = bind_to_copies(lo, active, given)
    return new_args, new_kwargs


def _finished(lo: Lowerer, lowered: ir.Function, shape: joins.Shape, active: Active) -> tuple[ir.Block, ir.Function]:
    """A function that was lowered, as transforms take it; and its body without what is checked on its way."""
    name, params, block = lowered.name, lowered.params, lowered.body
    checkpointed = bool(lo.run_data.checkpointed)
    if checkpointed:  # a state has a value for each variable
        block = _with_unbound_told(ir.Function(name, (), block), shape).body
    if checkpointed or lo.run_data.has_marks:
        from adjoint.frontend.surgery.checkpointed_loops import outlined  # lazy

        block = outlined(lo, block, name)
    block = with_values_handed_over(block)
    if lo.run_data.surgery:
        from adjoint.frontend.surgery.sole_names import with_memory_settled  # lazy

        block = with_memory_settled(block)
    if lo.run_data.definitions:
        block = with_exceptions_kept(ir.Function(name, params, block)).body
    lowered = ir.Function(name, params, block)
    if not checkpointed:
        lowered = _with_unbound_told(lowered, shape)
    if lo.run_data.promotes_items:
        lowered = without_checks_of_small(lowered)
    if lo.types.kinds_have_met and not lo.settings.kinds_told_apart:
        lo.run_data.asks_for_kinds |= lo.run_data.promotes_items and asks_for_kinds(lowered)
    arrays = (
        var for statement in statements_in(block) for var in targets_of(statement) if isinstance(var.type, ir.Array)
    )
    if any(True for _ in arrays):
        from adjoint.frontend.interpreter.promoted_stores import with_kinds_checked  # lazy

        lowered = with_kinds_checked(lowered, lo.run_data, lo.settings)
    if _has_unknown_operands(block):
        from adjoint.frontend.external.foreign_operands import with_operands_checked  # lazy

        lowered = with_operands_checked(lowered, active.params)
    return block, lowered


def _with_unbound_told(function: ir.Function, shape: joins.Shape) -> ir.Function:
    from adjoint.frontend.control.unbound import with_unbound_told  # lazy

    return with_unbound_told(function, returns_one_structure=not joins.has_options(shape))


def _refuse_calls_if_singular(function: ir.Function) -> None:
    """Has functions tell what a selection left out, where a program takes a derivative of what calls them."""
    from adjoint.differentiation.zeros.speculation import has_singular_slopes  # lazy

    if called_by(function) and has_singular_slopes(function):
        raise TakenInside


def _has_unknown_operands(block: ir.Block) -> bool:
    for statement in statements_in(block):
        for atom in operands(statement):
            if type(atom) is ir.Var and type(atom.type) is ir.Opaque:
                return True
    return False


def _never_returns(lo: Lowerer, function: Value, block: ir.Block, node: ast.AST | None) -> Exception:
    """What to raise where nothing comes back: why the paths end as they do, as far as that is known."""
    raises = [end for end in terminators_in(block) if isinstance(end, ir.Raise)]
    raised = [end.span for end in raises]
    made = {call.targets[0]: call for call in statements_in(block) if isinstance(call, ir.Call) and call.targets}
    if lo.run_data.reasons and len(raised) == len({reason.span for reason in lo.run_data.reasons}):
        return DifferentiationError(lo.run_data.reasons)
    others = [(end.span, _told(made.get(end.exception))) for end in raises if end.span is not None]  # type: ignore[arg-type]
    label = "this never returns: every path raises an exception, or has no end"
    helps = ("return a value on some path",)
    return refusal(lo, "AD0407", function, node, label, helps=helps, others=others)


def _told(made: ir.Call | None) -> str:
    """What to say of the end of a path, by the call that makes the exception."""
    cls = None if made is None else made.callee
    return f"this path ends here, by {cls.__name__}" if isinstance(cls, type) else "this path ends here"


def refuse_generators(lo: Lowerer, function: Value, results: Sequence[Value], node: ast.AST | None) -> None:
    """Refuses a function whose body nobody has gone through when it returns."""
    for result in results:
        parts = result.items if isinstance(result, TupleValue) else (result,)
        if any(isinstance(part, (GeneratorObject, GeneratorContext)) for part in parts):
            source = source_of(function)
            yields = source is not None and bool(own_yields(source.node))
            label = "it is a generator" if yields else "this returns a generator"
            raise refusal(lo, "AD0104", function, node, label, name=name_of(function))


def _check_results(
    lo: Lowerer,
    function: Value,
    lowered: ir.Function,
    exits: Sequence[Any],
    shape: joins.Shape,
    params: Sequence[ir.Var],
    node: ast.AST | None,
) -> None:
    """Refuses results that vary but of which it is not known what they are: their derivative would be lost."""
    unknown = [
        place
        for place, (type_, _) in enumerate(joins.leaf_types(shape, ""))
        if isinstance(type_, ir.Opaque) and not (type_.cls is not None and issubclass(type_.cls, _INACTIVE))
    ]
    if not unknown:
        return
    varied = varying(lowered.body, params)
    for leaf in exits:
        atoms = list(joins.flatten(leaf.value, shape, leaf.store, leaf.block, lo.types))
        if any(atoms[place] in varied for place in unknown):
            from adjoint.differentiation.reachability import Dependence  # lazy

            problems = Dependence(lowered, range(len(params)), unknown).problems
            if problems:
                raise DifferentiationError(problems)
            look_into_what_joins(lo, lowered.body)
            raise unknown_result(lo, function, lowered, shape, unknown, varied, node)


def as_result(shape: joins.Shape) -> joins.Shape:
    """Constants among the results are results all the same."""
    match shape:
        case joins.Same(value=ir.Const(value=bool() | int() | float() | complex() as constant)):
            number = isinstance(constant, (int, float)) and not isinstance(constant, bool)
            return joins.Leaf(ir.FLOAT if number else joins.type_of(ir.Const(constant)))
        case joins.TupleShape(cls=cls, items=items):
            return joins.TupleShape(cls, tuple(map(as_result, items)))
        case joins.RecordShape(cls=cls, keys=keys, items=items):
            return joins.RecordShape(cls, keys, tuple(map(as_result, items)))
        case joins.RefShape(record=record, sites=sites):
            new = as_result(record)
            assert isinstance(new, joins.RecordShape)
            return joins.RefShape(None, new, sites)
        case joins.UnionShape(options=options):
            return joins.UnionShape(
                tuple([each if isinstance(each, joins.Same) else as_result(each) for each in options])
            )
        case _:
            return shape


def name_of(function: Value) -> str:
    match function:
        case Closure():
            return function.source.name if function.source.name.isidentifier() else "function"
        case Method() | Partial() | Operator():
            return name_of(function.function)
        case ir.Const(value=ir.Function(name=name)):
            return name
        case ir.Const(value=constant):
            mark = getattr(constant, MARK, None)
            if isinstance(mark, tuple):
                return f"{name_of(ir.Const(mark[1]))}_{mark[0]}"
            name = getattr(constant, "__name__", type(constant).__name__)
            return name if name.isidentifier() else "function"
        case _:
            return "function"


def targets_of_call(inner: Inner, hint: str) -> tuple[list[ir.Var], list[ir.Var]]:
    shapes = (inner.shape, hint), *[(part.shape, str(part.name)) for part in inner.handed_out]
    targets = [ir.Var(name, type_) for shape, hint in shapes for type_, name in joins.leaf_types(shape, hint)]
    cotangents = [ir.Var(f"{param.hint}_bar", param.type, True) for param in inner.function.params[: inner.count]]
    return targets, cotangents


def copy_as(lo: Lowerer, atom: ir.Atom, param: ir.Var) -> ir.Var:
    """A copy that a function which writes its parameter may be given."""
    own = ir.Var(param.hint, param.type, param.named)
    lo.emit(ir.Call((own,), np.copy, (atom,)))
    return own
