"""Matrices of derivatives of which it is known where they are zero: a few sweeps give all of them.

Columns without a common row need only one sweep together: their entries do not mix [1]_. So do rows without a common
column, in reverse mode. Groups are found greedily, the fullest columns first.

.. [1] Curtis, Powell, Reid, "On the estimation of sparse Jacobian matrices", J. Inst. Math. Appl. 13 (1974).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adjoint.api.gradients import LikeFunction, grad
from adjoint.api.jvp_vjp import vjp
from adjoint.api.many_directions import Forwards, pulled_width
from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import entrance
from adjoint.frontend.calls.argument_names import resolve

REVERSE_COSTS = 2.0
"""How many sweeps forwards a sweep backwards is worth."""
_TOLERANCE = 1e-6


def groups_of_columns(pattern: Any) -> np.ndarray:
    """A group for each column of a sparse matrix, so that no two columns of a group have a common row.

    Parameters
    ----------
    pattern
        A matrix of SciPy in compressed columns, of shape ``(m, n)``.

    Returns
    -------
    numpy.ndarray
        The number of the group of each column, of shape ``(n,)``.
    """
    rows, columns = pattern.shape
    taken = np.zeros((rows, 1), dtype=np.uint64)
    groups = np.zeros(columns, dtype=np.intp)
    starts, places = pattern.indptr, pattern.indices
    for column in np.argsort(-np.diff(starts), kind="stable"):
        own = places[starts[column] : starts[column + 1]]
        word, bit = _first_free(np.bitwise_or.reduce(taken[own], axis=0))
        if word == taken.shape[1]:
            taken = np.concatenate((taken, np.zeros((rows, 1), dtype=np.uint64)), axis=1)
        taken[own, word] |= np.uint64(1) << np.uint64(bit)
        groups[column] = 64 * word + bit
    return groups


def _first_free(used: np.ndarray) -> tuple[int, int]:
    for word, bits in enumerate(used.tolist()):
        if bits != 0xFFFF_FFFF_FFFF_FFFF:
            return word, (~bits & (bits + 1)).bit_length() - 1
    return len(used), 0


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
        self.by_columns = _matrix(pattern, kind)
        self.columns = groups_of_columns(self.by_columns)
        self.rows = groups_of_columns(self.by_columns.T.tocsc()) if kind == "jacobian" else None
        self.checked = False
        self._describe()

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        return self.kind, self.function, (("wrt", self.wrt),)

    @property
    def sweeps(self) -> int:
        """How many sweeps each call makes."""
        assert self.rows is None or len(self.rows) == self.by_columns.shape[0]
        return _count(self.rows) if self.rows is not None and self.is_reverse else _count(self.columns)

    @property
    def is_reverse(self) -> bool:
        """Whether the sweeps are backwards."""
        return self.rows is not None and REVERSE_COSTS * _count(self.rows) < _count(self.columns)

    @entrance
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The matrix, in compressed rows (``scipy.sparse.csr_array``)."""
        function, arguments, (place,) = resolve(self.function, self.wrt, args, kwargs)
        argument = arguments[place]
        if np.size(argument) != self.by_columns.shape[1]:
            raise _misfit(
                f"the argument has {np.size(argument)} numbers, the pattern {self.by_columns.shape[1]} columns"
            )
        sweep = _Sweep(self.kind, function, tuple(arguments), place, self.native)
        found = self._by_rows(sweep) if self.is_reverse else self._by_columns(sweep)
        if not self.checked:
            self._check(sweep, found)
            self.checked = True
        return found

    def _by_columns(self, sweep: _Sweep) -> Any:
        from scipy.sparse import csc_array  # lazy

        pattern = self.by_columns
        values = np.zeros(pattern.nnz)
        column_of = np.repeat(np.arange(pattern.shape[1]), np.diff(pattern.indptr))
        group_of = self.columns[column_of]
        for group, product in enumerate(sweep.forwards(self.columns)):
            self._check_rows(product)
            mine = group_of == group
            values[mine] = product[pattern.indices[mine]]
        return csc_array((values, pattern.indices, pattern.indptr), shape=pattern.shape).tocsr()

    def _by_rows(self, sweep: _Sweep) -> Any:
        from scipy.sparse import csr_array  # lazy

        assert self.rows is not None
        pattern = self.by_columns.tocsr()
        values = np.zeros(pattern.nnz)
        row_of = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        group_of = self.rows[row_of]
        for group, product in enumerate(sweep.backwards(self.rows, self._check_rows)):
            mine = group_of == group
            values[mine] = product[pattern.indices[mine]]
        return csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)

    def _check_rows(self, result: np.ndarray) -> None:
        count, rows = np.size(result), self.by_columns.shape[0]
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
        rows, columns = self.by_columns.shape
        name = getattr(self.function, "__name__", self.function)
        return f"{self.kind}({name!s}, sparsity={rows} x {columns} in {self.sweeps} sweeps)"

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

    def forwards(self, groups: np.ndarray) -> Iterator[np.ndarray]:
        """The products with the indicator of each group."""
        width = self.sweeps.width(self._way((groups == 0).astype(float)), _count(groups))
        for units in _units(groups, width):
            yield from map(np.ravel, self.sweeps([self._way(unit) for unit in units], width))

    def backwards(self, groups: np.ndarray, check: Callable[[np.ndarray], None]) -> Iterator[np.ndarray]:
        """The products of the transpose with the indicator of each group."""
        with self.sweeps.as_first():
            value, pullback = vjp(self.function, *self.sweeps.point(), native=self.native)
        check(np.ravel(value))
        width = pulled_width(pullback, _count(groups))
        for units in _units(groups, width):
            found = pullback.each([_as(unit, np.asarray(value)) for unit in units], width)
            yield from (np.ravel(cotangents[self.place]) for cotangents in found)

    def _way(self, direction: np.ndarray) -> list[Any]:
        moved = _as(direction, np.asarray(self.arguments[self.place]))
        return [moved if i == self.place else None for i in range(len(self.arguments))]


def _units(groups: np.ndarray, width: int) -> Iterator[list[np.ndarray]]:
    """The indicators of groups, so many at a time."""
    count = _count(groups)
    for start in range(0, count, width):
        yield [(groups == group).astype(float) for group in range(start, min(start + width, count))]


def _as(direction: np.ndarray, like: np.ndarray) -> Any:
    """A direction of the shape and dtype of a value."""
    return direction.astype(like.dtype).reshape(like.shape) if like.ndim else float(direction[0])


def _count(groups: Sequence[int] | np.ndarray) -> int:
    return int(np.max(groups)) + 1 if len(groups) else 0


def _matrix(pattern: Any, kind: str) -> Any:
    """The pattern in compressed columns, with sorted rows and without doubled entries."""
    from scipy.sparse import csc_array  # lazy

    matrix = csc_array(pattern != 0 if isinstance(pattern, np.ndarray) else pattern, dtype=bool)
    if matrix.ndim != 2 or (kind == "hessian" and matrix.shape[0] != matrix.shape[1]):
        raise _misfit(f"its shape is {matrix.shape}")
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix


def _misfit(label: str) -> Exception:
    return error("AD0412", None, label)
