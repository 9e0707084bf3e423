"""The evals compute what formulas of other form compute, and derivatives by the complex step."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from gradbench import formulas
from sampling import THOROUGH

ROOT = Path(__file__).parents[2]
BUILDS = [
    pytest.param({"native": False}, id="interpreted"),
    pytest.param({"native": True}, id="native", marks=[pytest.mark.slow, pytest.mark.filterwarnings("default")]),
]


@pytest.fixture(scope="module")
def benchmarks():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield lambda name: importlib.import_module(f"benchmarks.gradbench.{name}")


@pytest.fixture(scope="module", params=BUILDS)
def evaluate(request, benchmarks):
    """What runs a function of an eval on an input."""
    build_of, functions_of = benchmarks("build").Build, benchmarks("evals").functions_of
    build = build_of(**request.param)
    of_programs = build if THOROUGH else build_of(native=False)  # Numba takes long, and machine code is not by it

    def run(module, function, given):
        found = functions_of(module, of_programs if function in ("objective", "primal") else build)[function]
        return found.present(found.run(*found.prepare(given)))

    return run


@pytest.fixture(scope="module")
def inputs(benchmarks):
    return benchmarks("inputs")


def agree(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.max(np.abs(wanted), initial=0.0))


def test_hello(evaluate):
    assert evaluate("hello", "square", 3.0) == 9.0
    assert evaluate("hello", "double", 3.0) == 6.0


@pytest.mark.parametrize(("d", "k", "n", "gamma", "m"), [(3, 4, 7, 1.0, 0), (1, 2, 3, 0.7, 2), (4, 1, 1, 1.3, 1)])
def test_gmm(evaluate, inputs, d, k, n, gamma, m):
    given = inputs.gmm(d, k, n, gamma, m)
    args = *(np.array(given[name]) for name in ("alpha", "mu", "q", "l", "x")), gamma, m
    agree(evaluate("gmm", "objective", given), formulas.gmm(*args))
    found = evaluate("gmm", "jacobian", given)
    for place, name in enumerate(("alpha", "mu", "q", "l")):
        agree(found[name], formulas.gradient(formulas.gmm, args, place))


def test_ba(evaluate, inputs):
    given = inputs.ba(3, 4, 7)
    camera, point, feature = (np.array(given[name]) for name in ("cam", "x", "feat"))
    found = evaluate("ba", "objective", given)
    agree(found["reproj_error"]["elements"], formulas.reprojection(camera, point, 0.7, feature))
    assert found["reproj_error"]["repeated"] == found["w_err"]["repeated"] == 7
    agree(found["w_err"]["element"], 1 - 0.7**2)
    jacobian = evaluate("ba", "jacobian", given)
    blocks = block(camera, point, 0.7, feature)
    agree(jacobian["vals"], [*blocks.ravel(), -1.4])
    assert jacobian["cols"] == 2 * [*range(11), 33, 34, 35, 45] + [51]
    assert jacobian["rows"] == [*range(0, 15 * 14, 15), *range(15 * 14, 15 * 14 + 8)][:30] + [217]


def cameras_that_see_the_origin(count):
    """The last one is not turned."""
    rng = np.random.default_rng(count)
    found = rng.normal(size=(count, 11)) * ([0.2] * 3 + [0.3] * 3 + [10.0] + [1.0] * 2 + [0.05] * 2)
    found += [0.0] * 5 + [-6.0, 500.0, 3.0, 2.0, 0.0, 0.0]
    found[-1, :3] = 0.0
    return found


def block(camera, point, weight, feature):
    """The derivatives of one observation's errors."""
    args = camera, point, np.array([weight]), feature
    return np.hstack([formulas.gradient(formulas.reprojection, args, place) for place in range(3)])


