"""Matrices of derivatives, column by column or row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.api.gradients import Derivative, grad
from adjoint.api.jvp_vjp import vjp
from adjoint.api.many_directions import Copies, Forwards
from adjoint.diagnostics import DifferentiationError
from adjoint.diagnostics.entrances import entrance
from adjoint.frontend.calls.argument_names import resolve
from adjoint.keypaths.parts import PartOf
from adjoint.keypaths.tangent import unit_in
from adjoint.runtime.boundary import check_matrix_argument
from adjoint.runtime.outside import Before, as_once


class Jacobian:
    """The Jacobian or the Hessian of a function, as a function of its arguments."""

    def __init__(self, kind: str, function: Any, wrt: Any, native: Any = None) -> None:
        self.kind = kind
        self.function = function
        self.wrt = wrt
        self.native = native
        self._gradients: dict[Any, Derivative] = {}
        self._places: dict[tuple[int, ...], tuple[_Place, ...]] = {}

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        return self.kind, self.function, (("wrt", self.wrt),)

    @entrance
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, arguments, indices = resolve(self.function, self.wrt, args, kwargs)
        places = self._at(indices)
        if not isinstance(self.wrt, tuple):
            return self._matrix(function, arguments, places[0], places[0])
        given, before = Copies(arguments), Before()

        def matrix(row: _Place, place: _Place) -> Any:
            with as_once(before):
                return self._matrix(function, given.again(), row, place)

        if self.kind == "jacobian":
            return tuple([matrix(place, place) for place in places])
        return tuple([tuple([matrix(row, place) for row in places]) for place in places])

    def _at(self, indices: tuple[int, ...]) -> tuple[_Place, ...]:
        if indices not in self._places:
            choices = self.wrt if isinstance(self.wrt, tuple) else (self.wrt,)
            self._places[indices] = tuple([_Place(*found) for found in zip(indices, choices, strict=True)])
        return self._places[indices]

    def _matrix(self, function: Any, args: tuple[Any, ...], row: _Place, place: _Place) -> Any:
        """The derivatives at a place: of the function, or of its gradient at the place ``row``."""
        if self.kind == "jacobian":
            return _jacobian(function, args, place, self.native)
        check_matrix_argument(place.of(args), place.index)
        return _jacobian(self._gradient(function, row.wrt), args, place, self.native)

    def _gradient(self, function: Any, wrt: Any) -> Derivative:
        """The gradient, the same one in each call: what is known of it is known by what it is."""
        if function is not self.function:
            return grad(function, wrt)
        if wrt not in self._gradients:
            self._gradients[wrt] = grad(function, wrt)
        return self._gradients[wrt]

    def __repr__(self) -> str:
        return f"{self.kind}({getattr(self.function, '__name__', self.function)!s})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Jacobian, (self.kind, self.function, self.wrt, self.native)


class _Place:
    """An argument, or the part of it that a key path leads to."""

    def __init__(self, index: int, choice: Any) -> None:
        self.index = index
        self.path = choice.path if isinstance(choice, PartOf) else None
        self.wrt = choice if isinstance(choice, PartOf) else index

    def of(self, parts: tuple[Any, ...]) -> Any:
        """What lies there among arguments, or among gradients of all of them."""
        part = parts[self.index]
        return part if self.path is None else self.path.get(part)

    def direction(self, args: tuple[Any, ...], unit: Any) -> list[Any]:
        """The tangents of arguments that move this part only."""
        tangents = [None] * len(args)
        tangents[self.index] = unit if self.path is None else unit_in(args[self.index], self.path.steps, unit)
        return tangents


def _units(like: Any) -> list[Any]:
    """The unit tangents of a number or array."""
    if isinstance(like, np.ndarray):
        return list(np.eye(like.size, dtype=like.dtype).reshape(like.size, *like.shape))
    return [type(like)(1.0)]


def _jacobian(function: Any, args: tuple[Any, ...], place: _Place, native: Any) -> Any:
    """Column by column, or row by row where the value has fewer entries than the argument.

    The function may write its arguments: the caller's are as after one call, the other calls are given copies. A
    derivative that is declared in one mode only decides which it is.
    """
    x = place.of(args)
    check_matrix_argument(x, place.index)
    shape, units = np.shape(x), _units(x)
    if not units:
        value = np.asarray(function(*args))
        return np.zeros(value.shape + shape)
    forwards = Forwards(function, args, native)
    directions = [place.direction(args, unit) for unit in units]
    try:
        width = forwards.width(directions[0], len(units))
        columns = forwards(directions[:width], width)
    except DifferentiationError as refusal:
        if not _is_of_the_other_mode(refusal):
            raise
        return _rows(function, args, place, native)
    value = forwards.value
    check_matrix_argument(value, None)
    if 0 < np.size(value) < len(units) - 1:
        try:
            with forwards.as_first():
                return _rows(function, forwards.point(), place, native)
        except DifferentiationError as refusal:
            if not _is_of_the_other_mode(refusal):
                raise
    columns += forwards(directions[width:], width)
    if not isinstance(x, np.ndarray):
        return np.asarray(columns[0]) if isinstance(value, np.ndarray) else np.asarray(columns[0])[()].item()
    return np.stack(columns, axis=-1).reshape(np.shape(value) + shape)


def _rows(function: Any, args: tuple[Any, ...], place: _Place, native: Any) -> Any:
    """Row by row, in reverse mode."""
    x = place.of(args)
    value, pullback = vjp(function, *args, native=native)
    check_matrix_argument(value, None)
    rows = [np.asarray(place.of(row)) for row in pullback.each(_units(value))]
    if not isinstance(value, np.ndarray) and not isinstance(x, np.ndarray):
        return rows[0][()].item()
    return np.stack(rows).reshape(np.shape(value) + np.shape(x))


def _is_of_the_other_mode(refusal: DifferentiationError) -> bool:
    """Whether all that is in the way is that a derivative is declared in the other mode only."""
    return all(problem.code == "AD0208" for problem in refusal.diagnostics)
