"""The table of Python's own functions that act on structure, by which their calls are lowered."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value
from adjoint.types.classes.annotations import signature
from adjoint.types.structure import is_written_in_python

Handler = Callable[[Lowerer, list[Value], dict[str, Value], ast.AST | None], Any]
HANDLERS: dict[Any, Handler] = {}


_FAMILIES = (
    "library.arrays.calls",
    "library.arrays.functions",
    "library.arrays.makers",
    "library.arrays.writers",
    "calls.builtin_functions.builtins",
    "library.arrays.dtypes",
    "calls.builtin_functions.object_ids",
    "calls.builtin_functions.reflection",
    "data.container_methods",
    "library.collections_calls",
    "iterators.folds",
    "data.constants",
    "calls.tangent_arithmetic",
    "objects.key_paths",
)
_FOR_NUMBERS = (
    "calls.builtin_functions.builtins",
    "library.arrays.dtypes",
    "calls.builtin_functions.object_ids",
    "calls.builtin_functions.reflection",
    "iterators.folds",
)
_FOR_CONTAINERS = (*_FOR_NUMBERS, "data.container_methods")
_OF_FUNCTIONS = {
    "collections": ("library.collections_calls",),
    "contextlib": ("control.contexts_of_generators",),
    "copy": ("library.copy_calls",),
    "functools": ("library.functools_calls",),
    "importlib": ("calls.builtin_functions.reflection",),
    "scipy.spatial.transform._rotation": ("external.rotation_calls",),
    "statistics": ("library.statistics_calls",),
    "typing": ("library.typing_calls",),
    "adjoint.declarations.checkpointing": ("surgery.checkpointed_loops",),
    "adjoint.declarations.custom_derivatives": ("declared.inside",),
    "adjoint.declarations.flow_derivatives": ("flow.derivatives",),
    "adjoint.declarations.function_values": ("functions.function_values",),
    "adjoint.declarations.implicit": ("declared.implicit_calls",),
    "adjoint.declarations.inline_adjoints": ("declared.inline_adjoints",),
    "adjoint.declarations.surgery": ("surgery.surgery",),
    "adjoint.frontend.control.contexts_of_generators": ("control.contexts_of_generators",),
    "adjoint.frontend.declared.implicit_definitions": ("declared.implicit_calls",),
    "adjoint.frontend.external.autograd.definitions": ("external.autograd.calls",),
    "adjoint.frontend.external.rotation_definitions": ("external.rotation_calls",),
    "adjoint.frontend.library.attribute_tables": ("objects.own_attributes", "calls.builtin_functions.namespaces"),
    "adjoint.frontend.library.in_python.functools_definitions": ("library.functools_calls",),
    **dict.fromkeys(
        (f"adjoint.parameters.{name}" for name in ("aggregate", "iteration", "unroll")), ("data.parameter_updates",)
    ),
}
"""Of functions in Python, by the modules that they are defined in."""
_WITH_HANDLERS = ("adjoint", "numpy", "builtins", "math", "operator", "functools", "itertools", "heapq")
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
        case BuiltinFunctionType(__name__="locals" | "globals", __module__="builtins"):
            return ("calls.builtin_functions.namespaces",)
        case BuiltinFunctionType() if constant.__module__ in ("builtins", "math"):
            return _FOR_NUMBERS
        case BuiltinFunctionType(__module__="_operator"):
            return (*_FAMILIES, "calls.builtin_functions.operator_functions")
        case MethodDescriptorType() if constant.__objclass__ is set:
            return ("data.sets_of_objects",)
        case MethodDescriptorType() if constant.__objclass__.__module__ == "builtins":
            return _FOR_CONTAINERS
        case type() if constant is set:
            return ("data.sets_of_objects",)
        case type() if constant.__module__ == "builtins" and not is_written_in_python(constant):
            return _FOR_CONTAINERS if constant is dict else _FOR_NUMBERS
        case object(__module__="itertools") | BuiltinFunctionType(__self__=type(__module__="itertools")):
            return ("iterators.of_itertools.calls",)
        case type(__module__="operator"):
            return ("calls.builtin_functions.operator_functions",)
        case type(__module__="adjoint.declarations.surgery"):
            return ("surgery.backward_blocks",)
        case type(__module__="collections" | "types"):
            return ("library.collections_calls",)
        case FunctionType(__module__=str(home)) if home in _OF_FUNCTIONS and constant.__name__ != "stop_gradient":
            return _OF_FUNCTIONS[home]
        case type(__module__=str(home)) | FunctionType(__module__=str(home)) if home.startswith("scipy.sparse."):
            return ("external.sparse.values",)
        case type(__module__="scipy.spatial.transform._rotation"):
            return ("external.rotation_calls",)
        case object(__module__="numpy.random" | "numpy.random._generator" | "numpy.random.mtrand" | "random"):
            return ("external.random.calls",)
        case BuiltinFunctionType(__self__=object(__module__="random")):
            return ("external.random.calls",)
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


def misfit(constant: Any, args: list[Value], kwargs: dict[str, Value]) -> str | None:
    """What is wrong with the number of arguments of a call of a function of Python; None where nothing is."""
    is_function = isinstance(constant, BuiltinFunctionType) and isinstance(constant.__self__, ModuleType)
    is_class = isinstance(constant, type) and constant in _WITHOUT_SIGNATURE
    if kwargs or not (is_function or is_class or isinstance(constant, MethodDescriptorType)):
        return None
    least, most = _places(constant)
    if least <= len(args) <= most:
        return None
    own = isinstance(constant, MethodDescriptorType)  # which is no argument to whoever calls it
    return f"{constant.__name__!r} does not take {len(args) - own} argument{'s' * (len(args) - own != 1)}"


_WITHOUT_SIGNATURE: dict[Any, tuple[int, float]] = {
    **dict.fromkeys((iter, next, enumerate), (1, 2)),
    **dict.fromkeys((max, min), (1, math.inf)),
    **dict.fromkeys((list, tuple, set, frozenset, dict, float), (0, 1)),
    getattr: (2, 3),
    range: (1, 3),
    slice: (1, 3),
    map: (2, math.inf),
    filter: (2, 2),
    reversed: (1, 1),
}
"""How many arguments those of Python's functions and classes take that do not tell."""


@cache
def _places(constant: Any) -> tuple[int, float]:
    """How many positional arguments a function takes, at least and at most."""
    if constant in _WITHOUT_SIGNATURE:
        return _WITHOUT_SIGNATURE[constant]
    try:
        parameters = signature(constant).parameters.values()
    except (TypeError, ValueError):
        return 0, math.inf
    taken = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    endless = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    return sum(each.default is each.empty for each in taken), math.inf if endless else len(taken)
