"""Inverses of noncentral distributions by a parameter: derivatives of the sums of central ones, divided.

Where a probability ``F(a, ..., y)`` stays what it is, ``y`` moves by ``-F_a / F_y`` with ``a``, and by ``1 / F_y``
with the probability. SciPy's sums for ``ncfdtridfn``, ``ncfdtridfd`` and ``ncfdtrinc`` end where terms are less than
1e-4, and their values are off by 1e-4 of themselves at most; the derivatives are those of the inverses, to all digits.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, elementwise
from adjoint.rules.scipy.special.gamma_beta import _gamma_density, beta_density, slopes_of_inverse, where_found
from adjoint.rules.scipy.special.probabilities.noncentral import (
    _column,
    _terms,
    _weights,
    mixed,
    noncentral_chi2,
    noncentral_f,
    noncentral_t,
)
from adjoint.runtime.numerical_methods.special.incomplete import betainc_slope, gammainc_slope

SHARES = np.array([0.2, 0.5, 0.9])

# --- of the square ----------------------------------------------------------------------------------------------------


def _of_chi2(x, df, nc):
    """The derivatives of the probability by all arguments."""
    by_place = mixed(nc, lambda j: 0.5 * _gamma_density(0.5 * _column(df) + j, 0.5 * _column(x)))
    by_df = mixed(nc, lambda j: 0.5 * gammainc_slope(1, 0.5 * _column(df) + j, 0.5 * _column(x)))
    return by_place, by_df, 0.5 * (noncentral_chi2(x, df + 2.0, nc) - noncentral_chi2(x, df, nc))


elementwise(
    special.chndtrix,
    lambda p, df, nc, y: slopes_of_inverse(_of_chi2(y, df, nc), 0),
    cases=[case(0.4, 2.5, 0.8), case(SHARES, 2.5, 3.0)],
)
elementwise(
    special.chndtridf,
    lambda x, p, nc, y: where_found(slopes_of_inverse(_of_chi2(x, y, nc), 1), p, noncentral_chi2(x, y, nc)),
    cases=[case(2.5, 0.4, 0.8), case(4.0, np.array([0.2, 0.5]), 1.2)],
)
elementwise(
    special.chndtrinc,
    lambda x, df, p, y: where_found(slopes_of_inverse(_of_chi2(x, df, y), 2), p, noncentral_chi2(x, df, y)),
    cases=[case(4.5, 2.5, 0.4), case(6.0, 2.5, np.array([0.3, 0.5, 0.7]))],
)

# --- of the ratio -----------------------------------------------------------------------------------------------------


def _of_f(dfn, dfd, nc, f):
    """The derivatives of the probability by all arguments."""
    whole = dfn * f + dfd
    a, b, place = 0.5 * _column(dfn), 0.5 * _column(dfd), _column(dfn * f / whole)
    density = mixed(nc, lambda j: beta_density(a + j, b, place)) / (whole * whole)
    by_dfn = density * f * dfd + 0.5 * mixed(nc, lambda j: betainc_slope(1, 0, a + j, b, place))
    by_dfd = -density * dfn * f + 0.5 * mixed(nc, lambda j: betainc_slope(0, 1, a + j, b, place))
    further = mixed(nc, lambda j: special.betainc(a + 1.0 + j, b, place))
    return by_dfn, by_dfd, 0.5 * (further - noncentral_f(dfn, dfd, nc, f)), density * dfn * dfd


elementwise(
    special.ncfdtri,
    lambda dfn, dfd, nc, p, y: slopes_of_inverse(_of_f(dfn, dfd, nc, y), 3),
    cases=[case(2.5, 4.0, 0.8, 0.4), case(2.5, 4.0, 3.0, SHARES)],
)
elementwise(
    special.ncfdtridfd,
    lambda dfn, p, nc, f, y: where_found(slopes_of_inverse(_of_f(dfn, y, nc, f), 1), p, noncentral_f(dfn, y, nc, f)),
    cases=[case(2.5, 0.6, 0.8, 1.9)],
)
elementwise(
    special.ncfdtridfn,
    lambda p, dfd, nc, f, y: where_found(slopes_of_inverse(_of_f(y, dfd, nc, f), 0), p, noncentral_f(y, dfd, nc, f)),
    cases=[case(0.69, 4.0, 0.8, 1.9)],
)
elementwise(
    special.ncfdtrinc,
    lambda dfn, dfd, p, f, y: where_found(slopes_of_inverse(_of_f(dfn, dfd, y, f), 2), p, noncentral_f(dfn, dfd, y, f)),
    cases=[case(2.5, 4.0, 0.4, 1.9)],
)

# --- of Student -------------------------------------------------------------------------------------------------------


def noncentral_t_slopes(df, nc, t):
    """The derivatives of the probability by all arguments; that of ``-t`` for ``-nc`` is the rest."""
    sign = np.where(np.less(t, 0), -1.0, 1.0)
    whole = t * t + df
    shift, place, b = _column(sign * nc), _column(t * t / whole), 0.5 * _column(df)
    half, j = 0.5 * shift * shift, _terms(0.5 * nc * nc)
    even = _weights(half, j)
    odd = np.exp(special.xlogy(j, half) - half - special.gammaln(j + 1.5)) / 1.4142135623730951

    def total(first, second):
        return 0.5 * np.sum(even * first + shift * odd * second, axis=-1)

    density = total(beta_density(j + 0.5, b, place), beta_density(j + 1.0, b, place)) / (whole * whole)
    by_df = 0.5 * total(betainc_slope(0, 1, j + 0.5, b, place), betainc_slope(0, 1, j + 1.0, b, place))
    first, second = special.betainc(j + 0.5, b, place), special.betainc(j + 1.0, b, place)
    following = special.betainc(j + 1.5, b, place)
    by_nc = 0.5 * np.sum(shift * even * (following - first) + (2.0 * j + 1.0 - 2.0 * half) * odd * second, axis=-1)
    by_nc = by_nc - np.exp(-0.5 * nc * nc) / 2.5066282746310002
    return (
        as_result(sign * (by_df - density * t * t)),
        as_result(by_nc),
        as_result(density * 2.0 * np.abs(t) * df),
    )


elementwise(
    special.nctdtrit,
    lambda df, nc, p, y: slopes_of_inverse(noncentral_t_slopes(df, nc, y), 2),
    cases=[case(4.5, 0.8, 0.4), case(4.5, 0.8, SHARES), case(4.5, -0.6, 0.3)],
)
elementwise(
    special.nctdtridf,
    lambda p, nc, t, y: where_found(slopes_of_inverse(noncentral_t_slopes(y, nc, t), 0), p, noncentral_t(y, nc, t)),
    cases=[case(0.85, 0.3, 1.5)],
)
elementwise(
    special.nctdtrinc,
    lambda df, p, t, y: where_found(slopes_of_inverse(noncentral_t_slopes(df, y, t), 1), p, noncentral_t(df, y, t)),
    cases=[case(4.5, 0.4, 1.7), case(4.5, np.array([0.3, 0.8]), -0.7)],
)
