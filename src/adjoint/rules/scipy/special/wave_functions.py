"""Rules of Mathieu, spheroidal and parabolic cylinder functions by their places, from their differential equations.

Left out are radial functions of the second kind (``pro_rad2``, ``obl_rad2``): what SciPy gives as their slopes is not
that of their values. By their parameters the functions have no derivatives in closed form: these are taken as given.
The characteristic values have, which are means over the functions that belong to them (Hellmann and Feynman).
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any

import numpy as np
from scipy import special

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, constant, elementwise, general, number, sample
from adjoint.rules.scipy.special.several_results import of_last_argument, of_one_argument
from adjoint.runtime.arithmetic.numbers import times
from adjoint.runtime.array_functions.arrays import match, unbroadcast

POINTS = sample(3, kind="positive")
RADIANS = 0.017453292519943295


def _of_place(fn, given, second, cases, unit=1.0, **facts):
    """Declares a function that gives a value and its derivative by the last argument; ``given`` come before that.

    ``second(*args, value, slope)`` is the second derivative, and ``unit`` is what one of the argument is.
    """

    def slopes(args, y):
        return y[1] * unit, second(*args, *y) * unit

    def jvp(dots, y, args):
        return tuple([times(dots[-1], slope) for slope in slopes(args, y)])

    def vjp(ct, y, args):
        found = sum([times(part, slope) for part, slope in zip(ct, slopes(args, y), strict=True)])
        return (*(None,) * given, unbroadcast(found, args[-1]))

    named = _NAMED[given]
    general(fn, named(jvp), named(vjp), results=2, fixed=tuple(range(given)), cases=cases, **facts)


_NAMED: dict[int, Any] = {
    1: lambda core: lambda along, y, order, x: core(along, y, (order, x)),
    2: lambda core: lambda along, y, order, q, x: core(along, y, (order, q, x)),
    3: lambda core: lambda along, y, order, degree, c, x: core(along, y, (order, degree, c, x)),
    4: lambda core: lambda along, y, order, degree, c, cv, x: core(along, y, (order, degree, c, cv, x)),
}
"""By how many arguments are taken as given: rules name each of theirs."""


# --- of Mathieu (DLMF 28.2, 28.20), angles in degrees -----------------------------------------------------------------


def _mathieu_slope(function, m, q):
    """The mean of ``2 * cos(2 x)``, with the square of the function as weight."""
    x = np.arange(0.0, 360.0, 1.0)
    values = function(np.asarray(m)[..., None], np.asarray(q)[..., None], x)[0]
    return as_result(4.0 * np.mean(np.cos(2.0 * RADIANS * x) * values * values, axis=-1))


ORDERS = [case(1, 2.0), case(2, POINTS)]
elementwise(
    special.mathieu_a, lambda m, q, y: (None, _mathieu_slope(special.mathieu_cem, m, q)), fixed=(0,), cases=ORDERS
)
elementwise(
    special.mathieu_b, lambda m, q, y: (None, _mathieu_slope(special.mathieu_sem, m, q)), fixed=(0,), cases=ORDERS
)


def _mathieu_equation(characteristic, of_angle):
    if of_angle:
        return lambda m, q, x, y, slope: -(characteristic(m, q) - 2.0 * q * np.cos(2.0 * RADIANS * x)) * y
    return lambda m, q, x, y, slope: (characteristic(m, q) - 2.0 * q * np.cosh(2.0 * x)) * y


ANGLES = [case(1, 2.0, 30.0), case(2, 3.0, np.array([10.0, 50.0, 200.0]))]
_of_place(special.mathieu_cem, 2, _mathieu_equation(special.mathieu_a, True), ANGLES, RADIANS)
_of_place(special.mathieu_sem, 2, _mathieu_equation(special.mathieu_b, True), ANGLES, RADIANS)
HEIGHTS = [case(1, 2.0, 0.7), case(2, 3.0, np.array([0.3, 0.8]))]
for _even, _odd in (
    (special.mathieu_modcem1, special.mathieu_modsem1),
    (special.mathieu_modcem2, special.mathieu_modsem2),
):
    _of_place(_even, 2, _mathieu_equation(special.mathieu_a, False), HEIGHTS)
    _of_place(_odd, 2, _mathieu_equation(special.mathieu_b, False), HEIGHTS)

# --- spheroidal functions (DLMF 30.2) ---------------------------------------------------------------------------------

NODES, WEIGHTS = np.polynomial.legendre.leggauss(80)


def _mean_square(function, m, n, c):
    """The mean of the square of the place, with the square of the function as weight."""
    given = [np.asarray(each)[..., None] for each in (m, n, c)]
    values = function(*given, NODES)[0]
    weights = WEIGHTS * values * values
    return np.sum(weights * NODES * NODES, axis=-1) / np.sum(weights, axis=-1)


SPHEROIDS = [case(1, 2, 1.5), case(0, 1, POINTS)]
elementwise(
    special.pro_cv,
    lambda m, n, c, y: (None, None, as_result(2.0 * c * _mean_square(special.pro_ang1, m, n, c))),
    fixed=(0, 1),
    cases=SPHEROIDS,
)
elementwise(
    special.obl_cv,
    lambda m, n, c, y: (None, None, as_result(-2.0 * c * _mean_square(special.obl_ang1, m, n, c))),
    fixed=(0, 1),
    cases=SPHEROIDS,
)


def _spheroidal(kind, value=None):
    """The equation; ``kind`` is -1 for oblate functions, and ``value`` gives the separation constant."""

    def second(m, n, c, *rest):
        *known, x, y, slope = rest
        constant_ = known[0] if known else value(m, n, c)
        outside = 1.0 - x * x
        return (2.0 * x * slope - (constant_ - kind * c * c * x * x - m * m / outside) * y) / outside

    return second


def _radial_oblate(m, n, c, *rest):
    *known, x, y, slope = rest
    constant_ = known[0] if known else special.obl_cv(m, n, c)
    outside = 1.0 + x * x
    return ((constant_ - c * c * x * x - m * m / outside) * y - 2.0 * x * slope) / outside


INSIDE = [case(1, 2, 1.5, 0.4), case(0, 1, 0.7, np.array([-0.5, 0.3]))]
BEYOND = [case(1, 2, 1.5, 1.4), case(0, 1, 0.7, np.array([1.2, 2.3]))]
PROLATE, OBLATE = special.pro_cv(1, 2, 1.5), special.obl_cv(1, 2, 1.5)
_of_place(special.pro_ang1, 3, _spheroidal(1.0, special.pro_cv), INSIDE)
_of_place(special.obl_ang1, 3, _spheroidal(-1.0, special.obl_cv), INSIDE)
_of_place(special.pro_rad1, 3, _spheroidal(1.0, special.pro_cv), BEYOND)
_of_place(special.obl_rad1, 3, _radial_oblate, BEYOND)
_of_place(special.pro_ang1_cv, 4, _spheroidal(1.0), [case(1, 2, 1.5, PROLATE, 0.4)])
_of_place(special.obl_ang1_cv, 4, _spheroidal(-1.0), [case(1, 2, 1.5, OBLATE, 0.4)])
_of_place(special.pro_rad1_cv, 4, _spheroidal(1.0), [case(1, 2, 1.5, PROLATE, 1.4)])
_of_place(special.obl_rad1_cv, 4, _radial_oblate, [case(1, 2, 1.5, OBLATE, 1.4)])

# --- sequences of orders ----------------------------------------------------------------------------------------------


def _orders(v, y):
    """Those of the values in a sequence, which begins at what is left of ``v``."""
    return v - np.trunc(v) + np.arange(np.size(y))


def _cylinders(fn, cases):
    """Not a number for negative orders, of which SciPy's sequences are not those of its functions."""

    def slopes(v, x, y):
        known = np.where(np.less(v, 0.0), np.nan, 1.0)
        return y[1] * known, (0.25 * x * x - 0.5 - _orders(v, y[0])) * y[0] * known

    of_last_argument(fn, slopes, results=2, cases=cases, shape="unknown")


