"""Nodes and weights of quadratures of Gauss, by the parameters of their weight functions.

Nodes are eigenvalues of a matrix of the coefficients of the recurrence, weights squares of the first components of its
vectors (Golub, Welsch 1969). Values are SciPy's, which are improved by a step of Newton's method.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import special

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import case, definition, no_derivative
from adjoint.runtime.numerical_methods.of_scipy.choices import quadrature

no_derivative(quadrature)


def _rule_of(family, n, parameters, middle, beside, total, mu):
    whole = np.diag(middle) + np.diag(beside, -1)
    x, vectors = np.linalg.eigh(whole)
    w = total * vectors[0] * vectors[0]
    found = stop_gradient(quadrature(family, n, *stop_gradient(parameters)))
    x, w = x + stop_gradient(found[0] - x), w + stop_gradient(found[1] - w)
    return (x, w, total) if mu else (x, w)


def _roots_jacobi(n, alpha, beta, mu=False):
    k, both = np.arange(1.0, n), alpha + beta
    step = 2.0 * k + both
    first = 2.0 / (2.0 + both) * np.sqrt((1.0 + alpha) * (1.0 + beta) / (3.0 + both))
    later = k[1:], step[1:]
    others = 2.0 / later[1] * np.sqrt((later[0] + alpha) * (later[0] + beta) / (later[1] + 1.0))
    others = others * np.sqrt(later[0] * (later[0] + both) / (later[1] - 1.0))
    middle = np.append((beta - alpha) / (2.0 + both), (beta - alpha) * both / (step * (step + 2.0)))
    beside = np.append(first, others)[: n - 1]
    total = np.exp((both + 1.0) * np.log(2.0) + special.betaln(alpha + 1.0, beta + 1.0))
    return _rule_of(special.roots_jacobi, n, (alpha, beta), middle, beside, total, mu)


def _roots_gegenbauer(n, alpha, mu=False):
    k = np.arange(2.0, n)
    others = np.sqrt(k * (k + 2.0 * alpha - 1.0) / (4.0 * (k + alpha) * (k + alpha - 1.0)))
    beside = np.append(np.sqrt(0.5 / (1.0 + alpha)), others)[: n - 1]
    total = np.sqrt(np.pi) * np.exp(special.gammaln(alpha + 0.5) - special.gammaln(alpha + 1.0))
    return _rule_of(special.roots_gegenbauer, n, (alpha,), np.zeros(n), beside, total, mu)


def _roots_genlaguerre(n, alpha, mu=False):
    k = np.arange(1.0, n)
    middle = 2.0 * np.arange(n) + alpha + 1.0
    total = special.gamma(alpha + 1.0)
    return _rule_of(special.roots_genlaguerre, n, (alpha,), middle, -np.sqrt(k * (k + alpha)), total, mu)


for _family, _means, _cases in (
    (special.roots_jacobi, _roots_jacobi, [case(4, 0.3, 0.7), case(3, 0.4, 0.4), case(3, 0.0, 0.0, True)]),
    (special.roots_gegenbauer, _roots_gegenbauer, [case(4, 0.7), case(3, 1e-9), case(1, 0.7, mu=True)]),
    (special.roots_genlaguerre, _roots_genlaguerre, [case(4, 0.7), case(3, 0.0), case(1, 0.7, True)]),
):
    definition(_family, _means, arrays=(), cases=_cases)
