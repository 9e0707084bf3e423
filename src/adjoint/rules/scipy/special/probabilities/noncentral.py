"""Noncentral distributions, as sums of central ones (Johnson, Kotz, Balakrishnan, volume 2, chapters 29 to 31)."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, definition, no_derivative, sample

FAR = 12.0
"""How many standard deviations from their mean Poisson weights are left out: less than 1e-16 of them."""


def _terms(half):
    """The numbers of the terms, for an axis behind those of all arguments."""
    known = np.where(np.isfinite(half), half, 0.0)
    least, most = np.min(known), np.max(known)
    first = np.floor(np.maximum(least - FAR * np.sqrt(least) - 40.0, 0.0))
    return np.arange(first, most + FAR * np.sqrt(most) + 40.0)


def _weights(half, j):
    return np.exp(special.xlogy(j, half) - half - special.gammaln(j + 1.0))


def _column(value):
    return np.asarray(value)[..., None]


def mixed(nc, term):
    """The mean of ``term(j)`` over ``j``, which has the Poisson distribution of the mean ``nc / 2``."""
    j = _terms(0.5 * nc)
    return as_result(np.sum(_weights(0.5 * _column(nc), j) * term(j), axis=-1))


def noncentral_chi2(x, df, nc, share=special.gammainc):
    return mixed(nc, lambda j: share(0.5 * _column(df) + j, 0.5 * _column(x)))


def noncentral_f(dfn, dfd, nc, f, share=special.betainc):
    place = _column(dfn * f / (dfn * f + dfd))
    return mixed(nc, lambda j: share(0.5 * _column(dfn) + j, 0.5 * _column(dfd), place))


def noncentral_t(df, nc, t):
    """That of ``-t`` for ``-nc`` is the rest."""
    sign = np.where(np.less(t, 0), -1.0, 1.0)
    shift, place = _column(sign * nc), _column(t * t / (t * t + df))
    half, j = 0.5 * shift * shift, _terms(0.5 * nc * nc)
    odd = shift / 1.4142135623730951 * np.exp(special.xlogy(j, half) - half - special.gammaln(j + 1.5))
    b = 0.5 * _column(df)
    terms = _weights(half, j) * special.betainc(j + 0.5, b, place) + odd * special.betainc(j + 1.0, b, place)
    above = special.ndtr(-sign * nc) + 0.5 * np.sum(terms, axis=-1)
    return as_result(np.where(np.less(t, 0), 1.0 - above, above))


def _as_precise(value, *given):
    """In single precision where all that is given is, as SciPy's functions of numbers give it."""
    return value.astype(np.float32) if np.result_type(*given) == np.float32 else value


POINTS = sample(3, kind="positive")
definition(
    special.chndtr,
    lambda x1, x2, x3: _as_precise(noncentral_chi2(x1, x2, x3), x1, x2, x3),
    cases=[case(1.7, 2.5, 0.8), case(POINTS, 2.5, 30.0), case(POINTS, POINTS, 0.3)],
)
definition(
    special.ncfdtr,
    lambda x1, x2, x3, x4: _as_precise(noncentral_f(x1, x2, x3, x4), x1, x2, x3, x4),
    cases=[case(2.5, 4.0, 0.8, 1.7), case(POINTS, 4.0, 30.0, POINTS)],
)
definition(
    special.nctdtr,
    lambda x1, x2, x3: _as_precise(noncentral_t(x1, x2, x3), x1, x2, x3),
    cases=[case(4.5, 0.8, 1.7), case(4.5, np.array([-0.7, 0.4, 3.0]), sample(3))],
)
no_derivative(special.chndtr, special.ncfdtr, special.nctdtr)