def _lambda(v, x, y, slope):
    return -y - (2.0 * _orders(v, y) + 1.0) / x * slope


def _legendre(m, n, x, y, slope):
    places = (1,) * np.ndim(x)
    degree = np.reshape(np.arange(np.shape(y)[1]), (-1, *places))
    order = np.reshape(np.arange(np.shape(y)[0]), (-1, 1, *places))
    outside = 1.0 - x * x
    return (2.0 * x * slope - (degree * (degree + 1.0) - order * order / outside) * y) / outside


_cylinders(special.pbdv_seq, [case(2.3, number()), case(3, number())])
_cylinders(special.pbvv_seq, [case(2.3, number()), case(3, number("positive"))])
_of_place(special.lmbda, 1, _lambda, [case(2.3, number("positive"))], shape="unknown")
_of_place(
    special.lqmn, 2, _legendre, [case(2, 3, 0.4), case(1, 2, 1.7), case(2, 3, np.array([0.4, -0.3]))], shape="unknown"
)

# --- integrals --------------------------------------------------------------------------------------------------------

elementwise(
    special.besselpoly,
    lambda a, lmb, nu, y: (
        special.besselpoly(a, lmb + 1.0, nu - 1.0) - special.besselpoly(a, lmb + 1.0, nu + 1.0),
        None,
        None,
    ),
    fixed=(1, 2),
    cases=[case(number(), 0.3, 1.2), case(POINTS, 1.0, 2.5)],
)
LINES = [case(number("positive")), case(POINTS)]
of_one_argument(special.it2i0k0, lambda x, y: ((special.i0(x) - 1.0) / x, -special.k0(x) / x), results=2, cases=LINES)
of_one_argument(special.it2j0y0, lambda x, y: ((1.0 - special.j0(x)) / x, -special.y0(x) / x), results=2, cases=LINES)
elementwise(special.it2struve0, lambda x, y: match(-special.struve(0.0, x) / x, x), domain=(0.5, 3.0))
TURN = 0.3989422804014327 * (1.0 - 1.0j)
of_one_argument(
    special.modfresnelp,
    lambda x, y: (-np.exp(1j * x * x), -2j * x * y[1] - TURN),
    results=2,
    cases=LINES,
)
of_one_argument(
    special.modfresnelm,
    lambda x, y: (-np.exp(-1j * x * x), 2j * x * y[1] - np.conj(TURN)),
    results=2,
    cases=LINES,
)
constant(special.round)
