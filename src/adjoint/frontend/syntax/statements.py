"""Statements of Python, one function each."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.definitions import note_if_uncovered
from adjoint.frontend.control.binding_flags import note_bound
from adjoint.frontend.control.iteration import run_for
from adjoint.frontend.control.liveness import forget
from adjoint.frontend.control.loops import go_on_if, run_loop
from adjoint.frontend.entry.local_fixpoints import InOrder
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import TooManyOptions
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import for_each_structure, on_each_option, with_each_structure
from adjoint.frontend.interpreter.options.refine import Fact, refine
from adjoint.frontend.interpreter.state.signals import Problem, TooMuch, Unreached
from adjoint.frontend.interpreter.values import NONE, Union, Value
from adjoint.frontend.iterators.items import is_sequence
from adjoint.frontend.syntax import assign
from adjoint.frontend.syntax.conditions import truth, truth_of
from adjoint.frontend.syntax.expressions import make_closure
from adjoint.frontend.syntax.operators import BINARY
from adjoint.sources.scope import assigned_names, own_yields


def run(lo: Lowerer, statements: Sequence[ast.stmt]) -> None:
    """Runs statements until control has left."""
    in_order, at, frame = InOrder(lo), 0, lo.frame
    around = None if frame is None else frame.statement
    while at < len(statements) and lo.block is not None:
        statement = statements[at]
        lo.run_data.steps += 1
        if lo.run_data.steps > lo.run_data.most_steps:
            raise TooMuch
        lo.at(statement)
        if frame is not None:
            frame.statement = statement
        try:
            at = in_order.next_after(at, functools.partial(_one, lo, statement))
        except Unreached:
            if lo.block is not None or lo.frame is None or not own_yields(lo.frame.source.node):
                raise
            return  # control leaves where the generator yields: what is around the statement asks how
        except Problem as problem:
            found = problem.diagnostic
            place = found.labels[0].span if found.labels else None
            lo.run_data.diagnostics.setdefault((found.code, place), found)
            _poison(lo, statement)
            at += 1
        except TooManyOptions as found:
            found.span = found.span or lo.span(statement)
            raise
    if frame is not None:
        frame.statement = around
    if statements and lo.block is not None:
        forget(lo, statements[-1])


def _one(lo: Lowerer, statement: ast.stmt) -> None:
    handler = STATEMENTS.get(type(statement), _unsupported)
    if not isinstance(statement, _SIMPLE):
        handler(lo, statement)
        return

    def body() -> Value:
        handler(lo, statement)
        return ir.UNDEFINED

    for_each_structure(lo, body, statement)


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Delete)
"""Statements that hold no others."""


def _poison(lo: Lowerer, statement: ast.stmt) -> None:
    """After a problem: the names that the statement would have bound are unknown; look at the rest all the same."""
    if lo.block is None:
        return
    if isinstance(statement, ast.Return):
        lo.leave("return", ir.Var("result", ir.OPAQUE))
        return
    assert lo.frame is not None
    for name in assigned_names(statement):
        cell = lo.frame.cells.get(name)
        if cell is not None:
            lo.store[cell] = ir.Var(name, ir.OPAQUE, named=True)
            note_bound(lo, cell, is_bound=True)


def _unsupported(lo: Lowerer, node: ast.stmt) -> None:
    what = {
        ast.AsyncFor: "'async for'",
        ast.AsyncWith: "'async with'",
        ast.AsyncFunctionDef: "'async def'",
        ast.TryStar: "'except*'",
    }.get(type(node), f"the statement '{type(node).__name__}'")
    raise lo.problem("AD0301", node, f"{what} is not supported here")


def _expression(lo: Lowerer, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        lo.evaluate(node.value)


def _assign(lo: Lowerer, node: ast.Assign) -> None:
    value = lo.evaluate(node.value)
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        lo.rename(value, node.targets[0].id)
    for target in node.targets:
        assign.assign(lo, target, value)


def _annotated(lo: Lowerer, node: ast.AnnAssign) -> None:
    if node.value is not None:
        value = lo.evaluate(node.value)
        if isinstance(node.target, ast.Name):
            lo.rename(value, node.target.id)
        if not isinstance(value, ir.Var) or type(value.type) is ir.Opaque:
            value = _as_annotated(lo, value, node)
        assign.assign(lo, node.target, value)


def _as_annotated(lo: Lowerer, value: Value, node: ast.AnnAssign) -> Value:
    """The value; a function value where it is one by its annotation."""
    if is_plain(node.annotation) or lo.frame is None:
        return value
    from adjoint.frontend.functions.function_values import as_annotated, meaning  # lazy

    return as_annotated(lo, value, meaning(lo, node.annotation, lo.frame.closure.globals), node)


def is_plain(annotation: ast.expr) -> bool:
    """Whether an annotation surely says nothing of functions."""
    names = ("float", "int", "bool", "str", "complex", "list", "tuple", "dict", "object")
    return isinstance(annotation, ast.Name) and annotation.id in names


def _augmented(lo: Lowerer, node: ast.AugAssign) -> None:
    assign.augment(lo, node.target, BINARY[type(node.op)], node.value, node)


def _delete(lo: Lowerer, node: ast.Delete) -> None:
    for target in node.targets:
        assign.delete(lo, target)


def _return(lo: Lowerer, node: ast.Return) -> None:
    value = NONE if node.value is None else lo.evaluate(node.value)
    if lo.frame is not None and lo.frame.adjoints and lo.block is not None:
        from adjoint.frontend.declared.inline_adjoints import with_adjoint  # lazy

        value = with_adjoint(lo, value, node)
    if lo.frame is not None and lo.frame.returned is not None:
        value = lo.frame.returned(value)
    _jump(lo, node, "return", value)


def _test(lo: Lowerer, node: ast.expr) -> tuple[ir.Atom, tuple[Fact, ...]]:
    """A condition, and what its outcome tells of variables, where it is the same for all structures these have."""
    told: list[tuple[Fact, ...]] = []

    def body() -> Value:
        told.append(())
        cond, told[-1] = truth(lo, node)
        return cond

    cond = truth_of(lo, for_each_structure(lo, body, node), node)
    return cond, told[0] if len(told) == 1 else ()


def _if(lo: Lowerer, node: ast.If) -> None:
    cond, facts = _test(lo, node.test)

    def side(statements: Sequence[ast.stmt], holds: bool) -> Callable[[], Value]:
        def body() -> Value:
            refine(lo, facts, holds)
            run(lo, statements)
            return ir.UNDEFINED

        return body

    lo.branch(cond, side(node.body, True), side(node.orelse, False), node)


def _head(lo: Lowerer, node: ast.For | ast.While, head: ast.expr) -> ast.expr:
    """The head of a loop without ``ad.checkpointed``, which is noted."""
    if not isinstance(head, ast.Call) or not any(keyword.arg in ("snapshots", "memory") for keyword in head.keywords):
        return head
    from adjoint.frontend.surgery import checkpointed_loops  # lazy

    return checkpointed_loops.head(lo, node, head)


def _while(lo: Lowerer, node: ast.While) -> None:
    test = _head(lo, node, node.test)

    def iteration() -> None:
        lo.at(node)
        cond, facts = _test(lo, test)

        def turn() -> None:
            refine(lo, facts, True)
            run(lo, node.body)

        go_on_if(lo, cond, turn, node)

    run_loop(lo, node, None, None, iteration, node.orelse, [node.test, *node.body])


def _for(lo: Lowerer, node: ast.For) -> None:
    head = _head(lo, node, node.iter)
    iterable = for_each_structure(lo, lambda: lo.evaluate(head), head)
    if isinstance(iterable, Union) and all(map(is_sequence, iterable.options)):
        on_each_option(lo, iterable, lambda option: _go_through(lo, node, option), node)
    else:
        with_each_structure(lo, iterable, lambda each: _go_through(lo, node, each), node)


def _go_through(lo: Lowerer, node: ast.For, iterable: Value) -> Value:
    run_for(
        lo,
        node,
        iterable,
        lambda item: assign.assign(lo, node.target, item),
        lambda: run(lo, node.body),
        node.orelse,
        [node.target, *node.body],
    )
    return NONE


def _jump(lo: Lowerer, node: ast.stmt, action: str, value: Value = ir.UNDEFINED) -> None:
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
        lo.stop(ir.Raise(lo.open.call(AssertionError, *arguments), None, lo.span(node)))
        return ir.UNDEFINED

    def holds() -> Value:
        refine(lo, facts, True)
        return ir.UNDEFINED

    _check(lo, cond, holds, fails, node)


def _check(lo: Lowerer, cond: Any, holds: Callable[[], Value], fails: Callable[[], Value], node: ast.stmt) -> None:
    """A condition that must hold: a statement of its own, so that what follows is not nested in it."""
    if isinstance(cond, ir.Const):
        (holds if cond.value else fails)()
        return
    origin, base = lo.open, lo.store
    failing = lo.fork(base)
    fails()
    lo.block, lo.store = origin, base
    lo.emit(ir.If(cond, ir.Block((), ir.Yield()), failing.seal(), (), lo.span(node)))
    holds()


def _plain(lo: Lowerer, node: ast.expr) -> Any:
    return materialize(lo, lo.evaluate(node), node, observer=True)


def _raise(lo: Lowerer, node: ast.Raise) -> None:
    note_if_uncovered(lo, node)
    exception = None if node.exc is None else _plain(lo, node.exc)
    cause = None if node.cause is None else _plain(lo, node.cause)
    lo.stop(ir.Raise(exception, cause, lo.span(node)))


def _function(lo: Lowerer, node: ast.FunctionDef) -> None:
    assert lo.frame is not None
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _is_inline_adjoint(lo, node, decorator):
            return
    value: Value = make_closure(lo, node, node.name)
    for decorator in reversed(node.decorator_list):
        value = lo.call(lo.evaluate(decorator), [value], {}, decorator)
    assign.assign_name(lo, node.name, value, node)


def _is_inline_adjoint(lo: Lowerer, node: ast.FunctionDef, decorator: ast.Call) -> bool:
    """Whether a decorator makes an adjoint of the function around: then that is taken down."""
    from adjoint.frontend.declared.inline_adjoints import declare, decorates  # lazy

    if not decorates(lo, decorator):
        return False
    declare(lo, node, decorator)
    return True


def _with(lo: Lowerer, node: ast.With) -> None:
    from adjoint.frontend.control.with_statement import run_with  # lazy

    run_with(lo, node)


def _try(lo: Lowerer, node: ast.Try) -> None:
    from adjoint.frontend.control.try_statement import run_try  # lazy

    run_try(lo, node)


def _match(lo: Lowerer, node: ast.Match) -> None:
    from adjoint.frontend.syntax.match_statement import run_match  # lazy

    run_match(lo, node)


def _class(lo: Lowerer, node: ast.ClassDef) -> None:
    from adjoint.frontend.syntax.local_classes import define  # lazy

    define(lo, node)


def _scope_declaration(lo: Lowerer, node: ast.stmt) -> None:
    pass


def _import(lo: Lowerer, node: ast.Import) -> None:
    for alias in node.names:
        module = _module(lo, alias.name, None, node)
        if module is None:
            return
        if alias.asname is None:
            module = importlib.import_module(alias.name.split(".")[0])
        assign.assign_name(lo, alias.asname or alias.name.split(".")[0], ir.Const(module), node)


def _module(lo: Lowerer, name: str, package: str | None, node: ast.stmt) -> Any:
    """A module; None where there is none, and this path ends with the exception that says so."""
    try:
        return importlib.import_module(name, package)
    except ImportError as error:
        lo.stop(ir.Raise(lo.open.call(type(error), ir.Const(str(error))), None, lo.span(node)))
        return None


def _import_from(lo: Lowerer, node: ast.ImportFrom) -> None:
    assert lo.frame is not None
    package = lo.frame.closure.globals.get("__package__")
    module = _module(lo, "." * node.level + (node.module or ""), package, node)
    for alias in node.names if module is not None else ():
        if not hasattr(module, alias.name) and _module(lo, f"{module.__name__}.{alias.name}", None, node) is None:
            return
        assign.assign_name(lo, alias.asname or alias.name, ir.Const(getattr(module, alias.name)), node)


STATEMENTS: dict[type[ast.stmt], Callable[[Lowerer, Any], None]] = {
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
    ast.ClassDef: _class,
    ast.Global: _scope_declaration,
    ast.Nonlocal: _scope_declaration,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.With: _with,
    ast.Try: _try,
    ast.Match: _match,
}
if sys.version_info >= (3, 12):
    STATEMENTS[ast.TypeAlias] = _pass  # for annotations
