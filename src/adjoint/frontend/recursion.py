"""Functions that call themselves: lowered once for each structure of arguments, and called."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Any

from adjoint.frontend import shapes
from adjoint.frontend.core import Lowerer, Unreached
from adjoint.frontend.loops import _loose as loose
from adjoint.frontend.values import Closure, Record, Ref, TupleValue, Value
from adjoint.ir.nodes import Atom, Block, Branch, Call, Const, Definition, Function, Raise, Statement, Var
from adjoint.ir.walk import free_vars, map_blocks, substitute
from adjoint.records import dataclass

MAX_STRUCTURAL_DEPTH = 60
MAX_PASSES = 8


@dataclass(eq=False, slots=True)
class Called:
    """A recursive function for one structure of arguments."""

    definition: Definition
    result: shapes.Shape | None = None
    extras: tuple[Var, ...] = ()
    """Variables from outside that the body uses: further arguments of every call."""
    calls: list[Call] = field(default_factory=list)
    lowering: bool = True


def activation(lo: Lowerer, closure: Closure) -> tuple[Value, ...] | None:
    """The arguments of the innermost running activation of this function."""
    for node, args in reversed(lo.run_data.activations):
        if node is closure.source.node:
            return args
    return None


def is_structural(lo: Lowerer, before: tuple[Value, ...], now: list[Value]) -> bool:
    """Whether a recursion goes down a structure that is known, so that inlining it ends."""
    if len(lo.run_data.activations) > MAX_STRUCTURAL_DEPTH:
        return False
    for old, new in zip(before, now, strict=False):
        if old is new:
            continue
        if isinstance(old, Closure) or isinstance(new, Closure):
            return True
        if _size(lo, new) < _size(lo, old):
            return True
        if isinstance(old, Const) and isinstance(new, Const) and old != new and isinstance(new.value, int):
            return True
    return False


def _size(lo: Lowerer, value: Value) -> int:
    if isinstance(value, TupleValue):
        return 1 + sum(_size(lo, item) for item in value.items)
    if isinstance(value, Ref):
        record = lo.store[value]
        assert isinstance(record, Record)
        return 1 + sum(_size(lo, item) for item in record.items)
    return 1


def call_definition(
    lo: Lowerer, closure: Closure, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of a recursive function."""
    from adjoint.frontend.calls import bind

    bound = bind(lo, closure, args, kwargs, node)
    found = {name: loose(shapes.shape_of(value, lo.store)) for name, value in bound.items()}
    key = (closure.source.node, tuple(closure.cells.values()), _key(found, lo.run_data.definitions))
    called = lo.run_data.definitions.get(key)
    if called is None:
        called = Called(Definition(closure.source.name))
        lo.run_data.definitions[key] = called
        try:
            _lower(lo, called, closure, found, node)
        except BaseException:
            del lo.run_data.definitions[key]
            raise
    if called.result is None:
        raise Unreached
    atoms: list[Atom] = []
    for name, value in bound.items():
        atoms.extend(shapes.flatten(value, found[name], lo.store))
    targets = tuple(Var(hint, type_) for type_, hint in shapes.leaf_types(called.result, "t"))
    call = Call(targets, called.definition, (*atoms, *called.extras), (), lo.span(node))
    lo.emit(call)
    return shapes.build(called.result, iter(targets), lo.store)


def _key(found: dict[str, shapes.Shape], known: dict[Any, Called]) -> Any:
    """Arguments as part of a key: shapes are compared by equality, objects by their structure."""
    return tuple((name, _anonymous(shape)) for name, shape in found.items())


def _anonymous(shape: shapes.Shape) -> shapes.Shape:
    match shape:
        case shapes.RefShape(record=record):
            anonymous = _anonymous(record)
            assert isinstance(anonymous, shapes.RecordShape)
            return shapes.RefShape(None, anonymous, ())
        case shapes.RecordShape(cls=cls, keys=keys, items=items):
            return shapes.RecordShape(cls, keys, tuple(map(_anonymous, items)))
        case shapes.TupleShape(cls=cls, items=items):
            return shapes.TupleShape(cls, tuple(map(_anonymous, items)))
        case _:
            return shape


