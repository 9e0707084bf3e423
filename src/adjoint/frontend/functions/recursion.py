"""Functions that call themselves: lowered once for each structure of arguments, and called."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from adjoint import ir
from adjoint.diagnostics import diagnostic
from adjoint.frontend.control.unbound import with_unbound_told
from adjoint.frontend.control.widening import make_alike, size_of
from adjoint.frontend.data.outside.captures import Surroundings, objects_in, parts_of, surroundings
from adjoint.frontend.data.outside.circular import circular
from adjoint.frontend.data.outside.lookups import Lookups
from adjoint.frontend.data.written_views import refuse_written_views, with_copies_of_new_numbers
from adjoint.frontend.flow.derivatives import with_flow_settled
from adjoint.frontend.functions.called import Called, note_call, serving
from adjoint.frontend.functions.called_forms import common_form, key_of
from adjoint.frontend.functions.captured_numbers import gives_none, numbers_given
from adjoint.frontend.functions.inlining import run_closure
from adjoint.frontend.functions.parameters import bind
from adjoint.frontend.functions.returned_arrays import (
    handed_out_as_value,
    is_copied,
    own_copy,
    storages_of,
    value_of_its_own,
    with_arguments,
    with_values_returned,
    without_arguments_returned,
)
from adjoint.frontend.functions.storage_unification import unify_storage
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.forms import anonymous, fresh, known_structure, loose, loosened, received
from adjoint.frontend.interpreter.placeholders import handed_over, with_values_handed_over
from adjoint.frontend.interpreter.state.signals import Problem, Restart, Unreached
from adjoint.frontend.interpreter.values import Cell, Closure, IteratorValue, Record, Ref, TupleValue, Value
from adjoint.frontend.surgery.checkpointed_loops import outlined
from adjoint.ir.rebuild import map_blocks, substitute
from adjoint.ir.walk import free_vars, statements_in

TREES = (
    "of a structure that holds itself, such as a tree, keep the nodes in lists, and let them name each other by index"
)
MAX_PASSES = 8


def call_definition(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of a function that stays one."""
    bound = bind(lo, closure, args, kwargs, node)
    if closure.source.node not in lo.settings.kept:
        return _called(lo, closure, bound, {}, node)
    with numbers_given(lo, closure, bound) as numbers:
        return _called(lo, closure, bound, numbers, node)


def _called(
    lo: Lowerer,
    closure: Closure,
    bound: Mapping[str, Value],
    numbers: Mapping[ir.Atom, ir.Const],
    node: ast.AST | None,
) -> Value:
    """The same; ``numbers`` are known ones for which the function has variables."""
    code = closure.source.node
    as_structure = loosened if code in lo.settings.widened else known_structure if code in lo.settings.kept else loose
    endless = circular(lo, bound.values())
    known = tuple(ref for ref in endless if ref.origin is not None)
    found = {name: as_structure(joins.shape_of(value, lo.store, known)) for name, value in bound.items()}
    if code in lo.settings.kept:
        found = common_form(lo, code, found)
    kind = (code, key_of(found) if code in lo.settings.kept else _key(found), lo.run_data.scope)
    key = (code, _key(found), lo.run_data.scope, tuple(closure.cells.values()))
    args_outside = tuple(bound.values())
    outside = surroundings(lo, closure, args_outside)
    called = lo.run_data.definitions.get((key, None))
    if called is not None:
        called.is_recursive = True
    else:
        called, outside = serving(lo, kind, closure, args_outside) or (None, outside)
    if called is None:
        before = [each.size for each in lo.run_data.definitions.values() if each.lowering and each.code is code]
        circle = tuple(ref.site for ref in endless if ref.origin is None)
        make_alike(lo, closure.source.name, tuple(found.values()), before, code, node, circle)
        called = Called(
            ir.Definition(closure.source.name), kind, closure, args_outside, outside, code, size_of(found.values())
        )
        lo.run_data.definitions[key, None] = called
        try:
            with _inlined_if_refused(lo, code):
                _lower(lo, called, closure, found, node)
            lo.run_data.definitions[key, called] = called
        finally:
            del lo.run_data.definitions[key, None]
        outside = called.outside
    note_call(lo, called)
    extras = _extras_of_call(called, outside)
    if called.result is None:
        raise Unreached
    atoms: list[ir.Atom] = []
    for name, shape in found.items():
        atoms.extend(handed_over(bound[name], fresh(shape), lo.store, lo.open, lo.types))
    given = tuple(numbers.get(atom, atom) for atom in (*atoms, *extras))
    targets = tuple(ir.Var(hint, type_) for type_, hint in joins.leaf_types(called.result, "t"))
    targets = tuple(value_of_its_own(lo, called, place, target) for place, target in enumerate(targets))
    call = ir.Call(targets, called.definition, given, (), lo.span(node))
    lo.emit(call)
    called.calls.append(call)
    if not called.lowering:
        unify_storage(lo, called, (call,))
    result = joins.build(called.result, iter(targets), lo.store)
    returned = objects_in(lo, result)
    if returned:
        others = {key: held for key, held in lo.store.items() if key not in returned}
        lo.run_data.received.update(dict.fromkeys(returned, others))
    return with_arguments(own_copy(lo, result) if is_copied(lo, code) else result, given)


