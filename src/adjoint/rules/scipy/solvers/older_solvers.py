"""Older forms of the solvers of ``scipy.optimize``: ``fmin`` and its like, minima of a number, iterated roots."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import optimize

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import solved
from adjoint.rules.declare import case, definition
from adjoint.rules.helpers.solvers import tupled
from adjoint.rules.scipy.solvers.optimize import QUADRATIC
from adjoint.runtime.numerical_methods.implicit import minimum, root
from adjoint.runtime.numerical_methods.of_scipy.solvers import least_by, least_number_by, root_by


def _options(options):
    for name in ("full_output", "retall", "callback"):
        if options.get(name):
            raise NotImplementedError(name)
    return {name: stop_gradient(value) for name, value in options.items() if name not in ("full_output", "retall")}


def _older_minimum(find, func, x0, args, options):
    args = tupled(args)
    start = np.ravel(np.asarray(stop_gradient(x0)) + 0.0)
    settings = (find, start, _options(options))
    return solved(minimum, lambda x: func(x, *args), (start,), least_by, settings)


def _without_slope(find):
    return lambda func, x0, args=(), **options: _older_minimum(find, func, x0, args, options)


def _with_slope(find):
    def means(f, x0, fprime=None, args=(), **options):
        if fprime is not None:
            raise NotImplementedError("fprime")
        return _older_minimum(find, f, x0, args, options)

    return means


for _solver in (optimize.fmin, optimize.fmin_powell):
    definition(
        _solver,
        _without_slope(_solver),
        functional=True,
        arrays=(),
        cases=[case(QUADRATIC, [0.5, 1.0], (2.0,), disp=0)],
    )
for _solver in (optimize.fmin_bfgs, optimize.fmin_cg):
    definition(
        _solver,
        _with_slope(_solver),
        functional=True,
        arrays=(),
        cases=[case(QUADRATIC, [0.5, 1.0], args=(2.0,), disp=0)],
    )


def _of_a_number(find):
    def means(func, args=(), brack=None, **options):
        args = tupled(args)
        settings = (find, stop_gradient(brack), _options(options))
        return solved(minimum, lambda x: func(x, *args), (0.5,), least_number_by, settings)

    return means


for _solver in (optimize.brent, optimize.golden):
    definition(
        _solver,
        _of_a_number(_solver),
        functional=True,
        arrays=(),
        cases=[case(lambda x, a: (x - a) ** 2, (1.0,)), case(lambda x: (x - 2.0) ** 2, brack=(0.0, 1.0))],
    )


def _iterated_root(find):
    def means(F, xin, **options):
        start = np.asarray(stop_gradient(xin)) + 0.0
        function = lambda x: np.reshape(np.asarray(F(x)), np.shape(x))
        return solved(root, function, (start,), root_by, (find, start, _options(options)))

    return means


_ITERATIONS = "anderson broyden1 broyden2 diagbroyden excitingmixing linearmixing newton_krylov"
for _name in _ITERATIONS.split():
    _solver = getattr(optimize, _name)
    _steps = {} if _name == "newton_krylov" else {"alpha": 0.3}
    _example = case(lambda x: np.array([1.0, 3.0]) - 2.0 * x, [0.4, 1.4], f_tol=1e-13, maxiter=200, **_steps)
    definition(_solver, _iterated_root(_solver), functional=True, arrays=(), cases=[_example])
