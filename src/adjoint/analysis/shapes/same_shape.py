"""Calls whose result has the shape of an argument, or of all its arguments together."""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.rules.kinds import Elementwise
from adjoint.rules.registry import rule_for
from adjoint.rules.shapes import model_of
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.array_functions import arrays, places

_ZEROS = (np.zeros_like, arrays.zeros_like, arrays.zeros_in_memory)
_LIKE: dict[Any, int] = dict.fromkeys((np.copy, np.ones_like, np.empty_like, *_ZEROS, arrays.shape_only), 0)
_LIKE |= {
    np.ndarray.copy: 0,
    np.asarray: 0,
    np.array: 0,
    arrays.unbroadcast: 1,
    arrays.match: 1,
    arrays.spread: 1,
    operator.neg: 0,
    operator.pos: 0,
}
_LIKE |= dict.fromkeys((np.ndarray.astype, numbers.sign, np.sign, np.real, np.imag, np.conj, np.isnan, np.isinf), 0)
_LIKE[places.numbered] = 0
"""Functions whose result has the shape of an argument, and which."""
_BY_ELEMENTS: frozenset[Any] = frozenset(
    (
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
        *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
        *(operator.and_, operator.or_, operator.xor, np.logical_and, np.logical_or, np.logical_xor),
        *(operator.invert, np.logical_not, numbers.choose, numbers.selected, arrays.empty_sum),
    )
)
"""Functions besides the element-wise ones of which rules tell derivatives."""


def like_argument(call: ir.Call) -> int | None:
    """The place of the argument whose shape the result has."""
    callee = call.callee
    if not isinstance(callee, Hashable):
        return None
    return _LIKE[callee] if callee in _LIKE else model_of(callee, call.args)


def is_by_elements(call: ir.Call) -> bool:
    """Whether a call makes each element of one of each of its arguments."""
    callee = call.callee
    if callee is np.where:
        return len(call.args) == 3
    return (isinstance(callee, Hashable) and callee in _BY_ELEMENTS) or isinstance(rule_for(callee), Elementwise)


__all__ = ["is_by_elements", "like_argument"]
