"""Filters as sections of second order: SciPy says which zeros and poles a section has, and these say how it moves."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import signal

from adjoint import ir
from adjoint.rules.declare import case, constant, definition
from adjoint.runtime.numerical_methods.of_scipy.signal import roots_of_sections

_PLACES = ir.Array(np.dtype(np.int64), ("any", "any"))
constant(roots_of_sections, typed=lambda arguments: (_PLACES, _PLACES), results=2)


def _polynomials(roots, places):
    """Polynomials of second order by their roots; behind the roots stand one at zero, and one that is not there."""
    whole, is_there = np.concatenate([roots, np.zeros(2)]), places <= np.size(roots)
    leading, last = np.where(is_there, 1.0, 0.0), np.where(is_there, -whole[places], 1.0)
    middle = leading[:, 0] * last[:, 1] + leading[:, 1] * last[:, 0]
    return np.real(np.stack([leading[:, 0] * leading[:, 1], middle, last[:, 0] * last[:, 1]], axis=1))


def _zpk2sos(z, p, k, pairing=None, *, analog=False):
    zeros, poles = np.atleast_1d(np.asarray(z)), np.atleast_1d(np.asarray(p))
    of_zeros, of_poles = roots_of_sections(zeros, poles, k, pairing, analog)
    over = _polynomials(zeros, of_zeros)
    return np.concatenate([np.concatenate([k * over[:1], over[1:]]), _polynomials(poles, of_poles)], axis=1)


ZEROS, POLES = np.array([0.5 + 0.3j, 0.5 - 0.3j, -0.2]), np.array([0.3 - 0.6j, 0.3 + 0.6j, 0.7])
PAIRINGS = [*[case(ZEROS, POLES, 1.3, pairing=pairing) for pairing in ("nearest", "keep_odd", "minimal")]]
definition(
    signal.zpk2sos,
    _zpk2sos,
    arrays=("z", "p"),
    cases=[case(ZEROS, POLES, 1.3), *PAIRINGS, case(ZEROS[2:], POLES, 0.8, analog=True)],
)


def _tf2sos(b, a, pairing=None, *, analog=False):
    z, p, k = signal.tf2zpk(b, a)
    return signal.zpk2sos(z, p, k, pairing, analog=analog)


NUM, DEN = np.array([1.0, 0.4, 0.3]), np.array([2.0, 0.6, 1.2, 0.1])
definition(
    signal.tf2sos,
    _tf2sos,
    arrays=("b", "a"),
    cases=[case(NUM, DEN), case(NUM, DEN, pairing="keep_odd"), case(NUM[:2], DEN, analog=True)],
)
