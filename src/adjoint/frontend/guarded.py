"""``with`` and ``try``: what runs however a body is left."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.frontend import assign, objects
from adjoint.frontend.core import Exiting, Lowerer
from adjoint.frontend.expressions import evaluate
from adjoint.frontend.iteration import settle
from adjoint.frontend.liveness import is_live_after
from adjoint.frontend.materialize import materialize
from adjoint.frontend.scope import assigned_names
from adjoint.frontend.values import NONE, TORN, UNDEFINED, Cell, Value
from adjoint.ir.nodes import Const, Guarded, Handler, Raise, Var, Yield
from adjoint.ir.types import OPAQUE
from adjoint.rules.registry import rule_for


def run(lo: Lowerer, statements: Sequence[ast.stmt]) -> None:
    from adjoint.frontend import statements as module  # statements hold blocks of statements

    module.run(lo, statements)


def run_with(lo: Lowerer, node: ast.With) -> None:
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


def run_try(lo: Lowerer, node: ast.Try) -> None:
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
        _run_torn(lo, final)
        if lo.block is not None:
            lo.stop(Raise(None, None, lo.span(node)))
    if region.exits:
        raise lo.problem("AD0301", node, "the 'finally' block may not leave on its own")
    return root, (Const(BaseException), None)


def _run_torn(lo: Lowerer, final: Sequence[ast.stmt]) -> None:
    """Runs a ``finally`` block after an exception, which is raised again: what only computes need not be computed."""
    for statement in final:
        if lo.frame is not None and _reads_torn(lo, statement) and _only_computes(lo, statement):
            for name in assigned_names(statement):
                lo.store[lo.frame.cells[name]] = Var(TORN, OPAQUE)
        else:
            run(lo, [statement])


def _reads_torn(lo: Lowerer, statement: ast.stmt) -> bool:
    assert lo.frame is not None
    cells = lo.frame.cells
    values = [lo.store.get(cells[p.id]) for p in ast.walk(statement) if isinstance(p, ast.Name) and p.id in cells]
    return any(isinstance(value, Var) and value.hint == TORN for value in values)


def _only_computes(lo: Lowerer, statement: ast.stmt) -> bool:
    """Whether all that a statement does is to bind variables of its function."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            return all(map(_is_names, targets)) and _is_pure(lo, value)
        case (
            ast.AugAssign(target=ast.Name(), value=value) | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value)
        ):
            return _is_pure(lo, value)
        case ast.If(test=test, body=body, orelse=orelse):
            return _is_pure(lo, test) and all(_only_computes(lo, inner) for inner in (*body, *orelse))
        case _:
            return isinstance(statement, ast.Pass)


def _is_names(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(_is_names, target.elts)))


def _is_pure(lo: Lowerer, expression: ast.expr) -> bool:
    """Whether an expression calls nothing but functions that have rules."""
    later = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    for part in ast.walk(expression):
        if isinstance(part, later):
            return False
        if isinstance(part, ast.Call):
            callee = evaluate(lo, part.func) if _is_path(part.func) else None
            rule = rule_for(callee.value) if isinstance(callee, Const) else None
            if rule is None or not rule.pure or rule.writes:
                return False
    return True


def _is_path(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_path(node.value))


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

    completed = Cell("completed")
    base[completed] = Const(False)

    def body() -> None:
        run(lo, node.body)
        lo.store[completed] = Const(True)

    root, exits = _guarded_block(lo, base, body)
    bodies: list[tuple[Any, Any]] = [(root, None)]
    torn = _torn_store(lo, base, node.body)
    for handler in node.handlers:
        lo.block, lo.store = origin, base
        kind = (
            None if handler.type is None else materialize(lo, evaluate(lo, handler.type), handler.type, observer=True)
        )
        name = Var(handler.name, OPAQUE, named=True) if handler.name is not None else None

        def handle(handler: ast.ExceptHandler = handler, name: Var | None = name) -> None:
            if handler.name is not None and name is not None:
                assign.assign_name(lo, handler.name, name, handler)
            run(lo, handler.body)

        block, left = _guarded_block(lo, torn, handle)
        for leaf in left:
            for cell, value in list(leaf.store.items()):
                if isinstance(value, Var) and value.hint == TORN:
                    is_lost = cell not in base or not is_live_after(lo, node, cell.name)
                    leaf.store[cell] = UNDEFINED if is_lost else _refuse_torn(lo, node, cell)
        bodies.append((block, (kind, name)))
        exits.extend(left)
    _end_guarded(lo, node, origin, base, bodies, exits, None, None, ())
    if lo.block is None:
        return
    through = lo.store.pop(completed)
    if node.orelse:
        assert isinstance(through, (Var, Const))
        lo.branch(through, lambda: _run_else(lo, node), lambda: UNDEFINED, node)


def _run_else(lo: Lowerer, node: ast.Try) -> Value:
    run(lo, node.orelse)
    return UNDEFINED


def _torn_store(lo: Lowerer, base: dict[Any, Value], body: Sequence[ast.stmt]) -> dict[Any, Value]:
    """The store in which a handler starts: what the body binds has no known value there.

    What its last statement binds it binds when nothing can be raised any more.
    """
    assert lo.frame is not None
    torn = dict(base)
    for statement in body[:-1] if body and _binds_last(body[-1]) else body:
        for bound in assigned_names(statement):
            cell = lo.frame.cells.get(bound)
            if cell is not None:
                torn[cell] = Var(TORN, OPAQUE)
    return torn


def _binds_last(statement: ast.stmt) -> bool:
    """Whether a statement binds one name, after all else that it does."""
    match statement:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value)
        ):
            return value is not None and name not in assigned_names(value)
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return name not in assigned_names(value)
        case _:
            return False


def _refuse_torn(lo: Lowerer, node: ast.Try, cell: Cell) -> Value:
    raise lo.problem(
        "AD0308",
        node,
        f"{cell.name!r} is assigned before a statement that may raise: what it is after the handler depends on where",
        helps=(f"assign {cell.name!r} in every handler too, or compute it in the 'else' part",),
    )
