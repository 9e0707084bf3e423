"""``with``: context managers whose methods can be seen, those of the standard library, and any others."""

from __future__ import annotations

import ast
import contextlib
import types
from weakref import WeakKeyDictionary

from adjoint import ir
from adjoint.frontend.control.contexts_of_generators import run_context
from adjoint.frontend.control.joins_of_exits import is_closing, settle
from adjoint.frontend.control.try_statement import Final, guard, run, run_try
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import NONE, Cell, Closure, GeneratorContext, Method, Value, is_stand_in
from adjoint.frontend.objects.special_methods import special_method
from adjoint.frontend.surgery.backward_blocks import run_backward
from adjoint.frontend.syntax import assign
from adjoint.frontend.syntax.conditions import truth_of
from adjoint.ir.raising import IGNORING_EXCEPTIONS
from adjoint.runtime.display import letting_through
from adjoint.sources import definitions
from adjoint.sources.trees import nodes


def run_with(lo: Lowerer, node: ast.With) -> None:
    _with_items(lo, node, list(node.items))


def _with_items(lo: Lowerer, node: ast.With, items: list[ast.withitem]) -> None:
    if not items:
        run(lo, node.body)
        return
    item, rest = items[0], items[1:]
    if _is_suppression(lo, item):
        run_try(lo, _suppressing(node, item, rest))
        return
    if _is_backward(lo, item):
        run_backward(lo, node, item)
        return
    if _is_null_context(lo, item):
        _null_context(lo, node, item, rest)
        return
    manager = lo.evaluate(item.context_expr)
    if isinstance(manager, GeneratorContext):
        target = item.optional_vars

        def bind(value: Value) -> None:
            if target is not None:
                assign.assign(lo, target, value)

        run_context(lo, node, manager, bind, lambda: _with_items(lo, node, rest))
        return
    if special_method(lo, manager, "__enter__") is not None:
        _users_context(lo, node, item, rest, manager)
        return
    context = materialize(lo, manager, item.context_expr, observer=True)
    called = _called(lo, item)
    ignores_exceptions = called in IGNORING_EXCEPTIONS
    if not ignores_exceptions:
        context = lo.open.call(letting_through, context)
    elif isinstance(context, ir.Var) and isinstance(called, type):
        context.type = ir.Opaque(called)
    name = ir.Var("context", ir.OPAQUE) if item.optional_vars is not None else None

    def body() -> None:
        if item.optional_vars is not None and name is not None:
            assign.assign(lo, item.optional_vars, name)
        _with_items(lo, node, rest)
        if not ignores_exceptions:
            _refuse_closing(lo, node)

    kind = "guarded" if ignores_exceptions else "catching"
    guard(lo, node, body, context=context, name=name, kind=kind)


def _called(lo: Lowerer, item: ast.withitem) -> object:
    """The class or function that is called for a context manager, where that can be seen."""
    call = item.context_expr
    if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return None
    callee = lo.evaluate(call.func)
    return callee.value if isinstance(callee, ir.Const) else None


def _is_backward(lo: Lowerer, item: ast.withitem) -> bool:
    """Whether this is ``ad.backward(x)``, whose block runs in the reverse sweep."""
    called = _called(lo, item)
    return isinstance(called, type) and called.__module__ == "adjoint.declarations.surgery"


def _is_null_context(lo: Lowerer, item: ast.withitem) -> bool:
    """Whether this is ``contextlib.nullcontext(value)``, which gives the value and does nothing else."""
    call = item.context_expr
    return (
        _called(lo, item) is contextlib.nullcontext
        and isinstance(call, ast.Call)
        and len(call.args) + len(call.keywords) <= 1
        and not any(isinstance(arg, ast.Starred) for arg in call.args)
        and all(keyword.arg == "enter_result" for keyword in call.keywords)
    )


def _null_context(lo: Lowerer, node: ast.With, item: ast.withitem, rest: list[ast.withitem]) -> None:
    assert isinstance(item.context_expr, ast.Call)
    given = [*item.context_expr.args, *(keyword.value for keyword in item.context_expr.keywords)]
    value = lo.evaluate(given[0]) if given else NONE
    if item.optional_vars is not None:
        assign.assign(lo, item.optional_vars, value)
    _with_items(lo, node, rest)


def _refuse_closing(lo: Lowerer, node: ast.With) -> None:
    """Refuses to close a generator in a context that is told of it by an exception."""
    if any(is_closing(leaf.action) for leaf in lo.regions[-1].exits):
        label = "the generator is closed in here, of which this context manager is told by an exception"
        helps = ("go through the generator to its end", "put 'with' around the loop that goes through it")
        raise lo.problem("AD0104", node, label, helps=helps)


# -- contextlib.suppress ----------------------------------------------------------------------------------------------

_as_try: WeakKeyDictionary[ast.withitem, ast.Try] = WeakKeyDictionary()


def _is_suppression(lo: Lowerer, item: ast.withitem) -> bool:
    return item.optional_vars is None and _called(lo, item) is contextlib.suppress


def _suppressing(node: ast.With, item: ast.withitem, rest: list[ast.withitem]) -> ast.Try:
    """``with suppress(...)`` as the ``try`` statement that it is."""
    known = _as_try.get(item)
    if known is None:
        assert isinstance(item.context_expr, ast.Call)  # suppress takes no keywords
        inside: list[ast.stmt] = [ast.copy_location(ast.With(rest, node.body), node)]
        body = inside if rest else node.body
        classes = ast.copy_location(ast.Tuple(item.context_expr.args, ast.Load()), item.context_expr)
        handler = ast.copy_location(ast.ExceptHandler(classes, None, [ast.copy_location(ast.Pass(), node)]), node)
        known = _as_try[item] = ast.copy_location(ast.Try(body, [handler], [], []), node)
    return known