@pytest.mark.parametrize("native", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_ba_with_cameras_that_differ(benchmarks, native):
    rng = np.random.default_rng(1)
    cameras, points = cameras_that_see_the_origin(3), 0.3 * rng.normal(size=(5, 3))
    which_camera, which_point = np.array([0, 2, 1, 0, 2, 2]), np.array([4, 3, 3, 0, 1, 2])
    weights, features = rng.uniform(0.5, 1.5, size=6), rng.normal(size=(6, 2))
    module = benchmarks("ba")
    build = benchmarks("build").Build(native=native)
    args = cameras, points, weights, features, which_camera, which_point
    errors, weight_errors = module.objective(build)(*args)
    found = module.jacobian(build)(*args)
    agree(weight_errors, 1 - weights**2)
    dense = np.zeros((18, 3 * 11 + 5 * 3 + 6))
    for i, (c, p) in enumerate(zip(which_camera, which_point, strict=True)):
        agree(errors[i], formulas.reprojection(cameras[c], points[p], weights[i], features[i]))
        places = [*range(11 * c, 11 * c + 11), *range(33 + 3 * p, 36 + 3 * p), 48 + i]
        dense[2 * i : 2 * i + 2, places] = block(cameras[c], points[p], weights[i], features[i])
        dense[12 + i, 48 + i] = -2 * weights[i]
    ours = np.zeros_like(dense)
    rows = found.rows()
    for row in range(18):
        ours[row, found.columns()[rows[row] : rows[row + 1]]] = found.numbers[rows[row] : rows[row + 1]]
    agree(ours, dense)


@pytest.mark.parametrize(("layers", "width", "length"), [(2, 3, 6), (1, 2, 2), (3, 4, 3)])
def test_lstm(evaluate, inputs, layers, width, length):
    given = inputs.lstm(layers, width, length)
    args = tuple(np.array(given[name]) for name in ("main_params", "extra_params", "state", "sequence"))
    agree(evaluate("lstm", "objective", given), formulas.lstm(*args))
    wanted = [formulas.gradient(formulas.lstm, args, place).ravel() for place in range(2)]
    agree(evaluate("lstm", "jacobian", given), np.concatenate(wanted))


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("in_triangles", [True, False])
def test_ht(benchmarks, evaluate, inputs, in_triangles, turned):
    given = inputs.hand(6, 8, in_triangles, turned)
    args = benchmarks("ht").prepare(given)
    formula = formulas.hand_complicated if in_triangles else formulas.hand_simple
    agree(evaluate("ht", "objective", given), formula(*args).ravel())
    wanted = [formulas.gradient(formula, args, 0).reshape(24, 26)]
    if in_triangles:
        by_us = formulas.gradient(formula, args, 1)
        wanted.insert(0, np.concatenate([by_us[i, :, i] for i in range(8)]))
    agree(evaluate("ht", "jacobian", given), np.hstack(wanted))


@pytest.mark.parametrize(("n", "s"), [(6, 5), (1, 3), (3, 1)])
def test_ode(evaluate, n, s):
    x = np.random.default_rng(n).uniform(0.5, 1.5, size=n)
    given = {"x": x.tolist(), "s": s}
    agree(evaluate("ode", "primal", given), formulas.ode(x, s))
    wanted = formulas.gradient(formulas.ode, (x, s))
    if n > 4 * s:
        assert not wanted[-1].any()
    agree(evaluate("ode", "gradient", given), wanted[-1])
    agree(evaluate("ode", "total", given), wanted.sum(0))


@pytest.mark.parametrize("x", [[0.3, 2.0, -1.0, 1.5], [5.0], [800.0, 799.0, -800.0]])
def test_lse(evaluate, x):
    x = np.array(x)
    given = {"x": x.tolist()}
    agree(evaluate("lse", "primal", given), formulas.log_sum_exp(x))
    agree(evaluate("lse", "gradient", given), np.exp(x - formulas.log_sum_exp(x)))


@pytest.mark.parametrize("ell", [1, 2, 5])
def test_det(evaluate, ell):
    a = np.random.default_rng(ell).uniform(size=(ell, ell))
    given = {"A": a.ravel().tolist(), "ell": ell}
    agree(evaluate("det", "primal", given), np.linalg.det(a))
    agree(evaluate("det", "gradient", given), (np.linalg.det(a) * np.linalg.inv(a).T).ravel())


@pytest.mark.parametrize(("m", "n"), [(5, 8), (1, 2), (7, 3)])
def test_llsq(evaluate, m, n):
    x = np.random.default_rng(m).normal(size=m)
    given = {"x": x.tolist(), "n": n}
    agree(evaluate("llsq", "primal", given), formulas.llsq(x, n))
    agree(evaluate("llsq", "gradient", given), formulas.gradient(formulas.llsq, (x, n)))


@pytest.mark.parametrize(("k", "n", "d"), [(3, 20, 2), (1, 4, 3), (5, 5, 1)])
def test_kmeans(evaluate, inputs, k, n, d):
    given = inputs.kmeans(k, n, d)
    points, centroids = np.array(given["points"]), np.array(given["centroids"])
    squares = ((points[:, None] - centroids) ** 2).sum(2)
    agree(evaluate("kmeans", "cost", given), squares.min(1).sum())
    means = np.stack([points[squares.argmin(1) == c].mean(0) for c in range(k)])
    found = evaluate("kmeans", "dir", given)
    np.testing.assert_allclose(found, centroids - means, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("modes", ["rr", "rf", "fr", "ff"])
def test_saddle(evaluate, modes):
    agree(evaluate("saddle", modes, {"start": [1.0, 1.0]}), [8.246324826140356e-06] * 4)
    found = evaluate("saddle", modes, {"start": [2.0, -3.0]})
    assert np.max(np.abs(found)) < 1e-5


@pytest.mark.parametrize("modes", ["rr", "rf", "fr", "ff"])
def test_particle(evaluate, modes):
    agree(evaluate("particle", modes, {"w": 0.0}), 0.2071918746486116)


@pytest.mark.parametrize("w", [0.0, 0.3, -1.2])
@pytest.mark.parametrize("outer", "rf")
@pytest.mark.parametrize("inner", "rf")
def test_how_far_the_particle_lands_is_differentiated_through_its_path(benchmarks, w, outer, inner):
    module, descent = benchmarks("particle"), benchmarks("descent")
    x, width = np.array([w]), 1e-6
    value, (slope,) = descent.value_and_gradient(lambda at: module.miss(at[0], inner), x, outer)
    above, below = module.miss(w + width, inner), module.miss(w - width, inner)
    assert value == module.miss(w, inner)
    assert slope == pytest.approx((above - below) / (2 * width), rel=1e-7)


@pytest.mark.parametrize("outer", "rf")
@pytest.mark.parametrize("inner", "rf")
def test_the_saddle_is_differentiated_through_the_search(benchmarks, outer, inner):
    module, descent = benchmarks("saddle"), benchmarks("descent")
    x, start = np.array([0.4, -0.7]), np.array([1.0, 1.0])

    def tilted(x, y):
        return np.sin(x[0] * y[0]) + x[1] * y[1] - (y[0] ** 2 + y[1] ** 2)

    def greatest(x):
        y = descent.minimum(lambda y: descent.value_and_gradient(lambda at: -tilted(x, at), y, inner), start)
        return tilted(x, y)

    value, slope = descent.value_and_gradient(greatest, x, outer)
    width = 1e-6
    for unit, found in zip(np.eye(2), slope, strict=True):
        wanted = (greatest(x + width * unit) - greatest(x - width * unit)) / (2 * width)
        assert found == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    assert value == greatest(x) and module.height(np.array([1.0, 2.0]), x) == pytest.approx(5 - 0.16 - 0.49)


@pytest.mark.slow
def test_sums_in_any_order(benchmarks):
    build = benchmarks("build").Build(fastmath=True)
    x = np.random.default_rng(0).normal(size=9)
    function = benchmarks("evals").functions_of("llsq", build)["gradient"]
    agree(function.run(x, 12), formulas.gradient(formulas.llsq, (x, 12)))
