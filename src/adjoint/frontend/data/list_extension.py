"""Lists that grow by the items of something else, known or lazy."""

from __future__ import annotations

import ast

from adjoint import ir
from adjoint.frontend.control.iteration import run_for
from adjoint.frontend.data.making import append, list_items, refuse_if_iterated, replace
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.values import Ref, Value, list_record
from adjoint.frontend.iterators.items import items_if_known
from adjoint.frontend.iterators.iterators import is_lazy
from adjoint.frontend.library import python_functions


def extend_list(lo: Lowerer, current: Value, value: Value, node: ast.AST | None) -> Value:
    """``current += value``"""
    refuse_if_iterated(lo, current, node)
    mine = list_items(lo, current)
    if is_lazy(value):
        assert node is not None
        run_for(lo, node, value, lambda item: append(lo, current, item, node), lambda: None)
        return current
    if mine is not None:
        assert isinstance(current, Ref)
        theirs = items_if_known(lo, value, node)
        if theirs is None:
            raise NeedsRuntime(tuple(original_sites((current.site,))))
        replace(lo, current, list_record([*mine, *theirs]), node)
        return current
    is_list = isinstance(value, ir.Var) and isinstance(value.type, ir.List)
    by = python_functions.extend_by_list if is_list else python_functions.extend
    python_functions.call(lo, by, [current, value], node)
    return current
