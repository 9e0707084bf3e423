"""What ``ad.implicit`` means, in the part of the language that is differentiated itself."""

from __future__ import annotations

from typing import Any

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import solved
from adjoint.runtime.numerical_methods.implicit import answered, outcome, root, taken


def of_opaque_solver(solve: Any, residual: Any, args: Any, like: Any) -> Any:
    """The solution of a solver that is not read; ``like`` is of the kind of its result."""
    return solved(root, lambda x: residual(x, *args), (like,), answered, (solve, *stop_gradient(args)))


def of_solver(solve: Any, residual: Any, args: Any) -> Any:
    """The solution of a solver that is read."""
    given = stop_gradient(args)
    x = stop_gradient(solved(outcome, lambda: solve(*given), (), taken, ())) * 1.0
    return solved(root, lambda x: residual(x, *args), (x,), answered, (taken, x))
