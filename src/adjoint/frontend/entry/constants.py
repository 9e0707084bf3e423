"""Which captured objects count as constants: nothing in them can vary."""

from __future__ import annotations

import functools
import inspect
import operator
import random
import sys
import types
from typing import Any

import numpy as np

from adjoint.frontend.entry.captured import CONSTANT, Path, has_fields
from adjoint.frontend.entry.operator_marks import is_operator
from adjoint.rules.declarations import counts_by_identity
from adjoint.rules.registry import is_defined
from adjoint.types.array_libraries import is_foreign
from adjoint.types.classes.safe_lookups import is_marked

_CONSTANT_CLASSES = (
    bool,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    functools._lru_cache_wrapper,
    np.ufunc,
    np.dtype,
    slice,
    range,
    inspect.Signature,
    inspect.Parameter,
)


def is_constant(value: Any) -> bool:
    """Whether a specialisation holds for one value only."""
    return (
        isinstance(value, _CONSTANT_CLASSES)
        or isinstance(type(value), _ENUM_TYPE)
        or is_operator(value)
        or type(value).__name__ == "cython_function_or_method"
        or any(value is each for each in INDEX_TRICKS)
        or any(value is each for each in _OF_THE_MACHINE)
        or is_marked(type(value), CONSTANT)
        or (
            f"{type(value).__module__}.".startswith(_CALLABLE_LIBRARIES)
            and callable(value)
            and not isinstance(value, (np.ndarray, np.generic))
            and not is_foreign(value)
        )
        or (isinstance(value, _GETTERS) and _is_of_constants(value))
        or (isinstance(value, types.MethodType) and (is_defined(value) or value.__self__ is _RANDOM))
        or (counts_by_identity(value) and not isinstance(value, types.MethodType) and not has_fields(value))
    )


INDEX_TRICKS = (np.r_, np.c_, np.s_, np.index_exp, np.mgrid, np.ogrid)
"""Objects of NumPy that are there for what stands in their brackets."""
_OF_THE_MACHINE = (sys.float_info, sys.int_info, sys.hash_info, sys.version_info, sys.implementation)
_RANDOM = getattr(random.random, "__self__", None)
"""The generator that the functions of Python's module are methods of."""
_GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def _is_of_constants(getter: Any) -> bool:
    """Whether a getter holds nothing that may change while it stays the same object."""
    made, given, *_ = getter.__reduce__()
    if isinstance(made, functools.partial):
        given = (*made.args, *made.keywords.values(), *given)
    return all(isinstance(each, (str, int, float, type(None), slice)) for each in given)


_CALLABLE_LIBRARIES = ("numba.", "numpy.", "scipy.special.", "scipy.stats.", "uarray.", "jax.", "jaxlib.", "cupy.")
"""Modules whose callable objects are what their names say: functions, families of functions, distributions."""


_ENUM_TYPE = type(__import__("enum").Enum)


_FIXED = ("numpy", "scipy", "adjoint")
"""Packages whose own numbers and tuples stay what they are: defaults, constants of modules, what decorators hold."""


def is_fixed(value: Any, path: Path) -> bool:
    """Whether a number or a tuple belongs to a function or a module of a package that never changes it."""
    if path[0] == "default":
        home = path[1].__module__
    elif path[0] == "global":
        home = path[1].get("__name__")
    else:
        return False
    return is_of_fixed(home) and is_plain(value)


def is_of_fixed(module: str | None) -> bool:
    """Whether a module belongs to a package that does not change its own numbers."""
    return str(module or "").partition(".")[0] in _FIXED


def is_plain(value: Any) -> bool:
    """Whether a value is a number of Python, or a tuple of what cannot change either."""
    if type(value) is tuple:
        return all(is_plain(item) or is_constant(item) for item in value)
    return type(value) in (int, float, complex)


MOST_NAMES = 64
"""Up to how many items a set has that is known."""


def is_frozen(value: Any) -> bool:
    """Whether a value is a set that cannot be written, of a few names and the like."""
    if type(value) is not frozenset or len(value) > MOST_NAMES:
        return False
    return all(isinstance(item, (str, bytes, bool, type(None), type)) for item in value)


def is_library_constant(path: Path) -> bool:
    if path[0] == "default":
        return str(path[1].__module__ or "").startswith("adjoint.")  # none, where "exec" is given no name
    if path[0] == "global":
        return bool(path[1].get("__name__", "").startswith("adjoint.rules."))
    if path[0] != "attribute" or not isinstance(path[1], types.ModuleType):
        return False
    return path[1].__name__.split(".")[0] in ("math", "numpy", "cmath", "sys", "scipy", "operator")
