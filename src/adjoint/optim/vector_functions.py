"""Functions of structures as functions of a vector, with Jacobians: what solvers ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.api.gradients import compile, grad, jacobian
from adjoint.api.jvp_vjp import vjp
from adjoint.api.raveling import ravel
from adjoint.api.sweeps.many_directions import jvps

Vector = np.ndarray[Any, Any]


def as_native(f: Callable[..., Any], native: bool | str | None) -> Any:
    """The choice that was made, or that which a function makes by itself: ``@njit`` functions are machine code."""
    return grad(f).native if native is None else native


def is_vector(x: Any) -> bool:
    """Whether a solver may have it as it is."""
    return isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype == np.float64


class VectorFunction:
    """A function as one from vectors to vectors, with its Jacobian.

    Parameters
    ----------
    f
        A function of ``x`` and ``args`` that returns a number, a list of numbers, or an array.
    x
        A value of its first argument: a number, an array, or a structure of them.
    args
        Its other arguments, which do not vary.
    sparsity
        Where the Jacobian may be other than zero; see :func:`adjoint.jacobian`.
    native
        Whether the function and the Jacobian become machine code.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        x: Any,
        args: tuple[Any, ...] = (),
        sparsity: Any = None,
        native: bool | str | None = None,
    ) -> None:
        start, unravel = (x, None) if is_vector(x) else ravel(x)
        self.start: Vector = start
        self.unravel: Callable[[Any], Any] = unravel or (lambda vector: vector)
        self.native = as_native(f, native)
        value = f(self.unravel(self.start.copy()), *args)
        self.size = int(np.size(value))
        if unravel is None and not args and is_vector(value):
            self.function = f
        elif unravel is None:
            self.function = lambda vector: np.ravel(np.asarray(f(vector, *args)))
        else:
            self.function = lambda vector: np.ravel(np.asarray(f(unravel(vector), *args)))
        self._run = compile(self.function, native=self.native) if self.native else self.function
        self._sparse = None if sparsity is None else jacobian(self.function, sparsity=sparsity, native=self.native)
        self._at: Vector | None = None
        self._found: tuple[Vector, Any] = (np.zeros(0), None)

    def value(self, vector: Vector) -> Vector:
        """What the function gives for a vector of shape ``(n,)``: an array of shape ``(m,)``."""
        return np.asarray(self._run(vector), float)

    def jacobian(self, vector: Vector) -> Any:
        """The Jacobian there: an array of shape ``(m, n)``, or a sparse one."""
        return self._both(vector)[1] if self._sparse is None else self._sparse(vector)

    def at_once(self, vector: Vector) -> tuple[Vector, Any]:
        """Both, computed together; they are remembered until they are asked for at another place."""
        if self._at is None or not np.array_equal(self._at, vector):
            self._found = self._both(vector) if self._sparse is None else (self.value(vector), self._sparse(vector))
            self._at = vector.copy()
        return self._found

    def _both(self, vector: Vector) -> tuple[Vector, Vector]:
        """By columns, or by rows where there are fewer of them."""
        if self.size < len(vector):
            value, pullback = vjp(self.function, vector, native=self.native)
            rows = pullback.each(list(np.eye(self.size)))
            return np.asarray(value), np.array([row for (row,) in rows]).reshape(self.size, len(vector))
        value, columns = jvps(self.function, (vector,), [(unit,) for unit in np.eye(len(vector))], native=self.native)
        return np.asarray(value), np.stack(columns, axis=-1)
