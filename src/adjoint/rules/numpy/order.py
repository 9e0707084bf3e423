"""Rules of NumPy's sorting, searching and interpolation."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.declare import case, definition, general, linear, no_derivative, or_zero, sample
from adjoint.runtime.array_functions.arrays import order_of, scatter, scatter_along, unbroadcast
from adjoint.runtime.array_functions.places import (
    counts_of_different,
    first_places,
    places_of_values,
    ranks_of_different,
)

no_derivative(
    np.argmax,
    np.argmin,
    np.nanargmax,
    np.nanargmin,
    np.argsort,
    np.argpartition,
    np.searchsorted,
    np.digitize,
    np.histogram_bin_edges,
    np.lexsort,
    np.triu_indices,
    np.tril_indices,
    np.diag_indices,
    np.ix_,
    np.shares_memory,
    np.may_share_memory,
    order_of,
)
no_derivative(
    *(np.argwhere, np.nonzero, np.flatnonzero, first_places, places_of_values, ranks_of_different, counts_of_different),
    shape="unknown",
)


def _unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    if axis is not None:
        raise NotImplementedError("an axis")
    values = np.ravel(ar)[first_places(ar, equal_nan)]
    if not (return_index or return_inverse or return_counts):
        return values
    index = (first_places(ar, equal_nan),) if return_index else ()
    inverse = (ranks_of_different(ar, equal_nan),) if return_inverse else ()
    counts = (counts_of_different(ar, equal_nan),) if return_counts else ()
    return (values, *index, *inverse, *counts)


REPEATED = np.array([0.5, -1.0, 0.5, 2.0])
definition(
    np.unique,
    _unique,
    arrays=("ar",),
    cases=[case(sample(5, kind="distinct")), case(sample(2, 3, kind="distinct"), True, True, True), case(REPEATED)],
)
definition(
    np.unique_values,
    lambda x: np.ravel(x)[places_of_values(x)],
    arrays=("x",),
    cases=[case(sample(2, 3, kind="distinct")), case(REPEATED)],
)
linear(
    np.bincount,
    lambda ct, x, weights=None, minlength=0: unbroadcast(np.take(ct, x), weights),
    wrt=(1,),
    arrays=("x", "weights"),
    shape="unknown",
    always_array=True,
    cases=[case(np.array([0, 3, 3]), sample(3)), case(np.array([0, 1]), sample(2), 4)],
)
general(
    np.sort,
    lambda dots, y, a, axis=-1, kind=None: np.take_along_axis(np.asarray(dots[0]), order_of(a, axis), axis),
    lambda ct, y, a, axis=-1, kind=None: (scatter_along(ct, a, order_of(a, axis), axis),),
    cases=[case(sample(5)), case(sample(4, 3), axis=0), case(sample(4, 3), None), case(sample(5), kind="stable")],
)


def _interp_jvp(dots, y, x, xp, fp):
    k = np.clip(np.searchsorted(xp, x, "right") - 1, 0, len(xp) - 2)
    width = xp[k + 1] - xp[k]
    t = np.clip((x - xp[k]) / width, 0.0, 1.0)
    inside = (x >= xp[0]) & (x <= xp[-1])
    slope = np.where(inside, (fp[k + 1] - fp[k]) / width, 0.0)
    along_x = or_zero(dots[0]) - dots[1][k] * (1 - t) - dots[1][k + 1] * t
    return slope * along_x + dots[2][k] * (1 - t) + dots[2][k + 1] * t


def _interp_vjp(ct, y, x, xp, fp):
    k = np.clip(np.searchsorted(xp, x, "right") - 1, 0, len(xp) - 2)
    width = xp[k + 1] - xp[k]
    t = np.clip((x - xp[k]) / width, 0.0, 1.0)
    inside = (x >= xp[0]) & (x <= xp[-1])
    x_bar = ct * np.where(inside, (fp[k + 1] - fp[k]) / width, 0.0)
    xp_bar = -(scatter(x_bar * (1 - t), xp, k) + scatter(x_bar * t, xp, k + 1))
    fp_bar = scatter(ct * (1 - t), fp, k) + scatter(ct * t, fp, k + 1)
    return (unbroadcast(x_bar, x), xp_bar, fp_bar)


general(
    np.interp,
    _interp_jvp,
    _interp_vjp,
    cases=[
        case(np.array([0.3, 1.7, 2.5]), np.array([0.0, 1.0, 2.0, 4.0]), sample(4)),
        case(1.3, np.array([0.0, 1.0, 2.0]), sample(3)),
        case(np.array([-1.0, 9.0]), np.array([0.0, 1.0, 2.0]), sample(3)),
    ],
)
