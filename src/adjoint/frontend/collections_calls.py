"""The containers of `collections`, and decorators that change nothing of what a function computes."""

from __future__ import annotations

import ast
import collections
import functools
from typing import Any

from adjoint.frontend import library, objects
from adjoint.frontend.builtin_calls import make_dict
from adjoint.frontend.collections_library import DefaultDict, Deque
from adjoint.frontend.core import Lowerer
from adjoint.frontend.handlers import HANDLERS, Handler, handles
from adjoint.frontend.values import Value
from adjoint.ir.nodes import Const


def _stands_for(cls: type) -> Handler:
    def construct(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return NotImplemented if node is None else objects.construct(lo, cls, args, kwargs, node)

    return construct


HANDLERS[collections.deque] = _stands_for(Deque)
HANDLERS[collections.defaultdict] = _stands_for(DefaultDict)
HANDLERS[collections.OrderedDict] = make_dict  # dicts are ordered


@handles(functools.wraps)
def _wraps(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return Const(library.same)


@handles(functools.update_wrapper)
def _update_wrapper(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return args[0]
