"""Matrices of derivatives of which it is known, or found, where they are zero: a few sweeps give all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint.api.derivative import LikeFunction
from adjoint.api.gradients import grad
from adjoint.api.jvp_vjp import vjp
from adjoint.api.sparse.local import LocalEntries, local_entries
from adjoint.api.sparse.patterns import KEPT, MOST_ENTRIES, Found, Patterns
from adjoint.api.sparse.plans import Plan, count_of, plan_of_hessian, plan_of_jacobian
from adjoint.api.sweeps.many_directions import Forwards, pulled_width
from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import entrance
from adjoint.frontend.calls.argument_names import resolve
from adjoint.records import dataclass

_TOLERANCE = 1e-6


@dataclass(eq=False, slots=True)
class Structure:
    """A pattern with the plan of the sweeps that find its entries.

    Attributes
    ----------
    pattern
        A matrix of truths in compressed rows.
    plan
        The sweeps.
    found
        Where the pattern was found, and not given.
    checked
        Whether it was compared with the derivative in a direction.
    local
        What fills in entries iteration by iteration, or why there is no such thing. Then there is no plan.
    prototype
        A matrix with the pattern, of which others are shallow copies.
    """

    pattern: Any
    plan: Plan | None
    found: Found | None = None
    checked: bool = False
    local: LocalEntries | str = "the pattern was given"
    prototype: Any = None

    def __post_init__(self) -> None:
        self.prototype = self.pattern.astype(float)
        self.prototype.has_canonical_format  # noqa: B018  # looked at once, and kept


class SparseDerivative(LikeFunction):
    """The Jacobian or the Hessian of a function as a sparse matrix.

    Parameters
    ----------
    kind
        ``"jacobian"`` or ``"hessian"``.
    function, wrt, native
        As those of :func:`adjoint.jacobian`; ``wrt`` is one argument.
    pattern
        Where entries may be other than zero: a matrix of SciPy, or an array, of shape ``(m, n)`` for a result of
        ``m`` numbers and an argument of ``n``, in the order of ``ravel``; ``"auto"`` to find it.
    """

    def __init__(self, kind: str, function: Callable[..., Any], wrt: Any, native: Any, pattern: Any) -> None:
        self.kind = kind
        self.function = function
        self.wrt = wrt
        self.native = native
        self.given = pattern
        self._patterns = Patterns(kind, native, MOST_ENTRIES) if _is_auto(pattern) else None
        self._known: list[Structure] = []
        if self._patterns is None:
            self._known.append(_structure(kind, _matrix(pattern, kind)))
        self._describe()

    @property
    def __adjoint_operator__(self) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
        return self.kind, self.function, (("wrt", self.wrt),)

    @property
    def structure(self) -> Structure:
        """The pattern and the plan of the latest call."""
        if not self._known:
            raise _misfit("no pattern is found yet: it is at the first call")
        return self._known[0]

    @property
    def pattern(self) -> Any:
        """The pattern that was given, or that of the latest call."""
        return self.structure.pattern

    @property
    def plan(self) -> Plan:
        """The sweeps of the latest call; for a local function, those that would be made else."""
        structure = self.structure
        return structure.plan or _plan(self.kind, structure.pattern)

    @property
    def sweeps(self) -> int:
        """How many sweeps each call makes: none if the function is local."""
        return 0 if self.structure.plan is None else sum(self.plan.counts)

    @entrance
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The matrix, in compressed rows (``scipy.sparse.csr_array``)."""
        function, arguments, (place,) = resolve(self.function, self.wrt, args, kwargs)
        structure = self._structure_for(function, tuple(arguments), place)
        return as_matrix(structure, self._values(structure, function, tuple(arguments), place))

    @entrance
    def at(self, *args: Any, **kwargs: Any) -> At:
        """The derivative for all calls that are like this one: with its pattern.

        The arguments are those of the function. Calls are alike if shapes and whole numbers are the same.

        Examples
        --------
        >>> import adjoint as ad, numpy as np
        >>> def f(x):
        ...     return x[1:] * x[:-1]
        >>> at = ad.jacobian(f, sparsity="auto").at(np.ones(3))
        >>> at.rows, at.cols
        (array([0, 0, 1, 1]), array([0, 1, 1, 2]))
        >>> at.values(np.array([1.0, 2.0, 3.0]))
        array([2., 1., 3., 2.])
        """
        function, arguments, (place,) = resolve(self.function, self.wrt, args, kwargs)
        return At(self, self._structure_for(function, tuple(arguments), place))

    @entrance
    def everywhere(self, *args: Any, **kwargs: Any) -> At:
        """The derivative for all calls whose whole numbers and shapes are those of this one.

        As :meth:`at`, for who needs one pattern in advance, such as a solver: it has all entries, where floats of the
        arguments decide on what :meth:`at` would give.

        Raises
        ------
        DifferentiationError
            AD0412 if these are too many.

        Examples
        --------
        >>> import adjoint as ad, numpy as np
        >>> def f(x):
        ...     return x[int(x[0])] * x[1:]
        >>> jac = ad.jacobian(f, sparsity="auto")
        >>> len(jac.at(np.ones(3)).rows), len(jac.everywhere(np.ones(3)).rows)
        (3, 6)
        """
        at = self.at(*args, **kwargs)
        m, n = at.shape
        found = at._found
        if found is None or (found.key is not None and found.level == 0):
            return at
        if m * n > MOST_ENTRIES:
            raise _misfit(f"floats decide on it by {', '.join(found.reasons)}; a dense one has {m * n} entries")
        dense = SparseDerivative(self.kind, self.function, self.wrt, self.native, np.ones((m, n), bool))
        return dense.at(*args, **kwargs)

    def _structure_for(self, function: Any, arguments: tuple[Any, ...], place: int) -> Structure:
        """The structure for a call; one whose plan is known, where its pattern is that."""
        argument = arguments[place]
        if self._patterns is None:
            if np.size(argument) != self.pattern.shape[1]:
                said = f"the argument has {np.size(argument)} numbers, the pattern {self.pattern.shape[1]} columns"
                raise _misfit(said)
            return self.structure
        found = self._patterns.of(function, arguments, place)
        if self._known and self._known[0].found is found:
            return self._known[0]
        for known in self._known:
            if known.found is found or (known.plan is not None and _is_same(known.pattern, found)):
                known.found = found
                break
        else:
            local = local_entries(self.kind, function, arguments, place, self.native, found)
            if isinstance(local, str):
                known = _structure(self.kind, found.matrix())
                known.local = local
            else:
                known = Structure(local.matrix, None, local=local)
            known.found = found
        self._known = [known, *[each for each in self._known if each is not known][: KEPT - 1]]
        return known

    def _values(self, structure: Structure, function: Any, arguments: tuple[Any, ...], place: int) -> np.ndarray:
        """The entries, in compressed rows; a new structure is compared with the derivative in a direction."""
        if structure.plan is None and structure.checked:
            assert isinstance(structure.local, LocalEntries)
            return structure.local.values(arguments)
        sweep = _Sweep(self.kind, function, arguments, place, self.native)
        rows = structure.pattern.shape[0]
        if structure.plan is None:
            assert isinstance(structure.local, LocalEntries)
            values = structure.local.values(arguments)
        else:
            values = structure.plan.values(sweep.products(structure.plan, lambda result: _check_rows(result, rows)))
        if not structure.checked:
            _check(sweep, as_matrix(structure, values))
            structure.checked = True
        return values

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", self.function)
        if not self._known:
            return f"{self.kind}({name!s}, sparsity='auto')"
        rows, columns = self.pattern.shape
        if self.structure.plan is None:
            return f"{self.kind}({name!s}, sparsity={rows} x {columns} in local entries)"
        forwards, backwards = self.plan.counts
        both = f"{forwards} forwards and {backwards} backwards" if forwards and backwards else f"{self.sweeps} sweeps"
        return f"{self.kind}({name!s}, sparsity={rows} x {columns} in {both})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseDerivative, (self.kind, self.function, self.wrt, self.native, self.given)


