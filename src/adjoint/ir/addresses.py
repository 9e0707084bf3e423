"""Where another process finds an object by name."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np

from adjoint.ir.fingerprint import Nameless, home_and_name


def address_of(value: Any) -> tuple[str, str]:
    """The module and the name in it under which a value is found.

    Raises
    ------
    Nameless
        If there is none.
    """
    module, own = home_and_name(value)
    if module is None and isinstance(value, np.ufunc):
        module = "numpy" if found_at("numpy", str(own)) is value else "scipy.special"
    if not isinstance(module, str) or not isinstance(own, str) or found_at(module, own) is not value:
        raise Nameless(value)
    return module, own


def imported(module: str, own: str) -> Any:
    """What stands under a name in a module, which is imported.

    Raises
    ------
    ImportError
        If nothing does.
    """
    import_module(module)
    found = found_at(module, own)
    if found is None:
        raise ImportError(f"{module} has no {own}")
    return found


def found_at(module: str, own: str) -> Any:
    """What stands under a name in a module that is loaded; None if nothing does."""
    found: Any = sys.modules.get(module)
    for part in own.split(".") if own else ():
        found = getattr(found, part, None)
    return found
