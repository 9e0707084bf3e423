"""Rules of gamma and beta functions, the incomplete ones by their shapes, too: those derivatives are integrals."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.declare import case, constant, definition, elementwise, no_derivative, number, sample
from adjoint.runtime.arithmetic.numbers import choose
from adjoint.runtime.numerical_methods.special.incomplete import (
    beta_density_slope,
    betainc_slope,
    gamma_density_slope,
    gammainc_slope,
)
from adjoint.runtime.numerical_methods.special.zeta import polygamma

POSITIVE = (0.5, 3.0)

elementwise(special.gamma, lambda x, y: y * special.psi(x), domain=POSITIVE)
elementwise(special.gammaln, lambda x, y: special.psi(x), domain=POSITIVE)
elementwise(special.loggamma, lambda x, y: special.psi(x), domain=POSITIVE)
elementwise(special.rgamma, lambda x, y: -y * special.psi(x), domain=POSITIVE)
COMPLEX = np.array([-1.3 + 0.4j, 0.2 - 2.0j, 3.0 + 0j])
elementwise(
    special.psi, lambda x, y: polygamma(1, x), domain=POSITIVE, cases=[case(sample(3, kind="complex")), case(COMPLEX)]
)
elementwise(
    polygamma,
    lambda n, x, y: (None, polygamma(n + 1, x)),
    fixed=(0,),
    cases=[case(1, sample(3, kind="positive")), case(2, sample(3, kind="complex")), case(1, COMPLEX)],
)
elementwise(
    special.polygamma,
    lambda n, x, y: (None, special.polygamma(n + 1, x)),
    fixed=(0,),
    cases=[case(1, 1.3), case(2, sample(3, kind="positive"))],
)
elementwise(
    special.poch,
    lambda x1, x2, y: (y * (special.psi(x1 + x2) - special.psi(x1)), y * special.psi(x1 + x2)),
    domain=POSITIVE,
)
elementwise(
    special.binom,
    lambda x1, x2, y: (
        y * (special.psi(x1 + 1) - special.psi(x1 - x2 + 1)),
        y * (special.psi(x1 - x2 + 1) - special.psi(x2 + 1)),
    ),
    domain=((2.0, 3.0), (0.3, 1.6)),
)
elementwise(
    special.beta,
    lambda x1, x2, y: (
        y * (special.psi(x1) - special.psi(x1 + x2)),
        y * (special.psi(x2) - special.psi(x1 + x2)),
    ),
    domain=POSITIVE,
)
elementwise(
    special.betaln,
    lambda x1, x2, y: (special.psi(x1) - special.psi(x1 + x2), special.psi(x2) - special.psi(x1 + x2)),
    domain=POSITIVE,
)


def _gamma_density(a, x):
    return np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


SHAPES = [case(0.7, number()), case(2.5, sample(3, kind="positive")), case(1, sample(3, kind="positive"))]
SLOPES = [case(1, 0.7, number()), case(2, 2.5, sample(3, kind="positive"))]
elementwise(special.gammainc, lambda a, x, y: (gammainc_slope(1, a, x), _gamma_density(a, x)), cases=SHAPES)
elementwise(special.gammaincc, lambda a, x, y: (-gammainc_slope(1, a, x), -_gamma_density(a, x)), cases=SHAPES)
elementwise(
    gammainc_slope,
    lambda n, a, x, y: (None, gammainc_slope(n + 1, a, x), gamma_density_slope(n, a, x)),
    cases=SLOPES,
)
elementwise(
    gamma_density_slope,
    lambda n, a, x, y: (
        None,
        gamma_density_slope(n + 1, a, x),
        y * ((a - 1.0) / x - 1.0) + n * gamma_density_slope(n - 1, a, x) / x,
    ),
    cases=SLOPES,
)


def slopes_of_inverse(slopes, unknown):
    """How the argument ``unknown`` moves with each, and with the probability that stands in its place."""
    return tuple([1.0 / slopes[k] if k == unknown else -slopes[k] / slopes[unknown] for k in range(len(slopes))])


def where_found(slopes, share, reached):
    """Not a number where SciPy's search ended at a bound: the probability there is another than the one given."""
    is_found = np.less_equal(np.abs(reached - share), 0.01 * share * (1.0 - share))
    return tuple([choose(is_found, slope, np.nan) for slope in slopes])


def beta_density(a, b, x):
    return np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


