"""Derivatives in other libraries of arrays: those of NumPy's arrays, to rounding, in the same library."""

import numpy as np
import pytest

import adjoint as ad
from tests.array_libraries.family import PROGRAMS, WRITING
from tests.array_libraries.libraries import INSTALLED, each_library

pytestmark = pytest.mark.skipif(not INSTALLED, reason="no other library of arrays is installed")

LACKING = {("array_api_strict", "einsums"): "AD0603", ("jax", "rows"): "AD0604"}
"""What is refused: the standard has no einsum; a row of a cotangent is written through a view."""
each_program = pytest.mark.parametrize("name", PROGRAMS)


def arguments(name):
    rng = np.random.default_rng(7)
    shapes = PROGRAMS[name][1]
    points = [rng.uniform(0.4, 1.6, shape) for shape in shapes]
    return points, [rng.uniform(-1.0, 1.0, shape) for shape in shapes]


def refusal(library, name):
    if name in WRITING and not library.writes:
        return "AD0604"
    return LACKING.get((library.name, name))


def same(library, found, wanted, tolerance=1e-11):
    for mine, numpys in zip(found, wanted, strict=True):
        if not isinstance(mine, float):
            assert type(mine) is type(library.make(np.ones(1)))
        np.testing.assert_allclose(library.back(mine), numpys, rtol=tolerance, atol=tolerance)


@each_library
@each_program
def test_derivatives_are_those_of_numpys_arrays(library, name):
    f = PROGRAMS[name][0]
    points, ways = arguments(name)
    everything = tuple(range(len(points)))
    df = ad.value_and_grad(f, everything)
    mine, mine_ways = library.of(points), library.of(ways)
    code = refusal(library, name)
    if code is not None:
        with pytest.raises(ad.DifferentiationError) as refused:
            df(*mine)
        assert {problem.code for problem in refused.value.diagnostics} == {code}
        return
    value, gradient = df(*points)
    found, found_gradient = df(*mine)
    same(library, [found, *found_gradient], [value, *gradient])
    again, again_gradient = df(*mine)
    same(library, [again, *again_gradient], [library.back(found), *map(library.back, found_gradient)], 0.0)
    same(library, mine, points, 0.0)
    same(library, ad.jvp(f, mine, mine_ways), ad.jvp(f, points, ways))
    slope = sum(np.vdot(part, way) for part, way in zip(gradient, ways, strict=True))
    np.testing.assert_allclose(library.back(ad.jvp(f, mine, mine_ways)[1]), slope, rtol=1e-9, atol=1e-9)
    same(library, ad.hvp(f, mine, mine_ways), ad.hvp(f, points, ways), 1e-9)
    _, pullback = ad.vjp(f, *mine)
    same(library, pullback(2.0), [2.0 * part for part in gradient])
    same(library, pullback(2.0), [2.0 * part for part in gradient])


@each_program
def test_derivatives_are_those_of_differences(name):
    f = PROGRAMS[name][0]
    points, ways = arguments(name)
    gradient = ad.grad(f, tuple(range(len(points))))(*points)
    slope = sum(np.vdot(part, way) for part, way in zip(gradient, ways, strict=True))
    step = 1e-5
    ahead, behind = (f(*[p + s * w for p, w in zip(points, ways, strict=True)]) for s in (step, -step))
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-5, abs=1e-6)


@each_library
@pytest.mark.parametrize(
    "name", ["smooth", "sums", "softmax", "matrix_matrix", "norms", "loop_over_elements", "layers"]
)
def test_single_precision_stays_single(library, name):
    f = PROGRAMS[name][0]
    points = [point.astype(np.float32) for point in arguments(name)[0]]
    value, gradient = ad.value_and_grad(f, tuple(range(len(points))))(*library.of(points))
    wanted = ad.grad(f, tuple(range(len(points))))(*points)
    for mine, numpys in zip(gradient, wanted, strict=True):
        assert library.back(mine).dtype == np.float32
        np.testing.assert_allclose(library.back(mine), numpys, rtol=2e-4, atol=1e-4)
    assert library.back(value).dtype == np.float32


def density(a, b):
    k = a @ a.T + 300.0 * np.eye(a.shape[0])
    root = np.linalg.cholesky(k)
    return np.sum(np.linalg.solve(k, b) * b) + 2.0 * np.sum(np.log(np.diagonal(root))) + np.sum(np.sin(root))


@each_library
def test_large_matrices(library):
    """For those of NumPy derivatives call LAPACK by address, and write blocks of columns."""
    rng = np.random.default_rng(7)
    points = [rng.uniform(-1.0, 1.0, (240, 240)), rng.uniform(-1.0, 1.0, (240, 1))]
    df = ad.value_and_grad(density, (0, 1))
    value, gradient = df(*points)
    found, found_gradient = df(*library.of(points))
    same(library, [found, *found_gradient], [value, *gradient], 1e-9)
