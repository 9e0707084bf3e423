"""``scipy.integrate.solve_bvp``: values at nodes solve the equations of a collocation (Kierzenka & Shampine 2001).

Nodes are taken as SciPy puts them, and move with those that it is given: each lies at the same share of its interval.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import integrate, optimize

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import solved
from adjoint.rules.declare import case, definition
from adjoint.rules.helpers.solvers import Solution
from adjoint.rules.scipy.interpolation.interpolators import hermite
from adjoint.runtime.arithmetic.numbers import is_real
from adjoint.runtime.numerical_methods.implicit import answered, happenings, root, taken
from adjoint.runtime.numerical_methods.of_scipy.solvers import boundary_values


class BVPResult(Solution):
    """Stands for what ``solve_bvp`` returns."""

    __adjoint_stands_for__ = optimize.OptimizeResult

    def __init__(self, sol, p, x, y, yp):
        self.sol, self.p, self.x, self.y, self.yp = sol, p, x, y, yp
        self.success = True
        self.status = 0


def _moved(found, given):
    """Nodes at the shares at which they lie between those that are given."""
    known = stop_gradient(given)
    place = np.clip(np.searchsorted(known, found, side="right") - 1, 0, len(known) - 2)
    share = (found - known[place]) / (known[place + 1] - known[place])
    return given[place] + share * (given[place + 1] - given[place])


def _solve_bvp(
    fun, bc, x, y, p=None, S=None, fun_jac=None, bc_jac=None, tol=1e-3, max_nodes=1000, verbose=0, bc_tol=None
):
    for name, value in (("S", S), ("fun_jac", fun_jac), ("bc_jac", bc_jac)):
        if value is not None:
            raise NotImplementedError(name)
    if verbose != 0:
        raise NotImplementedError("verbose")
    nodes, start = np.asarray(x) + 0.0, stop_gradient(np.asarray(y) + 0.0)
    if not is_real(start):
        raise NotImplementedError("complex numbers")
    n = np.shape(start)[0]
    if p is None:
        rate, conditions = (lambda x, y, p: fun(x, y)), (lambda a, b, p: bc(a, b))
        rows, count = start, 0
    else:
        rate, conditions = fun, bc
        guess = stop_gradient(np.asarray(p) + 0.0)
        count = len(guess)
        rows = np.concatenate([start, np.repeat(guess[:, None], np.shape(start)[1], axis=1)])

    def parts(x, rows):
        y, p = rows[:n], rows[n:, 0]
        return np.asarray(rate(x, y, p)), np.asarray(conditions(y[:, 0], y[:, -1], p))

    options = {"tol": tol, "max_nodes": max_nodes, "bc_tol": bc_tol}
    settings = (stop_gradient(n), options)
    flat = stop_gradient(
        solved(happenings, parts, (nodes, rows), boundary_values, settings, stop_gradient(nodes), rows)
    )
    found = np.reshape(flat, (1 + n + count, -1))
    mesh = _moved(found[0], nodes)
    h = np.diff(mesh)
    first = np.concatenate([np.ravel(found[1 : n + 1]), found[n + 1 :, 0]])

    def residual(z):
        y, p = np.reshape(z[: n * len(mesh)], (n, -1)), z[n * len(mesh) :]
        f = np.asarray(rate(mesh, y, p))
        middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * h * (f[:, 1:] - f[:, :-1])
        inner = np.asarray(rate(mesh[:-1] + 0.5 * h, middle, p))
        column = y[:, 1:] - y[:, :-1] - h / 6.0 * (f[:, :-1] + f[:, 1:] + 4.0 * inner)
        return np.concatenate([np.ravel(column), np.ravel(np.asarray(conditions(y[:, 0], y[:, -1], p)))])

    z = solved(root, residual, (first,), answered, (taken, first))
    y, parameters = np.reshape(z[: n * len(mesh)], (n, -1)), z[n * len(mesh) :]
    slopes = np.asarray(rate(mesh, y, parameters))
    curve = hermite(mesh, np.transpose(y), np.transpose(slopes), True, 1)
    return BVPResult(curve, None if p is None else parameters, mesh, y, slopes)


definition(
    integrate.solve_bvp,
    _solve_bvp,
    functional=True,
    arrays=(),
    cases=[
        case(
            lambda x, y: np.stack([y[1], -2.0 * y[0]]),
            lambda a, b: np.array([a[0], b[0] - 1.0]),
            np.linspace(0.0, 1.0, 5),
            np.zeros((2, 5)),
        ),
        case(
            lambda x, y, p: np.vstack((y[1], -(p[0] ** 2) * y[0])),
            lambda a, b, p: np.array([a[0], b[0], a[1] - p[0]]),
            np.linspace(0.0, 1.0, 5),
            np.array([[0.0, 1.0, 0.0, -1.0, 0.0]] * 2),
            [6.0],
        ),
    ],
)