class At:
    """A sparse derivative with the pattern of one call; what :meth:`SparseDerivative.at` gives.

    Attributes
    ----------
    rows, cols
        Where each entry stands, of shape ``(entries,)``, row by row.
    indptr
        Where each row begins, of shape ``(m + 1,)``.
    shape
        The shape of the matrix, ``(m, n)``.
    method
        ``"local"`` if each iteration of the function's loops fills in the entries of what it reads and stores,
        ``"colouring"`` if sweeps find several columns together.
    why
        Why the function is not local.
    reasons
        What the pattern depends on besides whole numbers and shapes.
    """

    def __init__(self, derivative: SparseDerivative, structure: Structure) -> None:
        pattern = structure.pattern
        self._derivative = derivative
        self._structure = structure
        self._found = structure.found
        self.rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        self.cols = pattern.indices
        self.indptr = pattern.indptr
        self.shape = pattern.shape
        self.reasons = () if self._found is None else self._found.reasons
        local = structure.local
        self.method = "colouring" if isinstance(local, str) else "local"
        self.why = local if isinstance(local, str) else ""

    @entrance
    def values(self, *args: Any, out: np.ndarray | None = None, check: bool = True, **kwargs: Any) -> np.ndarray:
        """The entries for arguments.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the function.
        out
            An array of shape ``(entries,)`` that takes them.
        check
            Whether it is seen to that shapes and whole numbers are those for which the pattern holds. That takes longer
            than the entries of a small problem. Without it, calls of a local function take all its arguments by
            position.

        Raises
        ------
        DifferentiationError
            AD0412 if the pattern of these arguments is another one.
        """
        derivative = self._derivative
        local = self._structure.local
        if not check and self._structure.checked and not isinstance(local, str) and not kwargs:
            return local.values(args, out)
        function, arguments, (place,) = resolve(derivative.function, derivative.wrt, args, kwargs)
        structure = derivative._structure_for(function, tuple(arguments), place)
        if structure is not self._structure:
            helps = ("ask for it anew: jac.at(...)", "ask for one that holds for all floats: jac.everywhere(...)")
            raise error("AD0412", None, "for these arguments it is another one", helps=helps)
        found = derivative._values(structure, function, tuple(arguments), place)
        if out is None:
            return found
        out[:] = found
        return out

    def matrix(self, *args: Any, **kwargs: Any) -> Any:
        """The matrix for arguments (``scipy.sparse.csr_array``)."""
        return as_matrix(self._structure, self.values(*args, **kwargs))

    def __repr__(self) -> str:
        return f"<{self._derivative!r} with {len(self.cols)} entries>"


