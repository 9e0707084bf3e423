"""Partial fractions of ``scipy.signal``, where all poles are simple."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import signal

from adjoint import ir
from adjoint.rules.declare import case, constant, definition, number, sample
from adjoint.runtime.numerical_methods.of_scipy.signal import order_of_simple

constant(order_of_simple, typed=lambda arguments: (ir.Array(np.dtype(np.intp), ("any",)),))


def _from_first(p):
    """The coefficients without the zeros that they begin with."""
    p = np.atleast_1d(np.asarray(p)) + 0.0
    return p[int(np.argmax(p != 0.0)) :]


def _divided(b, a):
    """The quotient, and the remainder; of none of these there is an array without elements."""
    if np.size(b) < np.size(a):
        return np.empty(0), b
    return np.polydiv(b, a)


def _simple_residues(b, a, poles):
    """What is left of a fraction at its simple poles."""
    return np.polyval(b, poles) / np.polyval(np.polyder(a), poles)


def _residue(b, a, tol=1e-3, rtype="avg"):
    b, a = _from_first(b), _from_first(a)
    poles = np.roots(a)
    poles = poles[order_of_simple(poles, tol)]
    k, rest = _divided(b, a)
    return _simple_residues(rest, a, poles), poles, k


def _residuez(b, a, tol=1e-3, rtype="avg"):
    b, a = _from_first(np.flip(np.atleast_1d(b))), _from_first(np.flip(np.atleast_1d(a)))
    poles = np.roots(np.flip(a))
    poles = poles[order_of_simple(poles, tol)]
    k, rest = _divided(b, a)
    return -poles * _simple_residues(rest, a, 1.0 / poles), poles, np.flip(k)


FRACTIONS = [
    case(sample(2), np.array([1.0, 0.4, -0.3, 0.2])),
    case(sample(4), np.array([2.0, 0.5, -1.5])),
    case(number(), np.array([1.5, 0.5])),
]
definition(signal.residue, _residue, arrays=("b", "a"), cases=FRACTIONS)
definition(signal.residuez, _residuez, arrays=("b", "a"), cases=FRACTIONS)
