"""Our own forms of mathematical functions, which work on several numbers at once."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from adjoint.runtime.arithmetic import numbers, vector_math
from adjoint.types.classes.safe_lookups import found_in

_FORMS: dict[Any, Any] = {
    math.exp: vector_math.vector_exp,
    np.exp: vector_math.vector_exp,
    math.log: vector_math.vector_log,
    np.log: vector_math.vector_log,
    numbers.log: vector_math.vector_log,
    math.tanh: vector_math.vector_tanh,
    np.tanh: vector_math.vector_tanh,
    math.sin: vector_math.vector_sin,
    np.sin: vector_math.vector_sin,
    math.cos: vector_math.vector_cos,
    np.cos: vector_math.vector_cos,
    math.pow: vector_math.vector_power,
    operator.pow: vector_math.vector_power,
    np.power: vector_math.vector_power,
    np.float_power: vector_math.vector_power,
    numbers.power: vector_math.vector_power_to_infinity,
}
_OWN = tuple(_FORMS.values())


def is_vector_form(callee: Any) -> bool:
    """Whether a function is such a form."""
    return callee in _OWN


def vector_form(callee: Any) -> Any:
    """Our own form of a mathematical function; None if there is none."""
    return found_in(_FORMS, callee)
