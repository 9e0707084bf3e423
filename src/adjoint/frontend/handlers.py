"""The table of Python's own functions that act on structure, by which their calls are lowered."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any

from adjoint.frontend.core import Lowerer
from adjoint.frontend.values import Value

Handler = Callable[[Lowerer, list[Value], dict[str, Value], ast.AST | None], Any]
HANDLERS: dict[Any, Handler] = {}


_FAMILIES = (
    "array_calls",
    "array_functions",
    "array_writers",
    "builtin_calls",
    "container_calls",
    "collections_calls",
    "fold_calls",
    "marked",
    "vector_calls",
    "key_paths",
)
_FOR_NUMBERS = ("builtin_calls", "fold_calls")
_FOR_CONTAINERS = (*_FOR_NUMBERS, "container_calls")
_WITH_HANDLERS = ("adjoint", "numpy", "builtins", "math", "operator", "functools", "itertools", "copy", "heapq")
_loaded: set[str] = set()


def handler(constant: Any) -> Handler | None:
    """What lowers calls of ``constant``; the handler may decline by returning ``NotImplemented``."""
    for family in _families(constant):
        if family not in _loaded:
            import_module(f"adjoint.frontend.{family}")  # for what it registers
            _loaded.add(family)
    try:
        return HANDLERS.get(constant)
    except TypeError:
        return None


def _families(constant: Any) -> tuple[str, ...]:
    """The modules that may have a handler for a function, as far as its own module tells."""
    match constant:
        case BuiltinFunctionType() if constant.__module__ in ("builtins", "math"):
            return _FOR_NUMBERS
        case MethodDescriptorType() if constant.__objclass__.__module__ == "builtins":
            return _FOR_CONTAINERS
        case type() if constant.__module__ == "builtins":
            return _FOR_CONTAINERS if constant is dict else _FOR_NUMBERS
        case type(__module__="itertools") | BuiltinFunctionType(__self__=type(__module__="itertools")):
            return ("itertools_calls",)
        case type(__module__="adjoint.surgery"):
            return ("backward_blocks",)
        case type(__module__="collections" | "types"):
            return ("collections_calls",)
        case FunctionType(__module__="contextlib" | "adjoint.frontend.generator_contexts"):
            return ("generator_contexts",)
        case FunctionType(__module__="adjoint.solutions"):
            return ("implicit_calls",)
        case FunctionType(__module__="statistics"):
            return ("statistics_calls",)
        case FunctionType(__module__="adjoint.declare") if constant.__name__ != "stop_gradient":
            return ("declared_inside",)
        case FunctionType(__module__="adjoint.parameters.aggregate" | "adjoint.parameters.iteration"):
            return ("parameter_updates",)
        case FunctionType(__module__="adjoint.parameters.unroll"):
            return ("parameter_updates",)
        case FunctionType(__module__="adjoint.functions"):
            return ("function_values",)
        case FunctionType(__module__="adjoint.checkpoints"):
            return ("checkpointing",)
        case FunctionType(__module__="adjoint.flow"):
            return ("flow",)
        case FunctionType(__module__="adjoint.inline"):
            return ("inline_adjoints",)
        case FunctionType(__module__="adjoint.surgery"):
            return ("surgery",)
        case FunctionType(__module__=str(home)):
            return _families_of_functions(home)
        case _:
            return _FAMILIES


def _families_of_functions(home: str) -> tuple[str, ...]:
    """The same for functions in Python of a module; rules, which are called all the time, have no handlers."""
    if home.startswith("adjoint.runtime"):
        return _FOR_NUMBERS
    if home.startswith("adjoint.rules"):
        return ()
    if home == "inspect":
        return _FOR_NUMBERS
    return _FAMILIES if home.partition(".")[0] in _WITH_HANDLERS else ()


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    def register(function: Handler) -> Handler:
        for constant in functions:
            HANDLERS[constant] = function
        return function

    return register


def kept(lo: Lowerer, value: Value) -> Value:
    """What a value iterates over, for whoever asks for an item after the other."""
    from adjoint.frontend.items import iterated

    return iterated(lo, value, None)


def sequence(lo: Lowerer, value: Value) -> Value:
    """The same, all items computed."""
    from adjoint.frontend.lazily import drawn

    return drawn(lo, kept(lo, value), None)
