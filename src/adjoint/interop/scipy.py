"""SciPy's solvers with derivatives: functions of the names that they have there.

Each takes what SciPy's takes, but for the Jacobian, which it makes itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.api.gradients import jacobian
from adjoint.api.sweeps.many_directions import jvps
from adjoint.optim import constraint, minimize
from adjoint.optim.vector_functions import VectorFunction, as_native

__all__ = ["constraint", "curve_fit", "least_squares", "minimize", "root", "solve_ivp"]

Native = bool | str | None
_ROOTS_WITH_JACOBIANS = ("hybr", "lm")
_STEPS_WITH_JACOBIANS = ("Radau", "BDF", "LSODA")


def least_squares(
    f: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    sparsity: Any = None,
    native: Native = None,
    **options: Any,
) -> Any:
    """The least sum of squares of what a function returns.

    Parameters
    ----------
    f
        A function of ``x`` and ``args``: a list of numbers, or an array.
    x0
        Where to start: a number, an array, or a structure of them, with ``n`` numbers in all. It is not changed.
    args
        The other arguments of the function.
    sparsity
        Where the Jacobian, of shape ``(m, n)``, may be other than zero; see :func:`adjoint.jacobian`.
    native
        Whether the function and the Jacobian are machine code.
    **options
        What else :func:`scipy.optimize.least_squares` takes; ``bounds`` over the numbers of ``x0`` in order.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As SciPy gives it; ``x`` has the structure of ``x0``.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> times = np.linspace(0.0, 1.0, 20)
    >>> def misfit(model):
    ...     return model["height"] * np.exp(-model["rate"] * times) - 3.0 * np.exp(-2.0 * times)
    >>> found = ad.interop.scipy.least_squares(misfit, {"height": 1.0, "rate": 1.0})
    >>> {name: round(value, 6) for name, value in found.x.items()}
    {'height': 3.0, 'rate': 2.0}
    """
    from scipy import optimize  # lazy

    function = VectorFunction(f, x0, args, sparsity, native)
    found = optimize.least_squares(function.value, function.start, jac=function.jacobian, **options)
    found.x = function.unravel(found.x)
    return found


def root(
    f: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str = "hybr",
    native: Native = None,
    **options: Any,
) -> Any:
    """Where a function of as many numbers as it returns is zero.

    Parameters
    ----------
    f, x0, args, native
        As those of :func:`least_squares`.
    method
        One of the methods of :func:`scipy.optimize.root`; ``"hybr"`` and ``"lm"`` are given the Jacobian.
    **options
        What else SciPy's function takes.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As SciPy gives it; ``x`` has the structure of ``x0``.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def meeting(x):
    ...     return [x[0] ** 2 + x[1] ** 2 - 2.0, x[0] - x[1]]
    >>> ad.interop.scipy.root(meeting, np.array([2.0, 0.5])).x.round(6)
    array([1., 1.])
    """
    from scipy import optimize  # lazy

    function = VectorFunction(f, x0, args, None, native)
    if method in _ROOTS_WITH_JACOBIANS:
        options["jac"] = function.jacobian
    found = optimize.root(function.value, function.start, method=method, **options)
    found.x = function.unravel(found.x)
    return found


def curve_fit(
    f: Callable[..., Any], xdata: Any, ydata: Any, p0: Any = None, *, native: Native = None, **options: Any
) -> Any:
    """The parameters with which a function of places and parameters comes closest to data.

    Parameters
    ----------
    f
        A function ``f(xdata, a, b, ...)`` of the places and of numbers, that returns an array of shape ``(m,)``.
    xdata, ydata, p0
        The places, the data, of shape ``(m,)``, and where to start, of shape ``(n,)``; by default at ones.
    native
        Whether the derivatives are machine code.
    **options
        What else :func:`scipy.optimize.curve_fit` takes: ``sigma``, ``bounds``, ``full_output``, ...

    Returns
    -------
    popt, pcov
        The parameters, of shape ``(n,)``, and their covariance, of shape ``(n, n)``; more where SciPy returns more.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def decay(t, height, rate):
    ...     return height * np.exp(-rate * t)
    >>> t = np.linspace(0.0, 4.0, 30)
    >>> found, covariance = ad.interop.scipy.curve_fit(decay, t, decay(t, 2.5, 1.3))
    >>> found.round(6)
    array([2.5, 1.3])
    """
    from scipy import optimize  # lazy

    native = as_native(f, native)

    def slopes(places: Any, *parameters: float) -> Any:
        count = len(parameters)
        ways = [(None, *[1.0 if i == k else None for i in range(count)]) for k in range(count)]
        value, columns = jvps(f, (places, *map(float, parameters)), ways, native=native)
        return np.stack([np.broadcast_to(column, np.shape(value)) for column in columns], axis=-1)

    return optimize.curve_fit(f, xdata, ydata, p0, jac=slopes, **options)


def solve_ivp(
    f: Callable[..., Any],
    t_span: Sequence[float],
    y0: Any,
    method: str = "BDF",
    *,
    args: tuple[Any, ...] = (),
    sparsity: Any = None,
    native: Native = None,
    **options: Any,
) -> Any:
    """The solution of a differential equation, by an implicit method that is given the Jacobian of its right side.

    Parameters
    ----------
    f
        The right side, ``f(t, y, *args)``: a list of numbers, or an array, of shape ``(n,)``.
    t_span, y0
        The times of the beginning and the end, and the state at the beginning, of shape ``(n,)``.
    method
        One of the methods of :func:`scipy.integrate.solve_ivp`. Those that do not use Jacobians are given none.
    args
        The other arguments of the function.
    sparsity
        Where the Jacobian, of shape ``(n, n)``, may be other than zero; see :func:`adjoint.jacobian`. ``"LSODA"``
        takes none.
    native
        Whether the function and the Jacobian are machine code.
    **options
        What else SciPy's function takes.

    Returns
    -------
    scipy.integrate.OdeResult
        As SciPy gives it. To differentiate a solution, call SciPy's function in what you differentiate.

    Examples
    --------
    >>> import adjoint as ad
    >>> def stiff(t, y, rate):
    ...     return [-rate * (y[0] - y[1] ** 2), -y[1]]
    >>> found = ad.interop.scipy.solve_ivp(stiff, (0.0, 1.0), [1.0, 1.0], args=(1e4,), rtol=1e-8)
    >>> found.y[:, -1].round(5)
    array([0.13536, 0.36788])
    """
    from scipy import integrate  # lazy

    def side(t: float, y: Any, *rest: Any) -> Any:
        return np.asarray(f(t, y, *rest))

    slope = jacobian(side, 1, sparsity=sparsity, native=as_native(f, native))
    if method in _STEPS_WITH_JACOBIANS:
        options["jac"] = lambda t, y, *rest: slope(float(t), np.asarray(y, float), *rest)
    return integrate.solve_ivp(f, t_span, y0, method, args=args or None, **options)