def _lower(lo: Lowerer, called: Called, closure: Closure, found: dict[str, shapes.Shape], node: ast.AST | None) -> None:
    """Lowers the body until what it returns is settled."""
    for _ in range(MAX_PASSES):
        params, block, result = _run(lo, closure, found, node)
        if result is None:
            raise lo.problem("AD0407", node, f"{closure.source.name!r} calls itself without end")
        settled = result if called.result is None else lo.join_shapes([called.result, result])
        if settled == called.result:
            break
        called.result = settled
    else:
        raise lo.problem("AD0402", node, f"what {closure.source.name!r} returns does not settle")
    own = set(params)
    extras = tuple(var for var in free_vars(block) if var not in own)
    called.extras = extras
    inner = {var: Var(var.hint, var.type, var.named) for var in extras}
    if extras:
        block = _pass_extras(block, called)
        block = substitute(block, inner)
    name = closure.source.name if closure.source.name != "<lambda>" else "function"
    called.definition.function = Function(name, (*params, *inner.values()), block)
    called.lowering = False


def _pass_extras(block: Block, called: Called) -> Block:
    """Hands the variables from outside on to every call of the function inside itself."""
    statements = tuple(
        map_blocks(_with_extras(statement, called), lambda inner: _pass_extras(inner, called))
        for statement in block.statements
    )
    match block.terminator:
        case Branch(cond=cond, then=then, orelse=orelse, span=span):
            sides = _pass_extras(then, called), _pass_extras(orelse, called)
            return Block(statements, Branch(cond, *sides, span))
        case terminator:
            return Block(statements, terminator)


def _with_extras(statement: Statement, called: Called) -> Statement:
    if isinstance(statement, Call) and statement.callee is called.definition:
        args = (*statement.args, *called.extras)
        return Call(statement.targets, statement.callee, args, statement.kwargs, statement.span)
    return statement


def _run(
    lo: Lowerer, closure: Closure, found: dict[str, shapes.Shape], node: ast.AST | None
) -> tuple[tuple[Var, ...], Block, shapes.Shape | None]:
    from adjoint.frontend.calls import run_closure

    outer_block, outer_store = lo.block, lo.store
    root = lo.fork(outer_store)
    params: list[Var] = []
    arguments: dict[str, Value] = {}
    for name, shape in found.items():
        fresh = _fresh(shape)
        atoms = [Var(hint, type_, True) for type_, hint in shapes.leaf_types(fresh, name)]
        params.extend(atoms)
        arguments[name] = shapes.build(fresh, iter(atoms), lo.store)
    spec = closure.source.node.args
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    args.extend(arguments[parameter.arg] for parameter in [*spec.posonlyargs, *spec.args])
    if spec.vararg is not None:
        rest = arguments[spec.vararg.arg]
        assert isinstance(rest, TupleValue)
        args.extend(rest.items)
    for parameter in spec.kwonlyargs:
        kwargs[parameter.arg] = arguments[parameter.arg]
    if spec.kwarg is not None:
        raise lo.problem("AD0301", node, "a recursive function with '**' parameters")
    with lo.region("function") as region:
        try:
            lo.leave("return", run_closure(lo, closure, args, kwargs, node))
        except Unreached:
            if lo.block is not None:
                lo.stop(Raise(Const(RecursionError)))
    result: shapes.Shape | None = None
    if region.exits:
        found_shapes = [shapes.shape_of(leaf.value, leaf.store) for leaf in region.exits]
        result = _fresh(loose(lo.join_shapes(found_shapes)))
        final = result
        block = lo.finish(region, root, lambda leaf: tuple(shapes.flatten(leaf.value, final, leaf.store)))
    else:
        block = root.seal()
    lo.block, lo.store = outer_block, outer_store
    return tuple(params), block, result


def _fresh(shape: shapes.Shape) -> shapes.Shape:
    """The shape with every object new: the function gets copies, and may not write them."""
    match shape:
        case shapes.RefShape(record=record, sites=sites):
            fresh = _fresh(record)
            assert isinstance(fresh, shapes.RecordShape)
            return shapes.RefShape(None, fresh, sites)
        case shapes.RecordShape(cls=cls, keys=keys, items=items):
            return shapes.RecordShape(cls, keys, tuple(map(_fresh, items)))
        case shapes.TupleShape(cls=cls, items=items):
            return shapes.TupleShape(cls, tuple(map(_fresh, items)))
        case _:
            return shape
