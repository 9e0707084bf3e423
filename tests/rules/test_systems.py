"""Linear systems as users make them: tuples, objects from outside, objects made of what varies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import signal

import adjoint as ad
from sampling import check_grads

T = np.linspace(0.0, 2.0, 6)
OUTSIDE = signal.lti([1.0], [1.0, 0.4, 2.0])
SPACE = signal.StateSpace([[0.0, 1.0], [-2.0, -0.4]], [[0.0], [1.0]], [[1.0, 0.0]], [[0.0]])
PROGRAMS: dict[str, Callable[..., Any]] = {
    "tuple": lambda k, d, u: signal.lsim(([k], [1.0, d, 2.0]), u, T)[1],
    "transfer function": lambda k, d, u: signal.lti([k], [1.0, d, 2.0]).output(u, T)[1],
    "states": lambda k, d, u: signal.StateSpace([[0.0, k], [-2.0, -d]], [[0.0], [1.0]], [[1.0, 0.0]], 0.0).step(T=T)[1],
    "zeros and poles": lambda k, d, u: signal.lti([-k], [-d, -2.0], 1.5).impulse(T=T)[1],
    "forms": lambda k, d, u: signal.TransferFunction([k, d], [1.0, d, 2.0]).to_ss().A,
    "outside": lambda k, d, u: signal.lsim(OUTSIDE, u * k, T)[1] + d,
    "outside by states": lambda k, d, u: signal.lsim(SPACE, u * k, T)[1] + d,
    "own times": lambda k, d, u: signal.step(([k], [1.0, d, 2.0]), N=7),
    "bode": lambda k, d, u: signal.lti([k], [1.0, d, 2.0]).bode(w=[0.3, 1.0, 5.0])[1:],
    "steps": lambda k, d, u: signal.dlsim(signal.dlti([k], [1.0, -d], dt=0.1), u),
    "steps of states": lambda k, d, u: signal.dlsim(([[0.0, k], [-0.5, -d]], [[0.0], [k]], [[1.0, d]], 0.0, 0.1), u),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_systems(name: str) -> None:
    program, given = PROGRAMS[name], (1.3, 0.4, np.array([1.0, -0.5, 0.3, 0.0, 2.0, 0.7]))
    mine, theirs = ad.vjp(program, *given)[0], program(*given)
    for got, expected in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    check_grads(program, given, order=1)


def test_a_characteristic_polynomial_where_eigenvalues_meet() -> None:
    c, d = np.array([[1.0, 0.0]]), np.array([[0.0]])
    check_grads(lambda a: signal.ss2tf(a, np.ones((2, 1)), c, d)[1], (np.array([[1.0, 1.0], [0.0, 1.0]]),))


def test_what_systems_derivatives_are_not_known_of() -> None:
    with pytest.raises(ValueError, match="another number than zero"):
        ad.grad(lambda a: np.sum(signal.step(([1.0], [a, 1.0, 2.0]), T=T)[1]))(0.0)
    with pytest.raises(ad.DifferentiationError, match="frequencies that SciPy chooses"):
        ad.grad(lambda a: np.sum(signal.bode(([1.0], [a, 1.0, 2.0]))[1]))(1.0)


def test_a_first_coefficient_of_zero() -> None:
    a = np.array([0.0, 1.5, -0.6])
    try:
        signal.lfilter_zi([0.4, 0.3], a)
    except ValueError:
        pytest.skip("this release of SciPy takes none")
    check_grads(lambda b: signal.lfilter_zi(b, a), (np.array([0.4, 0.3, -0.2]),))


@pytest.mark.parametrize("expand", [signal.residue, signal.residuez])
@pytest.mark.parametrize("degrees", [(2, 4), (4, 3), (5, 5)])
def test_partial_fractions(expand: Callable[..., Any], degrees: tuple[int, int]) -> None:
    def told(b: Any, a: Any) -> Any:
        residues, poles, quotient = expand(b, a)
        return np.sum(np.abs(residues) ** 2) + np.sum(np.real(poles) ** 3) + np.sum(np.sin(quotient))

    rng = np.random.default_rng(3)
    check_grads(told, (rng.standard_normal(degrees[0]), rng.standard_normal(degrees[1])))


def test_partial_fractions_where_poles_meet() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="where poles meet"):
        ad.grad(lambda a: np.sum(np.real(signal.residue([1.0], a)[0])))(np.array([1.0, 2.0, 1.0]))


@pytest.mark.parametrize("pairing", [None, "nearest", "keep_odd", "minimal"])
@pytest.mark.parametrize("degrees", [(3, 4), (5, 3), (1, 3)])
def test_sections_of_second_order(pairing: str | None, degrees: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    given = rng.standard_normal(degrees[0]), rng.standard_normal(degrees[1])
    try:
        signal.tf2sos(*given, pairing)
    except (ValueError, IndexError):
        pytest.skip("SciPy has no such sections")
    check_grads(lambda b, a: np.sum(np.sin(signal.tf2sos(b, a, pairing))), given)


@pytest.mark.parametrize("design", [signal.butter, lambda n, w, output: signal.cheby1(n, 0.5, w, output=output)])
def test_designs_in_sections(design: Callable[..., Any]) -> None:
    x = np.random.default_rng(0).standard_normal(20)
    check_grads(lambda w: np.sum(signal.sosfilt(design(4, w, output="sos"), x) ** 2), (0.3,))
