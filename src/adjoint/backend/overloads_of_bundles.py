"""What the runtime does with bundles, for Numba."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="misc, call-arg"

from __future__ import annotations

import math

import numpy as np
from numba.core import types

from adjoint.backend.bundles import bundle, numbers_of, of_numbers
from adjoint.backend.declaring import overload
from adjoint.backend.instructions import cleared, declare_maker, make, rank_of_shape
from adjoint.runtime import bundles, numbers, plain


def _is_bundles(kind):
    return isinstance(kind, types.Array) and kind.dtype == bundle


def _is_numbers(kind):
    return isinstance(kind, types.Array) and kind.dtype == types.float64


def _is_number(kind):
    return isinstance(kind, (types.Float, types.Integer))


# Making them


@overload(bundles.bundled)
def _bundled(x):
    if not _is_numbers(x):
        return None
    return (lambda x: of_numbers(x)[()]) if x.ndim == 1 else (lambda x: of_numbers(x))


@overload(bundles.unbundled)
def _unbundled(x):
    if _is_bundles(x):
        return lambda x: numbers_of(x)
    if x != bundle:
        return None

    def unbundled(x):
        out = plain.empty(bundles.SIZE)
        of_numbers(out)[()] = x
        return out

    return unbundled


def _typed_of_shape(shape):
    rank = rank_of_shape(shape)
    return None if rank is None else types.Array(bundle, rank, "C")


declare_maker(bundles.no_bundles_yet, _typed_of_shape, lambda *given: make(*given)._getvalue())
declare_maker(bundles.zero_bundles, _typed_of_shape, lambda *given: cleared(given[1], make(*given)))


@overload(bundles.same_in_bundles)
def _same_in_bundles(x):
    if not _is_numbers(x):
        return None

    def same_in_bundles(x):
        out = bundles.no_bundles_yet(x.shape)
        for index, number in np.ndenumerate(x):
            out[index] = number
        return out

    return same_in_bundles


# Arithmetic


@overload(numbers.divide)
def _divide(a, b):
    if a != bundle or not _is_number(b):
        return None
    return lambda a, b: a / b if b != 0 else bundles.unless_zero(a, a * math.copysign(math.inf, b))


@overload(numbers.times)
def _times(a, b):
    if a != bundle or not _is_number(b):
        return None
    return lambda a, b: bundles.unless_zero(a, a * b)
