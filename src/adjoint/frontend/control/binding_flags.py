"""Variables of which a handler asks whether they are bound: beside each goes another one, which tells.

It is asked where such a variable is read and a handler is around, and where it is kept for one. Elsewhere what is
unbound is refused, or raises.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.values import Cell, Value
from adjoint.runtime.arithmetic.checks import unbound_said
from adjoint.sources.scope import FunctionNode
from adjoint.sources.trees import nodes

_ASKING = ("UnboundLocalError", "NameError")
_asked: WeakKeyDictionary[FunctionNode, frozenset[str]] = WeakKeyDictionary()


def watch(lo: Lowerer, frame: Frame) -> None:
    """Puts flags beside the variables of a function that is entered, where its handlers ask for them."""
    function = frame.closure.source.node
    names = _asked.get(function)
    if names is None:
        names = _asked[function] = frozenset(_names_asked_for(function))
    kept = {name for each in lo.settings.boxed.values() for owner, name in each if owner is None}
    for name in sorted((names | kept) & frame.cells.keys()):
        cell = frame.cells[name]
        flag = lo.run_data.is_bound[cell] = Cell(f"{name}_is_bound")
        lo.store[flag] = ir.Const(cell in lo.store)


def _names_asked_for(function: FunctionNode) -> Iterator[str]:
    for part in nodes(function):
        if isinstance(part, ast.Try) and any(map(_asks, part.handlers)):
            inner = (node for statement in part.body for node in nodes(statement))
            yield from (node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _asks(handler: ast.ExceptHandler) -> bool:
    kinds = () if handler.type is None else nodes(handler.type)
    return any(isinstance(kind, ast.Name) and kind.id in _ASKING for kind in kinds)


def note_bound(lo: Lowerer, cell: Cell, *, is_bound: bool) -> None:
    """Notes that a variable is bound, or unbound, from here on."""
    flag = lo.run_data.is_bound.get(cell)
    if flag is not None:
        lo.store[flag] = ir.Const(is_bound)


def raise_unbound(lo: Lowerer, cell: Cell, node: ast.AST | None) -> None:
    """Ends the path on which a variable is read that is not bound, where a handler may wait for that."""
    flag = lo.run_data.is_bound.get(cell)
    known = None if flag is None else lo.store.get(flag)
    if flag is None or not isinstance(known, (ir.Var, ir.Const)) or known == ir.Const(True) or not lo.run_data.handled:
        return

    def stop() -> Value:
        lo.stop(ir.Raise(lo.open.call(UnboundLocalError, ir.Const(unbound_said(cell.name))), None, lo.span(node)))
        return ir.UNDEFINED

    if known == ir.Const(False):
        raise lo.mistake(UnboundLocalError, node, unbound_said(cell.name))
    lo.branch(known, lambda: ir.UNDEFINED, stop, node)
    lo.store[flag] = ir.Const(True)
