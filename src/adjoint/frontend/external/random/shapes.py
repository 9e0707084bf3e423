"""Draws from distributions with a shape that varies: what is held is the share of the distribution below a number.

The number is the quantile of that share, whose derivatives it has (Figurnov, Mohamed, Mnih 2018: implicit
reparametrisation); its value is the one that was drawn.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from scipy import special

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.frontend.external.random.definitions import plain_draw, shape_of_draws
from adjoint.runtime.arithmetic.numbers import choose


def constant(x):
    """The parameter as a constant, in memory of its own."""
    return 1.0 * stop_gradient(x)


def _at(draw, quantile):
    """The number that was drawn, with the derivatives of the quantile."""
    return draw + (quantile - stop_gradient(quantile))


def _gamma_draw(shape, draw):
    fixed = constant(shape)
    low, high = special.gammainc(fixed, draw), special.gammaincc(fixed, draw)
    quantile = choose(low < high, special.gammaincinv(shape, low), special.gammainccinv(shape, high))
    return _at(draw, quantile)


def standard_gamma(rng, shape, size=None):
    return _gamma_draw(shape, plain_draw(rng, "standard_gamma", constant(shape), size=size))


def gamma(rng, shape, scale=1.0, size=None):
    draw = plain_draw(rng, "standard_gamma", constant(shape), size=shape_of_draws(size, shape, scale))
    return scale * _gamma_draw(shape, draw)


def chisquare(rng, df, size=None):
    return 2.0 * _gamma_draw(0.5 * df, 0.5 * plain_draw(rng, "chisquare", constant(df), size=size))


def f(rng, dfnum, dfden, size=None):
    if size is None and np.ndim(dfnum) == 0 and np.ndim(dfden) == 0:
        over = chisquare(rng, dfnum) / dfnum
        return over / (chisquare(rng, dfden) / dfden)
    shape = np.broadcast_shapes(np.shape(dfnum), np.shape(dfden)) if size is None else size
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    both = np.stack([np.broadcast_to(dfnum, extents), np.broadcast_to(dfden, extents)], axis=-1)
    means = chisquare(rng, both, (*extents, 2)) / both
    return means[..., 0] / means[..., 1]


def dirichlet(rng, alpha, size=None):
    alpha = np.asarray(alpha)
    if np.max(alpha) < 0.1:
        raise NotImplementedError("parameters that are all less than 0.1")
    extents = () if size is None else (size,) if isinstance(size, int) else tuple(size)
    parts = standard_gamma(rng, alpha, (*extents, len(alpha)))
    return parts / np.sum(parts, axis=-1, keepdims=True)


def beta(rng, a, b, size=None):
    fixed_a, fixed_b = constant(a), constant(b)
    draw = plain_draw(rng, "beta", fixed_a, fixed_b, size=size)
    low, high = special.betainc(fixed_a, fixed_b, draw), special.betaincc(fixed_a, fixed_b, draw)
    quantile = choose(low < high, special.betaincinv(a, b, low), special.betainccinv(a, b, high))
    return _at(draw, quantile)


def standard_t(rng, df, size=None):
    fixed = constant(df)
    draw = plain_draw(rng, "standard_t", fixed, size=size)
    return _at(draw, special.stdtrit(df, special.stdtr(fixed, draw)))
