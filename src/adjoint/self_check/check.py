"""Forward and reverse derivatives of the programs beside differences: once for a version of Python, and remembered."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint
from adjoint.api.gradients import grad
from adjoint.api.jvp_vjp import jvp
from adjoint.diagnostics.diagnostic import diagnostic
from adjoint.diagnostics.errors import DifferentiationWarning, error, warn
from adjoint.native.kept.files import keep, place, read
from adjoint.self_check import programs

_STEP = 1e-5
_TOLERANCE = 1e-6
_ROUNDING = 1e-13
"""How far values may be apart: sums of floats are compensated from Python 3.12 on, where derivatives add one by one."""


def check() -> None:
    """Compares the programs, unless that has been done, and raises where some disagree."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    name = f"self-check-{version}.txt"
    text = f"Adjoint {adjoint.__version__}, Python {sys.version}, NumPy {np.__version__}\n"
    if read(place() / name) == text.encode():
        return
    wrong = [f.__name__ for f, x in programs.PROGRAMS if not _agrees(f, x)]
    count = len(programs.PROGRAMS)
    if wrong:
        note = f"of {count} programs these are: {', '.join(wrong)}"
        raise error("AD0903", None, f"this is Python {version}", notes=(note,))
    keep(name, text)
    warn(diagnostic("AD0511", None, f"this is Python {version}; {count} programs agree with differences"))


def _agrees(f: Callable[[Any], Any], x: Any) -> bool:
    v = np.cos(np.arange(1.0, 1.0 + np.size(x))).reshape(np.shape(x)) if np.ndim(x) else 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DifferentiationWarning)
        try:
            value, forward = jvp(f, (x,), (v,))
            reverse = np.sum(grad(f)(x) * v)
        except Exception:
            return False
    difference = (f(x + _STEP * v) - f(x - _STEP * v)) / (2 * _STEP)
    off = max(abs(forward - difference), abs(reverse - difference)) / max(1.0, abs(difference))
    return bool(off < _TOLERANCE and np.isclose(value, f(x), rtol=_ROUNDING, atol=0.0))
