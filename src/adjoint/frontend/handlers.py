"""The table of Python's own functions that act on structure, by which their calls are lowered."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from adjoint.frontend.core import Lowerer
from adjoint.frontend.values import (
    GeneratorValue,
    Value,
)

Handler = Callable[[Lowerer, list[Value], dict[str, Value], ast.AST | None], Any]
HANDLERS: dict[Any, Handler] = {}


def handler(constant: Any) -> Handler | None:
    """What lowers calls of ``constant``; the handler may decline by returning ``NotImplemented``."""
    from adjoint.frontend import array_calls, array_writers, builtin_calls, fold_calls, marked, vector_calls, ways

    del (
        array_calls,
        array_writers,
        builtin_calls,
        fold_calls,
        marked,
        vector_calls,
        ways,
    )  # imported for what they register
    try:
        return HANDLERS.get(constant)
    except TypeError:
        return None


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    def register(function: Handler) -> Handler:
        for constant in functions:
            HANDLERS[constant] = function
        return function

    return register


def sequence(lo: Lowerer, value: Value) -> Value:
    if isinstance(value, GeneratorValue):
        from adjoint.frontend.comprehensions import list_of_generator

        return list_of_generator(lo, value)
    from adjoint.frontend.iteration import iterated

    return iterated(lo, value, None)
