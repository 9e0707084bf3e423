"""What operators in place need to know that types do not tell: an array is written, and a number is bound anew."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np


def check_array(operand: Any, name: str | None) -> None:
    """Refuses a number where an array is written in place: a number is bound anew.

    Raises
    ------
    DifferentiationError
        AD0401.

    >>> check_array(np.zeros(()), "y")
    """
    if not isinstance(operand, np.ndarray):
        _refuse(name, "a number, which is bound anew, and not an array, which is written")


def check_number(operand: Any, name: str | None) -> None:
    """Refuses an array where a number is bound anew: it is written, and whoever else has it sees that.

    Raises
    ------
    DifferentiationError
        AD0401.

    >>> check_number(2.0, "y")
    """
    if isinstance(operand, np.ndarray):
        _refuse(name, "an array, which something else may have, too; a number was expected")


def check_written(before: Any, after: Any) -> None:
    """Raises what NumPy raises where a result does not fit into the array that is written in place.

    >>> check_written(np.zeros(2), np.zeros((3, 2)))
    Traceback (most recent call last):
    ValueError: non-broadcastable output operand with shape (2,) doesn't match the broadcast shape (3,2)
    """
    if isinstance(before, np.ndarray):
        if np.shape(after) != before.shape:
            own, whole = (str(shape).replace(" ", "") for shape in (before.shape, np.shape(after)))
            said = f"operand with shape {own} doesn't match the broadcast shape {whole}"
            raise ValueError(f"non-broadcastable output {said}")
        if np.result_type(after) != before.dtype:
            raise TypeError(f"Cannot cast what is computed in place from {np.result_type(after)} to {before.dtype}")


def _refuse(name: str | None, found: str) -> NoReturn:
    from adjoint.diagnostics import error  # lazy

    which = "what is changed in place" if name is None else repr(name)
    shown = name or "y"
    helps = (f"write the operation out: {shown} = {shown} * 2",)
    raise error("AD0401", None, f"in this call {which} is {found}", helps=helps)
