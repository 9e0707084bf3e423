"""Matrices of derivatives, column by column or row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.api.across_processes import refuse_messages
from adjoint.api.derivative import Derivative, LikeFunction, Mode
from adjoint.api.gradients import grad
from adjoint.api.jvp_vjp import reverse_form, vjp
from adjoint.api.structured_matrices import blocks, component_vector, has_structure, numbers_in, unit_tangents
from adjoint.api.sweeps.many_directions import Copies, Forwards
from adjoint.diagnostics import DifferentiationError
from adjoint.diagnostics.entrances import entrance
from adjoint.frontend.calls.argument_names import resolve
from adjoint.keypaths.parts import PartOf
from adjoint.keypaths.tangent import unit_in
from adjoint.records import dataclass
from adjoint.rules.registry import is_exchanged
from adjoint.runtime.boundary import check_class, check_matrix_argument
from adjoint.runtime.outside import Before, as_once


class Jacobian(LikeFunction):
    """The Jacobian or the Hessian of a function, as a function of its arguments."""

    def __init__(
        self, kind: str, function: Any, wrt: Any, native: Any = None, has_aux: bool = False, mode: Mode = None
    ) -> None:
        self.kind = kind
        self.function = function
        self.wrt = wrt
        self.native = native
        self.has_aux = has_aux
        self.mode: Mode = mode
        self._gradients: dict[Any, Derivative] = {}
        self._places: dict[tuple[int, ...], tuple[_Place, ...]] = {}
        self._describe()

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        options = (("has_aux", True),) if self.has_aux else ()
        return self.kind, self.function, (*options, ("wrt", self.wrt))

    @entrance
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, arguments, indices = resolve(self.function, self.wrt, args, kwargs)
        places = self._at(indices)
        found, aux = self._matrices(function, arguments, places)
        return (found, aux) if self.has_aux else found

    def _matrices(self, function: Any, arguments: tuple[Any, ...], places: tuple[_Place, ...]) -> tuple[Any, Any]:
        """The matrix, or one for each argument or pair of them; and what the function returns beside its value."""
        if not isinstance(self.wrt, tuple):
            return self._matrix(function, arguments, places[0], places[0])
        given, before = Copies(arguments), Before()

        beside: list[Any] = []

        def matrix(row: _Place, place: _Place) -> Any:
            with as_once(before):
                found, aux = self._matrix(function, given.again(), row, place)
                beside.append(aux)
                return found

        if self.kind == "jacobian":
            return tuple([matrix(place, place) for place in places]), beside[0]
        return tuple([tuple([matrix(row, place) for row in places]) for place in places]), beside[0]

    def _at(self, indices: tuple[int, ...]) -> tuple[_Place, ...]:
        if indices not in self._places:
            choices = self.wrt if isinstance(self.wrt, tuple) else (self.wrt,)
            self._places[indices] = tuple([_Place(*found) for found in zip(indices, choices, strict=True)])
        return self._places[indices]

    def _matrix(self, function: Any, args: tuple[Any, ...], row: _Place, place: _Place) -> tuple[Any, Any]:
        """The derivatives at a place: of the function, or of its gradient at the place ``row``."""
        if self.kind == "hessian":
            _check(place.of(args), f"argument {place.index}", place.index)
            function = self._gradient(function, row.wrt)
        return _Sweeps(function, args, place, self.native, self.has_aux, self.mode).found()

    def _gradient(self, function: Any, wrt: Any) -> Derivative:
        """The gradient, the same one in each call: what is known of it is known by what it is."""
        if function is not self.function:
            return grad(function, wrt, has_aux=self.has_aux)
        if wrt not in self._gradients:
            self._gradients[wrt] = grad(function, wrt, has_aux=self.has_aux)
        return self._gradients[wrt]

    def __repr__(self) -> str:
        return f"{self.kind}({getattr(self.function, '__name__', self.function)!s})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Jacobian, (self.kind, self.function, self.wrt, self.native, self.has_aux, self.mode)


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


def _check(x: Any, what: str, place: int | None) -> None:
    """Refuses what no matrix of derivatives is made of."""
    if has_structure(x):
        numbers_in(x, what)
    else:
        check_class(x, what)
        check_matrix_argument(x, place)


def _units(like: Any) -> list[Any]:
    """The unit tangents of a value."""
    if has_structure(like):
        return unit_tangents(like)
    if isinstance(like, np.ndarray):
        return list(np.eye(like.size, dtype=like.dtype).reshape(like.size, *like.shape))
    return [type(like)(1.0)]


def _size(x: Any) -> int:
    return numbers_in(x, "the result") if has_structure(x) else int(np.size(x))


@dataclass(frozen=True)
class _Sweeps:
    """Column by column, or row by row where the value has fewer entries than the argument.

    The function may write its arguments: the caller's are as after one call, the other calls are given copies. A
    derivative that is declared in one mode only decides which it is.
    """

    function: Any
    args: tuple[Any, ...]
    place: _Place
    native: Any
    has_aux: bool
    mode: Mode

    def found(self) -> tuple[Any, Any]:
        """The matrix, and what the function returns beside its value."""
        x = self.place.of(self.args)
        _check(x, f"argument {self.place.index}", self.place.index)
        if self.mode == "reverse":
            return self.by_rows(self.args)
        units = _units(x)
        if not units:
            value, aux = self.function(*self.args) if self.has_aux else (self.function(*self.args), None)
            return np.zeros(np.shape(value) + np.shape(x)), aux
        forwards = Forwards(self.function, self.args, self.native, self.has_aux)
        directions = [self.place.direction(self.args, unit) for unit in units]
        try:
            width = forwards.width(directions[0], len(units))
            columns = forwards(directions[:width], width)
        except DifferentiationError as refusal:
            if self.mode == "forward" or not _is_of_the_other_mode(refusal):
                raise
            return self.by_rows(self.args)
        value = forwards.value
        _check(value, "the result", None)
        if self.mode is None and 0 < _size(value) < len(units) - 1:
            try:
                with forwards.as_first():
                    return self.by_rows(forwards.point())
            except DifferentiationError as refusal:
                if not _is_of_the_other_mode(refusal):
                    raise
        columns += forwards(directions[width:], width)
        return _of_columns(value, x, columns), forwards.aux

    def by_rows(self, args: tuple[Any, ...]) -> tuple[Any, Any]:
        """Row by row, in reverse mode."""
        x = self.place.of(args)
        if is_exchanged():
            refuse_messages(reverse_form(self.function, args).function, "Jacobian")
        value, pullback, *aux = vjp(self.function, *args, native=self.native, has_aux=self.has_aux)
        _check(value, "the result", None)
        rows = [self.place.of(row) for row in pullback.each(_units(value))]
        return _of_rows(value, x, rows), aux[0] if aux else None


def _of_columns(value: Any, x: Any, columns: list[Any]) -> Any:
    if has_structure(value) or has_structure(x):
        return blocks(value, x, np.stack([component_vector(value, column) for column in columns], axis=-1))
    if not isinstance(x, np.ndarray):
        return np.asarray(columns[0]) if isinstance(value, np.ndarray) else np.asarray(columns[0])[()].item()
    return np.stack(columns, axis=-1).reshape(np.shape(value) + np.shape(x))


def _of_rows(value: Any, x: Any, rows: list[Any]) -> Any:
    if has_structure(value) or has_structure(x):
        count = numbers_in(x, "the argument") if has_structure(x) else int(np.size(x))
        found = [component_vector(x, row) for row in rows]
        return blocks(value, x, np.stack(found) if found else np.zeros((0, count)))
    if not isinstance(value, np.ndarray) and not isinstance(x, np.ndarray):
        return np.asarray(rows[0])[()].item()
    if not rows:
        return np.zeros(np.shape(value) + np.shape(x), np.result_type(x))
    return np.stack([np.asarray(row) for row in rows]).reshape(np.shape(value) + np.shape(x))


def _is_of_the_other_mode(refusal: DifferentiationError) -> bool:
    """Whether all that is in the way is that a derivative is declared in the other mode only."""
    return all(problem.code == "AD0208" for problem in refusal.diagnostics)