SHARES = [case(0.7, 2.0, 0.3), case(2.5, 1, np.array([0.2, 0.5, 0.9]))]
elementwise(
    special.betainc,
    lambda a, b, x, y: (betainc_slope(1, 0, a, b, x), betainc_slope(0, 1, a, b, x), beta_density(a, b, x)),
    cases=SHARES,
)
elementwise(
    special.betaincc,
    lambda a, b, x, y: (-betainc_slope(1, 0, a, b, x), -betainc_slope(0, 1, a, b, x), -beta_density(a, b, x)),
    cases=SHARES,
)
MIXED = [case(1, 0, 0.7, 2.0, 0.3), case(1, 1, 2.5, 1.2, np.array([0.2, 0.5, 0.9]))]
elementwise(
    betainc_slope,
    lambda m, n, a, b, x, y: (
        None,
        None,
        betainc_slope(m + 1, n, a, b, x),
        betainc_slope(m, n + 1, a, b, x),
        beta_density_slope(m, n, a, b, x),
    ),
    cases=MIXED,
)
elementwise(
    beta_density_slope,
    lambda m, n, a, b, x, y: (
        None,
        None,
        beta_density_slope(m + 1, n, a, b, x),
        beta_density_slope(m, n + 1, a, b, x),
        y * ((a - 1.0) / x - (b - 1.0) / (1.0 - x))
        + m * beta_density_slope(m - 1, n, a, b, x) / x
        - n * beta_density_slope(m, n - 1, a, b, x) / (1.0 - x),
    ),
    cases=MIXED,
)


# --- what is less than a share ----------------------------------------------------------------------------------------

elementwise(
    special.gammaincinv,
    lambda a, p, y: (-gammainc_slope(1, a, y) / _gamma_density(a, y), 1 / _gamma_density(a, y)),
    cases=[case(0.7, 0.3), case(2.5, np.array([0.2, 0.5, 0.9]))],
)
elementwise(
    special.gammainccinv,
    lambda a, p, y: (-gammainc_slope(1, a, y) / _gamma_density(a, y), -1 / _gamma_density(a, y)),
    cases=[case(0.7, 0.3), case(2.5, np.array([0.2, 0.5, 0.9]))],
)


def _beta_quantile(a, b, y):
    density = beta_density(a, b, y)
    return (-betainc_slope(1, 0, a, b, y) / density, -betainc_slope(0, 1, a, b, y) / density, 1 / density)


def _beta_upper_quantile(a, b, y):
    by_a, by_b, by_share = _beta_quantile(a, b, y)
    return (by_a, by_b, -by_share)


elementwise(special.betaincinv, lambda a, b, p, y: _beta_quantile(a, b, y), cases=SHARES)
elementwise(special.betainccinv, lambda a, b, p, y: _beta_upper_quantile(a, b, y), cases=SHARES)

# --- logarithms of products, and counts -------------------------------------------------------------------------------

constant(special.gammasgn)


def _comb(N, k, *, exact=False, repetition=False):
    if repetition:
        return np.where(np.logical_and(np.equal(k, 0), np.greater_equal(N, 0)), 1.0, special.binom(N + k - 1, k))[()]
    inside = np.logical_and(np.less_equal(k, N), np.logical_and(np.greater_equal(N, 0), np.greater_equal(k, 0)))
    return np.where(inside, special.binom(N, k), 0.0)[()]


def _perm(N, k, exact=False):
    inside = np.logical_and(np.less_equal(k, N), np.logical_and(np.greater_equal(N, 0), np.greater_equal(k, 0)))
    return np.where(inside, special.poch(N - k + 1, k), 0.0)[()]


def _factorial(n, exact=False, extend="zero"):
    if isinstance(n, (list, tuple)):
        return _factorial(np.array(n))
    found = np.where(np.less(n, 0), 0.0, special.gamma(n + 1.0))
    if not isinstance(n, np.ndarray):
        return found[()]
    return found if np.size(found) == 0 else found.astype(np.float64)


COUNTS = [case(4.3, 1.7), case(np.array([4.5, 3.2]), sample(2, kind="positive"))]
definition(
    special.comb,
    _comb,
    when=lambda given: given.get("exact", False) is False,
    cases=[*COUNTS, case(5, 2), case(number(), 1.2, repetition=True)],
)
definition(special.perm, _perm, when=lambda given: given.get("exact", False) is False, cases=COUNTS)
definition(
    special.factorial,
    _factorial,
    when=lambda given: given.get("exact", False) is False and given.get("extend", "zero") == "zero",
    cases=[case(number()), case(sample(3)), case(4)],
)
no_derivative(special.comb, special.perm, special.factorial, special.factorial2)
