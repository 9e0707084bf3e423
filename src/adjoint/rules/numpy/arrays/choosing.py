"""Rules of the NumPy functions that choose elements, by places, conditions or size."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.rules.conversions import as_array, as_result
from adjoint.rules.declare import case, definition, general, method, no_derivative, sample
from adjoint.runtime.array_functions import places
from adjoint.runtime.array_functions.arrays import scatter_along


def _compress(condition, a, axis=None):
    return np.take(np.ravel(a) if axis is None else a, np.flatnonzero(condition), axis=axis)


def _compressed(a, condition, axis=None):
    return _compress(condition, a, axis)


SOME = np.array([True, False, True, True])
definition(
    np.compress,
    _compress,
    cases=[case(SOME, sample(4)), case([True, False, True], sample(4, 3), axis=1), case(SOME, sample(2, 3))],
)
definition(
    np.extract,
    lambda condition, arr: np.take(np.ravel(arr), np.flatnonzero(condition)),
    cases=[case(SOME, sample(4)), case(np.eye(2), sample(2, 2))],
)
method(np.ndarray, "compress", _compressed)


def _choose(a, choices, *, mode="raise"):
    number = len(choices)
    if mode == "wrap":
        place = np.mod(a, number)
    elif mode == "clip":
        place = np.clip(a, 0, number - 1)
    elif np.any(np.less(a, 0) | np.greater_equal(a, number)):
        raise ValueError("invalid entry in choice array")
    else:
        place = a
    chosen = np.where(np.equal(place, 0), choices[0], choices[-1])
    for k, choice in enumerate(choices):
        if k > 0:
            chosen = np.where(np.equal(place, k), choice, chosen)
    return as_result(chosen.copy() if np.ndim(chosen) > 1 else chosen)


def _chosen(a, choices, *, mode="raise"):
    return _choose(a, choices, mode=mode)


definition(
    np.choose,
    _choose,
    arrays=("a",),
    cases=[
        case(np.array([0, 2, 1]), [sample(3), sample(3), sample(3)]),
        case(np.array([[0, 1], [1, 1]]), [sample(2), 0.5]),
        case(np.array([0, 5, -1]), [sample(3), sample(3)], mode="wrap"),
        case(np.array([0, 5, -1]), [sample(3), sample(3)], mode="clip"),
        case(np.array([0, 0]), [sample(2)]),
        case(np.array([1, 0, 1]), sample(2, 3)),
    ],
)
method(np.ndarray, "choose", _chosen)


def _select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    chosen = default
    for condition, choice in list(zip(condlist, choicelist, strict=True))[::-1]:
        chosen = np.where(condition, as_array(choice), chosen)
    return chosen


definition(
    np.select,
    _select,
    arrays=("default",),
    cases=[
        case([SOME, np.array([True, True, False, False])], [sample(4), sample(4)], 0.5),
        case([SOME], [sample(2, 4)]),
        case([SOME, np.logical_not(SOME)], [sample(4), 1.5], sample(2, 1)),
    ],
)


def _piecewise(x, condlist, funclist, *args, **kw):
    parts = condlist if isinstance(condlist, (list, tuple)) else [condlist]
    conditions = [np.reshape(part, np.shape(x)) for part in parts]
    if len(funclist) == len(conditions) + 1:
        conditions = [*conditions, np.logical_not(_any_of(conditions))]
    if len(funclist) != len(conditions):
        raise ValueError("with n condition(s), either n or n + 1 functions are expected")
    if np.ndim(x) > 0:
        return _pieces(x, conditions, funclist, args, kw)
    alone = [np.reshape(condition, (1,)) for condition in conditions]
    return np.reshape(_pieces(np.reshape(x, (1,)), alone, funclist, args, kw), ())


def _any_of(conditions):
    covered = conditions[0]
    for condition in conditions[1:]:
        covered = covered | condition
    return covered


def _pieces(x, conditions, functions, args, kw):
    y = np.zeros_like(x)
    for where, function in zip(conditions, functions, strict=True):
        if not callable(function):
            y[where] = function
        elif np.any(where):
            y[where] = function(x[where], *args, **kw)
    return y


definition(
    np.piecewise,
    _piecewise,
    arrays=("x",),
    cases=[
        case(sample(4), [SOME, np.logical_not(SOME)], [np.sin, np.cos]),
        case(sample(4), [SOME], [np.sin, 0.5]),
        case(sample(4), SOME, [np.square, np.exp]),
        case(sample(2, 2), [np.eye(2) > 0], [np.sin]),
    ],
)
general(
    np.partition,
    lambda dots, y, a, kth, axis=-1, kind="introselect": np.take_along_axis(
        np.asarray(dots[0]), places.origins(y, a, axis), axis
    ),
    lambda ct, y, a, kth, axis=-1, kind="introselect": (scatter_along(ct, a, places.origins(y, a, axis), axis), None),
    arrays=("a",),
    cases=[case(sample(6), 2), case(sample(4, 3), [0, 1], axis=0), case(sample(2, 3), 4, None)],
)

# what these rules are made of

no_derivative(places.origins)
