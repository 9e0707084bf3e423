"""Constraints of minimisers: values and Jacobians at once, curvature as products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.api.jvp_vjp import hvp
from adjoint.optim.vector_functions import Vector, VectorFunction
from adjoint.records import dataclass


@dataclass(frozen=True)
class Constraint:
    """What :func:`constraint` returns; it meets the structure of the argument in :func:`adjoint.optim.minimize`."""

    g: Callable[..., Any]
    lower: Any
    upper: Any
    args: tuple[Any, ...]
    sparsity: Any
    native: bool | str | None

    def over(self, x: Any, has_curvature: bool = True) -> Any:
        """The constraint on vectors as SciPy knows it, for arguments of the structure of ``x``.

        Methods that take no second derivatives warn of them.
        """
        from scipy.optimize import NonlinearConstraint  # lazy
        from scipy.sparse.linalg import LinearOperator  # lazy

        function = VectorFunction(self.g, x, self.args, self.sparsity, self.native)
        g = function.function

        def weighted(vector: Vector, weights: Vector) -> Any:
            return np.sum(weights * g(vector))

        def curvature(vector: Vector, weights: Vector) -> Any:
            product = lambda way: hvp(weighted, (vector, weights), (np.ravel(way), None), native=function.native)[0]
            return LinearOperator((len(vector), len(vector)), matvec=product, dtype=float)

        return NonlinearConstraint(
            lambda vector: function.at_once(vector)[0].copy(),
            self.lower,
            self.upper,
            jac=lambda vector: function.at_once(vector)[1].copy(),
            **({"hess": curvature} if has_curvature else {}),
        )


def constraint(
    g: Callable[..., Any],
    lower: Any = -np.inf,
    upper: Any = np.inf,
    args: tuple[Any, ...] = (),
    *,
    sparsity: Any = None,
    native: bool | str | None = None,
) -> Constraint:
    """A constraint ``lower <= g(x, *args) <= upper`` for :func:`adjoint.optim.minimize`.

    Parameters
    ----------
    g
        A function of the structure that is varied; it returns a number, a list of numbers or an array of any shape.
    lower, upper
        The bounds: numbers, or arrays of shape ``(m,)`` for the ``m`` numbers that ``g`` returns. Equal ones make
        an equation.
    args
        The other arguments of ``g``.
    sparsity
        Where the Jacobian of shape ``(m, n)`` may be other than zero; see :func:`adjoint.jacobian`. For the methods
        that take sparse matrices: ``trust-constr``.
    native
        Whether the derivatives become machine code.

    Returns
    -------
    Constraint
        Values and Jacobians are computed together; products with second derivatives as ``trust-constr`` asks for them.

    Examples
    --------
    >>> import adjoint as ad
    >>> def area(box):
    ...     return box["width"] * box["height"]
    >>> def frame(box):
    ...     return 2.0 * (box["width"] + box["height"])
    >>> start = {"width": 1.0, "height": 5.0}
    >>> found = ad.optim.minimize(frame, start, method="SLSQP", constraints=ad.optim.constraint(area, lower=4.0))
    >>> {name: round(side, 2) for name, side in found.x.items()}
    {'width': 2.0, 'height': 2.0}
    """
    return Constraint(g, lower, upper, args, sparsity, native)


def over(x: Any, constraints: Any, has_curvature: bool) -> Any:
    """One constraint or several as SciPy knows them, for arguments of the structure of ``x``."""
    if isinstance(constraints, (list, tuple)):
        return [over(x, each, has_curvature) for each in constraints]
    return constraints.over(x, has_curvature) if isinstance(constraints, Constraint) else constraints
