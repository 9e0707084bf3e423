"""Ipopt in one call: derivatives, also sparse ones and those of the Lagrangian, are made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adjoint.api.gradients import compile, grad, hessian, jacobian
from adjoint.diagnostics import DifferentiationError
from adjoint.optim.vector_functions import Vector, VectorFunction, as_native

Native = bool | str | None
_SOLVED = (0, 1)
_UNDEFINED = -13
_WORDS = {
    0: "solved",
    1: "solved to the acceptable tolerance",
    2: "the constraints cannot be met",
    3: "the step became too small",
    4: "the iterates diverge",
    5: "stopped by the user",
    -1: "too many iterations",
    -2: "the restoration of feasibility failed",
    -3: "no step could be computed",
    -4: "too much time",
    -10: "there are more equations than unknowns",
    _UNDEFINED: "a function raised, or gave a value that is not a number",
}


def nlp(
    f: Callable[..., Any],
    g: Callable[..., Any] | None,
    x0: Any,
    *,
    lower: Any = -np.inf,
    upper: Any = np.inf,
    g_lower: Any = 0.0,
    g_upper: Any = 0.0,
    args: tuple[Any, ...] = (),
    sparsity: Any = None,
    hessian_sparsity: Any = None,
    native: Native = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """The smallest ``f(x, *args)`` with ``g_lower <= g(x, *args) <= g_upper`` and ``lower <= x <= upper``, by Ipopt.

    Parameters
    ----------
    f
        A function that returns a number.
    g
        A function that returns a number, a list of numbers, or an array, of ``m`` numbers; None for no constraints.
    x0
        Where to start: a number, an array, or a structure of them, with ``n`` numbers in all. It is not changed.
    lower, upper
        Bounds of ``x``: numbers, or arrays of shape ``(n,)``.
    g_lower, g_upper
        Bounds of ``g``: numbers, or arrays of shape ``(m,)``. By default ``g(x) = 0``.
    args
        The other arguments of both functions.
    sparsity
        Where the Jacobian of ``g``, of shape ``(m, n)``, may be other than zero, ``"auto"`` to find
        it; by default anywhere. See :func:`adjoint.jacobian`.
    hessian_sparsity
        Where the Hessian of the Lagrangian ``f + multipliers @ g``, of shape ``(n, n)``, may be other than zero;
        ``"auto"`` to find it; by default anywhere. See :func:`adjoint.hessian`.
    native
        Whether the functions and their derivatives are machine code.
    options
        What Ipopt is told: ``{"tol": 1e-10, "max_iter": 200}``. It prints nothing but what ``print_level`` asks for.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` in the structure of ``x0``, ``fun``, ``success``, ``status`` and ``message``, the ``multipliers`` of the
        constraints, of shape ``(m,)``, those of the bounds, ``multipliers_lower`` and ``multipliers_upper``, ``(n,)``.

    Raises
    ------
    DifferentiationError
        If a function cannot be differentiated, or a pattern does not fit.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def cost(x):
    ...     return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]
    >>> def limits(x):
    ...     return [x[0] * x[1] * x[2] * x[3], np.sum(x * x)]
    >>> start = np.array([1.0, 5.0, 5.0, 1.0])
    >>> bounds = {"lower": 1.0, "upper": 5.0, "g_lower": [25.0, 40.0], "g_upper": [np.inf, 40.0]}
    >>> found = ad.nlp(cost, limits, start, **bounds)  # doctest: +SKIP
    >>> found.x.round(4), round(found.fun, 4)  # doctest: +SKIP
    (array([1.    , 4.743 , 3.8211, 1.3794]), 17.014)
    """
    import ipyopt  # lazy
    from scipy.optimize import OptimizeResult  # lazy

    make: Any = ipyopt.Problem  # its types do not know of lists of arrays that are unpacked

    problem = _Problem(f, g, x0, args, sparsity, hessian_sparsity, as_native(f, native))
    n, m = len(problem.start), problem.size
    solver = make(
        n,
        *[np.array(np.broadcast_to(each, (n,)), float) for each in (lower, upper)],
        m,
        *[np.array(np.broadcast_to(each, (m,)), float) for each in (g_lower, g_upper)],
        (problem.jacobian.rows.astype(int), problem.jacobian.cols.astype(int)),
        tuple([where[problem.is_lower].astype(int) for where in (problem.hessian.rows, problem.hessian.cols)]),
        problem.safely(problem.value),
        problem.safely(problem.write_gradient),
        problem.safely(problem.write_constraints),
        problem.safely(problem.write_jacobian),
        problem.safely(problem.write_hessian),
        intermediate_callback=lambda *_: problem.failure is None,
        ipopt_options={"print_level": 0, "sb": "yes", **(options or {})},
    )
    multipliers, at_lower, at_upper = np.zeros(m), np.zeros(n), np.zeros(n)
    x, value, status = solver.solve(problem.start.copy(), mult_g=multipliers, mult_x_L=at_lower, mult_x_U=at_upper)
    failure = problem.failure or (problem.undefined if status == _UNDEFINED else None)
    if failure is not None:
        raise failure
    return OptimizeResult(
        x=problem.unravel(x),
        fun=float(value),
        success=status in _SOLVED,
        status=int(status),
        message=_WORDS.get(int(status), "Ipopt stopped"),
        multipliers=multipliers,
        multipliers_lower=at_lower,
        multipliers_upper=at_upper,
    )


class _Problem:
    """What Ipopt asks for, as functions of vectors; exceptions are kept, as Ipopt knows none."""

    def __init__(
        self,
        f: Callable[..., Any],
        g: Callable[..., Any] | None,
        x0: Any,
        args: tuple[Any, ...],
        sparsity: Any,
        hessian_sparsity: Any,
        native: Native,
    ) -> None:
        function = VectorFunction(g or _nothing, x0, args if g else (), native=native)
        unravel, limits = function.unravel, function.function
        self.start, self.unravel, self.size = function.start, unravel, function.size
        self.failure: BaseException | None = None
        self.undefined: Exception | None = None
        plain: Callable[..., Any] = lambda vector: f(unravel(vector), *args)
        self._f: Callable[..., Any] = compile(plain, native=native) if native else plain
        self._slope = grad(plain, native=native)
        self._g: Callable[..., Any] = function.value

        def lagrangian(vector: Vector, factor: float, weights: Vector) -> Any:
            return factor * plain(vector) + np.sum(weights * limits(vector))

        n, full = len(self.start), np.ones
        pattern = full((self.size, n)) if sparsity is None else sparsity
        slopes: Any = jacobian(limits, sparsity=pattern, native=native)
        pattern = full((n, n)) if hessian_sparsity is None else hessian_sparsity
        curvature: Any = hessian(lagrangian, sparsity=pattern, native=native)
        self.jacobian = slopes.everywhere(self.start)
        self.hessian = curvature.everywhere(self.start, 1.0, np.ones(self.size))
        self.jacobian.values(self.start)  # which compare the patterns with a direction
        self.hessian.values(self.start, 1.0, np.ones(self.size))
        self.is_lower = self.hessian.rows >= self.hessian.cols

    def safely(self, evaluate: Callable[..., Any]) -> Callable[..., Any]:
        """A function that Ipopt may call: NaN where it raises, which ends the search or shortens the step."""

        def run(*given: Any) -> Any:
            try:
                return evaluate(*given)
            except DifferentiationError as failure:
                self.failure = self.failure or failure
            except (ArithmeticError, ValueError) as failure:  # as that of math.log, where there is nothing
                self.undefined = failure
            except BaseException as failure:
                self.failure = self.failure or failure
            return np.nan if evaluate == self.value else _nan(given[-1])

        return run

    def value(self, x: Vector) -> float:
        return float(self._f(x))

    def write_gradient(self, x: Vector, out: Vector) -> None:
        out[:] = self._slope(x)

    def write_constraints(self, x: Vector, out: Vector) -> None:
        out[:] = self._g(x)

    def write_jacobian(self, x: Vector, out: Vector) -> None:
        self.jacobian.values(x, out=out)

    def write_hessian(self, x: Vector, multipliers: Vector, factor: float, out: Vector) -> None:
        out[:] = self.hessian.values(x, float(factor), multipliers)[self.is_lower]


def _nothing(x: Any) -> Any:
    return np.zeros(0)


def _nan(out: Vector) -> None:
    out[:] = np.nan
