"""Orthogonal polynomials as objects: ``special.legendre(3)(x)`` is ``special.eval_legendre(3, x)``."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint import ir
from adjoint.declarations.implicit import refused
from adjoint.rules.declare import definition, no_derivative


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
