"""Variables of which a handler asks whether they are bound: beside each goes another one, which tells.

It is asked where such a variable is read and a handler is around, and where it is kept for one. Elsewhere what is
unbound is refused, or raises.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.values import Cell, Value
from adjoint.runtime.arithmetic.checks import unbound_said
from adjoint.sources.scope import FunctionNode, assigned_names, scope_of
from adjoint.sources.trees import nodes

_read: WeakKeyDictionary[FunctionNode, frozenset[str]] = WeakKeyDictionary()
_bound_somewhere: WeakKeyDictionary[FunctionNode, frozenset[str]] = WeakKeyDictionary()


def watch(lo: Lowerer, frame: Frame) -> None:
    """Puts flags beside variables of a function that may be unbound, where it or its callers handle exceptions."""
    function = frame.closure.source.node
    names = _bound_on_some_paths(function)
    if not lo.run_data.handled and names:
        names &= _read_where_handled(function)
    kept = {name for each in lo.settings.boxed.values() for owner, name in each if owner is None or owner < 0}
    for name in sorted((names | kept) & frame.cells.keys()):
        cell = frame.cells[name]
        flag = lo.run_data.is_bound[cell] = Cell(f"{name}_is_bound")
        lo.store[flag] = ir.Const(cell in lo.store)


def _read_where_handled(function: FunctionNode) -> frozenset[str]:
    """The names that are read in bodies of ``try`` and ``with`` statements, and those that are deleted somewhere."""
    found = _read.get(function)
    if found is None:
        bodies = (part.body for part in nodes(function) if isinstance(part, (ast.Try, ast.With)))
        inner = (node for body in bodies for statement in body for node in nodes(statement))
        read = (node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        found = _read[function] = frozenset(read) | _deleted(function)
    return found


def _bound_on_some_paths(function: FunctionNode) -> frozenset[str]:
    """The variables of a function that may be unbound at its end: no statement binds them that always runs."""
    found = _bound_somewhere.get(function)
    if found is None:
        statements = function.body if isinstance(function.body, list) else []
        always = {name for each in statements for part in _always_binding(each) for name in assigned_names(part)}
        parameters = {part.arg for part in nodes(function.args) if isinstance(part, ast.arg)}
        found = _bound_somewhere[function] = (scope_of(function).local - always - parameters) | _deleted(function)
    return found


def _deleted(function: FunctionNode) -> frozenset[str]:
    return frozenset(
        part.id for part in nodes(function) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del)
    )


def _always_binding(statement: ast.stmt) -> Sequence[ast.AST]:
    """The parts of a statement of a function's body that bind names whenever it runs."""
    match statement:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target, value=ast.expr()):
            return (target,)
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.ClassDef():
            return (statement,)
        case _:
            return ()


def note_bound(lo: Lowerer, cell: Cell, *, is_bound: bool) -> None:
    """Notes that a variable is bound, or unbound, from here on."""
    flag = lo.run_data.is_bound.get(cell)
    if flag is not None:
        lo.store[flag] = ir.Const(is_bound)


def raise_unbound(lo: Lowerer, cell: Cell, node: ast.AST | None, *, is_deleted: bool = False) -> None:
    """Ends the path on which a variable is read, or deleted, that is not bound.

    Of what is read elsewhere than where a handler may wait for that it is told later.
    """
    flag = lo.run_data.is_bound.get(cell)
    known = None if flag is None else lo.store.get(flag)
    if flag is None or not isinstance(known, (ir.Var, ir.Const)) or known == ir.Const(True):
        return
    if not lo.run_data.handled and not is_deleted:
        return

    def stop() -> Value:
        lo.stop(ir.Raise(lo.open.call(UnboundLocalError, ir.Const(unbound_said(cell.name))), None, lo.span(node)))
        return ir.UNDEFINED

    if known == ir.Const(False):
        raise lo.mistake(UnboundLocalError, node, unbound_said(cell.name))
    lo.branch(known, lambda: ir.UNDEFINED, stop, node)
    lo.store[flag] = ir.Const(True)
