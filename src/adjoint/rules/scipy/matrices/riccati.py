"""Algebraic equations of Riccati in ``scipy.linalg``.

A solution moves by an equation of Lyapunov with the matrix of the closed loop (Kao & Hennequin 2020): the feedback is
the best, and its own change does not count. Solutions are Hermitian, and so is what they depend on of ``q`` and ``r``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import linalg

from adjoint.rules.declare import case, definition, general, sample
from adjoint.runtime.array_functions.linalg import conjugated, hermitian
from adjoint.runtime.numerical_methods.of_scipy.linalg import riccati, riccati_in_steps


def _half(x):
    return 0.5 * (x + hermitian(x))


def _moved(dots, gain, before):
    """The right side of the equation of Lyapunov; ``before`` is what a change of the closed loop is multiplied by."""
    loop = before @ (dots[0] - dots[1] @ gain)
    return loop + hermitian(loop) + _half(dots[2]) + hermitian(gain) @ _half(dots[3]) @ gain


def _pulled_back(s, before, gain):
    """Cotangents of the four matrices, for the solution of the transposed equation."""
    loop = 2.0 * (hermitian(before) @ s)
    parts = (loop, -loop @ hermitian(gain), s, gain @ s @ hermitian(gain))
    return tuple([conjugated(part) for part in parts])


# --- in continuous time -----------------------------------------------------------------------------------------------


def _continuous(x, a, b, r):
    gain = np.linalg.solve(r, hermitian(b) @ x)
    return a - b @ gain, gain


def _continuous_jvp(dots, x, a, b, q, r):
    closed, gain = _continuous(x, a, b, r)
    return linalg.solve_sylvester(hermitian(closed), closed, -_moved(dots, gain, x))


def _continuous_vjp(ct, x, a, b, q, r):
    closed, gain = _continuous(x, a, b, r)
    s = linalg.solve_sylvester(closed, hermitian(closed), -_half(conjugated(ct)))
    return _pulled_back(s, x, gain)


# --- in discrete time -------------------------------------------------------------------------------------------------


def _discrete(x, a, b, r):
    gain = np.linalg.solve(r + hermitian(b) @ x @ b, hermitian(b) @ x @ a)
    return a - b @ gain, gain


def _discrete_jvp(dots, x, a, b, q, r):
    closed, gain = _discrete(x, a, b, r)
    right = _moved(dots, gain, hermitian(closed) @ x)
    return linalg.solve_discrete_lyapunov(hermitian(closed), right)


def _discrete_vjp(ct, x, a, b, q, r):
    closed, gain = _discrete(x, a, b, r)
    s = linalg.solve_discrete_lyapunov(closed, _half(conjugated(ct)))
    return _pulled_back(s, hermitian(closed) @ x, gain)


# --- with what else SciPy takes ---------------------------------------------------------------------------------------


def _reduced(a, b, q, r, s):
    """Without the product of state and input: part of the input answers to it."""
    if s is None:
        return a, q
    answer = np.linalg.solve(r, hermitian(s))
    return a - b @ answer, _half(q - s @ answer)


def _check(name, x):
    if np.linalg.norm(x - hermitian(x), 1) > 100 * np.spacing(np.linalg.norm(x, 1)):
        raise ValueError(f"Matrix {name} should be symmetric/hermitian.")


def _solve_continuous_are(a, b, q, r, e=None, s=None, balanced=True):
    _check("q", q)
    _check("r", r)
    a, q = _reduced(a, b, q, r, s)
    if e is None:
        return riccati(a, b, q, r)
    inverse = np.linalg.inv(e)
    return riccati(a @ inverse, b, hermitian(inverse) @ q @ inverse, r)


def _solve_discrete_are(a, b, q, r, e=None, s=None, balanced=True):
    _check("q", q)
    _check("r", r)
    a, q = _reduced(a, b, q, r, s)
    if e is None:
        return riccati_in_steps(a, b, q, r)
    inverse = np.linalg.inv(e)
    inner = riccati_in_steps(inverse @ a, inverse @ b, q, r)
    return _half(hermitian(inverse) @ inner @ inverse)


SYSTEM = (np.array([[0.3, 0.2, 0.1], [0.1, -0.2, 0.4], [0.0, 0.3, 0.2]]), sample(3, 2))
COMPLEX = np.array([[0.3, 0.2j, 0.1], [0.1, -0.2, 0.4 + 0.1j], [0.0, 0.3, 0.2j]])
COSTS = (np.diag([1.0, 2.0, 0.5]), np.array([[1.0, 0.2], [0.2, 2.0]]))
E = np.diag([1.0, 2.0, 0.7]) + 0.2
for _primitive, _jvp, _vjp in (
    (riccati, _continuous_jvp, _continuous_vjp),
    (riccati_in_steps, _discrete_jvp, _discrete_vjp),
):
    general(_primitive, _jvp, _vjp, cases=[case(*SYSTEM, *COSTS), case(COMPLEX, sample(3, 2), *COSTS)])
for _solve, _means in (
    (linalg.solve_continuous_are, _solve_continuous_are),
    (linalg.solve_discrete_are, _solve_discrete_are),
):
    definition(
        _solve,
        _means,
        arrays=("a", "b", "q", "r", "e", "s"),
        cases=[
            case(sample(3, 3), sample(3, 2), *COSTS),
            case(sample(3, 3), sample(3, 2), *COSTS, E),
            case(sample(3, 3), sample(3, 2), *COSTS, s=0.1 * np.ones((3, 2))),
        ],
    )
