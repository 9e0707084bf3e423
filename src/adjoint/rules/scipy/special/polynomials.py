"""Rules of orthogonal polynomials and spherical harmonics (DLMF 18.9, 14.30); degrees and orders are taken as given."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.rules.declare import case, definition, elementwise, number, sample


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