@contextmanager
def _inlined_if_refused(lo: Lowerer, code: ast.AST) -> Iterator[None]:
    """Has a function that inlining repeats too often inlined all the same, where it cannot be called.

    First it is tried without the numbers that it was given.
    """
    try:
        yield
    except (Problem, joins.NeedsRuntime, joins.TooManyOptions):
        if code not in lo.settings.kept:
            raise
        if gives_none(lo, code):
            raise Restart(code) from None
        del lo.settings.kept[code]
        lo.settings.called.discard(code)
        lo.settings.inlined.add(code)
        raise Restart(code) from None


def _extras_of_call(called: Called, outside: Surroundings) -> list[ir.Var]:
    """What a call hands over of what is outside of the function, as it is where the function is called."""
    if outside.form != called.outside.form:  # within the function itself, which refuses to lose what it changes
        called.moved.update(called.outside.vars)
        return list(called.extras)
    moved = called.outside.moved(outside)
    if called.lowering:
        called.moved.update(moved)
    return [moved.get(var, var) for var in called.extras]


def _key(found: dict[str, joins.Shape]) -> Any:
    """Arguments as part of a key: shapes are compared by equality, objects by their structure."""
    return tuple((name, anonymous(shape)) for name, shape in found.items())


def _without_end(lo: Lowerer, closure: Closure, node: ast.AST | None) -> Problem:
    """What to raise for a function that calls itself on every path."""
    name, source = closure.source.name, closure.source
    label = f"{name!r} calls itself without end"
    helps = (f"give {name!r} a path that returns before it calls itself: if x <= 0.0: return 1.0",)
    calls = (each for each in ast.walk(source.node) if isinstance(each, ast.Call))
    again = next((each for each in calls if isinstance(each.func, ast.Name) and each.func.id == name), None)
    if again is None:
        return lo.problem("AD0407", node, label, helps=helps)
    return Problem(diagnostic("AD0407", source.span(again), label, helps=helps))


def _lower(lo: Lowerer, called: Called, closure: Closure, found: dict[str, joins.Shape], node: ast.AST | None) -> None:
    """Lowers the body until what it returns is settled."""
    others = set(lo.run_data.definitions)
    for _ in range(MAX_PASSES):
        for key in [key for key in lo.run_data.definitions if key not in others]:
            del lo.run_data.definitions[key]  # functions that it calls and that call it: they go by what it returns
        lookups = Lookups()
        lo.run_data.lookups.append(lookups)
        try:
            params, block, result = _run(lo, closure, found, node)
        finally:
            lo.run_data.lookups.pop()
        if result is None:
            raise _without_end(lo, closure, node)
        settled = result if called.result is None else lo.join_shapes([called.result, result])
        is_settled = not called.is_recursive or settled == called.result
        called.result = settled
        if is_settled:
            break
    else:
        label = f"what {closure.source.name!r} returns has another structure the more often it calls itself"
        raise lo.problem("AD0402", node, label, helps=(TREES,))
    own = set(params)
    extras = tuple(var for var in free_vars(block) if var not in own)
    if not called.moved.isdisjoint(extras):
        raise lo.problem(
            "AD0303", node, f"what {closure.source.name!r} finds outside of itself changes where it calls itself"
        )
    called.extras = extras
    called.see(lo)
    called.looked_up = lookups.outside(called.outside)
    called.unfinished = tuple(each for each in lookups.unfinished if each is not called)
    called.see(lo)
    inner = {var: _as_captured(lo, closure, var) for var in extras}
    members = list(_calling_back(lo, called)) if called.is_recursive else []
    for member in members:
        member.looked_up = (*member.looked_up, *called.looked_up)
        member.see(lo)
    if extras:
        further: Further = {called.definition: extras}
        further |= {each.definition: tuple(var for var in extras if var not in each.extras) for each in members}
        for member in members:
            _take_further(member, further)
        block = substitute(_pass_on(block, further, {}), inner)
    name = closure.source.name if closure.source.name != "<lambda>" else "function"
    called.definition.function = ir.Function(name, (*params, *inner.values()), block)
    called.lowering = False
    if not called.is_recursive:
        called.definition.function = without_arguments_returned(lo, called)
        called.definition.function = with_values_returned(lo, called)
    unify_storage(lo, called, called.calls)


