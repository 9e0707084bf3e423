"""Where libraries lie: what stands there is not the user's."""

from __future__ import annotations

import os
import re
import site
import sys
from typing import Any

from adjoint.types.structure import is_written_in_python

_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep
"""Our own functions and classes are taken in the same way wherever Adjoint is installed."""
_PACKAGES = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_INSTALLED = tuple(site.getsitepackages())
_LIBRARIES = tuple(
    {
        os.path.dirname(os.__file__),
        os.path.join(sys.base_prefix, "lib"),
        os.path.join(sys.base_prefix, sys.platlibdir),
        *_INSTALLED,
        "<frozen",
    }
)


def is_of_a_library(file: str) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    return (file.startswith(_LIBRARIES) or _PACKAGES.search(file) is not None) and not file.startswith(_OWN)


def package_of(thing: Any) -> str:
    """The top-level package that a class or a function says it comes from; ``numpy_tools`` is none of NumPy's."""
    return str(getattr(thing, "__module__", None) or "").partition(".")[0]


def file_of(cls: type) -> str:
    """The file of the module in which a class is defined; empty where there is none."""
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or ""


def is_class_of_a_library(cls: type) -> bool:
    """Whether a class belongs to Python, compiled into it or not, or to an installed package.

    A module of a user's may have the name of one of Python's.
    """
    file = file_of(cls)
    if cls.__module__ == "builtins":
        return not is_written_in_python(cls)
    return is_of_a_library(file) if file else cls.__module__ in sys.stdlib_module_names


def is_installed(file: str) -> bool:
    """Whether a file belongs to an installed package, not to Python itself."""
    return file.startswith(_INSTALLED) or _PACKAGES.search(file) is not None