# -- context managers of the user's -----------------------------------------------------------------------------------


def _users_context(lo: Lowerer, node: ast.With, item: ast.withitem, rest: list[ast.withitem], manager: Value) -> None:
    """A context manager whose methods can be seen.

    Where no exception is handled, neither around it nor by itself, one that is raised in the body passes by its
    ``__exit__``.
    """
    enter, leave = (special_method(lo, manager, name) for name in ("__enter__", "__exit__"))
    if enter is None or leave is None:
        raise lo.problem("AD0301", node, "the context manager has no '__exit__'")
    value = lo.call(enter, [], {}, item.context_expr)

    def body() -> None:
        if item.optional_vars is not None:
            assign.assign(lo, item.optional_vars, value)
        _with_items(lo, node, rest)
        if not _ignores_arguments(lo, leave):
            _refuse_closing(lo, node)

    def left() -> Value:
        return lo.call(leave, [NONE, NONE, NONE], {}, node)

    def left_by(problem: ir.Var) -> None:
        kind, traceback = lo.open.call(type, problem), ir.Var("traceback", ir.OPAQUE)
        lo.emit(ir.Load(traceback, problem, ir.Attribute("__traceback__"), lo.span(node)))
        handles = truth_of(lo, lo.call(leave, [kind, problem, traceback], {}, node), node)
        if lo.block is not None and handles != ir.Const(False):
            raise _Handles

    if lo.run_data.handled or _may_handle(leave):
        kind = "guarded" if _ignores_arguments(lo, leave) else "catching"
        kept = lo.checkpoint()
        try:
            guard(lo, node, body, final=Final(left_by, left), kind=kind)
        except _Handles:
            lo.roll_back(kept)
            _handling_context(lo, node, item, rest, value, leave)
        return
    origin, base = lo.open, lo.store
    with lo.region("guarded") as region:
        body()
        lo.leave("fall")
    settle(lo, region.exits, origin, base, "fall", left)


class _Handles(Exception):
    """An ``__exit__`` may handle the exception that it is told of."""


_as_handler: WeakKeyDictionary[ast.withitem, ast.Try] = WeakKeyDictionary()


def _handling_context(
    lo: Lowerer, node: ast.With, item: ast.withitem, rest: list[ast.withitem], entered: Value, leave: Value
) -> None:
    """A context manager that may handle exceptions: as ``try`` and ``except``, and ``__exit__`` on other ways out."""
    assert lo.frame is not None
    given = {"<type>": ir.Const(type), "<leave>": leave, "<passed>": ir.Const(True)}
    cells = {name: Cell(name) for name in (*given, "<problem>")}
    around = lo.frame.cells
    lo.frame.cells = {**around, **cells}
    lo.store.update({cells[name]: value for name, value in given.items()})
    statement = _as_handler.get(item)
    if statement is None:
        statement = _as_handler[item] = _handler(node, rest)
    origin, base = lo.open, lo.store
    try:
        with lo.region("guarded") as region:
            if item.optional_vars is not None:
                assign.assign(lo, item.optional_vars, entered)
            run_try(lo, statement)
            lo.leave("fall")
    finally:
        lo.frame.cells = around

    def left() -> None:
        passed = lo.store.pop(cells["<passed>"])
        assert isinstance(passed, (ir.Var, ir.Const))
        lo.branch(passed, lambda: lo.call(leave, [NONE, NONE, NONE], {}, node), lambda: NONE, node)

    settle(lo, region.exits, origin, base, "fall", left)


def _handler(node: ast.With, rest: list[ast.withitem]) -> ast.Try:
    """The statement, in which ``__exit__`` is told of exceptions, and decides whether they are raised again."""
    made = ast.parse(_HANDLER).body[0]
    assert isinstance(made, ast.Try)
    for part in ast.walk(made):
        ast.copy_location(part, node)
        if isinstance(part, ast.Name):
            part.id = _NAMES.get(part.id, part.id)
    made.handlers[0].name = "<problem>"
    made.body = [ast.copy_location(ast.With(rest, node.body), node)] if rest else list(node.body)
    return made


_NAMES = {name: f"<{name}>" for name in ("type", "leave", "passed", "problem")}
_HANDLER = """
try:
    pass
except BaseException as problem:
    passed = False
    if not leave(type(problem), problem, problem.__traceback__):
        raise
"""


def _may_handle(leave: Value) -> bool:
    """Whether an ``__exit__`` gives anything that may be true."""
    if not isinstance(leave, Method) or not isinstance(leave.function, Closure):
        return True
    returned = [part.value for part in ast.walk(leave.function.source.node) if isinstance(part, ast.Return)]
    return not all(value is None or (isinstance(value, ast.Constant) and not value.value) for value in returned)


def _ignores_arguments(lo: Lowerer, leave: Value) -> bool:
    """Whether ``__exit__`` surely does the same whether or not there is an exception."""
    match leave:
        case Method(function=Closure() as closure):
            spec = closure.source.node
        case Method(function=ir.Const(value=types.FunctionType() as function)):
            known = lo.run_data.closures.get(function)
            if known is None and is_stand_in(function):
                return False
            spec = definitions.find(function).node if known is None else known.source.node
        case _:
            return False
    told = {part.arg for part in nodes(spec.args) if isinstance(part, ast.arg)}
    told -= {part.arg for part in [*spec.args.posonlyargs, *spec.args.args][:1]}
    return not any(isinstance(part, ast.Name) and part.id in told for part in nodes(spec))