def as_matrix(structure: Structure, values: np.ndarray) -> Any:
    """Entries as a matrix; its pattern is its own."""
    prototype, pattern = structure.prototype, structure.pattern
    matrix = object.__new__(type(prototype))  # the constructor would look at the pattern anew
    matrix.__dict__.update(prototype.__dict__)
    matrix.data, matrix.indices, matrix.indptr = values, pattern.indices.copy(), pattern.indptr.copy()
    return matrix


def _structure(kind: str, pattern: Any) -> Structure:
    return Structure(pattern, _plan(kind, pattern))


def _plan(kind: str, pattern: Any) -> Plan:
    return plan_of_hessian(pattern) if kind == "hessian" else plan_of_jacobian(pattern)


def _is_auto(pattern: Any) -> bool:
    is_matrix = hasattr(pattern, "shape") or isinstance(pattern, (list, tuple))
    if not is_matrix and not (isinstance(pattern, str) and pattern == "auto"):
        raise _misfit(f"sparsity={pattern!r} is no pattern: give a matrix, or 'auto'")
    return isinstance(pattern, str)


def _is_same(pattern: Any, found: Found) -> bool:
    return (
        pattern.shape == found.shape
        and len(pattern.indices) == len(found.indices)
        and bool(np.array_equal(pattern.indptr, found.indptr) and np.array_equal(pattern.indices, found.indices))
    )


def _check_rows(result: np.ndarray, rows: int) -> None:
    if np.size(result) != rows:
        raise _misfit(f"the result has {np.size(result)} numbers, the pattern {rows} rows")


def _check(sweep: _Sweep, found: Any) -> None:
    """Compares the product with a direction: an entry that the pattern lacks shows in it."""
    direction = np.random.default_rng(0).uniform(0.5, 1.5, found.shape[1])
    expected, product = sweep.forward(direction), found @ direction
    scale = abs(found) @ direction + np.abs(expected)
    finite = np.isfinite(expected) & np.isfinite(product)
    with np.errstate(invalid="ignore"):
        wrong = finite & ~(np.abs(product - expected) <= _TOLERANCE * (scale + 1e-300))
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise _misfit(f"row {row} depends on an entry of the argument for which the pattern has none")


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