def _as_captured(lo: Lowerer, closure: Closure, var: ir.Var) -> ir.Var:
    """A parameter for what a function finds outside, under the name that it has for it."""
    name = next((name for name, cell in closure.cells.items() if lo.store.get(cell) is var), None)
    return ir.Var(var.hint, var.type, var.named) if name is None else ir.Var(name, var.type, named=True)


Further = dict[ir.Definition, tuple[ir.Var, ...]]
"""Variables from outside that calls of functions must hand over in addition to what they do."""


def _calling_back(lo: Lowerer, called: Called) -> Iterable[Called]:
    """The functions that were lowered on the way, and that call this one."""
    found = {called.definition: called}
    candidates = [each for each in lo.run_data.definitions.values() if not each.lowering]
    while True:
        more = [
            each
            for each in candidates
            if each.definition not in found
            and any(
                isinstance(s, ir.Call) and isinstance(s.callee, ir.Definition) and s.callee in found
                for s in statements_in(each.definition.function.body)
            )
        ]
        if not more:
            return [each for each in found.values() if each is not called]
        found.update((each.definition, each) for each in more)


def _take_further(member: Called, further: Further) -> None:
    """Gives a function the variables that it must hand on as parameters of its own."""
    function, new = member.definition.function, further[member.definition]
    assert function is not None
    own = function.params[len(function.params) - len(member.extras) :]
    params = tuple(ir.Var(var.hint, var.type, var.named) for var in new)
    inside: dict[ir.Var, ir.Atom] = dict(zip((*member.extras, *new), (*own, *params), strict=True))
    body = _pass_on(function.body, further, inside)
    member.definition.function = ir.Function(function.name, (*function.params, *params), body, function.doc)
    member.extras = (*member.extras, *new)


def _pass_on(block: ir.Block, further: Further, inside: dict[ir.Var, ir.Atom]) -> ir.Block:
    """Hands variables from outside on in every call; ``inside`` tells what they are called here."""

    def call(statement: ir.Statement) -> ir.Statement:
        if not isinstance(statement, ir.Call) or not isinstance(statement.callee, ir.Definition):
            return map_blocks(statement, lambda inner: _pass_on(inner, further, inside))
        more = tuple(inside.get(var, var) for var in further.get(statement.callee, ()))
        return ir.Call(statement.targets, statement.callee, (*statement.args, *more), statement.kwargs, statement.span)

    statements = tuple(map(call, block.statements))
    match block.terminator:
        case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
            sides = _pass_on(then, further, inside), _pass_on(orelse, further, inside)
            return ir.Block(statements, ir.Branch(cond, *sides, span))
        case terminator:
            return ir.Block(statements, terminator)


