"""What is known of one function of a namespace, and what comes of calling it."""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint.frontend.calls.handlers import handler
from adjoint.rules import registry
from adjoint.rules.helpers.solvers import unknown
from adjoint.rules.kinds import Constant, NoDerivative
from packages.checking import Outcome, checked

NAMESPACES = (
    *("numpy", "numpy.linalg", "numpy.fft", "numpy.polynomial.polynomial", "numpy.polynomial.chebyshev"),
    *("numpy.polynomial.legendre", "numpy.lib.stride_tricks", "numpy.lib.scimath"),
    *("scipy.special", "scipy.stats", "scipy.linalg", "scipy.fft", "scipy.signal", "scipy.signal.windows"),
    *("scipy.ndimage", "scipy.interpolate", "scipy.integrate", "scipy.optimize", "scipy.spatial.distance"),
    *("scipy.sparse.linalg", "scipy.cluster.vq"),
)
_METHODS = ("logpdf", "logpmf", "pdf", "pmf")
"""By which it is told whether anything is said of a distribution."""
_ABOUT_FILES = ("save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "fromfile", "genfromtxt", "test")


def public(namespace: str) -> Iterator[tuple[str, Any]]:
    """What can be called of a namespace, by its name: functions, distributions, and classes of functions."""
    module = importlib.import_module(namespace)
    for name in sorted(getattr(module, "__all__", None) or dir(module)):
        value = getattr(module, name, None)
        if callable(value) and not name.startswith("_") and name not in _ABOUT_FILES and not _is_no_function(value):
            yield name, value


def _is_no_function(value: Any) -> bool:
    """Whether it is a class whose objects are not called, or something of another kind."""
    if isinstance(value, type):
        return not callable(getattr(value, "__call__", None)) or "__call__" not in _names_of(value)
    return isinstance(value, (types.ModuleType, types.GenericAlias)) or inspect.isgeneratorfunction(value)


def _names_of(cls: type) -> set[str]:
    return {name for base in cls.__mro__[:-1] for name in vars(base)}


def said_of(value: Any) -> str | None:
    """``rule`` or ``constant`` where something is declared of a function; None where nothing is."""
    methods = [getattr(value, name, None) for name in _METHODS]
    if any(method is not None and registry.is_defined(method) for method in methods):
        return "rule"
    rule = registry.rule_for(value)
    definitions = registry.definitions_of(value)
    if definitions and all(entry.means is unknown for entry in definitions):
        return "refused"
    if definitions or handler(value) is not None:
        return "rule"
    if isinstance(rule, (Constant, NoDerivative)):
        return "constant"
    return None if rule is None else "rule"


def found_of(name: str, value: Callable[..., Any], note: Callable[[str], None] = lambda _: None) -> Outcome:
    """The same; of what nothing is said, what a call with sampled arguments gives."""
    known = said_of(value)
    if known is not None:
        return Outcome(known)
    if isinstance(value, np.ufunc):
        return Outcome("refused", "AD0201 nothing is said of it")
    if hasattr(value, "rvs") and not isinstance(value, type):
        return Outcome("refused", "AD0201 nothing is said of it")
    found = checked(name, value, note)
    return Outcome("works") if found.kind == "right" else found
