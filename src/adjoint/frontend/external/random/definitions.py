"""What the methods of NumPy's generators do with parameters that vary: numbers that do not depend on them, transformed.

The numbers drawn are the same, and so is what the generator draws next. (Reparametrised, or pathwise, derivatives.)
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math

import numpy as np


def shape_of_draws(size, *parameters):
    """How many numbers are drawn: None for one that is no array."""
    if size is not None:
        return size
    shape = np.broadcast_shapes(*[np.shape(parameter) for parameter in parameters])
    return None if len(shape) == 0 else shape


def plain_draw(rng, name, *parameters, size, **options):
    """A call of the method as it is, with parameters of which nothing is to be carried on; the compiler makes it."""
    return getattr(rng, name)(*parameters, size=size, **options)


def _check(name, scale):
    if np.any(scale < 0):
        raise ValueError(f"{name} < 0")


def normal(rng, loc=0.0, scale=1.0, size=None):
    _check("scale", scale)
    return loc + scale * rng.standard_normal(shape_of_draws(size, loc, scale))


def lognormal(rng, mean=0.0, sigma=1.0, size=None):
    _check("sigma", sigma)
    return np.exp(mean + sigma * rng.standard_normal(shape_of_draws(size, mean, sigma)))


def uniform(rng, low=0.0, high=1.0, size=None):
    return low + (high - low) * rng.uniform(size=shape_of_draws(size, low, high))


def exponential(rng, scale=1.0, size=None):
    _check("scale", scale)
    return scale * rng.standard_exponential(shape_of_draws(size, scale))


def laplace(rng, loc=0.0, scale=1.0, size=None):
    _check("scale", scale)
    return loc + scale * rng.laplace(size=shape_of_draws(size, loc, scale))


def logistic(rng, loc=0.0, scale=1.0, size=None):
    _check("scale", scale)
    return loc + scale * rng.logistic(size=shape_of_draws(size, loc, scale))


def gumbel(rng, loc=0.0, scale=1.0, size=None):
    _check("scale", scale)
    return loc + scale * rng.gumbel(size=shape_of_draws(size, loc, scale))


def rayleigh(rng, scale=1.0, size=None):
    _check("scale", scale)
    return scale * rng.rayleigh(size=shape_of_draws(size, scale))


def weibull(rng, a, size=None):
    _check("a", a)
    return rng.standard_exponential(shape_of_draws(size, a)) ** (1.0 / a)


def pareto(rng, a, size=None):
    return np.expm1(rng.standard_exponential(shape_of_draws(size, a)) / a)


def power(rng, a, size=None):
    return (-np.expm1(-rng.standard_exponential(shape_of_draws(size, a)))) ** (1.0 / a)


def triangular(rng, left, mode, right, size=None):
    if np.any(np.greater(left, mode)) or np.any(np.greater(mode, right)) or np.any(np.equal(left, right)):
        raise ValueError("left <= mode <= right, and left < right")
    share, width = rng.random(shape_of_draws(size, left, mode, right)), right - left
    is_below = np.less_equal(share, (mode - left) / width)
    found = np.where(is_below, share * (mode - left), (1.0 - share) * (right - mode)) * width
    away = np.sqrt(found)
    return np.where(is_below, left + away, right - away)[()]


def multivariate_normal(rng, mean, cov, size=None, **options):
    return np.asarray(mean) + plain_draw(
        rng, "multivariate_normal", np.zeros(np.shape(mean)), cov, size=size, **options
    )


def choice(rng, a, size=None, replace=True, p=None, axis=0, **options):
    if np.ndim(a) == 0:
        return plain_draw(rng, "choice", a, size=size, replace=replace, p=p, **options)
    places = plain_draw(rng, "choice", np.shape(a)[axis], size=size, replace=replace, p=p, **options)
    return np.take(a, places, axis=axis)


def permutation(rng, x):
    return np.take(x, rng.permutation(len(x)), axis=0)


# The draws of Python: of the module, or of a generator


def python_uniform(draws, a, b):
    return a + (b - a) * draws.random()


def python_gauss(draws, mu=0.0, sigma=1.0):
    return mu + draws.gauss(0.0, 1.0) * sigma


def python_normalvariate(draws, mu=0.0, sigma=1.0):
    return mu + draws.normalvariate(0.0, 1.0) * sigma


def python_lognormvariate(draws, mu=0.0, sigma=1.0):
    return math.exp(python_normalvariate(draws, mu, sigma))


def python_expovariate(draws, lambd=1.0):
    return -math.log(1.0 - draws.random()) / lambd


def python_paretovariate(draws, alpha):
    return (1.0 - draws.random()) ** (-1.0 / alpha)


def python_weibullvariate(draws, alpha, beta):
    return alpha * (-math.log(1.0 - draws.random())) ** (1.0 / beta)
