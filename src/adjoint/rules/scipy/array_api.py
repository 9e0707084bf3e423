"""What SciPy's own functions are made of: its helpers for arrays of any library, as they are for NumPy's.

Functions of SciPy are read as they stand. Their first lines ask which library an array is of, and bring arguments to
one type; the definitions here say the same in fewer words.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import contextlib
import importlib
from typing import Any

import numpy as np

from adjoint.rules.conversions import as_array
from adjoint.rules.declare import definition


def _result_type(*args, force_floating=False, xp=None):
    known = [as_array(arg) for arg in args if arg is not None]
    return np.result_type(*known, 1.0) if force_floating else np.result_type(*known)


def _promote(*args, broadcast=False, force_floating=False, xp=None):
    if not args:
        return args
    dtype = _result_type(*args, force_floating=force_floating)
    made = tuple([None if arg is None else np.asarray(arg, dtype) for arg in args])
    if broadcast:
        shape = np.broadcast_shapes(*[np.shape(arg) for arg in made if arg is not None])
        made = tuple([None if arg is None else np.broadcast_to(arg, shape) for arg in made])
    return made[0] if len(made) == 1 else made


def _atleast_nd(x, /, *, ndim, xp=None):
    missing = ndim - np.ndim(x)
    return np.reshape(x, (1,) * missing + np.shape(x)) if missing > 0 else np.asarray(x)


def _apply_where(cond, args, f1, f2=None, /, *, fill_value=None, xp=None):
    given = args if isinstance(args, tuple) else (args,)
    fill = 0.0 if fill_value is None else fill_value
    shape = np.broadcast_shapes(np.shape(cond), np.shape(fill), *[np.shape(arg) for arg in given])
    here = np.broadcast_to(cond, shape)
    wide = tuple([np.broadcast_to(arg, shape) for arg in given])
    found = f1(*[arg[here] for arg in wide])
    away = np.logical_not(here)
    other = np.broadcast_to(fill, shape)[away] if f2 is None else f2(*[arg[away] for arg in wide])
    first = np.cumsum(here)
    place = np.where(np.ravel(here), first - 1, first[-1:] + np.cumsum(away) - 1)
    return np.reshape(np.concatenate([found, other])[place], shape)


class At:
    """``at(x)``, of which a place is asked for."""

    def __init__(self, x):
        self.x = x

    def __getitem__(self, place):
        return Placed(self.x, place)


class Placed:
    """``at(x)[place]``, of which a copy with other elements there is asked for."""

    def __init__(self, x, place):
        self.x, self.place = x, place

    def set(self, value, /, copy=None, xp=None):
        return self._with(value)

    def add(self, value, /, copy=None, xp=None):
        return self._with(self.x[self.place] + value)

    def subtract(self, value, /, copy=None, xp=None):
        return self._with(self.x[self.place] - value)

    def multiply(self, value, /, copy=None, xp=None):
        return self._with(self.x[self.place] * value)

    def divide(self, value, /, copy=None, xp=None):
        return self._with(self.x[self.place] / value)

    def power(self, value, /, copy=None, xp=None):
        return self._with(self.x[self.place] ** value)

    def min(self, value, /, copy=None, xp=None):
        return self._with(np.minimum(self.x[self.place], value))

    def max(self, value, /, copy=None, xp=None):
        return self._with(np.maximum(self.x[self.place], value))

    def _with(self, value):
        array = np.array(self.x)
        array[self.place] = value
        return array


def _at(x, idx=None, /):
    return At(x) if idx is None else Placed(x, idx)


def _sort(x, /, *, axis=-1, descending=False, stable=True):
    rows = np.sort(x, axis=axis)
    return np.flip(rows, axis=axis) if descending else rows


def _get_nan(*data, shape=(), xp=None):
    if shape != ():
        return np.full(shape, np.nan)
    return np.float64(np.nan)


_MEANS: dict[str, dict[str, Any]] = {
    "_util": {"_get_nan": _get_nan},
    "_array_api": {
        "xp_result_type": _result_type,
        "xp_promote": _promote,
        "xp_swapaxes": lambda a, axis1, axis2, xp=None: np.swapaxes(a, axis1, axis2),
        "xp_ravel": lambda x, /, *, xp=None: np.reshape(x, (-1,)),
        "xp_copy": lambda x, *, xp=None: np.array(x),
        "xp_default_dtype": lambda xp: np.dtype(np.float64),
        "xp_result_device": lambda *args: None,
        "xp_vector_norm": lambda x, /, *, axis=None, keepdims=False, ord=2, xp=None: np.linalg.norm(
            x, ord=ord, axis=axis, keepdims=keepdims
        ),
        "xp_device": lambda x, /: "cpu",
        "is_lazy_array": lambda x: False,
        "is_marray": lambda xp: False,
        "_length_nonmasked": lambda x, axis, keepdims=False, xp=None: np.size(x) if axis is None else np.shape(x)[axis],
        "_share_masks": lambda *args, xp: args[0] if len(args) == 1 else args,
    },
    "array_api_compat.numpy": {
        "clip": lambda x, /, min=None, max=None: np.clip(x, min, max),
        "sort": _sort,
        "var": lambda x, /, *, axis=None, correction=0.0, keepdims=False: np.var(
            x, axis=axis, ddof=correction, keepdims=keepdims
        ),
        "std": lambda x, /, *, axis=None, correction=0.0, keepdims=False: np.std(
            x, axis=axis, ddof=correction, keepdims=keepdims
        ),
        "permute_dims": lambda x, /, axes: np.transpose(x, axes),
        "empty": lambda shape, *, dtype=None: np.empty(shape, dtype=dtype),
        "zeros": lambda shape, *, dtype=None: np.zeros(shape, dtype=dtype),
        "ones": lambda shape, *, dtype=None: np.ones(shape, dtype=dtype),
        "empty_like": lambda x, /, *, dtype=None: np.empty_like(x, dtype=dtype),
        "zeros_like": lambda x, /, *, dtype=None: np.zeros_like(x, dtype=dtype),
        "ones_like": lambda x, /, *, dtype=None: np.ones_like(x, dtype=dtype),
        "full": lambda shape, fill_value, *, dtype=None: np.full(shape, fill_value, dtype=dtype),
        "full_like": lambda x, /, fill_value, *, dtype=None: np.full_like(x, fill_value, dtype=dtype),
        "linspace": lambda start, stop, /, num, *, endpoint=True: np.linspace(start, stop, num, endpoint=endpoint),
        "cumulative_sum": lambda x, /, *, axis=None, include_initial=False: np.cumulative_sum(
            x, axis=axis, include_initial=include_initial
        ),
        "cumulative_prod": lambda x, /, *, axis=None, include_initial=False: np.cumulative_prod(
            x, axis=axis, include_initial=include_initial
        ),
        "matrix_transpose": lambda x, /: np.swapaxes(x, -1, -2),
    },
    "array_api_extra": {"atleast_nd": _atleast_nd, "apply_where": _apply_where, "at": _at},
}
"""By module and name; a version of SciPy without one of them does not call it either."""

_HOMES = ("scipy._lib", "scipy._external")
"""The packages that have these modules, one or the other, by the version of SciPy."""


def _imported(module):
    for home in _HOMES:
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(f"{home}.{module}")
    return None


for _module, _functions in _MEANS.items():
    _home = _imported(_module)
    for _name, _means in _functions.items():
        if hasattr(_home, _name) and getattr(_home, _name) is not getattr(np, _name, None):
            definition(getattr(_home, _name), _means, arrays=())
