"""Rules of orthogonal polynomials and spherical harmonics (DLMF 18.9, 14.30); degrees and orders are taken as given."""

import numpy as np
from scipy import special

from adjoint import ir
from adjoint.declarations.implicit import refused

# mypy: allow-untyped-defs, allow-untyped-calls
from adjoint.rules.declare import case, definition, elementwise, no_derivative, number, sample


def _below(n):
    """A degree less by one, which no factor of zero lets matter where it is none."""
    return np.where(np.equal(n, 0), 0, n - 1)


def _sign(n):
    return np.where(np.equal(n, 0), 0.0, 1.0)


def _ultraspherical(n, x, alpha):
    """The polynomial of Gegenbauer of a degree less by one, zero for the degree zero."""
    return _sign(n) * special.eval_gegenbauer(_below(n), alpha, x)


POINTS = np.array([-1.0, -0.4, 0.0, 0.7, 1.0])
DEGREES = [*[case(n, at) for n in (0, 1, 2, 5) for at in (number(), sample(3))], case(np.array([0, 3]), 0.4)]
REAL = [*DEGREES, case(3, POINTS), case(2.5, np.array([-0.3, 0.8]))]
elementwise(special.eval_legendre, lambda n, x, y: (None, _ultraspherical(n, x, 1.5)), fixed=(0,), cases=REAL)
elementwise(special.eval_chebyt, lambda n, x, y: (None, n * special.eval_chebyu(_below(n), x)), fixed=(0,), cases=REAL)
elementwise(special.eval_chebyu, lambda n, x, y: (None, 2 * _ultraspherical(n, x, 2.0)), fixed=(0,), cases=REAL)
elementwise(special.eval_chebyc, lambda n, x, y: (None, n * special.eval_chebys(_below(n), x)), fixed=(0,), cases=REAL)
elementwise(special.eval_chebys, lambda n, x, y: (None, _ultraspherical(n, 0.5 * x, 2.0)), fixed=(0,), cases=REAL)
elementwise(
    special.eval_sh_legendre,
    lambda n, x, y: (None, 2 * _ultraspherical(n, 2 * x - 1, 1.5)),
    fixed=(0,),
    cases=DEGREES,
)
elementwise(
    special.eval_sh_chebyt,
    lambda n, x, y: (None, 2 * n * special.eval_chebyu(_below(n), 2 * x - 1)),
    fixed=(0,),
    cases=DEGREES,
)
elementwise(
    special.eval_sh_chebyu,
    lambda n, x, y: (None, 4 * _ultraspherical(n, 2 * x - 1, 2.0)),
    fixed=(0,),
    cases=DEGREES,
)
elementwise(
    special.eval_hermite, lambda n, x, y: (None, 2 * n * special.eval_hermite(_below(n), x)), fixed=(0,), cases=DEGREES
)
elementwise(
    special.eval_hermitenorm,
    lambda n, x, y: (None, n * special.eval_hermitenorm(_below(n), x)),
    fixed=(0,),
    cases=DEGREES,
)
elementwise(
    special.eval_laguerre,
    lambda n, x, y: (None, -_sign(n) * special.eval_genlaguerre(_below(n), 1.0, x)),
    fixed=(0,),
    cases=DEGREES,
)
WITH_ONE = [case(n, 0.7, at) for n in (0, 1, 4) for at in (number(), sample(3))]
elementwise(
    special.eval_gegenbauer,
    lambda n, alpha, x, y: (None, None, 2 * alpha * _ultraspherical(n, x, alpha + 1)),
    fixed=(0, 1),
    cases=WITH_ONE,
)
elementwise(
    special.eval_genlaguerre,
    lambda n, alpha, x, y: (None, None, -_sign(n) * special.eval_genlaguerre(_below(n), alpha + 1, x)),
    fixed=(0, 1),
    cases=WITH_ONE,
)
definition(
    special.assoc_laguerre,
    lambda x, n, k=0.0: special.eval_genlaguerre(n, k, x),
    arrays=("x",),
    cases=[case(sample(3), 2), case(number(), 3, 0.5)],
)
WITH_TWO = [case(n, 1.7, 0.6, at) for n in (0, 1, 4) for at in (number(), sample(3))]
elementwise(
    special.eval_jacobi,
    lambda n, alpha, beta, x, y: (
        None,
        None,
        None,
        0.5 * _sign(n) * (n + alpha + beta + 1) * special.eval_jacobi(_below(n), alpha + 1, beta + 1, x),
    ),
    fixed=(0, 1, 2),
    cases=WITH_TWO,
)
elementwise(
    special.eval_sh_jacobi,
    lambda n, p, q, x, y: (
        None,
        None,
        None,
        _sign(n) * (n + p) * special.eval_jacobi(_below(n), p - q + 1, q, 2 * x - 1) / special.binom(2 * n + p - 1, n),
    ),
    fixed=(0, 1, 2),
    cases=WITH_TWO,
)
elementwise(
    special.lpmv,
    lambda m, v, x, y: (
        None,
        None,
        ((v - m + 1) * special.lpmv(m, v + 1, x) - (v + 1) * x * y) / (x * x - 1.0),
    ),
    fixed=(0, 1),
    cases=[case(m, v, np.array([-0.6, 0.1, 0.8])) for m, v in ((0, 2), (1, 3), (2, 2), (-1, 2))],
)


