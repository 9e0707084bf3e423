"""Posteriors of densities that are written as loops, beside those of PyMC."""

import numpy as np
import pytest

nutpie = pytest.importorskip("nutpie")
pm = pytest.importorskip("pymc")

import arviz  # noqa: E402
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

import adjoint as ad  # noqa: E402
from adjoint.interop.pytensor import function  # noqa: E402
from interop import densities as models  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

HOW = {"draws": 1500, "tune": 1000, "chains": 4, "progress_bar": False}


def schools_in_pymc():
    with pm.Model() as model:
        mean, width = pm.Normal("mean", 0.0, 5.0), pm.HalfCauchy("width", 5.0)
        z = pm.Normal("z", shape=8)
        theta = pm.Deterministic("theta", mean + width * z)
        pm.Normal("seen", theta, models.ERRORS, observed=models.EFFECTS)
    return model


def regression_in_pymc():
    with pm.Model() as model:
        means, widths = pm.Normal("means", 0.0, 5.0, shape=2), pm.HalfNormal("widths", shape=2)
        z, noise = pm.Normal("z", shape=(2, models.GROUPS)), pm.HalfNormal("noise")
        pm.Deterministic("log_noise", pt.log(noise))
        lines = means[:, None] + widths[:, None] * z
        middle = lines[0][models.GROUP] + lines[1][models.GROUP] * models.PLACES
        pm.Normal("seen", middle, noise, observed=models.SEEN)
    return model


def growth_in_pymc():
    with pm.Model() as model:
        log_rate, log_capacity = pm.Normal("log_rate"), pm.Normal("log_capacity", 4.0)
        log_noise = pm.Normal("log_noise", -2.0)
        rate, capacity, h = pt.exp(log_rate), pt.exp(log_capacity), 1.0 / models.STEPS

        def day(n, rate, capacity):
            slope = lambda n: rate * n * (1.0 - n / capacity)
            for _ in range(models.STEPS):
                a = slope(n)
                b = slope(n + 0.5 * h * a)
                c = slope(n + 0.5 * h * b)
                n = n + h / 6.0 * (a + 2.0 * b + 2.0 * c + slope(n + h * c))
            return n

        start, parameters = pt.constant(10.0, dtype="float64"), [rate, capacity]
        days = pytensor.scan(day, None, [start], parameters, n_steps=models.DAYS, return_updates=False)
        pm.Normal("seen", pt.log(days), pt.exp(log_noise), observed=np.log(models.COUNTS))
    return model


OURS = {
    "schools": (
        models.eight_schools,
        {"effects": models.EFFECTS, "errors": models.ERRORS},
        {"mean": (), "log_width": (), "z": 8},
        {"derived": (models.schools, {"width": (), "theta": 8})},
        schools_in_pymc,
        ["mean", "width", "theta"],
    ),
    "regression": (
        models.regression,
        (models.GROUP, models.PLACES, models.SEEN),
        {"means": 2, "log_widths": 2, "z": (2, models.GROUPS), "log_noise": ()},
        {},
        regression_in_pymc,
        ["means", "z", "log_noise"],
    ),
    "growth": (
        models.growth,
        {"counts": models.COUNTS, "steps": models.STEPS},
        {"log_rate": (), "log_capacity": (), "log_noise": ()},
        {"start": {"log_capacity": 4.0, "log_noise": -1.0}},
        growth_in_pymc,
        ["log_rate", "log_capacity", "log_noise"],
    ),
}


def posterior(model, seed):
    return nutpie.sample(model, seed=seed, **HOW).posterior


def agree(ours, theirs, names):
    """Means and variances agree within five of their Monte Carlo errors."""
    for name in names:
        centre = ours[name].mean(("chain", "draw"))
        for power in (1, 2):
            traces = [((trace[name] - centre) ** power).rename(name).to_dataset() for trace in (ours, theirs)]
            mine, other = (np.asarray(trace[name].mean(("chain", "draw"))) for trace in traces)
            errors = [np.asarray(arviz.mcse(trace, method="mean")[name]) for trace in traces]
            assert np.all(np.abs(mine - other) <= 5.0 * np.hypot(*errors)), (name, power)
        assert np.all(np.asarray(arviz.rhat(ours, var_names=[name])[name]) < 1.02)


@pytest.mark.parametrize("name", OURS)
def test_posteriors_are_those_of_pymc(name):
    logp, data, variables, options, theirs, compared = OURS[name]
    model = ad.interop.nutpie(logp, data, variables=variables, **options)
    agree(posterior(model, 1), posterior(nutpie.compile_pymc_model(theirs()), 2), compared)


def test_models_have_names_and_the_same_draws_for_the_same_seed():
    logp, data, variables, options, *_ = OURS["schools"]
    letters = list("abcdefgh")
    model = ad.interop.nutpie(
        logp, data, variables=variables, **options, coords={"school": letters}, dims={"theta": ["school"]}
    )
    first, second = (nutpie.sample(model, seed=7, **HOW | {"draws": 50}).posterior for _ in range(2))
    assert list(first["school"].values) == letters and first["theta"].dims == ("chain", "draw", "school")
    np.testing.assert_array_equal(first["theta"], second["theta"])
    np.testing.assert_allclose(first["width"], np.exp(first["log_width"]))


@pytest.mark.parametrize("mode", ["NUMBA", "FAST_COMPILE"])
def test_operations_of_pytensor(mode):
    x, k, m = pt.dvector("x"), pt.dscalar("k"), pt.dmatrix("m")

    def f(x, k, m, n):
        total = np.zeros(m.shape[0])
        for i in range(m.shape[0]):
            for j in range(len(x)):
                total[i] += m[i, j] * x[j] ** n * k
        return total

    ours, theirs = function(f, dimensions=1)(x, k, m, 3), m @ x**3 * k
    weights = np.array([0.5, -2.0])
    of = lambda y: [y, *pytensor.grad((y * weights).sum(), [x, k, m])]
    point = np.array([0.5, 1.0, 2.0]), 1.5, np.arange(6.0).reshape(2, 3)
    found, expected = (pytensor.function([x, k, m], of(y), mode=mode)(*point) for y in (ours, theirs))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_potentials_in_models_of_pymc():
    density = function(models.eight_schools)
    with pm.Model() as model:
        mean, log_width, z = pm.Flat("mean"), pm.Flat("log_width"), pm.Flat("z", shape=8)
        pm.Potential("density", density(mean, log_width, z, models.EFFECTS, models.ERRORS))
        pm.Deterministic("theta", mean + pt.exp(log_width) * z)
    compiled = nutpie.compile_pymc_model(model, initial_points={"mean": 0.0, "log_width": 0.0, "z": np.zeros(8)})
    ours = posterior(compiled, 3)
    theirs = posterior(nutpie.compile_pymc_model(schools_in_pymc()), 4)
    agree(ours, theirs, ["mean", "theta"])
