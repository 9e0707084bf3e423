"""Matrices of derivatives of which it is known where they are zero: a few sweeps give all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint.api.gradients import LikeFunction, grad
from adjoint.api.jvp_vjp import vjp
from adjoint.api.many_directions import Forwards, pulled_width
from adjoint.api.sparse.plans import Plan, count_of, plan_of_hessian, plan_of_jacobian
from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import entrance
from adjoint.frontend.calls.argument_names import resolve

_TOLERANCE = 1e-6


class SparseDerivative(LikeFunction):
    """The Jacobian or the Hessian of a function as a sparse matrix of known pattern.

    Parameters
    ----------
    kind
        ``"jacobian"`` or ``"hessian"``.
    function, wrt, native
        As those of :func:`adjoint.jacobian`; ``wrt`` is one argument.
    pattern
        Where entries may be other than zero: a matrix of SciPy, or an array, of shape ``(m, n)`` for a result of
        ``m`` numbers and an argument of ``n``, in the order of ``ravel``.
    """

    def __init__(self, kind: str, function: Callable[..., Any], wrt: Any, native: Any, pattern: Any) -> None:
        self.kind = kind
        self.function = function
        self.wrt = wrt
        self.native = native
        self.given = pattern
        self.pattern = _matrix(pattern, kind)
        self.plan = plan_of_hessian(self.pattern) if kind == "hessian" else plan_of_jacobian(self.pattern)
        self.checked = False
        self._describe()

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        return self.kind, self.function, (("wrt", self.wrt),)

    @property
    def sweeps(self) -> int:
        """How many sweeps each call makes."""
        return sum(self.plan.counts)

    @entrance
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The matrix, in compressed rows (``scipy.sparse.csr_array``)."""
        function, arguments, (place,) = resolve(self.function, self.wrt, args, kwargs)
        argument = arguments[place]
        if np.size(argument) != self.pattern.shape[1]:
            raise _misfit(f"the argument has {np.size(argument)} numbers, the pattern {self.pattern.shape[1]} columns")
        sweep = _Sweep(self.kind, function, tuple(arguments), place, self.native)
        found = self._matrix(sweep)
        if not self.checked:
            self._check(sweep, found)
            self.checked = True
        return found

    def _matrix(self, sweep: _Sweep) -> Any:
        from scipy.sparse import csr_array  # lazy

        values = self.plan.values(sweep.products(self.plan, self._check_rows))
        return csr_array((values, self.pattern.indices, self.pattern.indptr), shape=self.pattern.shape)

    def _check_rows(self, result: np.ndarray) -> None:
        count, rows = np.size(result), self.pattern.shape[0]
        if count != rows:
            raise _misfit(f"the result has {count} numbers, the pattern {rows} rows")

    def _check(self, sweep: _Sweep, found: Any) -> None:
        """Compares the product with a direction: an entry that the pattern lacks shows in it."""
        direction = np.random.default_rng(0).uniform(0.5, 1.5, found.shape[1])
        expected, product = sweep.forward(direction), found @ direction
        scale = abs(found) @ direction + np.abs(expected)
        wrong = ~np.isclose(product, expected, rtol=0.0, atol=_TOLERANCE * (scale + 1e-300), equal_nan=True)
        finite = np.isfinite(expected) & np.isfinite(product)
        if np.any(wrong & finite):
            row = int(np.argmax(wrong & finite))
            raise _misfit(f"row {row} depends on an entry of the argument for which the pattern has none")

    def __repr__(self) -> str:
        rows, columns = self.pattern.shape
        name = getattr(self.function, "__name__", self.function)
        forwards, backwards = self.plan.counts
        both = f"{forwards} forwards and {backwards} backwards" if forwards and backwards else f"{self.sweeps} sweeps"
        return f"{self.kind}({name!s}, sparsity={rows} x {columns} in {both})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseDerivative, (self.kind, self.function, self.wrt, self.native, self.given)


class _Sweep:
    """Products of the matrix with vectors; each is given arguments as they were."""

    def __init__(self, kind: str, function: Any, arguments: tuple[Any, ...], place: int, native: Any) -> None:
        self.function = grad(function, place, native=native) if kind == "hessian" else function
        self.arguments = arguments
        self.place = place
        self.native = native
        self.sweeps = Forwards(self.function, arguments, native)

    def forward(self, direction: np.ndarray) -> np.ndarray:
        return np.ravel(self.sweeps([self._way(direction)])[0])

    def products(self, plan: Plan, check: Callable[[np.ndarray], None]) -> Iterator[np.ndarray]:
        """What the sweeps of a plan give; the result of the function is checked, as soon as there is one."""
        if count_of(plan.forwards):
            for product in self._forwards(plan.forwards):
                check(product)
                yield product
        if count_of(plan.backwards):
            yield from self._backwards(plan.backwards, check)

    def _forwards(self, groups: np.ndarray) -> Iterator[np.ndarray]:
        """The products with the indicator of each group."""
        width = self.sweeps.width(self._way((groups == 0).astype(float)), count_of(groups))
        for units in _units(groups, width):
            yield from map(np.ravel, self.sweeps([self._way(unit) for unit in units], width))

    def _backwards(self, groups: np.ndarray, check: Callable[[np.ndarray], None]) -> Iterator[np.ndarray]:
        """The products of the transpose with the indicator of each group."""
        with self.sweeps.as_first():
            value, pullback = vjp(self.function, *self.sweeps.point(), native=self.native)
        check(np.ravel(value))
        width = pulled_width(pullback, count_of(groups))
        for units in _units(groups, width):
            found = pullback.each([_as(unit, np.asarray(value)) for unit in units], width)
            yield from (np.ravel(cotangents[self.place]) for cotangents in found)

    def _way(self, direction: np.ndarray) -> list[Any]:
        moved = _as(direction, np.asarray(self.arguments[self.place]))
        return [moved if i == self.place else None for i in range(len(self.arguments))]


def _units(groups: np.ndarray, width: int) -> Iterator[list[np.ndarray]]:
    """The indicators of groups, so many at a time."""
    count = count_of(groups)
    for start in range(0, count, width):
        yield [(groups == group).astype(float) for group in range(start, min(start + width, count))]


def _as(direction: np.ndarray, like: np.ndarray) -> Any:
    """A direction of the shape and dtype of a value."""
    return direction.astype(like.dtype).reshape(like.shape) if like.ndim else float(direction[0])


def _matrix(pattern: Any, kind: str) -> Any:
    """The pattern in compressed rows, with sorted columns and without doubled entries."""
    from scipy.sparse import csr_array  # lazy

    matrix = csr_array(pattern != 0 if isinstance(pattern, np.ndarray) else pattern, dtype=bool)
    if matrix.ndim != 2 or (kind == "hessian" and matrix.shape[0] != matrix.shape[1]):
        raise _misfit(f"its shape is {matrix.shape}")
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix


def _misfit(label: str) -> Exception:
    return error("AD0412", None, label)
