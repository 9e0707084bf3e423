"""What functions do to sets, as far as it is known of them; of all others each result depends on all arguments."""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import numpy as np

from adjoint.rules.kinds import Bilinear, Elementwise, Linear, Rule
from adjoint.runtime import copies
from adjoint.runtime.arithmetic import numbers
from adjoint.runtime.array_functions import arrays, linalg, places, sequences

_SUMS_OR_CONJUGATES = (
    *(arrays.unbroadcast, sequences.fill_cotangent, sequences.array_leaf, linalg.conjugated, linalg.hermitian),
    *(np.ndarray.conj, np.ndarray.conjugate, np.generic.conj, np.generic.conjugate),
)
"""Of the functions that may give a view, those that do not only that."""
_MOVES = (
    *(np.roll, np.tile, np.repeat, np.copy, np.take, np.take_along_axis, np.triu, np.tril, np.full, np.full_like),
    *(np.array, np.insert, np.fft.fftshift, np.fft.ifftshift, np.concatenate, np.stack, np.vstack, np.hstack),
    *(np.column_stack, np.ndarray.flatten, np.ndarray.astype, np.ndarray.copy, np.ndarray.item),
    *(np.generic.flatten, np.generic.astype, np.generic.copy, np.generic.item, float),
    *(copies.owned, arrays.copy_laid_out_like, arrays.complex_of, arrays.place_diagonal, arrays.place_trace),
    *(places.chosen, places.unchosen, places.from_diagonal, places.to_diagonal),
    *(sequences.concatenate_of, sequences.stack_of, sequences.vstack_of, sequences.hstack_of),
    *(sequences.column_stack_of, sequences.place_part, sequences.place_stacked, sequences.place_leaf),
    *(sequences.array_of, sequences.place_rows, sequences.place_beside, sequences.place_columns),
    *(linalg.hollow, linalg.diagonal_matrix, linalg.diagonal_of, linalg.narrowed),
)
_BY_ITSELF = {arrays.unbroadcast: "sum to", sequences.array_leaf: "leaf"}
_ELEMENTWISE = (numbers.choose, numbers.selected, np.where, np.clip, np.conjugate, arrays.made_finite, numbers.sign)
_REDUCTIONS = (np.sum, np.mean, np.prod, np.max, np.min, np.nanmax, np.nanmin, np.var, np.std)
_SCANS = (np.cumsum, np.cumprod)
_PRODUCTS = (np.matmul, operator.matmul, np.dot)
_ADD_AND_MULTIPLY = (
    *(arrays.matmul_left, arrays.matmul_right, arrays.dot_left, arrays.dot_right, arrays.prod_others),
    *(arrays.inner_left, arrays.inner_right, arrays.tensordot_left, arrays.tensordot_right, np.einsum),
)


@cache
def kind_of(rule: Rule) -> str:
    """What a function does to sets.

    Returns
    -------
    str
        ``"move"``: with sets for values it gives the sets. ``"elementwise"``, ``"reduction"``, ``"scan"``,
        ``"product"``, ``"sum to"``, ``"leaf"``: as :mod:`adjoint.runtime.sets.functions` says. ``"arithmetic"``: it
        adds and multiplies. ``"any"``: nothing is known.
    """
    fn = rule.fn
    if _is_in(fn, _MOVES) or (isinstance(rule, Linear) and rule.view_of is not None and not rule.is_of_a_user):
        return _BY_ITSELF.get(fn, "any") if _is_in(fn, _SUMS_OR_CONJUGATES) else "move"
    if isinstance(rule, Elementwise) or _is_in(fn, _ELEMENTWISE):
        return "elementwise"
    for kind, functions in (("reduction", _REDUCTIONS), ("scan", _SCANS), ("product", _PRODUCTS)):
        if _is_in(fn, functions):
            return kind
    is_sum = isinstance(rule, (Linear, Bilinear)) and not rule.is_of_a_user
    return "arithmetic" if is_sum or _is_in(fn, _ADD_AND_MULTIPLY) else "any"


def _is_in(fn: Any, functions: tuple[Any, ...]) -> bool:
    return any(fn is each or (type(fn) is type(each) and fn == each) for each in functions)
