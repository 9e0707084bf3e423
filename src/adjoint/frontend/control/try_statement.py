"""``try``: what runs where an exception is raised, and what runs however a body is left."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from weakref import WeakKeyDictionary

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.frontend.control.binding_flags import note_bound
from adjoint.frontend.control.joins_of_exits import is_closing
from adjoint.frontend.control.liveness import is_live_after
from adjoint.frontend.control.partial_effects import (
    Body,
    body_of,
    keep_all,
    keep_or_refuse,
    may_be_kept,
    restore,
    store_of_handlers,
    watched,
)
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.blocks import Exiting, Open
from adjoint.frontend.interpreter.state.signals import Unreached
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.values import TORN, Cell, Value, is_torn
from adjoint.frontend.syntax import assign
from adjoint.frontend.syntax import statements as module
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in, terminators_in
from adjoint.records import dataclass
from adjoint.rules.registry import rule_for
from adjoint.sources.scope import assigned_names


def run(lo: Lowerer, statements: Sequence[ast.stmt]) -> None:
    module.run(lo, statements)


def run_try(lo: Lowerer, node: ast.Try) -> None:
    if node.handlers:
        _try_except(lo, node)
    elif node.finalbody:
        guard(lo, node, lambda: run(lo, node.body), final=_final_block(lo, node))


@dataclass(frozen=True, slots=True)
class Final:
    """What runs however a body is left: after an exception, whose variable it takes, and otherwise."""

    after_exception: Callable[[ir.Var], Any]
    otherwise: Callable[[], Any]


def _final_block(lo: Lowerer, node: ast.Try) -> Final:
    return Final(lambda problem: _run_torn(lo, node.finalbody), lambda: run(lo, node.finalbody))


def guard(
    lo: Lowerer,
    node: ast.stmt,
    body: Callable[[], None],
    *,
    context: Any = None,
    name: ir.Var | None = None,
    final: Final | None = None,
    kind: str = "guarded",
) -> None:
    """A body that something runs after, however it is left; ``kind`` tells generators whether it looks at exceptions.

    What runs stands twice: in a handler that raises again, and on every way out that is no exception.
    """
    watch = None if final is None else body_of(lo, node)
    origin, base = lo.open, lo.store
    root, exits = _guarded_block(lo, base, body, watch, kind, origin)
    bodies: list[tuple[Any, Any]] = [(root, None)]
    if watch is not None and final is not None:
        bodies.append(_finally_handler(lo, node, base, watch, final))
    _end_guarded(lo, node, origin, base, bodies, exits, context, name, final)


def _guarded_block(
    lo: Lowerer,
    base: dict[Any, Value],
    body: Callable[[], None],
    watch: Body | None = None,
    kind: str = "guarded",
    parent: Open | None = None,
) -> tuple[Any, list[Exiting]]:
    root = lo.fork(base, parent, is_conditional=parent is None)

    def run_body() -> Value:
        body()
        return ir.UNDEFINED

    with lo.region(kind) as region, nullcontext() if watch is None else watched(lo, watch):
        lo.attempt(run_body)
        lo.leave("fall")
    return root, region.exits


def _finally_handler(
    lo: Lowerer, node: ast.stmt, base: dict[Any, Value], watch: Body, final: Final
) -> tuple[Any, tuple[Any, Any]]:
    root = lo.fork(store_of_handlers(lo, watch, base, goes_on=lo.run_data.handled > 0))
    problem = ir.Var("problem", ir.OPAQUE)

    def run_final() -> Value:
        final.after_exception(problem)
        return ir.UNDEFINED

    with lo.region("guarded") as region:
        restore(lo, watch)
        lo.attempt(run_final)
        if lo.block is not None:
            lo.stop(ir.Raise(None, None, lo.span(node)))
    if region.exits:
        raise lo.problem("AD0301", node, "the 'finally' block may not leave on its own")
    return root, (ir.Const(BaseException), problem)


def _run_torn(lo: Lowerer, final: Sequence[ast.stmt]) -> None:
    """Runs a ``finally`` block after an exception, which is raised again: what only computes need not be computed.

    Unless it is for a variable that a handler further out reads.
    """
    for statement in final:
        if (
            lo.frame is not None
            and _reads_torn(lo, statement)
            and _only_computes(lo, statement)
            and not any(lo.run_data.boxes.get(lo.frame.cells[name]) for name in assigned_names(statement))
        ):
            for name in assigned_names(statement):
                lo.store[lo.frame.cells[name]] = ir.Var(TORN, ir.OPAQUE)
                note_bound(lo, lo.frame.cells[name], is_bound=True)
        else:
            run(lo, [statement])


def _reads_torn(lo: Lowerer, statement: ast.stmt) -> bool:
    assert lo.frame is not None
    cells = lo.frame.cells
    values = [lo.store.get(cells[p.id]) for p in ast.walk(statement) if isinstance(p, ast.Name) and p.id in cells]
    return any(map(is_torn, values))


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
            callee = lo.evaluate(part.func) if _is_path(part.func) else None
            rule = rule_for(callee.value) if isinstance(callee, ir.Const) else None
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
    name: ir.Var | None,
    final: Final | None,
) -> None:
    lo.block, lo.store = origin, base
    joined = lo.join_leaves(exits, base, enclosed=True) if exits else None
    lo.enclosed = False
    if joined is not None:
        for leaf, atoms in zip(exits, joined.columns, strict=True):
            leaf.block.terminator = ir.Yield(atoms)
    (root, _), handlers = bodies[0], bodies[1:]
    lo.emit(
        ir.Guarded(
            context,
            name,
            root.seal(),
            tuple(ir.Handler(kind[0], kind[1], block.seal()) for block, kind in handlers),
            None,
            () if joined is None else joined.targets,
            lo.span(node),
        )
    )
    if joined is None:
        lo.stop(ir.Raise(ir.Const(AssertionError), None, lo.span(node)))  # nobody comes by
        return
    lo.store = joined.store
    if final is not None:
        final.otherwise()
    leaving = [leaf for leaf in exits if leaf.action != "fall"]
    if not leaving or lo.block is None:
        return
    falling = [leaf for leaf in exits if leaf.action == "fall"]
    if falling:
        lo.dispatch(joined.kind, leaving, joined)
        return
    for action in joined.kinds[1:]:
        code = joined.kinds.index(action)
        cond = lo.open.call(operator.eq, joined.kind, ir.Const(code))
        here, store = lo.open, lo.store
        gone = lo.fork(store, here, is_conditional=True)
        lo.leave(action, joined.value_of(action))
        here.branch = (cond, gone, lo.fork(store, here, is_conditional=True), None)
    lo.leave(joined.kinds[0], joined.value_of(joined.kinds[0]))


def _try_except(lo: Lowerer, node: ast.Try) -> None:
    """``try`` with handlers: a handler starts from the store before the ``try``.

    Variables that the body binds before it may raise are undefined in the handlers, and refused when read.
    """
    if node.finalbody:
        inner = _without_final(node)
        guard(lo, node, lambda: _try_except(lo, inner), final=_final_block(lo, node))
        return
    assert lo.frame is not None
    kept = lo.checkpoint()
    watch = body_of(lo, node)
    origin, base = lo.open, lo.store

    completed = Cell("completed")
    base[completed] = ir.Const(False)

    def body() -> None:
        run(lo, node.body)
        set_unseen(lo.store, completed, ir.Const(True))

    root, exits = _guarded_block(lo, base, body, watch, "catching", origin)
    is_closed = any(is_closing(leaf.action) for leaf in exits)
    is_quiet = lo.run_data.raising == watch.start
    if not is_quiet and exits:
        lo.block, lo.store = origin, base
        is_quiet = _handles_names(lo, node) and _finds_all_names(_sealed(root, exits))
    if is_quiet and not is_closed:  # no handler is ever reached
        lo.roll_back(kept)
        run(lo, [*node.body, *node.orelse])
        return
    lo.block, lo.store = origin, base
    certain = _handler_of(lo, node, root) if not exits else None
    if certain is not None:
        lo.roll_back(kept)
        run(lo, certain.body)
        return
    bodies: list[tuple[Any, Any]] = [(root, None)]
    torn = store_of_handlers(lo, watch, base, goes_on=False)
    goes_on = False
    for handler in node.handlers:
        lo.block, lo.store = origin, base
        kind = _waited_for(lo, handler)
        asked = () if kind is not None or handler.type is None else (ast.Expr(handler.type),)
        kind = kind or ir.Const(BaseException)
        if is_closed and not asked and not _lets_pass(kind):
            label = "this handles the exception by which a generator is closed, too"
            raise lo.problem("AD0104", handler, label, helps=("handle 'Exception', or a class of its own",))
        name = ir.Var(handler.name, ir.OPAQUE, named=True) if handler.name is not None else None

        def handle(
            handler: ast.ExceptHandler = handler, name: ir.Var | None = name, asked: Sequence[ast.stmt] = asked
        ) -> None:
            restore(lo, watch)
            if asked:
                with _awaited(lo):
                    run(lo, asked)
                return
            if handler.name is not None and name is not None:
                lo.run_data.caught.add(name)
                assign.assign_name(lo, handler.name, name, handler)
            run(lo, handler.body)

        block, left = _guarded_block(lo, torn, handle)
        for leaf in left:
            _settle_torn(lo, node, leaf, base)
        goes_on = goes_on or bool(left)
        bodies.append((block, (kind, name)))
        exits.extend(left)
        if asked:
            break
    store_of_handlers(lo, watch, base, goes_on=goes_on)
    _end_guarded(lo, node, origin, base, bodies, exits, None, None, None)
    if lo.block is None:
        return
    through = lo.store.pop(completed)
    if node.orelse:
        assert isinstance(through, (ir.Var, ir.Const))
        lo.branch(through, lambda: _run_else(lo, node), lambda: ir.UNDEFINED, node)


def _waited_for(lo: Lowerer, handler: ast.ExceptHandler) -> ir.Atom | None:
    """The exceptions that a handler is for; None where asking for them raises, which happens once there is one."""
    if handler.type is None:
        return ir.Const(BaseException)
    kept, raising = lo.checkpoint(), lo.run_data.raising
    try:
        with _awaited(lo):
            return materialize(lo, lo.evaluate(handler.type), handler.type, observer=True)
    except Unreached:
        lo.roll_back(kept)
        lo.run_data.raising = raising
        return None


@contextmanager
def _awaited(lo: Lowerer) -> Iterator[None]:
    """What surely raises meanwhile ends its path."""
    lo.run_data.handled += 1
    try:
        yield
    finally:
        lo.run_data.handled -= 1


def _handles_names(lo: Lowerer, node: ast.Try) -> bool:
    """Whether all that handlers wait for are names that nothing is called by."""
    for handler in node.handlers:
        kind = _waited_for(lo, handler)
        if not isinstance(kind, ir.Const) or not isinstance(kind.value, type) or not issubclass(kind.value, NameError):
            return False
    return True


def _sealed(root: Open, exits: Sequence[Exiting]) -> ir.Block:
    """A body, whatever is handed out where it is left."""
    for leaf in exits:
        leaf.block.terminator = ir.Yield(())
    return root.seal()


def _finds_all_names(block: ir.Block) -> bool:
    """Whether no name is missing where a body runs: those of the program are known here, and no other code runs."""
    made: set[ir.Atom | None] = {None}
    for statement in statements_in(block):
        match statement:
            case ir.Call(targets=targets, callee=type() as cls) if issubclass(cls, BaseException):
                if issubclass(cls, NameError):
                    return False
                made |= {*targets}
            case ir.Call():
                if not effects_of(statement).confined:
                    return False
            case ir.Load(base=base) | ir.Store(base=base):
                if not isinstance(type_of_atom(base), (ir.Array, ir.Number, ir.List, ir.Tuple, ir.Dict)):
                    return False
            case ir.Guarded(context=context):
                if context is not None:
                    return False
    return all(end.exception in made for end in terminators_in(block) if isinstance(end, ir.Raise))


def _handler_of(lo: Lowerer, node: ast.Try, root: Open) -> ast.ExceptHandler | None:
    """The handler that surely runs, where all that a body does is to raise an exception of a known class."""
    match root.statements, root.terminator:
        case [ir.Call(targets=(problem,), callee=type() as cls)], ir.Raise(exception=raised) if raised is problem:
            pass
        case _:
            return None
    for handler in node.handlers:
        kind = _waited_for(lo, handler)
        kinds = kind.value if isinstance(kind, ir.Const) else None
        if kinds is None or not issubclass(cls, kinds):
            return None
        return handler if handler.name is None else None
    return None


def _lets_pass(kind: ir.Atom) -> bool:
    """Whether a handler of these exceptions is surely none of the exception by which a generator is closed."""
    if not isinstance(kind, ir.Const):
        return False
    classes = kind.value if isinstance(kind.value, tuple) else (kind.value,)
    return all(isinstance(cls, type) and not issubclass(GeneratorExit, cls) for cls in classes)


_inner: WeakKeyDictionary[ast.Try, ast.Try] = WeakKeyDictionary()


def _without_final(node: ast.Try) -> ast.Try:
    """The statement without its ``finally`` block: the same one each time, for it is known by its identity."""
    inner = _inner.get(node)
    if inner is None:
        inner = _inner[node] = ast.Try(node.body, node.handlers, node.orelse, [])
        ast.copy_location(inner, node)
    return inner


def _run_else(lo: Lowerer, node: ast.Try) -> Value:
    run(lo, node.orelse)
    return ir.UNDEFINED


def _is_read_after(lo: Lowerer, node: ast.Try, leaf: Exiting, name: str) -> bool:
    """Whether a variable may be read where a handler leads."""
    if leaf.action == "fall":
        return is_live_after(lo, node, name)
    kind = {"break": ast.Break, "continue": ast.Continue}.get(leaf.action)
    jumps = [part for handler in node.handlers for part in ast.walk(handler) if kind and isinstance(part, kind)]
    return any(is_live_after(lo, jump, name) for jump in jumps)


def _settle_torn(lo: Lowerer, node: ast.Try, leaf: Exiting, base: dict[Any, Value]) -> None:
    """Forgets what nobody reads behind the statement, of what may have been written or not."""
    assert lo.frame is not None
    store, needed = leaf.store, dict[Cell, Value]()
    for key, value in list(store.items()):
        if not is_torn(value):
            continue
        is_own = lo.frame.cells.get(key.name) is key
        is_forgotten = key not in base and not (may_be_kept(lo, value) and _is_read_after(lo, node, leaf, key.name))
        if is_own and (is_forgotten or not is_live_after(lo, node, key.name)):
            store[key] = ir.UNDEFINED
        else:
            needed[key] = value
    keep_all(lo, list(needed.values()))
    for key, value in needed.items():
        label = f"{key.name!r} is assigned before a statement that may raise: what it is then depends on where"
        helps = (f"assign {key.name!r} in every handler too, or compute it in the 'else' part",)
        keep_or_refuse(lo, value, node, label, helps)
