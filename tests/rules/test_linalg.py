"""What is particular about the derivatives of linear algebra: what is not determined is not a number."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

import adjoint as ad
from sampling import check_grads

TALL = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]])
HERMITIAN = np.array([[2.0, 0.5], [0.5, 1.0]])


def last_left_singular_vector(a):
    return np.sum(np.linalg.svd(a)[0][:, 2])


def leading_left_singular_vectors(a):
    u, s, vh = np.linalg.svd(a)
    return np.sum(u[:, :2] * s @ vh)


def test_singular_vectors_that_full_matrices_adds_are_not_determined() -> None:
    assert np.all(np.isnan(ad.grad(last_left_singular_vector)(TALL)))
    assert np.isnan(ad.jvp(last_left_singular_vector, (TALL,), (np.ones_like(TALL),))[1])
    check_grads(leading_left_singular_vectors, (TALL,))


def real_part_of_a_vector(b):
    return np.linalg.eigh(HERMITIAN + b * np.array([[0, 1j], [-1j, 0]]))[1][1, 0].real


def length_of_a_part(b):
    return np.abs(np.linalg.eigh(HERMITIAN + b * np.array([[0, 1j], [-1j, 0]]))[1][1, 0])


def test_a_cotangent_that_depends_on_the_phase_of_an_eigenvector_is_not_a_number() -> None:
    assert np.isnan(ad.grad(real_part_of_a_vector)(0.7))
    check_grads(length_of_a_part, (0.7,))


def part_of_left_vector(b):
    return np.linalg.svd(TALL[:2] + 1j * b * HERMITIAN)[0][0, 0].real


def test_a_cotangent_that_depends_on_the_phase_of_a_singular_vector_is_not_a_number() -> None:
    assert np.isnan(ad.grad(part_of_left_vector)(0.7))


def solution(a):
    return np.sum(np.linalg.lstsq(a, np.ones(3), rcond=None)[0])


def test_least_squares_has_no_derivative_where_the_rank_is_not_full() -> None:
    check_grads(solution, (TALL,))
    assert np.all(np.isnan(ad.grad(solution)(np.ones((3, 2)))))


def residuals(a):
    return np.linalg.lstsq(a, np.ones((2, 1)), rcond=None)[1]


def test_residuals_are_empty_where_there_is_an_exact_solution() -> None:
    assert ad.jacobian(residuals)(TALL[:2]).shape == (0, 2, 2)


def complete(a):
    return np.sum(np.linalg.qr(a, mode="complete")[1])


def test_columns_beyond_those_of_a_matrix_have_no_derivative() -> None:
    check_grads(complete, (TALL[:2],))
    check_grads(complete, (TALL,))
    with pytest.raises(np.linalg.LinAlgError, match="mode='reduced'"):
        ad.grad(lambda a: np.sum(np.linalg.qr(a, mode="complete").Q ** 3))(TALL)


def of_order(order):
    return np.linalg.norm(np.array([1.0, 2.0]), order)


def test_orders_do_not_vary() -> None:
    for derivative in (ad.grad(of_order), lambda order: ad.jvp(of_order, (order,), (1.0,))):
        with pytest.raises(ad.DifferentiationError):
            derivative(3.0)


def of_a_wrong_order(x):
    return np.linalg.norm(x, "nucleus")


def test_orders_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ad.DifferentiationError, match="never returns"):
        ad.grad(of_a_wrong_order)(TALL)


def named(a):
    w, _ = np.linalg.eigh(a)
    factors = np.linalg.svd(a)
    return w[0] * np.linalg.eigh(a).eigenvectors[0, 0] ** 2 + factors.S[0] + np.linalg.slogdet(a).logabsdet


def test_results_have_names() -> None:
    a = np.array([[2.0, 0.5], [0.5, 1.0]])
    step = np.array([[0.3, 0.1], [0.1, -0.7]])
    difference = (named(a + 1e-6 * step) - named(a - 1e-6 * step)) / 2e-6
    assert abs(np.sum(ad.grad(named)(a) * step) - difference) < 1e-8


def characteristic(a):
    return np.linalg.eigvals(a)


@pytest.mark.parametrize("corner", [-0.5, 0.5])
def test_eigenvalues_of_a_real_matrix_may_be_complex(corner: float) -> None:
    a = np.array([[1.0, 2.0], [corner, 1.0]])
    tangent = ad.jvp(characteristic, (a,), (np.eye(2),))[1]
    np.testing.assert_allclose(tangent, np.ones(2), atol=1e-12)
    assert tangent.dtype == np.linalg.eigvals(a).dtype


def spectral_radius(a):
    return np.max(np.abs(np.linalg.eigvals(a)))


def test_single_precision_is_kept() -> None:
    a = TALL[:2].astype(np.float32)
    for function in (solution_of_square, spectral_radius, condition):
        assert ad.grad(function)(a).dtype == np.float32


def solution_of_square(a):
    return np.sum(np.linalg.lstsq(a, np.ones(2, np.float32), rcond=None)[0])


def condition(a):
    return np.linalg.cond(a)


def roots(p):
    return np.sum(np.roots(p).real * np.arange(2.0))


def test_a_double_root_has_an_infinite_derivative() -> None:
    with np.errstate(all="ignore"):
        assert not np.all(np.isfinite(ad.grad(roots)(np.array([1.0, 0.0, 0.0]))))


def powers(x):
    return np.sum(np.arange(x, 4.0, 0.5) ** 2) + np.sum(np.arange(0.0, 3.2 * x, x))


def test_ranges_follow_their_start_and_step() -> None:
    check_grads(powers, (1.3,))


def of_a_filled_triangle(a, b, c):
    lower = np.zeros((2, 2))
    lower[0, 0], lower[1, 0], lower[1, 1] = a, b, c
    return np.max(np.linalg.eigvalsh(lower)) + np.linalg.cholesky(lower)[1, 1] + np.sum(np.linalg.eigh(lower)[0] ** 3)


@pytest.mark.parametrize("b", [0.0, 0.4])
def test_matrices_of_which_one_triangle_is_filled(b: float) -> None:
    check_grads(of_a_filled_triangle, (2.0, b, 1.0), order=1)


def of_the_upper_triangle(a):
    return np.linalg.cholesky(a, upper=True).sum() + np.linalg.eigvalsh(a, "U")[0] * np.linalg.eigh(a, UPLO="U")[0][1]


def test_only_the_triangle_that_is_looked_at_counts() -> None:
    a = np.array([[2.0, 0.5], [0.1, 1.0]])
    check_grads(of_the_upper_triangle, (a,))
    assert ad.grad(of_the_upper_triangle)(a)[1, 0] == 0.0


def thermal(real, imaginary):
    levels, states = np.linalg.eigh(real + real.T + 1j * (imaginary - imaginary.T))
    return np.sum(np.abs(states * np.exp(-levels) @ states.conj().T) ** 2 * np.arange(2.0))


@pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")
def test_machine_code_agrees() -> None:
    a = np.array([[1.0, 2.0], [-0.5, 1.0]])
    for function, args in ((thermal, (a, a.T)), (spectral_radius, (a,)), (roots, (np.array([1.0, 0.2, 2.0]),))):
        native, plain = ad.grad(function, native=True)(*args), ad.grad(function)(*args)
        np.testing.assert_allclose(native, plain, rtol=1e-12)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy has given them up")
@pytest.mark.filterwarnings("ignore:(?s).*2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize(("a", "b", "axis"), [((2,), (2,), -1), ((4, 1, 2), (5, 2), -1), ((3, 4), (2, 4), 0)])
def test_products_of_vectors_of_two_elements_have_slopes(a, b, axis) -> None:
    rng = np.random.default_rng(2)
    check_grads(lambda x, y: np.cross(np.sin(x), y * y, axis=axis), (rng.normal(size=a), rng.normal(size=b)))


ROTATION = np.array([[0.0, -1.0], [1.0, 0.0]])


def test_the_form_of_schur_is_known_where_all_eigenvalues_are_real() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    with pytest.raises(np.linalg.LinAlgError, match="all eigenvalues are real"):
        ad.grad(lambda a: linalg.schur(a)[0][0, 1])(ROTATION)
    with pytest.raises(ad.DifferentiationError, match="phases"):
        ad.grad(lambda a: linalg.schur(a, "complex")[0][0, 1].real)(ROTATION)


def test_the_form_of_hessenberg_jumps_where_a_column_has_it_already() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    with pytest.raises(np.linalg.LinAlgError, match="already"):
        ad.grad(lambda a: linalg.hessenberg(a)[1, 0])(np.eye(3))


def test_costs_of_riccati_that_are_not_symmetric_raise_as_in_scipy() -> None:
    linalg = pytest.importorskip("scipy.linalg")

    def f(q):
        return np.sum(linalg.solve_continuous_are(ROTATION, np.eye(2), q, np.eye(2)))

    check_grads(lambda q: f(q + q.T), (np.array([[1.0, 0.2], [0.3, 2.0]]),))
    with pytest.raises(ValueError, match="Matrix q should be symmetric/hermitian"):
        ad.grad(f)(np.array([[1.0, 0.2], [0.3, 2.0]]))


def test_functions_of_lapack_are_refused_as_what_they_are() -> None:
    linalg = pytest.importorskip("scipy.linalg")

    def f(a):
        (geev,) = linalg.get_lapack_funcs(("geev",), (a,))
        return geev(a)[0][0]

    with pytest.raises(ad.DifferentiationError, match="functions of LAPACK, of which there is machine code only"):
        ad.grad(f)(np.eye(2))


@pytest.mark.parametrize("function", [np.exp, np.sqrt, lambda x: x**3, lambda x: np.sin(x) / (1.0 + x * x)])
@pytest.mark.parametrize("turns", [0.0, 2.0])
def test_any_function_of_a_matrix(function, turns):
    def told(a):
        found = linalg.funm(a, function)
        return np.sum(np.real(found) * np.arange(9.0).reshape(3, 3)) + np.sum(np.imag(found) ** 2)

    check_grads(told, (np.array([[1.2, 0.3 + turns, -0.2], [0.1 - turns, 2.5, 0.6], [0.4, 0.2, 0.3]]),))


def test_functions_of_matrices_where_eigenvalues_meet():
    with pytest.raises(np.linalg.LinAlgError, match="where all eigenvalues differ"):
        ad.grad(lambda a: np.sum(linalg.funm(a, np.exp)))(np.eye(3))
