"""Classes of numbers and of arrays whose objects carry no derivative: what is said where one is made of what varies."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics import Diagnostic, diagnostic

_NUMBERS: dict[type, str] = {
    Decimal: "compute with floats, and round where the value is used: float(x)",
    Fraction: "compute with floats: p / q for Fraction(p, q)",
    timedelta: "compute with seconds, as a float",
    date: "compute with seconds, as a float",
    time: "compute with seconds, as a float",
}
_ARRAYS: tuple[tuple[type, str], ...] = (
    (np.matrix, "keep it an array: x @ y is the product that x * y is of matrices, np.block that of np.bmat"),
    (np.ma.MaskedArray, "keep the mask apart: np.where(mask, 0.0, x), np.sum(x[~mask])"),
    (np.recarray, "keep an array for each field, in a dict or a dataclass"),
    (np.ndarray, "compute with the array itself, np.asarray(x), and keep what the class adds apart"),
)


def of_other_class(call: ir.Call) -> Diagnostic | None:
    """The refusal of a call that makes, of what varies, a number or an array of a class that carries no derivative."""
    cls = call.callee if isinstance(call.callee, type) else _class_of_view(call)
    if cls is None:
        return None
    if cls in _NUMBERS:
        label = f"what varies becomes an object of the class {cls.__name__!r}, which carries no derivative"
        return diagnostic("AD0201", call.span, label, helps=(_NUMBERS[cls], OR_CONSTANT))
    if not issubclass(cls, np.ndarray):
        return None
    if cls is np.ndarray:
        label, helps = "'view' takes the memory of an array that varies for something else", _CONVERTED
        return diagnostic("AD0303", call.span, label, helps=helps)
    label = f"an array that varies becomes one of the class {cls.__name__!r}, whose operators mean something else"
    help_ = next(text for base, text in _ARRAYS if issubclass(cls, base))
    return diagnostic("AD0201", call.span, label, helps=(help_, OR_CONSTANT))


OR_CONSTANT = "or hand it ad.stop_gradient(x), if the result shall count as a constant"
_CONVERTED = ("convert it: a.astype(dtype)",)


def _class_of_view(call: ir.Call) -> Any:
    """The class that ``a.view(...)`` asks for; that of arrays where it asks for a dtype."""
    if call.callee is not np.ndarray.view:
        return None
    asked = [atom.value for atom in (*call.args[1:], *dict(call.kwargs).values()) if isinstance(atom, ir.Const)]
    classes = [each for each in asked if isinstance(each, type) and issubclass(each, np.ndarray)]
    return classes[-1] if classes else np.ndarray
