"""Where loops begin in which tuples get longer: these exist at run time from there on."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from adjoint import ir
from adjoint.frontend.data.element_types import slots
from adjoint.frontend.data.making import as_tuple, runtime_list
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Cell, Site, TupleValue, Value
from adjoint.sources.scope import assigned_names


@contextmanager
def settling(lo: Lowerer, node: ast.AST, assigned: Sequence[ast.AST]) -> Iterator[None]:
    """Meanwhile it is found out what a loop carries."""
    lo.run_data.loops.append((lo.site(node), frozenset(_assigned(lo, assigned))))
    try:
        yield
    finally:
        lo.run_data.loops.pop()


def make_growing(lo: Lowerer, node: ast.AST, assigned: Sequence[ast.AST]) -> None:
    """Makes those tuples exist at run time that are known to grow in the loop that begins here."""
    if not lo.settings.growing:
        return
    site = lo.site(node)
    for cell in _assigned(lo, assigned):
        items = _items(lo.store.get(cell))
        if items is not None and (site, cell.name) in lo.settings.growing:
            made = lo.noted(Site((*site.place, cell.name)))
            lo.store[cell] = as_tuple(runtime_list(lo, made, slots(lo, items, node), node))


def _assigned(lo: Lowerer, parts: Sequence[ast.AST]) -> Collection[Cell]:
    assert lo.frame is not None
    names = [name for part in parts for name in assigned_names(part)]
    return dict.fromkeys(lo.frame.cells[name] for name in names if name in lo.frame.cells)


def _items(value: Value | None) -> Sequence[Value] | None:
    match value:
        case TupleValue(cls=builtins.tuple, items=items):
            return items
        case ir.Const(value=tuple() as known) if type(known) is tuple:
            return tuple(map(ir.Const, known))
    return None
