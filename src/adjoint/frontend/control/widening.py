"""Recursive functions that hand themselves another structure in each call: what makes their calls alike.

A function is lowered for each structure of its arguments. Where structures get smaller on the way down, that ends;
where they do not, numbers that are known vary, and lists and dicts exist at run time, whatever is in them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from adjoint import ir
from adjoint.frontend.data.outside.circular import CIRCLES
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Site
from adjoint.types.structure import CONTAINERS

MANY_FORMS = 4
"""As many forms of one function, none smaller than the one that calls it, are too many."""
TOO_MANY_FORMS = 20


def size_of(found: Iterable[joins.Shape]) -> int:
    """How much there is in a structure."""
    return sum(map(_size, found))


def _size(shape: joins.Shape) -> int:
    match shape:
        case joins.Leaf(type=type_):
            return 1 + ir.depth_of(type_)
        case joins.RefShape(record=record):
            return 1 + _size(record)
        case joins.RecordShape(items=items) | joins.TupleShape(items=items) | joins.UnionShape(options=items):
            return 1 + size_of(items)
        case _:
            return 1


def make_alike(
    lo: Lowerer,
    name: str,
    found: Sequence[joins.Shape],
    before: Sequence[int],
    code: ast.AST,
    node: ast.AST | None,
    circle: Sequence[Site] = (),
) -> None:
    """Has the function lowered again where its forms, of the sizes ``before``, do not get smaller.

    ``found`` are the arguments for which yet another form would be made. Where objects in them that were made at the
    sites ``circle`` refer to each other, a form that grows goes around once more, as all further ones would.
    """
    sizes = [*before, size_of(found)]
    count = 0
    while count < len(before) and sizes[-1 - count] >= sizes[-2 - count]:
        count += 1
    grows = bool(before) and sizes[-1] > sizes[-2]
    goes_around = grows and bool(circle)
    if count < MANY_FORMS and not goes_around:
        return
    sites = set(joins.original_sites((*circle, *(site for shape in found for site in _sites(shape)))))
    is_widened = code in lo.settings.widened
    lo.settings.widened.add(code)
    if (is_widened or grows) and not sites <= lo.settings.runtime_sites:
        raise joins.NeedsRuntime(tuple(sites))
    if not is_widened:
        raise Restart(code)
    if goes_around:
        label = f"{name!r} is handed objects that refer to each other, and calls itself"
        raise lo.problem("AD0402", node, label, helps=(CIRCLES,))
    if count >= TOO_MANY_FORMS:
        label = f"{name!r} is handed another structure each time that it calls itself"
        raise lo.problem("AD0402", node, label, helps=("hand over a list instead of a tuple that grows",))


def _sites(shape: joins.Shape) -> Iterable[Site]:
    """Where the lists and dicts in a structure were made."""
    match shape:
        case joins.RefShape(record=record, sites=sites):
            if record.cls in CONTAINERS:
                yield from sites
            yield from _sites(record)
        case joins.RecordShape(items=items) | joins.TupleShape(items=items) | joins.UnionShape(options=items):
            for item in items:
                yield from _sites(item)
        case _:
            pass
