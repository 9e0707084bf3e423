"""What declared derivatives give is looked at where its kind is not known before."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

_NUMBERS: Any = (int, float, complex, np.generic, np.ndarray)


def as_number(value: Any, name: str) -> Any:
    """The value of a function, which has to be a number or an array to have a derivative.

    >>> as_number(2.0, "f")
    2.0
    """
    if not isinstance(value, _NUMBERS):
        _refuse(f"the value that is declared for {name!r} is {_described(value)}, not a number or an array", name=name)
    return float(value) if type(value) is int else value


def as_array(value: Any, rank: int, dtype: Any, name: str) -> Any:
    """The value of a function whose annotation tells the rank and the dtype of the array that it returns.

    >>> as_array(np.ones(2), 1, np.dtype(float), "f")
    array([1., 1.])
    """
    if not isinstance(value, np.ndarray) or value.ndim != rank or value.dtype != dtype:
        found = (
            f"an array of rank {value.ndim} of {value.dtype}" if isinstance(value, np.ndarray) else _described(value)
        )
        _refuse(f"{name!r} returns {found}, and its annotation says an array of rank {rank} of {dtype}", name=name)
    return value


def check_cotangent(ct: Any, like: Any, said: str) -> Any:
    """A cotangent that a declared pullback gave, in the kind of the argument that it belongs to.

    Parameters
    ----------
    ct, like
        The cotangent and the argument.
    said
        The begin of a sentence about it: whose pullback gave it, and for which argument.

    >>> check_cotangent(2, 1.0, "the pullback gives")
    2.0
    """
    if not isinstance(ct, _NUMBERS) or isinstance(ct, bool):
        _refuse(f"{said} {_described(ct)}")
    if np.shape(ct) != np.shape(like):
        _refuse(f"{said} a cotangent of shape {np.shape(ct)}; the argument has shape {np.shape(like)}")
    kind = np.asarray(ct).dtype.kind
    if kind not in "fciu" or (kind == "c" and np.asarray(like).dtype.kind != "c"):
        _refuse(f"{said} a cotangent of {np.asarray(ct).dtype}; the argument is of {np.asarray(like).dtype}")
    if isinstance(like, np.ndarray):
        return np.asarray(ct, like.dtype if like.dtype.kind in "fc" else np.float64)
    if isinstance(like, np.inexact):
        return like.dtype.type(ct)
    return complex(ct) if isinstance(like, complex) else float(ct)


def _described(value: Any) -> str:
    return "None" if value is None else f"an object of class {type(value).__name__!r}"


def _refuse(label: str, **name: str) -> NoReturn:
    from adjoint.diagnostics import diagnostic  # lazy
    from adjoint.diagnostics.errors import DifferentiationError  # lazy

    raise DifferentiationError(diagnostic("AD0205", None, label, **name))  # type: ignore[arg-type]
