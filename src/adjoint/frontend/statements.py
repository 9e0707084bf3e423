"""Statements of Python, one function each."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.frontend import assign, objects
from adjoint.frontend.core import Exiting, Lowerer, Problem
from adjoint.frontend.expressions import evaluate, truth
from adjoint.frontend.iteration import run_for, settle
from adjoint.frontend.liveness import forget
from adjoint.frontend.loops import run_loop
from adjoint.frontend.match_statement import run_match
from adjoint.frontend.materialize import materialize
from adjoint.frontend.operators import BINARY
from adjoint.frontend.refine import refine
from adjoint.frontend.values import NONE, UNDEFINED, Cell, Value
from adjoint.ir.nodes import Const, Guarded, Handler, If, Raise, Var, Yield
from adjoint.ir.types import OPAQUE


def run(lo: Lowerer, statements: Sequence[ast.stmt]) -> None:
    """Runs statements until control has left."""
    for statement in statements:
        if lo.block is None:
            return
        lo.at(statement)
        try:
            _STATEMENTS.get(type(statement), _unsupported)(lo, statement)
        except Problem as problem:
            found = problem.diagnostic
            place = found.labels[0].span if found.labels else None
            lo.run_data.diagnostics.setdefault((found.code, place), found)
            _poison(lo, statement)
    if statements and lo.block is not None:
        forget(lo, statements[-1])


def _poison(lo: Lowerer, statement: ast.stmt) -> None:
    """After a problem: the names that the statement would have bound are unknown; look at the rest all the same."""
    from adjoint.frontend.scope import assigned_names

    if lo.block is None:
        return
    if isinstance(statement, ast.Return):
        lo.leave("return", Var("result", OPAQUE))
        return
    assert lo.frame is not None
    for name in assigned_names(statement):
        cell = lo.frame.cells.get(name)
        if cell is not None:
            lo.store[cell] = Var(name, OPAQUE, named=True)


def _unsupported(lo: Lowerer, node: ast.stmt) -> None:
    what = {
        ast.ClassDef: "a class defined inside a differentiated function",
        ast.AsyncFor: "'async for'",
        ast.AsyncWith: "'async with'",
        ast.AsyncFunctionDef: "'async def'",
        ast.TryStar: "'except*'",
    }.get(type(node), f"the statement '{type(node).__name__}'")
    raise lo.problem("AD0301", node, f"{what} is not supported here")


def _expression(lo: Lowerer, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        evaluate(lo, node.value)


def _assign(lo: Lowerer, node: ast.Assign) -> None:
    value = evaluate(lo, node.value)
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        lo.rename(value, node.targets[0].id)
    for target in node.targets:
        assign.assign(lo, target, value)


def _annotated(lo: Lowerer, node: ast.AnnAssign) -> None:
    if node.value is not None:
        value = evaluate(lo, node.value)
        if isinstance(node.target, ast.Name):
            lo.rename(value, node.target.id)
        assign.assign(lo, node.target, value)


def _augmented(lo: Lowerer, node: ast.AugAssign) -> None:
    assign.augment(lo, node.target, BINARY[type(node.op)], node.value, node)


def _delete(lo: Lowerer, node: ast.Delete) -> None:
    for target in node.targets:
        assign.delete(lo, target)


def _return(lo: Lowerer, node: ast.Return) -> None:
    value = NONE if node.value is None else evaluate(lo, node.value)
    if lo.frame is not None and lo.frame.returned is not None:
        value = lo.frame.returned(value)
    _jump(lo, node, "return", value)


def _if(lo: Lowerer, node: ast.If) -> None:
    cond, facts = truth(lo, node.test)

    def side(statements: Sequence[ast.stmt], holds: bool) -> Callable[[], Value]:
        def body() -> Value:
            refine(lo, facts, holds)
            run(lo, statements)
            return UNDEFINED

        return body

    lo.branch(cond, side(node.body, True), side(node.orelse, False), node)


def _while(lo: Lowerer, node: ast.While) -> None:
    def iteration() -> None:
        lo.at(node)
        cond, facts = truth(lo, node.test)

        def goes_on() -> Value:
            refine(lo, facts, True)
            run(lo, node.body)
            return UNDEFINED

        def ends() -> Value:
            lo.leave("exhausted")
            return UNDEFINED

        lo.branch(cond, goes_on, ends, node)

    run_loop(lo, node, None, None, iteration, node.orelse, [node.test, *node.body])


def _for(lo: Lowerer, node: ast.For) -> None:
    iterable = evaluate(lo, node.iter)
    run_for(
        lo,
        node,
        iterable,
        lambda item: assign.assign(lo, node.target, item),
        lambda: run(lo, node.body),
        node.orelse,
        [node.target, *node.body],
    )


def _jump(lo: Lowerer, node: ast.stmt, action: str, value: Value = UNDEFINED) -> None:
    if lo.block is not None:
        forget(lo, node)
    lo.leave(action, value)


def _break(lo: Lowerer, node: ast.Break) -> None:
    _jump(lo, node, "break")


def _continue(lo: Lowerer, node: ast.Continue) -> None:
    _jump(lo, node, "continue")


def _pass(lo: Lowerer, node: ast.stmt) -> None:
    pass


def _assert(lo: Lowerer, node: ast.Assert) -> None:
    cond, facts = truth(lo, node.test)

    def fails() -> Value:
        arguments = () if node.msg is None else (_plain(lo, node.msg),)
        lo.stop(Raise(lo.open.call(AssertionError, *arguments), None, lo.span(node)))
        return UNDEFINED

    def holds() -> Value:
        refine(lo, facts, True)
        return UNDEFINED

    _check(lo, cond, holds, fails, node)


def _check(lo: Lowerer, cond: Any, holds: Callable[[], Value], fails: Callable[[], Value], node: ast.stmt) -> None:
    """A condition that must hold: a statement of its own, so that what follows is not nested in it."""
    if isinstance(cond, Const):
        (holds if cond.value else fails)()
        return
    origin, base = lo.open, lo.store
    failing = lo.fork(base)
    fails()
    lo.block, lo.store = origin, base
    from adjoint.ir.nodes import Block

    lo.emit(If(cond, Block((), Yield()), failing.seal(), (), lo.span(node)))
    holds()


def _plain(lo: Lowerer, node: ast.expr) -> Any:
    return materialize(lo, evaluate(lo, node), node, observer=True)


def _raise(lo: Lowerer, node: ast.Raise) -> None:
    exception = None if node.exc is None else _plain(lo, node.exc)
    cause = None if node.cause is None else _plain(lo, node.cause)
    lo.stop(Raise(exception, cause, lo.span(node)))


def _function(lo: Lowerer, node: ast.FunctionDef) -> None:
    from adjoint.frontend.expressions import make_closure

    assert lo.frame is not None
    value: Value = make_closure(lo, node, node.name)
    for decorator in reversed(node.decorator_list):
        from adjoint.frontend.calls import call_value

        value = call_value(lo, evaluate(lo, decorator), [value], {}, decorator)
    assign.assign_name(lo, node.name, value, node)


def _scope_declaration(lo: Lowerer, node: ast.stmt) -> None:
    pass


def _import(lo: Lowerer, node: ast.Import) -> None:
    import importlib

    for alias in node.names:
        module = importlib.import_module(alias.name)
        if alias.asname is None:
            module = importlib.import_module(alias.name.split(".")[0])
        assign.assign_name(lo, alias.asname or alias.name.split(".")[0], Const(module), node)


def _import_from(lo: Lowerer, node: ast.ImportFrom) -> None:
    import importlib

    assert lo.frame is not None
    package = lo.frame.closure.globals.get("__package__")
    module = importlib.import_module("." * node.level + (node.module or ""), package)
    for alias in node.names:
        assign.assign_name(lo, alias.asname or alias.name, Const(getattr(module, alias.name)), node)


def _with(lo: Lowerer, node: ast.With) -> None:
    _with_items(lo, node, list(node.items))


def _with_items(lo: Lowerer, node: ast.With, items: list[ast.withitem]) -> None:
    if not items:
        run(lo, node.body)
        return
    item, rest = items[0], items[1:]
    manager = evaluate(lo, item.context_expr)
    if objects.special_method(lo, manager, "__enter__") is not None:
        _users_context(lo, node, item, rest, manager)
        return
    context = materialize(lo, manager, item.context_expr, observer=True)
    name = Var("context", OPAQUE) if item.optional_vars is not None else None

    def body() -> None:
        if item.optional_vars is not None and name is not None:
            assign.assign(lo, item.optional_vars, name)
        _with_items(lo, node, rest)

    _guard(lo, node, body, context=context, name=name)


def _users_context(lo: Lowerer, node: ast.With, item: ast.withitem, rest: list[ast.withitem], manager: Value) -> None:
    """A context manager whose methods can be seen; an exception in the body passes by its ``__exit__``."""
    from adjoint.frontend.calls import call_value

    enter, leave = (objects.special_method(lo, manager, name) for name in ("__enter__", "__exit__"))
    if enter is None or leave is None:
        raise lo.problem("AD0301", node, "the context manager has no '__exit__'")
    value = call_value(lo, enter, [], {}, item.context_expr)
    origin, base = lo.open, lo.store
    with lo.region("guarded") as region:
        if item.optional_vars is not None:
            assign.assign(lo, item.optional_vars, value)
        _with_items(lo, node, rest)
        lo.leave("fall")
    settle(lo, region.exits, origin, base, "fall", lambda: call_value(lo, leave, [NONE, NONE, NONE], {}, node))


def _try(lo: Lowerer, node: ast.Try) -> None:
    if node.handlers:
        _try_except(lo, node)
    elif node.finalbody:
        _guard(lo, node, lambda: run(lo, node.body), final=node.finalbody)


def _guard(
    lo: Lowerer,
    node: ast.stmt,
    body: Callable[[], None],
    *,
    context: Any = None,
    name: Var | None = None,
    final: Sequence[ast.stmt] = (),
) -> None:
    """A body that something runs after, however it is left.

    A ``finally`` block stands twice: in a handler that raises again, and on every way out that is no exception.
    """
    origin, base = lo.open, lo.store
    root, exits = _guarded_block(lo, base, body)
    bodies: list[tuple[Any, Any]] = [(root, None)]
    if final:
        bodies.append(_finally_handler(lo, node, base, final))
    _end_guarded(lo, node, origin, base, bodies, exits, context, name, final)


def _guarded_block(lo: Lowerer, base: dict[Any, Value], body: Callable[[], None]) -> tuple[Any, list[Exiting]]:
    root = lo.fork(base)

    def run_body() -> Value:
        body()
        return UNDEFINED

    with lo.region("guarded") as region:
        lo.attempt(run_body)
        lo.leave("fall")
    return root, region.exits


def _finally_handler(
    lo: Lowerer, node: ast.stmt, base: dict[Any, Value], final: Sequence[ast.stmt]
) -> tuple[Any, tuple[Any, Any]]:
    root = lo.fork(_torn_store(lo, base, getattr(node, "body", [])))
    with lo.region("guarded") as region:
        run(lo, final)
        if lo.block is not None:
            lo.stop(Raise(None, None, lo.span(node)))
    if region.exits:
        raise lo.problem("AD0301", node, "the 'finally' block may not leave on its own")
    return root, (Const(BaseException), None)


def _end_guarded(
    lo: Lowerer,
    node: ast.stmt,
    origin: Any,
    base: dict[Any, Value],
    bodies: list[tuple[Any, Any]],
    exits: Sequence[Exiting],
    context: Any,
    name: Var | None,
    final: Sequence[ast.stmt],
) -> None:
    lo.block, lo.store = origin, base
    joined = lo.join_leaves(exits, base, enclosed=True) if exits else None
    lo.enclosed = False
    if joined is not None:
        for leaf, atoms in zip(exits, joined.columns, strict=True):
            leaf.block.terminator = Yield(atoms)
    (root, _), handlers = bodies[0], bodies[1:]
    lo.emit(
        Guarded(
            context,
            name,
            root.seal(),
            tuple(Handler(kind[0], kind[1], block.seal()) for block, kind in handlers),
            None,
            () if joined is None else joined.targets,
            lo.span(node),
        )
    )
    if joined is None:
        lo.block = None
        return
    lo.store = joined.store
    run(lo, final)
    leaving = [leaf for leaf in exits if leaf.action != "fall"]
    if not leaving or lo.block is None:
        return
    falling = [leaf for leaf in exits if leaf.action == "fall"]
    if falling:
        lo._dispatch(joined.kind, falling, leaving, joined)
        return
    for action in joined.kinds[1:]:
        code = joined.kinds.index(action)
        cond = lo.open.call(operator.eq, joined.kind, Const(code))
        here, store = lo.open, lo.store
        gone = lo.fork(store)
        lo.leave(action, joined.value_of(action))
        here.branch = (cond, gone, lo.fork(store), None)
    lo.leave(joined.kinds[0], joined.value_of(joined.kinds[0]))


def _try_except(lo: Lowerer, node: ast.Try) -> None:
    """``try`` with handlers: a handler starts from the store before the ``try``.

    Variables that the body binds before it may raise are undefined in the handlers, and refused when read.
    """
    if node.finalbody:
        inner = ast.Try(node.body, node.handlers, node.orelse, [])
        ast.copy_location(inner, node)
        _guard(lo, node, lambda: _try_except(lo, inner), final=node.finalbody)
        return
    assert lo.frame is not None
    origin, base = lo.open, lo.store

    def body() -> None:
        run(lo, node.body)
        run(lo, node.orelse)

    root, exits = _guarded_block(lo, base, body)
    bodies: list[tuple[Any, Any]] = [(root, None)]
    torn = _torn_store(lo, base, node.body)
    for handler in node.handlers:
        lo.block, lo.store = origin, base
        kind = None if handler.type is None else _plain(lo, handler.type)
        name = Var(handler.name, OPAQUE, named=True) if handler.name is not None else None

        def handle(handler: ast.ExceptHandler = handler, name: Var | None = name) -> None:
            if handler.name is not None and name is not None:
                assign.assign_name(lo, handler.name, name, handler)
            run(lo, handler.body)

        block, left = _guarded_block(lo, torn, handle)
        for leaf in left:
            for cell, value in list(leaf.store.items()):
                if isinstance(value, Var) and value.hint == TORN:
                    leaf.store[cell] = UNDEFINED if cell not in base else _refuse_torn(lo, node, cell)
        bodies.append((block, (kind, name)))
        exits.extend(left)
    _end_guarded(lo, node, origin, base, bodies, exits, None, None, ())


def _torn_store(lo: Lowerer, base: dict[Any, Value], body: Sequence[ast.stmt]) -> dict[Any, Value]:
    """The store in which a handler starts: what the body binds has no known value there."""
    from adjoint.frontend.scope import assigned_names

    assert lo.frame is not None
    torn = dict(base)
    for statement in body:
        for bound in assigned_names(statement):
            cell = lo.frame.cells.get(bound)
            if cell is not None:
                torn[cell] = Var(TORN, OPAQUE)
    return torn


TORN = "<torn>"


def _refuse_torn(lo: Lowerer, node: ast.Try, cell: Cell) -> Value:
    raise lo.problem(
        "AD0308",
        node,
        f"{cell.name!r} is assigned before a statement that may raise: what it is after the handler depends on where",
        helps=(f"assign {cell.name!r} in every handler too, or compute it in the 'else' part",),
    )


_STATEMENTS: dict[type[ast.stmt], Callable[[Lowerer, Any], None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Pass: _pass,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.FunctionDef: _function,
    ast.Global: _scope_declaration,
    ast.Nonlocal: _scope_declaration,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.With: _with,
    ast.Try: _try,
    ast.Match: run_match,
}
