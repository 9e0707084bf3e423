"""The routines of BLAS and LAPACK by their addresses, without the package of SciPy around them.

They are found in two modules of ``scipy.linalg``. To import that package takes longer than to run most derivatives, and
these modules need nothing of it.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

_PACKAGE = "scipy.linalg"
_NAMES = ("cython_blas", "cython_lapack")


class _Way:
    """Once somebody imports the package, it imports its modules itself: they are the same, and its attributes."""

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        self._modules = modules

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Finds nothing."""
        del path, target
        if name == _PACKAGE:
            sys.meta_path.remove(self)
            for known, module in self._modules.items():
                if sys.modules.get(known) is module:
                    del sys.modules[known]


def address_of(symbol: str) -> int:
    """The address of a function of BLAS or LAPACK, as ``blas_dgemm``, which takes pointers as Fortran does.

    Raises
    ------
    ImportError
        Where there is no SciPy.
    """
    library, _, name_of_routine = symbol.partition("_")
    capsule = _library(f"cython_{library}").__pyx_capi__[name_of_routine]
    # prototypes of its own: others may give the functions of ``ctypes.pythonapi`` other types
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    found: int = pointer(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, name_of(capsule))
    return found


@functools.cache
def routine(symbol: str, arguments: int) -> Callable[..., None] | None:
    """A routine, which takes so many pointers; None where there is none."""
    try:
        return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address_of(symbol))
    except Exception:  # SciPy is missing, or not as expected
        return None


def _library(name: str) -> Any:
    """SciPy's ``cython_blas`` or ``cython_lapack``."""
    _bring_routines()
    full_name = f"{_PACKAGE}.{name}"
    return sys.modules.get(full_name) or importlib.import_module(full_name)


def _bring_routines() -> None:
    """Makes the modules importable; where that cannot be, it imports the package."""
    if _PACKAGE in sys.modules or any(isinstance(finder, _Way) for finder in sys.meta_path):
        return
    found: dict[str, ModuleType] = {}
    try:
        import scipy  # lazy

        folder = os.path.join(os.path.dirname(scipy.__file__), "linalg")
        for name in (f"{_PACKAGE}.{own}" for own in _NAMES):
            spec = PathFinder.find_spec(name, [folder])
            if spec is None or spec.loader is None:
                return
            found[name] = importlib.util.module_from_spec(spec)
            sys.modules[name] = found[name]
            spec.loader.exec_module(found[name])
    except Exception:  # what is not as expected
        for name, module in found.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
        return
    sys.meta_path.insert(0, _Way(found))
