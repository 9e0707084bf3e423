"""Derivatives of values with respect to values, in the flow of a function."""

from __future__ import annotations

import sys
from typing import Any

from adjoint.diagnostics import error
from adjoint.diagnostics.request import position


def derivative(y: float, wrt: Any) -> Any:
    """The derivative of a value with respect to a variable that it was computed from, in the same function.

    Parameters
    ----------
    y
        A number.
    wrt
        A variable of the function that asks (or a tuple of variables): a number, an array, or a structure of such.

    Returns
    -------
    float, array or structure
        The derivative with respect to what the variable holds here, since it was assigned: through branches, loops
        and calls. It has the structure of the variable; of a tuple of variables it is a tuple. Zero, with the warning
        AD0501, where ``y`` was not computed from it.

    Raises
    ------
    DifferentiationError
        Where nobody has compiled the function (AD0232): plain Python keeps no flow. ``@ad.compile`` does, and so
        does any derivative of the function.

    Examples
    --------
    >>> import math
    >>> import adjoint as ad
    >>> def slope(x):
    ...     y = math.log(x)
    ...     return ad.derivative(y, wrt=x)
    >>> ad.compile(slope, native=False)(2.0)
    0.5
    """
    raise error("AD0232", position(sys._getframe(1)), "the function around runs as plain Python, which keeps no flow")
