"""Functions of Numba that were compiled with derivatives in them; compiled anew after a declaration.

While Numba types the call of a derivative, the functions that it compiles are on the stack. Those that call these, and
were compiled later, are found among all functions of Numba by what their code refers to.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import gc
import sys
from types import CodeType, FrameType
from typing import Any
from weakref import WeakSet

from numba.core.dispatcher import Dispatcher

from adjoint.types.classes.safe_lookups import is_filled

_callers: WeakSet[Any] = WeakSet()


def note() -> None:
    """Takes down the functions that are being compiled now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        owner = frame.f_locals.get("self") if frame.f_code is _COMPILE else None
        if isinstance(owner, Dispatcher):
            _callers.add(owner)
        frame = frame.f_back


_COMPILE: CodeType = Dispatcher.compile.__code__


def forget() -> None:
    """Lets the next calls of these functions, and of those that call them, compile them anew."""
    stale = list(_callers)
    _callers.clear()
    if not stale:
        return
    others = [found for found in gc.get_objects() if issubclass(type(found), Dispatcher)]
    for caller in stale:  # grows
        stale += [
            other for other in others if not any(other is known for known in stale) and _refers(other.py_func, caller)
        ]
    for caller in stale:
        caller._make_finalizer()()
        caller._reset_overloads()


def _refers(function: Any, wanted: Any) -> bool:
    """Whether the code of a function names another one, as a global or captured variable or in a module of these."""
    code = function.__code__
    held = [cell.cell_contents for cell in function.__closure__ or () if is_filled(cell)]
    held += [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    parts = [vars(module).get(name) for module in held if isinstance(module, type(sys)) for name in code.co_names]
    return any(found is wanted for found in (*held, *parts))