def _run(
    lo: Lowerer, closure: Closure, found: dict[str, joins.Shape], node: ast.AST | None
) -> tuple[tuple[ir.Var, ...], ir.Block, joins.Shape | None]:
    outer_block, outer_store, outer_depth = lo.block, lo.store, lo.depth
    lo.depth = 0  # what is called is not inlined: within it, inlining starts anew
    root = lo.fork(outer_store)
    params: list[ir.Var] = []
    arguments: dict[str, Value] = {}
    for name, shape in found.items():
        own = received(shape)
        atoms = [ir.Var(hint, type_, True) for type_, hint in joins.leaf_types(own, name)]
        params.extend(atoms)
        arguments[name] = joins.build(own, iter(atoms), lo.store)
    lo.run_data.received.update(dict.fromkeys(objects_in(lo, *arguments.values()), outer_store))
    spec = closure.source.node.args
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    args.extend(arguments[parameter.arg] for parameter in [*spec.posonlyargs, *spec.args])
    if spec.vararg is not None:
        rest = arguments[spec.vararg.arg]
        args += rest.items if isinstance(rest, TupleValue) else [IteratorValue("rest", (rest,))]
    for parameter in spec.kwonlyargs:
        kwargs[parameter.arg] = arguments[parameter.arg]
    if spec.kwarg is not None:
        named = lo.store.get(arguments[spec.kwarg.arg])
        if not isinstance(named, Record):
            raise lo.problem("AD0301", node, "a recursive function whose '**' parameters differ from call to call")
        kwargs.update(named.parts)
    outside = storages_of(params) | storages_of(outer_store.values())
    shared = closure.source.node in lo.settings.shared_results
    returned = None if shared else lambda value: handed_out_as_value(lo, value, outside, closure.source.node, object())
    with lo.region("function") as region:
        try:
            lo.leave("return", run_closure(lo, closure, args, kwargs, node, returned, stays_function=True))
        except Unreached:
            if lo.block is not None:
                lo.stop(ir.Raise(ir.Const(RecursionError)))
    for leaf in region.exits:
        _refuse_lost_changes(lo, outer_store, leaf.store, closure, node)
    result: joins.Shape | None = None
    if region.exits:
        found_shapes = [joins.shape_of(leaf.value, leaf.store) for leaf in region.exits]
        result = fresh(loose(lo.join_shapes(found_shapes)))
        if _holds_what_ends(lo, result, outer_store):
            label = f"{closure.source.name!r} returns a function or an iterator over what it has computed"
            raise lo.problem("AD0402", node, label, helps=("return a list, or the numbers",))
        final = result
        whole = lo.finish(region, root, lambda leaf: handed_over(leaf.value, final, leaf.store, leaf.block, lo.types))
        if lo.run_data.flow:
            whole = with_flow_settled(lo, whole)
        whole = with_copies_of_new_numbers(whole)
        refuse_written_views(whole)
        inner = ir.Function(closure.source.name, tuple(params), whole)
        whole = with_unbound_told(inner, returns_one_structure=not joins.has_options(final)).body
        if lo.run_data.checkpointed or lo.run_data.has_marks:
            whole = outlined(lo, whole, closure.source.name)
        block = with_values_handed_over(whole, is_called=True)
    else:
        block = root.seal()
    lo.block, lo.store, lo.depth = outer_block, outer_store, outer_depth
    return tuple(params), block, result


def _holds_what_ends(lo: Lowerer, shape: joins.Shape, outside: dict[Any, Value]) -> bool:
    """Whether something in a result refers to variables and objects of the call, which is over."""

    def ends(value: Value) -> bool:
        if isinstance(value, Closure):
            defaults = (*value.defaults, *value.kw_defaults.values())
            inside = [cell for cell in (*value.cells.values(), *defaults) if cell not in outside]
            return any(isinstance(each, Cell) or ends(each) for each in inside)
        if isinstance(value, (ir.Var, Ref)):
            return True
        return any(map(ends, parts_of(lo, value)))

    match shape:
        case joins.Same(value=value):
            return ends(value)
        case joins.RefShape(record=record):
            return _holds_what_ends(lo, record, outside)
        case joins.TupleShape(items=items) | joins.RecordShape(items=items) | joins.ComposedShape(items=items):
            return any(_holds_what_ends(lo, item, outside) for item in items)
        case joins.UnionShape(options=options):
            return any(_holds_what_ends(lo, item, outside) for item in options)
        case _:
            return False


def _refuse_lost_changes(
    lo: Lowerer, before: dict[Any, Value], after: dict[Any, Value], closure: Closure, node: ast.AST | None
) -> None:
    """What a recursive function changes outside of itself must exist at run time: its body is lowered only once."""
    changed = [key for key, value in before.items() if key in after and after[key] is not value]
    objects = tuple(key.site for key in changed if isinstance(key, Ref))
    if objects:
        raise joins.NeedsRuntime(tuple(joins.original_sites(objects)))
    if changed:
        label = f"{closure.source.name!r} calls itself and assigns a variable from outside"
        raise lo.problem("AD0303", node, label, helps=("keep the value in a list of one item, or return it",))
