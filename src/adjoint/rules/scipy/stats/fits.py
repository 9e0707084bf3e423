"""Parameters that are fitted to samples, in closed form or where a likelihood is greatest: its gradient is zero there.

SciPy finds them, and a step of Newton's method tells whether it has; at the end of what parameters may be, it has not.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special, stats

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import solved
from adjoint.rules.declare import case, definition, sample
from adjoint.runtime.numerical_methods.implicit import answered, minimum
from adjoint.runtime.numerical_methods.of_scipy.solvers import fitted_parameters, power_by

SAMPLE = np.array([0.7, 1.9, 0.4, 2.6, 1.1, 5.0, 0.9, 1.4])

# --- distributions ----------------------------------------------------------------------------------------------------


def _norm_fit(data):
    middle = np.mean(data)
    return middle, np.sqrt(np.mean((data - middle) ** 2))


def _expon_fit(data):
    return np.min(data), np.mean(data) - np.min(data)


def _uniform_fit(data):
    return np.min(data), np.max(data) - np.min(data)


def _names_of(dist):
    """For each parameter of a distribution, the names by which it is held at a value."""
    shapes = dist.shapes.replace(" ", "").split(",") if dist.shapes else []
    names = [(f"f{place}", f"f{name}", f"fix_{name}") for place, name in enumerate(shapes)]
    return (*names, ("floc",), ("fscale",))


def _declare_fit(dist, closed=None):
    """``closed`` is the formula for all parameters together."""
    names = _names_of(dist)

    def fit(data, *starts, **kwds):
        if kwds.get("method", "MLE") not in ("MLE", "mle") or kwds.get("optimizer") is not None:
            raise NotImplementedError("another method or optimizer")
        values = np.ravel(data)
        if closed is not None and len(starts) == 0 and len(kwds) == 0:
            return closed(values)
        if dist is stats.uniform:
            raise NotImplementedError("a location or a scale: its ends are the outermost numbers, no maximum")
        held, free = [], []
        for place, own in enumerate(names):
            given = [kwds[name] for name in own if name in kwds]
            held.append(given[0] if len(given) > 0 else None)
            if len(given) == 0:
                free.append(place)

        def with_free(theta):
            parameters = list(held)
            for k, place in enumerate(free):
                parameters[place] = theta[k]
            return parameters

        def cost(theta):
            return -np.sum(dist.logpdf(values, *with_free(theta)))

        sought = (stop_gradient(values), stop_gradient(starts), stop_gradient(kwds))
        theta = solved(
            minimum, cost, (np.zeros(len(free)),), answered, (fitted_parameters, dist.fit, tuple(free), *sought)
        )
        return tuple(with_free(theta))

    if closed is not None:
        example = case(SAMPLE)
    elif dist is stats.beta:
        example = case(SAMPLE / 8.0, floc=-0.1, fscale=1.2)
    else:
        example = case(SAMPLE, floc=-0.1)
    definition(dist.fit, fit, only=True, arrays=("data",), cases=[example])


_SEARCHED = """
    gamma beta lognorm t chi2 weibull_min weibull_max gumbel_r gumbel_l logistic cauchy invgauss genextreme genpareto
    fatiguelife nakagami invgamma loggamma chi rayleigh maxwell halfnorm gompertz genlogistic burr12 fisk skewnorm
    exponweib hypsecant pareto
"""
for _name in _SEARCHED.split():
    _declare_fit(getattr(stats, _name))
for _dist, _closed in ((stats.norm, _norm_fit), (stats.expon, _expon_fit), (stats.uniform, _uniform_fit)):
    _declare_fit(_dist, _closed)

# --- powers that make samples normal ----------------------------------------------------------------------------------


def _checked(x):
    if np.ndim(x) != 1:
        raise ValueError("Data must be 1-dimensional.")
    if np.any(x <= 0):
        raise ValueError("Data must be positive.")
    if np.all(x == x[0]):
        raise ValueError("Data must not be constant.")


def medians_of_order(n):
    """The shares of a distribution at which the numbers of a sample lie, in order (Filliben 1975)."""
    last = 0.5 ** (1.0 / n)
    inner = (np.arange(2.0, n) - 0.3175) / (n + 0.365)
    return np.concatenate([np.array([1.0 - last]), inner, np.array([last])])


def _power(x, method, brack):
    if method == "mle":
        cost = lambda power: -stats.boxcox_llf(power, x)
    elif method == "pearsonr":
        middles = special.ndtri(medians_of_order(np.size(x)))
        cost = lambda power: 1.0 - np.corrcoef(middles, np.sort(special.boxcox(x, power)))[0, 1]
    else:
        raise NotImplementedError("this method")
    settings = (power_by, stats.boxcox_normmax, {"method": method, "brack": brack}, stop_gradient(x))
    return solved(minimum, cost, (0.5,), answered, settings)


def _boxcox_normmax(x, brack=None, method="pearsonr", optimizer=None):
    if optimizer is not None:
        raise NotImplementedError("an optimizer of one's own")
    _checked(x)
    return _power(x, method, stop_gradient(brack))


def _boxcox(x, lmbda=None, alpha=None, optimizer=None):
    if lmbda is not None:
        return special.boxcox(x, lmbda)
    if alpha is not None or optimizer is not None:
        raise NotImplementedError("alpha" if optimizer is None else "an optimizer of one's own")
    _checked(x)
    power = _power(x, "mle", None)
    return special.boxcox(x, power), power


def _yeojohnson(x, lmbda):
    """Of both branches a value is taken that they know."""
    up, down = np.where(x >= 0.0, x, 0.0), np.where(x >= 0.0, 0.0, -x)
    return np.where(x >= 0.0, special.boxcox1p(up, lmbda), -special.boxcox1p(down, 2.0 - lmbda))


def _yeojohnson_llf(lmb, data):
    spread = np.var(_yeojohnson(data, lmb), axis=0)
    return -0.5 * len(data) * np.log(spread) + (lmb - 1.0) * np.sum(np.sign(data) * np.log1p(np.abs(data)), axis=0)


def _yeojohnson_normmax(x, brack=None):
    settings = (power_by, stats.yeojohnson_normmax, {"brack": stop_gradient(brack)}, stop_gradient(x))
    return solved(minimum, lambda power: -_yeojohnson_llf(power, x), (0.5,), answered, settings)


def _yeojohnson_fitted(x, lmbda=None):
    if lmbda is not None:
        return _yeojohnson(x, lmbda)
    power = _yeojohnson_normmax(x)
    return _yeojohnson(x, power), power


POSITIVE = np.array([0.7, 1.9, 0.4, 2.6, 1.1, 5.0])
definition(
    stats.boxcox, _boxcox, only=True, arrays=("x",), cases=[case(POSITIVE), case(sample(5, kind="positive"), 0.3)]
)
definition(
    stats.boxcox_normmax,
    _boxcox_normmax,
    only=True,
    arrays=("x",),
    cases=[case(POSITIVE), case(POSITIVE, method="mle")],
)
definition(
    stats.yeojohnson_llf,
    _yeojohnson_llf,
    arrays=("data",),
    cases=[case(0.3, sample(6)), case(1.7, sample(4, 2)), case(0.8, sample(5, kind="positive"))],
)
definition(stats.yeojohnson_normmax, _yeojohnson_normmax, only=True, arrays=("x",), cases=[case(POSITIVE - 1.0)])
definition(
    stats.yeojohnson, _yeojohnson_fitted, only=True, arrays=("x",), cases=[case(POSITIVE - 1.0), case(sample(5), 0.3)]
)
