"""Inverses of probabilities by a parameter: each moves as the probability stays what it is."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.declare import case, definition, elementwise, number
from adjoint.rules.scipy.special.gamma_beta import _gamma_density, beta_density, slopes_of_inverse, where_found
from adjoint.runtime.arithmetic.numbers import choose
from adjoint.runtime.numerical_methods.special.incomplete import betainc_slope, gammainc_slope
from adjoint.runtime.numerical_methods.special.student import stdtr_slope, student_slope

SHARES = np.array([0.1, 0.5, 0.9])

# --- of gamma and beta ------------------------------------------------------------------------------------------------

definition(
    special.gdtrix,
    lambda x1, x2, x3: special.gammaincinv(x2, x3) / x1,
    cases=[case(1.5, 2.5, SHARES), case(number("positive"), number("positive"), 0.4)],
)
definition(
    special.gdtria,
    lambda x1, x2, x3: special.gammaincinv(x2, x1) / x3,
    cases=[case(SHARES, 2.5, 1.5), case(0.4, number("positive"), number("positive"))],
)
elementwise(
    special.gdtrib,
    lambda a, p, x, y: (
        -x * _gamma_density(y, a * x) / gammainc_slope(1, y, a * x),
        1.0 / gammainc_slope(1, y, a * x),
        -a * _gamma_density(y, a * x) / gammainc_slope(1, y, a * x),
    ),
    cases=[case(1.5, SHARES, 2.0), case(0.7, 0.4, 3.0)],
)
elementwise(
    special.chdtriv,
    lambda p, x, y: (
        2.0 / gammainc_slope(1, 0.5 * y, 0.5 * x),
        -_gamma_density(0.5 * y, 0.5 * x) / gammainc_slope(1, 0.5 * y, 0.5 * x),
    ),
    cases=[case(SHARES, 2.0), case(0.4, 3.0)],
)
elementwise(
    special.btdtria,
    lambda p, b, x, y: (
        1.0 / betainc_slope(1, 0, y, b, x),
        -betainc_slope(0, 1, y, b, x) / betainc_slope(1, 0, y, b, x),
        -beta_density(y, b, x) / betainc_slope(1, 0, y, b, x),
    ),
    cases=[case(SHARES, 2.0, 0.4), case(0.4, 1.3, 0.6)],
)
elementwise(
    special.btdtrib,
    lambda a, p, x, y: (
        -betainc_slope(1, 0, a, y, x) / betainc_slope(0, 1, a, y, x),
        1.0 / betainc_slope(0, 1, a, y, x),
        -beta_density(a, y, x) / betainc_slope(0, 1, a, y, x),
    ),
    cases=[case(2.0, SHARES, 0.4), case(1.3, 0.4, 0.6)],
)
elementwise(
    special.stdtridf,
    lambda p, t, y: where_found(
        slopes_of_inverse((stdtr_slope(1, y, t), student_slope(0, y, t)), 0), p, special.stdtr(y, t)
    ),
    cases=[case(0.85, 1.3), case(np.array([0.9, 0.86]), 1.5)],
)

# --- of normal distributions ------------------------------------------------------------------------------------------

definition(
    special.nrdtrimn,
    lambda x1, x2, x3: x3 - x2 * special.ndtri(x1),
    cases=[case(SHARES, 1.5, 0.3), case(0.4, number("positive"), number())],
)
definition(
    special.nrdtrisd,
    lambda x1, x2, x3: (x3 - x1) / special.ndtri(x2),
    cases=[case(0.3, np.array([0.1, 0.7]), 1.5), case(number(), 0.4, number())],
)

# --- of Tukey ---------------------------------------------------------------------------------------------------------


def _inside(p, value):
    """Zero where all lies on one side, and the probability stays zero or one."""
    return choose(np.logical_and(np.greater(p, 0.0), np.less(p, 1.0)), value, 0.0)


def _slope_of_quantile(p, lmbda):
    return p ** (lmbda - 1.0) + (1.0 - p) ** (lmbda - 1.0)


def _slope_by_shape(p, lmbda):
    quotient = p**lmbda * np.log(p) - (1.0 - p) ** lmbda * np.log1p(-p)
    return (quotient - (p**lmbda - (1.0 - p) ** lmbda) / lmbda) / lmbda


elementwise(
    special.tklmbda,
    lambda x, lmbda, y: (
        _inside(y, 1.0 / _slope_of_quantile(y, lmbda)),
        _inside(y, -_slope_by_shape(y, lmbda) / _slope_of_quantile(y, lmbda)),
    ),
    cases=[case(0.4, 0.7), case(np.array([-0.5, 0.2, 1.3]), 0.3), case(np.array([-2.0, 0.2, 1.3]), 1.5)],
)
