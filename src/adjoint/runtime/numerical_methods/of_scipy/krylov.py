"""Systems of linear equations that SciPy's iterative solvers solve, and those that their derivatives ask for.

A derivative is asked for to full precision, whatever the precision of the solution: its solver goes on until the
residual is small, without the bounds of the first. Where it does not get there, the system is solved directly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, linalg

from adjoint.runtime.numerical_methods.implicit import TOLERANCE, solvable
from adjoint.runtime.numerical_methods.of_scipy.sparse import factored_solution

PRECISION = 1e-10
"""How small the residual of a derivative's system is to be, relative to its right side."""
OF_BOTH = (linalg.bicg, linalg.qmr)
"""Solvers that ask for products with the transpose, too."""
_OF_THE_FIRST = ("x0", "maxiter", "rtol", "atol", "show", "check")
"""Options of a solver that do not count for the systems of derivatives."""


def iterated_solution(
    data: Any, rows: Any, cols: Any, shape: Any, b: Any, solver: Any, options: Any, turned: bool = False
) -> Any:
    """The solution that an iterative solver of SciPy finds.

    Raises
    ------
    RuntimeError
        If it does not converge.

    >>> two = np.array([2.0, 4.0])
    >>> iterated_solution(two, [0, 1], [0, 1], (2, 2), two, linalg.cg, {"rtol": 1e-9}).round(6).tolist()
    [1.0, 1.0]
    """
    return _converged(solver, _by_rows(data, rows, cols, shape, turned), b, options)


def exact_iterated_solution(
    data: Any, rows: Any, cols: Any, shape: Any, b: Any, solver: Any, options: Any, turned: bool = False
) -> Any:
    """The same to full precision, or that of the transpose.

    >>> two = np.array([2.0, 4.0])
    >>> exact_iterated_solution(two, [0, 1], [0, 1], (2, 2), two, linalg.cg, {}).round(6).tolist()
    [1.0, 1.0]
    """
    matrix = _by_rows(data, rows, cols, shape, turned)
    found = _precise(solver, matrix, b, options, PRECISION)
    return np.asarray(linalg.splu(csc_matrix(matrix)).solve(b)) if found is None else found


def incomplete_solution(data: Any, rows: Any, cols: Any, shape: Any, b: Any, options: Any, turned: bool = False) -> Any:
    """What incomplete factors of a matrix give for the solution.

    >>> incomplete_solution(np.array([2.0, 4.0]), [0, 1], [0, 1], (2, 2), np.array([2.0, 2.0]), {}).tolist()
    [1.0, 0.5]
    """
    factors = linalg.spilu(csc_matrix((data, (rows, cols)), shape=shape), **options)
    return np.asarray(factored_solution(factors, b, turned))


def _by_rows(data: Any, rows: Any, cols: Any, shape: Any, turned: bool) -> Any:
    matrix = csr_matrix((data, (rows, cols)), shape=shape)
    return csr_matrix(matrix.T) if turned else matrix


def solution_by_products(told: Any, exactly: Any, solver: Any, count: int, options: Any) -> Any:
    """The same with a linear operator.

    Of a vector, ``told`` gives the product of the operator with it, the right side, perhaps the product of the
    transpose, which some solvers ask for, and perhaps that of a preconditioner, and of its transpose.

    >>> twice = lambda x: (2.0 * x, np.ones(3))
    >>> solution_by_products(twice, exact_solution, linalg.cg, 3, {}).tolist()
    [0.5, 0.5, 0.5]
    """
    return _converged(solver, *_problem(told, solver, count, options))


def exact_solution(told: Any, exactly: Any, solver: Any, count: int, options: Any, found: Any, missed: Any) -> Any:
    """The same to full precision.

    Where the derivative is that of a solution that was found, its residual tells whether it is one.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the operator is singular.
    ValueError
        If the solution is none.

    >>> exact_solution(lambda x: (2.0 * x, np.ones(3)), None, linalg.cg, 3, {}, None, None).tolist()
    [0.5, 0.5, 0.5]
    """
    matrix, b, given = _problem(told, solver, count, options)
    if found is None or _is_known(solver, matrix, given, found, missed):
        solution = _precise(solver, matrix, b, given, PRECISION)
        if solution is not None:
            return solution
    whole = np.stack([matrix.matvec(unit) for unit in np.eye(count)], axis=1)
    known = (np.zeros(count), np.zeros(count)) if found is None else (missed, found)
    return np.linalg.solve(solvable(whole, *known), b)


def _is_known(solver: Any, matrix: Any, options: Any, found: Any, missed: Any) -> bool:
    """Whether an operator has an inverse, by a system with a random right side, and what was found is a solution.

    The random vector has a part in each direction, that of a singular operator, too. What the residual says of the
    distance to the solution comes from the same system.
    """
    n = len(found)
    noise = np.random.default_rng(0).normal(size=n)
    size = np.linalg.norm(missed)
    right = noise / np.linalg.norm(noise) + (missed / size if size > 0.0 else 0.0)
    moved = _precise(solver, matrix, right, options, 0.01 / np.sqrt(n))
    return moved is not None and bool(np.linalg.norm(moved) * size <= TOLERANCE * (1.0 + np.linalg.norm(found)))


def _problem(told: Any, solver: Any, count: int, options: Any) -> Any:
    """The operator, the right side, and the options, of what the function tells."""
    known = told(np.zeros(count))
    products = [(lambda x, k=k: told(np.ravel(x))[k]) for k in (0, *range(2, len(known)))]
    forms = [products[i : i + 2] for i in (0, 2)] if solver in OF_BOTH else [[product] for product in products]
    matrix, *helping = [linalg.LinearOperator((count, count), *form, dtype=float) for form in forms if form]
    given = {name: value for name, value in options.items() if value is not None}
    return matrix, known[1], {**given, **({"M": helping[0]} if helping else {})}


def _converged(solver: Any, matrix: Any, b: Any, options: Any) -> Any:
    found, told = solver(matrix, b, **options)
    if told != 0:
        raise RuntimeError(f"{solver.__name__} did not converge: it tells {told}")
    return found


def _precise(solver: Any, matrix: Any, b: Any, options: Any, precision: float) -> Any:
    """A solution with so small a residual, or None."""
    rest = {name: value for name, value in options.items() if name not in _OF_THE_FIRST}
    tolerance = {"rtol": 1e-15} if solver is linalg.minres else {"rtol": 0.1 * precision, "atol": 0.0}
    try:
        with np.errstate(all="ignore"):  # a solver that breaks down
            found = solver(matrix, b, **tolerance, **rest)[0]
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        return None
    is_near = np.linalg.norm(matrix @ found - b) <= precision * np.linalg.norm(b)  # False of what is not finite
    return found if is_near else None
