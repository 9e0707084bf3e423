"""Lists that are empty when a derivative runs: NumPy makes a vector of floats of one, whatever it holds elsewhere.

No element tells the difference, but who asks for dtypes and ranks is told those of lists that have items.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import NONE
from adjoint.runtime.lists import check_items

_MAKERS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)


def see_items(
    lo: Lowerer, callee: Any, args: list[ir.Atom], named: Mapping[str, ir.Atom], node: ast.AST | None
) -> None:
    """Notes that an array is made of a list of unknown length; the list is checked where that matters."""
    if callee not in _MAKERS or not args or not isinstance(args[0], ir.Var):
        return
    type_, has_dtype = args[0].type, named.get("dtype", NONE) != NONE
    if not isinstance(type_, ir.List) or type_.element is None or _is_alike(type_.element, has_dtype):
        return
    if lo.settings.lists_have_items:
        lo.emit(ir.Call((), check_items, (args[0],), (), lo.span(node)))
    else:
        lo.run_data.makes_of_items = True


def _is_alike(element: ir.Type, has_dtype: bool) -> bool:
    """Whether an array of such elements has the dtype and the rank that one without elements has."""
    if not isinstance(element, ir.Scalar):
        return False
    return has_dtype or (element.kind == "float" and element.dtype in (None, np.dtype(float)))


def see_rank(lo: Lowerer, rank: int | None) -> None:
    """Has lists checked of which arrays are made, where the program is told a rank that no empty list has."""
    if rank is not None and rank > 1:
        _have_items(lo)


def see_dtype(lo: Lowerer, dtype: np.dtype[Any], name: str) -> None:
    """The same where it is told a dtype, or what goes by that."""
    if name in ("dtype", "itemsize", "nbytes") and dtype != np.dtype(float):
        _have_items(lo)


def _have_items(lo: Lowerer) -> None:
    if lo.run_data.makes_of_items:
        lo.settings.lists_have_items = True
        raise Restart
