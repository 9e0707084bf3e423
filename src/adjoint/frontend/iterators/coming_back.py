"""Iterators that a program comes back to: lowering starts again, and they are objects from where they are made."""

from __future__ import annotations

import ast

from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import GeneratorObject, GeneratorValue, IteratorValue, Site, Value


def site_as_object(lo: Lowerer, node: ast.AST, *path: int) -> Site:
    """Where an iterator is made, as an object: at the same node, a list may be made of its items."""
    of_node, *calls = lo.site(node).place
    return lo.noted(Site((of_node, ("iterator", *path), *calls)))


def come_back(lo: Lowerer, value: Value) -> None:
    """Starts again where an iterator, which is needed once more, can be an object that knows its place."""
    if not isinstance(value, (GeneratorObject, GeneratorValue, IteratorValue)):
        return
    if value.site is not None and value.site not in lo.settings.stepped:
        lo.settings.stepped.add(value.site)
        raise Restart(sites=(value.site,))