def _harmonic(n, m, theta, phi, y):
    above, below = (np.sqrt(np.maximum((n - k) * (n + k + 1.0), 0.0)) for k in (m, -m))
    up = above * special.sph_harm_y(n, m + 1, theta, phi) * np.exp(-1j * phi)
    down = below * special.sph_harm_y(n, m - 1, theta, phi) * np.exp(1j * phi)
    side = np.where(np.less(np.sin(theta), 0), -0.5, 0.5)  # SciPy takes the cosine of theta, which is even
    return (None, None, side * (up - down), 1j * m * y)


if hasattr(special, "sph_harm_y"):  # SciPy 1.15
    elementwise(
        special.sph_harm_y,
        _harmonic,
        name="scipy.special.sph_harm_y",
        fixed=(0, 1),
        cases=[case(n, m, sample(3), number()) for n, m in ((0, 0), (1, 1), (3, -2), (2, 0), (2, -2))],
    )


# Orthogonal polynomials as objects: ``special.legendre(3)(x)`` is ``special.eval_legendre(3, x)``


def coefficients_of(family, n):
    """The coefficients of a polynomial that no number but its degree decides, from the highest power on."""
    return np.asarray(family(n).coef)


no_derivative(coefficients_of, typed=lambda arguments: (ir.Array(np.dtype(np.float64), ("any",)),))


class Member:
    """A polynomial of a family."""

    def __init__(self, family, evaluate, n, shapes):
        self.family, self.evaluate, self.order, self.shapes = family, evaluate, n, shapes

    def __call__(self, x):
        return self.evaluate(self.order, *self.shapes, x)

    @property
    def coef(self):
        if len(self.shapes) > 0:
            return refused("coef", "the values of this orthogonal polynomial")
        return coefficients_of(self.family, self.order)

    def deriv(self, m=1):
        return np.poly1d(self.coef).deriv(m)

    def integ(self, m=1, k=0):
        return np.poly1d(self.coef).integ(m, k)

    def __getattr__(self, name):
        return refused(name, "the values of an orthogonal polynomial, its coefficients, derivatives and integrals")


def _member(family, evaluate, n, shapes, monic):
    if monic:
        raise NotImplementedError("polynomials with a factor of one")
    return Member(family, evaluate, n, shapes)


def _of_degrees(family, evaluate):
    return lambda n, monic=False: _member(family, evaluate, n, (), monic)


def _of_alpha(family, evaluate):
    return lambda n, alpha, monic=False: _member(family, evaluate, n, (alpha,), monic)


def _jacobi(n, alpha, beta, monic=False):
    return _member(special.jacobi, special.eval_jacobi, n, (alpha, beta), monic)


def _shifted_jacobi(n, p, q, monic=False):
    return _member(special.sh_jacobi, special.eval_sh_jacobi, n, (p, q), monic)


_OF_DEGREES = (
    *("legendre", "chebyt", "chebyu", "chebyc", "chebys", "hermite", "hermitenorm", "laguerre"),
    *("sh_legendre", "sh_chebyt", "sh_chebyu"),
)
for _names, _means in ((_OF_DEGREES, _of_degrees), (("genlaguerre", "gegenbauer"), _of_alpha)):
    for _name in _names:
        _family = getattr(special, _name)
        definition(_family, _means(_family, getattr(special, f"eval_{_name}")), arrays=())
definition(special.jacobi, _jacobi, arrays=())
definition(special.sh_jacobi, _shifted_jacobi, arrays=())
