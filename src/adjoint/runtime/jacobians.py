"""Matrices of derivatives, column by column or row by row."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from adjoint.keypaths import KeyPath
from adjoint.keypaths.parts import PartOf
from adjoint.keypaths.tangent import unit_in


class Jacobian:
    """The Jacobian or the Hessian of a function, as a function of its arguments."""

    def __init__(self, kind: str, function: Any, wrt: Any, native: Any = None) -> None:
        self.kind = kind
        self.function = function
        self.wrt = wrt
        self.native = native

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        return self.kind, self.function, (("wrt", self.wrt),)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from adjoint.frontend.naming import resolve

        function, arguments, indices = resolve(self.function, self.wrt, args, kwargs)
        choices = self.wrt if isinstance(self.wrt, tuple) else (self.wrt,)
        places = [_Place(index, choice) for index, choice in zip(indices, choices, strict=True)]
        compute = _jacobian if self.kind == "jacobian" else _hessian
        if not isinstance(self.wrt, tuple):
            return compute(function, arguments, places[0], None, self.native)
        given = Copies(arguments)
        rows = [compute(function, arguments, places[0], places, self.native)]
        rows += [compute(function, given.again(), place, places, self.native) for place in places[1:]]
        return tuple(rows)

    def __repr__(self) -> str:
        return f"{self.kind}({getattr(self.function, '__name__', self.function)!s})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Jacobian, (self.kind, self.function, self.wrt, self.native)


class _Place:
    """An argument, or the part of it that a key path leads to."""

    def __init__(self, index: int, choice: Any) -> None:
        self.index = index
        self.choice = choice
        self.path = choice.path if isinstance(choice, PartOf) else KeyPath()

    @property
    def wrt(self) -> Any:
        return self.choice if isinstance(self.choice, PartOf) else self.index

    def of(self, parts: tuple[Any, ...]) -> Any:
        """What lies there among arguments, or among gradients of all of them."""
        return self.path.get(parts[self.index])

    def direction(self, args: tuple[Any, ...], unit: Any) -> list[Any]:
        """The tangents of arguments that move this part only."""
        tangent = unit_in(args[self.index], self.path.steps, unit)
        return [tangent if i == self.index else None for i in range(len(args))]


def _units(like: Any) -> list[Any]:
    """The unit tangents of a number or array."""
    if isinstance(like, np.ndarray):
        units = np.eye(like.size, dtype=like.dtype)
        return [unit.reshape(like.shape) for unit in units]
    return [type(like)(1.0)]


def _jacobian(function: Any, args: tuple[Any, ...], place: _Place, places: Any, native: Any) -> Any:
    """Column by column, or row by row where the value has fewer entries than the argument.

    The function may write its arguments: the caller's are as after one call, the other calls are given copies.
    """
    import adjoint as ad
    from adjoint.directions import Forwards
    from adjoint.runtime.boundary import check_matrix_argument

    x = place.of(args)
    check_matrix_argument(x, place.index)
    shape, units = np.shape(x), _units(x)
    if not units:
        value = np.asarray(function(*args))
        return np.zeros(value.shape + shape)
    forwards = Forwards(function, args, native)
    directions = [place.direction(args, unit) for unit in units]
    width = forwards.width(directions[0], len(units))
    columns = forwards(directions[:width])
    value = forwards.value
    check_matrix_argument(value, None)
    if 0 < np.size(value) < len(units) - 1:
        pullback = ad.vjp(function, *forwards.point(), native=native)[1]
        rows = [np.asarray(place.of(row)) for row in pullback.each(_units(value))]
        return np.stack(rows).reshape(np.shape(value) + shape)
    columns += forwards(directions[width:], width)
    if not isinstance(x, np.ndarray):
        return np.asarray(columns[0]) if isinstance(value, np.ndarray) else np.asarray(columns[0])[()].item()
    return np.stack(columns, axis=-1).reshape(np.shape(value) + shape)


class Copies:
    """Arguments as they were at first, for one call after another."""

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.args = args
        self.before = _copied(args)
        self.written: bool | None = None

    def again(self) -> tuple[Any, ...]:
        """Arguments for another call: copies, if the first one has changed what it was given."""
        if self.written is None:
            self.written = not all(map(_surely_same, self.args, self.before))
        return _copied(self.before) if self.written else self.args


def _copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    memo: dict[int, Any] = {}
    copies = []
    for arg in args:
        try:
            copies.append(copy.deepcopy(arg, memo))
        except TypeError:  # a module, an open file: nothing that a derivative goes through
            copies.append(arg)
    return tuple(copies)


def _surely_same(now: Any, before: Any) -> bool:
    if isinstance(now, np.ndarray):
        return bool(now.dtype != object) and now.tobytes() == before.tobytes()
    return now is before


def _hessian(function: Any, args: tuple[Any, ...], place: _Place, places: Any, native: Any) -> Any:
    import adjoint as ad
    from adjoint.runtime.boundary import check_matrix_argument

    check_matrix_argument(place.of(args), place.index)
    given = Copies(args)
    if places is None:
        return _jacobian(ad.grad(function, place.wrt), args, place, None, native)
    first, *others = places
    rows = [_jacobian(ad.grad(function, first.wrt), args, place, None, native)]
    rows += [_jacobian(ad.grad(function, row.wrt), given.again(), place, None, native) for row in others]
    return tuple(rows)


def jacobian_of(function: Any, args: Any, place: Any) -> Any:
    """The Jacobian with respect to one argument, in the part of the language that is differentiated itself."""
    x = args[place]
    if isinstance(x, float):
        return _column(function, args, place, 1.0)
    n = x.size
    columns = [_column(function, _own(args), place, _unit(x, i)) for i in range(n - 1)]
    columns.append(_column(function, args, place, _unit(x, n - 1)))
    return np.stack(columns, axis=-1)


def _own(args: Any) -> Any:
    """Arguments for a call that may write them."""
    return tuple([arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args])


def _unit(x: Any, i: Any) -> Any:
    unit = np.zeros(x.size)
    unit[i] = 1.0
    return unit.reshape(x.shape)


def _column(function: Any, args: Any, place: Any, unit: Any) -> Any:
    import adjoint as ad

    tangents = [None] * len(args)
    tangents[place] = unit
    return ad.jvp(function, args, tuple(tangents))[1]


def hessian_of(function: Any, args: Any, place: Any) -> Any:
    """The Hessian with respect to one argument."""
    import adjoint as ad

    return jacobian_of(ad.grad(function, place), args, place)
