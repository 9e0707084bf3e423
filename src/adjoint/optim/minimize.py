"""SciPy's minimisers for functions of any structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import tangents
from adjoint.api.gradients import hessian, value_and_grad
from adjoint.api.jvp_vjp import hvp
from adjoint.api.raveling import ravel
from adjoint.diagnostics import error
from adjoint.optim.constraints import over
from adjoint.optim.vector_functions import as_native
from adjoint.parameters import Layout

_WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
_WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")


def minimize(
    f: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str = "L-BFGS-B",
    sparsity: Any = None,
    native: bool | str | None = None,
    callback: Callable[[Any], Any] | None = None,
    **options: Any,
) -> Any:
    """The smallest value of a function of any structure, found by SciPy.

    Parameters
    ----------
    f
        A function that returns a number; its first argument varies.
    x0
        Where to start: a number, an array, or a structure of them. It is not changed.
    args
        The other arguments of the function.
    method
        One of the methods of :func:`scipy.optimize.minimize`. Those that use second derivatives are given products
        with the Hessian.
    sparsity
        Where the Hessian, over the components in order, may be other than zero: ``trust-constr`` is given it as a
        sparse matrix then. See :func:`adjoint.hessian`.
    native
        Whether the derivative becomes machine code.
    callback
        Called after each iteration with the value reached, in the structure of ``x0``.
    **options
        What else SciPy's function takes: ``tol``, ``options``, ``bounds`` over the components in order, and
        ``constraints``: those of :func:`adjoint.optim.constraint`, or SciPy's own over the components.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As SciPy gives it; ``x`` has the structure of ``x0``, and the gradient in ``jac`` that of its tangents.

    Examples
    --------
    >>> import adjoint as ad
    >>> def distance(point):
    ...     return (point["x"] - 1.0) ** 2 + np.sum((point["y"] - 2.0) ** 2)
    >>> found = ad.optim.minimize(distance, {"x": 0.0, "y": np.zeros(2)})
    >>> round(found.x["x"], 6), found.x["y"].round(6)
    (1.0, array([2., 2.]))
    """
    from scipy import optimize  # lazy

    packing = _Packing(x0)
    known = method.lower()
    derivative = value_and_grad(f, native=native)

    def value_and_vector(vector: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        value, gradient = derivative(packing.structure(vector), *args)
        return float(value), packing.tangent_vector(gradient)

    def product(vector: np.ndarray[Any, Any], direction: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        rest = tuple(None for _ in args)
        point = packing.structure(vector)
        found = hvp(f, (point, *args), (packing.tangent(direction), *rest))
        return packing.tangent_vector(found[0])

    if known not in _WITHOUT_GRADIENT:
        options["jac"] = True
    if sparsity is not None:
        unravel = ravel(x0)[1]
        flat = lambda vector: f(unravel(vector), *args)
        options["hess"] = hessian(flat, sparsity=sparsity, native=as_native(f, native))
    if "constraints" in options:
        options["constraints"] = over(x0, options["constraints"], known == "trust-constr")
    if known in _WITH_PRODUCTS and "hess" not in options:
        options.setdefault("hessp", product)
    if callback is not None:
        options["callback"] = lambda vector, *_: callback(packing.structure(vector))
    function = value_and_vector if known not in _WITHOUT_GRADIENT else lambda v: float(f(packing.structure(v), *args))
    result = optimize.minimize(function, packing.vector(x0), method=method, **options)
    result.x = packing.structure(result.x)
    for name in ("jac", "grad"):  # the first of which means constraints where there is the second
        found = result.get(name)
        if isinstance(found, np.ndarray) and found.shape == (packing.size,):
            result[name] = packing.tangent(found)
    return result


class _Packing:
    """Structures as vectors of 64-bit floats, and back."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.layout = Layout(x)
        for point in self.layout.points:
            path = "".join(map(str, point)) or "the start"
            raise error("AD0705", None, f"SciPy's methods take {path} for a vector", helps=())
        self.zero = tangents.zero(x)
        sizes = [int(np.prod(parameter.shape or ())) for parameter in self.layout.parameters]
        self.ends = np.cumsum(sizes)
        self.size = sum(sizes)

    def vector(self, x: Any) -> np.ndarray[Any, Any]:
        parts: Sequence[Any] = self.layout.copied(x)
        return np.concatenate([np.asarray(part, float).ravel() for part in parts]) if parts else np.zeros(0)

    tangent_vector = vector

    def structure(self, vector: np.ndarray[Any, Any]) -> Any:
        return self.layout.rebuilt(self.x, self._parts(vector))

    def tangent(self, vector: np.ndarray[Any, Any]) -> Any:
        return self.layout.rebuilt(self.zero, self._parts(vector))

    def _parts(self, vector: np.ndarray[Any, Any]) -> list[Any]:
        parts = np.split(np.array(vector, float), self.ends[:-1]) if len(self.ends) else []
        return [
            parameter.converted(part.reshape(parameter.shape) if parameter.shape is not None else part[0])
            for parameter, part in zip(self.layout.parameters, parts, strict=True)
        ]
