"""Orthogonal polynomials as objects: ``special.legendre(3)(x)`` is ``special.eval_legendre(3, x)``."""

# mypy: allow-untyped-defs, allow-untyped-calls

from scipy import special

from adjoint.rules.declare import definition


class Member:
    """A polynomial of a family, of which only values are asked."""

    def __init__(self, evaluate, n, shapes):
        self.evaluate, self.n, self.shapes = evaluate, n, shapes

    def __call__(self, x):
        return self.evaluate(self.n, *self.shapes, x)


def _member(evaluate, n, shapes, monic):
    if monic:
        raise NotImplementedError("polynomials with a factor of one")
    return Member(evaluate, n, shapes)


def _of_degrees(evaluate):
    return lambda n, monic=False: _member(evaluate, n, (), monic)


def _of_alpha(evaluate):
    return lambda n, alpha, monic=False: _member(evaluate, n, (alpha,), monic)


def _jacobi(n, alpha, beta, monic=False):
    return _member(special.eval_jacobi, n, (alpha, beta), monic)


def _shifted_jacobi(n, p, q, monic=False):
    return _member(special.eval_sh_jacobi, n, (p, q), monic)


_OF_DEGREES = (
    *("legendre", "chebyt", "chebyu", "chebyc", "chebys", "hermite", "hermitenorm", "laguerre"),
    *("sh_legendre", "sh_chebyt", "sh_chebyu"),
)
for _names, _means in ((_OF_DEGREES, _of_degrees), (("genlaguerre", "gegenbauer"), _of_alpha)):
    for _name in _names:
        definition(getattr(special, _name), _means(getattr(special, f"eval_{_name}")), arrays=())
definition(special.jacobi, _jacobi, arrays=())
definition(special.sh_jacobi, _shifted_jacobi, arrays=())
