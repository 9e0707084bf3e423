"""Rules of SciPy: read when SciPy is there, refused where a derivative is not known, special values."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse, special, stats
from scipy.sparse.linalg import spsolve
from scipy.spatial import distance
from scipy.special import erf
from scipy.stats import norm

import adjoint as ad
from sampling import check_grads

SPREAD = np.array([0.3, 1.7, 0.9])
MATRIX = np.array([[2.0, 0.3, -0.2], [0.4, 1.5, 0.6], [-0.7, 0.1, 1.1]])


def _in_a_new_process(tmp_path: Path, program: str, call: str) -> str:
    (tmp_path / "program.py").write_text(program)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import adjoint as ad, program; {call}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_scipy_is_not_imported_for_derivatives_that_do_not_need_it(tmp_path: Path) -> None:
    program = "import numpy as np\ndef f(x):\n    return np.sum(np.fft.rfft(x).real) + np.linalg.norm(x, 3)\n"
    call = "import numpy as np; ad.grad(program.f)(np.ones(4)); print([m for m in sys.modules if 'scipy' in m])"
    assert _in_a_new_process(tmp_path, program, call).strip() == "[]"


def test_rules_are_read_for_the_module_that_is_in_use(tmp_path: Path) -> None:
    program = "from scipy.special import erf\ndef f(x):\n    return erf(x)\n"
    call = (
        "ad.grad(program.f)(0.5); print({m.split('.')[3] for m in sys.modules if m.startswith('adjoint.rules.scipy.')})"
    )
    assert _in_a_new_process(tmp_path, program, call).strip() == "{'special'}"


def test_own_rules_come_before_those_of_the_library(tmp_path: Path) -> None:
    program = (
        "import adjoint as ad\nfrom scipy.special import erf\nad.rules.elementwise(erf, lambda x, y: 7.0)\n"
        "def f(x):\n    return erf(x)\n"
    )
    assert _in_a_new_process(tmp_path, program, "print(ad.grad(program.f)(0.5))").strip() == "7.0"


def likelihood(data, mean, log_width):
    return np.sum(norm.logpdf(data, mean, np.exp(log_width))) + stats.gamma.logpdf(1.3, np.exp(mean))


def test_likelihoods() -> None:
    check_grads(likelihood, (SPREAD, 0.4, -0.3))


def gaussian_process(points, values, length):
    kernel = np.exp(-0.5 * ((points[:, None] - points) / length) ** 2) + 0.1 * np.eye(3)
    factor = linalg.cho_factor(kernel, lower=True)
    return values @ linalg.cho_solve(factor, values) + 2 * np.sum(np.log(np.diag(factor[0])))


def test_gaussian_processes() -> None:
    check_grads(gaussian_process, (SPREAD, np.array([1.0, -0.5, 0.2]), 0.8))


def markov_chain(rates, time):
    generator = rates - np.diag(np.sum(rates, axis=1))
    return np.log(linalg.expm(generator * time)[0, 2])


def test_matrix_exponentials() -> None:
    check_grads(markov_chain, (np.abs(MATRIX), 0.7))


def factored_once(a, b):
    factor = linalg.lu_factor(a)
    return np.sum(linalg.lu_solve(factor, b) * linalg.lu_solve(factor, b, trans=1))


def test_factors_that_are_used_twice() -> None:
    check_grads(factored_once, (MATRIX, SPREAD))


def of_one_triangle(a):
    return np.sum(linalg.cholesky(a, lower=True)) + np.sum(linalg.solve(a, SPREAD, assume_a="pos", lower=True))


def test_only_the_triangle_that_is_looked_at_has_a_cotangent() -> None:
    a = MATRIX @ MATRIX.T + np.triu(MATRIX, 1)
    check_grads(of_one_triangle, (a,))
    assert not np.any(np.triu(ad.grad(of_one_triangle)(a), 1))


def of_the_order(v):
    return special.yn(v, 1.3)


def of_the_derivative(n):
    return special.polygamma(n, 1.3)


def with_signs(x):
    return special.logsumexp(x, return_sign=True)[0]


def banded(a):
    return linalg.solve(a, SPREAD, assume_a="banded")


@pytest.mark.parametrize(
    ("function", "x"), [(of_the_order, 0.5), (of_the_derivative, 0.5), (with_signs, SPREAD), (banded, MATRIX)]
)
def test_what_is_not_known_is_refused(function, x) -> None:
    with pytest.raises(ad.DifferentiationError):
        ad.jacobian(function)(x)
    with pytest.raises(ad.DifferentiationError):
        ad.jvp(function, (x,), (x,))


def entropy(p):
    return np.sum(special.entr(p)) + special.xlogy(p[0], p[0] + 1.0) + np.sum(special.rel_entr(p, SPREAD))


def test_zeros_do_not_spoil_what_does_not_depend_on_them() -> None:
    gradient = ad.grad(lambda x: entropy(np.array([0.0, x, 1.0])))(0.4)
    step = 1e-6
    difference = (entropy([0.0, 0.4 + step, 1.0] * np.ones(3)) - entropy([0.0, 0.4 - step, 1.0] * np.ones(3))) / 2e-6
    assert abs(gradient - difference) < 1e-7


def tails(x):
    return special.log_ndtr(x) + special.log_expit(x)


def test_tails_are_exact() -> None:
    assert abs(ad.grad(tails)(-30.0) - (30.0332594 + 1.0)) < 1e-6
    assert ad.grad(tails)(50.0) < 1e-20


def test_single_precision_is_kept() -> None:
    x = SPREAD.astype(np.float32)
    for function in (erf, special.expit, special.logsumexp, special.gammaln, special.j0):
        assert ad.grad(lambda x, function=function: np.sum(function(x)))(x).dtype == np.float32


def test_exported_derivatives_import_scipy(tmp_path: Path) -> None:
    path = tmp_path / "exported.py"
    ad.export(path, ad.grad(likelihood, wrt=1), SPREAD, 0.4, -0.3)
    text = path.read_text()
    assert "from scipy import special" in text
    assert "special.psi(" in text
    assert "HALF_LOG" not in text


GIVEN = sparse.csc_matrix(MATRIX)


def with_given_matrices(b):
    found = spsolve(GIVEN, b) + spsolve(GIVEN.T, np.sin(b))
    return np.sum((GIVEN @ found) * (GIVEN.T @ b))


def test_sparse_systems_are_linear_in_their_right_sides() -> None:
    check_grads(with_given_matrices, (SPREAD,))


def of_distances(points):
    spread = np.exp(-distance.cdist(points, points[:2], "sqeuclidean"))
    return np.sum(spread) + np.sum(np.log(distance.pdist(points)))


def test_distances_between_points() -> None:
    check_grads(of_distances, (MATRIX,))


def test_what_scipy_decides_by_matrices_that_vary_is_refused() -> None:
    with pytest.raises(ad.DifferentiationError):
        ad.jacobian(lambda a: linalg.schur(a, output="complex")[0])(MATRIX)


def of_exchanged_columns(a: Any) -> Any:
    q, r, p = linalg.qr(a, pivoting=True)
    return np.sum(q**3) + np.sum(np.sin(r)) + np.sum(a[:, p] * np.arange(1.0, len(p) + 1))


def test_columns_that_are_exchanged() -> None:
    check_grads(of_exchanged_columns, (MATRIX,))


def test_null_spaces() -> None:
    """One vector is told by the matrix; of several, or of a matrix that is singular itself, none is."""
    check_grads(lambda a: np.sum(linalg.null_space(a) * np.array([[1.0], [2.0], [3.0]])), (MATRIX[:2, :3],))
    with pytest.raises(ValueError, match=r"several vectors may turn freely"):
        ad.jacobian(lambda a: linalg.null_space(a))(MATRIX[:1, :3])
    with pytest.raises(ValueError, match="the matrix is singular"):
        ad.jacobian(lambda a: linalg.null_space(a))(np.diag([1.0, 2.0, 0.0]))


def test_columns_beyond_those_of_the_matrix_have_no_derivative() -> None:
    tall = MATRIX[:3, :2]
    whole = ad.jacobian(lambda a: linalg.qr(a)[0])(tall)
    np.testing.assert_allclose(whole[:, :2], ad.jacobian(lambda a: linalg.qr(a, mode="economic")[0])(tall), atol=1e-12)
    assert np.isnan(whole[:, 2]).all()
    with pytest.raises(np.linalg.LinAlgError, match="mode='reduced', which SciPy calls 'economic'"):
        ad.grad(lambda a: np.sum(linalg.qr(a)[0] ** 3))(tall)
