"""Rules of error functions, exponentials, logarithms, and what statistics and learning make of them."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.declare import case, definition, elementwise, general, number, sample
from adjoint.runtime.arithmetic.numbers import divide, log, times
from adjoint.runtime.array_functions.arrays import restore_axes, unbroadcast
from adjoint.runtime.numerical_methods.special.incomplete import boxcox_slope

LN10 = 2.302585092994046
TWO_BY_ROOT_PI = 1.1283791670955126
ROOT_PI_BY_TWO = 0.886226925452758
ROOT_TWO = 1.4142135623730951
DEGREE = 0.017453292519943295
ROOT_TWO_PI = 2.5066282746310002
POSITIVE = (0.5, 3.0)
INSIDE = (0.1, 0.9)

# --- error functions and the normal distribution ----------------------------------------------------------------------

elementwise(special.erf, lambda x, y: TWO_BY_ROOT_PI * np.exp(-x * x))
elementwise(special.erfc, lambda x, y: -TWO_BY_ROOT_PI * np.exp(-x * x))
elementwise(special.erfcx, lambda x, y: 2 * x * y - TWO_BY_ROOT_PI)
elementwise(special.erfi, lambda x, y: TWO_BY_ROOT_PI * np.exp(x * x), domain=(-1.0, 1.0))
elementwise(special.erfinv, lambda x, y: ROOT_PI_BY_TWO * np.exp(y * y), domain=(-0.8, 0.8))
elementwise(special.erfcinv, lambda x, y: -ROOT_PI_BY_TWO * np.exp(y * y), domain=(0.2, 1.8))
elementwise(special.dawsn, lambda x, y: 1 - 2 * x * y)
elementwise(special.ndtr, lambda x, y: np.exp(-0.5 * x * x) / ROOT_TWO_PI)
elementwise(special.log_ndtr, lambda x, y: np.exp(-0.5 * x * x - y) / ROOT_TWO_PI)
elementwise(special.ndtri, lambda x, y: ROOT_TWO_PI * np.exp(0.5 * y * y), domain=INSIDE)

elementwise(special.ndtri_exp, lambda x, y: ROOT_TWO_PI * np.exp(x + 0.5 * y * y), domain=(-3.0, -0.1))
elementwise(
    special.owens_t,
    lambda h, a, y: (
        -0.5 * np.exp(-0.5 * h * h) * special.erf(a * h / ROOT_TWO) / ROOT_TWO_PI,
        np.exp(-0.5 * h * h * (1 + a * a)) / (2 * np.pi * (1 + a * a)),
    ),
)

# --- angles in degrees ------------------------------------------------------------------------------------------------

elementwise(special.sindg, lambda x, y: DEGREE * special.cosdg(x), domain=(-200.0, 200.0))
elementwise(special.cosdg, lambda x, y: -DEGREE * special.sindg(x), domain=(-200.0, 200.0))
elementwise(special.tandg, lambda x, y: DEGREE * (1 + y * y), domain=(-60.0, 60.0))
elementwise(special.cotdg, lambda x, y: -DEGREE * (1 + y * y), domain=(20.0, 160.0))
elementwise(special.radian, lambda x1, x2, x3, y: (DEGREE, DEGREE / 60, DEGREE / 3600))

# --- logistic functions, exponentials and logarithms ------------------------------------------------------------------

elementwise(special.expit, lambda x, y: y * (1 - y))
elementwise(special.logit, scaled=lambda ct, x, y: divide(ct, x * (1 - x)), singular=True, domain=INSIDE)
elementwise(special.log_expit, lambda x, y: special.expit(-x))
elementwise(special.exp10, lambda x, y: LN10 * y)
elementwise(special.exp2, lambda x, y: 0.6931471805599453 * y)
elementwise(special.expm1, lambda x, y: y + 1)
elementwise(special.log1p, scaled=lambda ct, x, y: divide(ct, 1 + x), singular=True, domain=(-0.5, 2.0))
elementwise(special.cosm1, lambda x, y: -np.sin(x))
elementwise(
    special.powm1,
    lambda x1, x2, y: (x2 * np.power(x1, x2 - 1.0), np.power(x1, x2) * np.log(x1)),
    domain=POSITIVE,
)
if hasattr(special, "softplus"):  # SciPy 1.17
    definition(
        special.softplus, lambda x: np.logaddexp(0.0, x), cases=[case(number()), case(sample(3)), case(sample(2, 3))]
    )
elementwise(
    special.wrightomega, lambda z, y: y / (1 + y), cases=[case(number()), case(sample(3)), case(np.array([1 + 1j]))]
)
elementwise(special.cbrt, scaled=lambda ct, x, y: divide(ct, 3 * y * y), singular=True, domain=POSITIVE)
elementwise(
    special.xlogy,
    scaled=lambda ct, x1, x2, y: (times(ct, log(x2)), times(ct, divide(x1, x2))),
    singular=True,
    domain=POSITIVE,
)
elementwise(
    special.xlog1py,
    scaled=lambda ct, x1, x2, y: (times(ct, log(1 + x2)), times(ct, divide(x1, 1 + x2))),
    singular=True,
    domain=POSITIVE,
)
elementwise(special.entr, scaled=lambda ct, x, y: times(ct, -log(x) - 1), singular=True, domain=POSITIVE)
elementwise(
    special.rel_entr,
    scaled=lambda ct, x1, x2, y: (times(ct, log(divide(x1, x2)) + 1), -times(ct, divide(x1, x2))),
    singular=True,
    domain=POSITIVE,
)
elementwise(
    special.kl_div,
    scaled=lambda ct, x1, x2, y: (times(ct, log(divide(x1, x2))), ct - times(ct, divide(x1, x2))),
    singular=True,
    domain=POSITIVE,
)
elementwise(
    special.boxcox,
    scaled=lambda ct, x, lmbda, y: (times(ct, np.power(x, lmbda - 1.0)), times(ct, boxcox_slope(1, x, lmbda))),
    domain=POSITIVE,
    cases=[case(sample(3, kind="positive"), 0.7), case(sample(3, kind="positive"), 0.0)],
)
elementwise(
    special.boxcox1p,
    scaled=lambda ct, x, lmbda, y: (times(ct, np.power(1 + x, lmbda - 1.0)), times(ct, boxcox_slope(1, 1 + x, lmbda))),
    domain=POSITIVE,
    cases=[case(sample(3, kind="positive"), 0.7), case(sample(3, kind="positive"), 0.0)],
)
elementwise(
    special.inv_boxcox,
    lambda x, lmbda, y: (np.power(y, 1.0 - lmbda), -boxcox_slope(1, y, lmbda) * np.power(y, 1.0 - lmbda)),
    cases=[case(sample(3, kind="positive"), 0.7), case(sample(3, kind="positive"), 0.0), case(number(), number())],
)
elementwise(
    special.inv_boxcox1p,
    lambda x, lmbda, y: (np.power(1 + y, 1.0 - lmbda), -boxcox_slope(1, 1 + y, lmbda) * np.power(1 + y, 1.0 - lmbda)),
    cases=[case(sample(3, kind="positive"), 0.7), case(sample(3, kind="positive"), 0.0), case(number(), number())],
)
elementwise(
    boxcox_slope,
    lambda n, x, lmbda, y: (None, np.log(x) ** n * np.power(x, lmbda - 1.0), boxcox_slope(n + 1, x, lmbda)),
    cases=[case(1, sample(3, kind="positive"), 0.7), case(2, sample(3, kind="positive"), 0.0)],
)
elementwise(
    special.huber,
    lambda delta, r, y: (np.where(np.abs(r) <= delta, 0.0, np.abs(r) - delta), np.clip(r, -delta, delta)),
    domain=((0.5, 0.8), (-2.0, 2.0)),
)


def _pseudo_huber(delta, r, y):
    root = np.sqrt(1 + (r / delta) ** 2)
    return (2 * delta * (root - 1) - r * r / (delta * root), r / root)


elementwise(special.pseudo_huber, _pseudo_huber, domain=(POSITIVE, (-2.0, 2.0)))
general(
    special.lambertw,
    lambda dots, y, z, k=0, tol=1e-8: dots[0] / (np.exp(y) * (1 + y)),
    lambda ct, y, z, k=0, tol=1e-8: (unbroadcast(ct / (np.exp(y) * (1 + y)), z),),
    cases=[case(sample(3, kind="positive")), case(sample(3, kind="complex"), 1)],
)


def _logsumexp_jvp(dots, y, a, axis=None, b=None, keepdims=False):
    weights = np.exp(a - restore_axes(y, a, axis, keepdims))
    if b is None:
        return np.sum(weights * dots[0], axis=axis, keepdims=keepdims)
    moved = weights * b * dots[0]
    if dots[2] is not None:
        moved = moved + weights * dots[2]
    return np.sum(moved, axis=axis, keepdims=keepdims)


def _logsumexp_vjp(ct, y, a, axis=None, b=None, keepdims=False):
    weights = np.exp(a - restore_axes(y, a, axis, keepdims)) * restore_axes(ct, a, axis, keepdims)
    along_a = weights if b is None else unbroadcast(weights * b, a)
    return (along_a, None, 0.0 if b is None else unbroadcast(weights, b))


AXES = [
    case(sample(4, 3)),
    case(sample(4, 3), axis=0),
    case(sample(2, 4, 3), axis=(0, -1)),
]
general(
    special.logsumexp,
    _logsumexp_jvp,
    _logsumexp_vjp,
    cases=[
        *AXES,
        case(sample(4, 3), -1, keepdims=True),
        case(sample(4, 3), 0, sample(4, 3, kind="positive")),
        case(sample(4, 3), 1, sample(3, kind="positive")),
    ],
)
general(
    special.softmax,
    lambda dots, y, x, axis=None: y * (dots[0] - np.sum(y * dots[0], axis=axis, keepdims=True)),
    lambda ct, y, x, axis=None: (y * (ct - np.sum(y * ct, axis=axis, keepdims=True)),),
    cases=AXES,
)
general(
    special.log_softmax,
    lambda dots, y, x, axis=None: dots[0] - np.sum(np.exp(y) * dots[0], axis=axis, keepdims=True),
    lambda ct, y, x, axis=None: (ct - np.exp(y) * np.sum(ct, axis=axis, keepdims=True),),
    cases=AXES,
)
