"""Matrices of derivatives, column by column or row by row."""

from __future__ import annotations

from typing import Any

import numpy as np


class Jacobian:
    """The Jacobian or the Hessian of a function, as a function of its arguments."""

    def __init__(self, kind: str, function: Any, wrt: Any) -> None:
        self.kind = kind
        self.function = function
        self.wrt = wrt

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        return self.kind, self.function, (("wrt", self.wrt),)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from adjoint.frontend.naming import resolve

        function, arguments, places = resolve(self.function, self.wrt, args, kwargs)
        compute = _jacobian if self.kind == "jacobian" else _hessian
        if isinstance(self.wrt, tuple):
            return tuple(compute(function, arguments, place, places) for place in places)
        return compute(function, arguments, places[0], None)

    def __repr__(self) -> str:
        return f"{self.kind}({getattr(self.function, '__name__', self.function)!s})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Jacobian, (self.kind, self.function, self.wrt)


def _units(like: Any) -> list[Any]:
    """The unit tangents of a number or array."""
    if isinstance(like, np.ndarray):
        units = np.eye(like.size, dtype=like.dtype)
        return [unit.reshape(like.shape) for unit in units]
    return [type(like)(1.0)]


def _shape(x: Any) -> tuple[int, ...]:
    return np.shape(x)


def _jacobian(function: Any, args: tuple[Any, ...], place: int, places: Any) -> Any:
    import adjoint as ad
    from adjoint.runtime.boundary import check_matrix_argument

    x = args[place]
    check_matrix_argument(x, place)
    value, pullback = ad.vjp(function, *args)
    check_matrix_argument(value, None)
    size = int(np.size(x))
    if np.size(value) < size:
        rows = [np.asarray(pullback(unit)[place]) for unit in _units(value)]
        return np.stack(rows).reshape(_shape(value) + _shape(x))
    columns = []
    for unit in _units(x):
        tangents = [unit if i == place else None for i in range(len(args))]
        columns.append(np.asarray(ad.jvp(function, args, tangents)[1]))
    if not columns:
        return np.zeros(_shape(value) + _shape(x))
    if not isinstance(x, np.ndarray):
        return columns[0] if isinstance(value, np.ndarray) else columns[0][()].item()
    return np.stack(columns, axis=-1).reshape(_shape(value) + _shape(x))


def _hessian(function: Any, args: tuple[Any, ...], place: int, places: Any) -> Any:
    import adjoint as ad
    from adjoint.runtime.boundary import check_matrix_argument

    check_matrix_argument(args[place], place)
    if places is None:
        return _jacobian(ad.grad(function, place), args, place, None)
    return tuple(_jacobian(ad.grad(function, row), args, place, None) for row in places)


def jacobian_of(function: Any, args: Any, place: Any) -> Any:
    """The Jacobian with respect to one argument, in the part of the language that is differentiated itself."""
    x = args[place]
    if isinstance(x, float):
        return _column(function, args, place, 1.0)
    n = x.size
    columns = []
    for i in range(n):
        unit = np.zeros(n)
        unit[i] = 1.0
        columns.append(_column(function, args, place, unit.reshape(x.shape)))
    return np.stack(columns, axis=-1)


def _column(function: Any, args: Any, place: Any, unit: Any) -> Any:
    import adjoint as ad

    tangents = [None] * len(args)
    tangents[place] = unit
    return ad.jvp(function, args, tuple(tangents))[1]


def hessian_of(function: Any, args: Any, place: Any) -> Any:
    """The Hessian with respect to one argument."""
    import adjoint as ad

    return jacobian_of(ad.grad(function, place), args, place)
