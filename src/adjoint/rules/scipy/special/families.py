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


def _family(evaluate):
    def member(n, *shapes, monic=False):
        if monic or any(isinstance(shape, bool) for shape in shapes):
            raise NotImplementedError("polynomials with a factor of one")
        return Member(evaluate, n, shapes)

    return member


_FAMILIES = (
    *("legendre", "chebyt", "chebyu", "chebyc", "chebys", "hermite", "hermitenorm", "laguerre"),
    *("genlaguerre", "gegenbauer", "jacobi", "sh_legendre", "sh_chebyt", "sh_chebyu", "sh_jacobi"),
)
for _name in _FAMILIES:
    definition(getattr(special, _name), _family(getattr(special, f"eval_{_name}")), arrays=())
