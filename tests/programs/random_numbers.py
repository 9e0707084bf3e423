"""Random numbers whose parameters vary: the same numbers, moved and scaled."""

import math
import random

import numpy as np

from programs.registry import program

POINTS = np.array([0.4, 1.3, 2.2])
TABLE = np.arange(8.0).reshape(4, 2)
COVARIANCE = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 3.0]])


@program(1.3, 0.7)
def numbers_moved_and_scaled(m, s):
    rng = np.random.default_rng(3)
    total = rng.normal(m, s) ** 2 + rng.lognormal(0.2 * m, s) + np.sum(rng.uniform(m, m + s, size=4) ** 2)
    total = total + np.sum(rng.laplace(m, s, (2, 2)) ** 3) + rng.logistic(loc=m, scale=s) * rng.gumbel(m, s)
    return total * rng.random()


@program(1.3)
def numbers_with_a_scale_or_an_exponent(s):
    rng = np.random.default_rng(3)
    return rng.exponential(s) * rng.rayleigh(s) + np.sum(rng.weibull(s, 3) ** 2) * rng.pareto(2 * s) * rng.random()


@program(POINTS, 0.7)
def arrays_of_parameters(m, s):
    rng = np.random.default_rng(3)
    return rng.normal(loc=m, scale=s) ** 2 + rng.exponential(m) * rng.normal(size=3)


@program(1.3, 0.7)
def numbers_of_the_older_generators(m, s):
    np.random.seed(3)  # noqa: NPY002
    rng = np.random.RandomState(4)
    old = np.random.normal(m, s) ** 2 * np.random.uniform(0.0, s)  # noqa: NPY002
    return old + np.sum(rng.normal(m, s, 3) ** 2) + rng.pareto(m)


@program(TABLE, POINTS)
def chosen_and_permuted(table, x):
    rng = np.random.default_rng(3)
    some = rng.choice(table, 2, axis=0, replace=False) ** 2
    return np.sum(some * rng.permutation(x)[:2]) + rng.choice(x) * np.sum(rng.multivariate_normal(x, COVARIANCE) ** 2)


class Model:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def sample(self, m, s):
        return m + s * self.rng.normal() + self.rng.normal(m, s)


@program(1.3, 0.7)
def generator_of_an_object(m, s):
    model = Model(3)
    return sum(model.sample(m, s) ** 2 for _ in range(3))


@program(0.7, 0.4)
def random_walk_of_numbers(x, step):
    rng = np.random.default_rng(3)
    total = 0.0
    for _ in range(5):
        if rng.random() < 0.5:
            x += step * rng.normal() + rng.uniform(-0.1, 0.1)
        total += x * x * rng.integers(1, 4)
        total *= 1.0 + 0.1 * rng.poisson(2.0)
    return total


@program(0.7, 0.4)
def metropolis(x, step):
    rng = np.random.RandomState(3)
    total = 0.0
    for _ in range(6):
        proposal = x + rng.randn() * step
        if rng.rand() < math.exp(min(0.0, 0.5 * (x**2 - proposal**2))):
            x = proposal
        total += x * x
    return total


@program(0.7, 0.4)
def numbers_of_pythons_module(x, y):
    random.seed(3)
    total = 0.0
    for _ in range(4):
        total += random.gauss(0.0, 1.0) * x + random.random() * y * random.randint(1, 3)
        total += random.uniform(x, 2.0 * y) * random.gauss(x, y) + random.expovariate(y) * random.lognormvariate(x, 0.2)
        total *= random.normalvariate(1.0, y) + random.weibullvariate(x, 1.0 + y) + random.paretovariate(2.0 + x)
    return total * random.betavariate(2.0, 3.0)


@program(0.7, 0.4)
def generator_of_pythons_module(x, y):
    rng = random.Random(3)
    items = [x, y, x * y]
    total = rng.random() * x
    for _ in range(3):
        total += rng.gauss(0.0, y) * rng.uniform(0.0, 1.0) if rng.random() < 2.0 else 0.0
        total += items[rng.randrange(3)] ** 2
    return total


@program(TABLE, 0.4)
def batches(table, rate):
    rng = np.random.default_rng(3)
    weights = rng.normal(size=2)
    total = 0.0
    for _ in range(2):
        for places in np.array_split(rng.permutation(4), 2):
            rows = table[places] * (rng.random((len(places), 2)) < 0.8)
            weights = weights - rate * 0.01 * np.sum(rows, axis=0) + rng.uniform(-0.1, 0.1, 2)
            total += np.sum((rows @ weights) ** 2) + table[rng.choice(4, 2), rng.integers(0, 2, 2)].sum()
    noise = rng.standard_normal(size=3)
    noise = noise * rate
    noise[rng.integers(3)] += rate**2
    return total + noise @ noise + np.sum(rng.poisson(2.0, (2, 2)) * table[:2])


@program(0.4, 3)
def draws_that_are_written(a, n):
    rng = np.random.default_rng(3)
    places = rng.normal(size=(n, 2))
    speeds = rng.uniform(-1.0, 1.0, (n, 2))
    np.random.seed(3)  # noqa: NPY002
    shift = np.random.randn(n, 2)  # noqa: NPY002
    column = places[:, 0].reshape((n, 1))
    for _ in range(2):
        speeds -= 0.1 * a * places
        places += speeds + shift * a
    shift[rng.integers(n)] *= a
    rest = shift.ravel()
    rest[1:] += a**2
    return np.sum(places**3) + np.sum(speeds) * np.sum(column) + np.sum(shift**2)


@program(POINTS)
def places_by_weights_that_vary(x):
    np.random.seed(3)  # noqa: NPY002
    rng = np.random.default_rng(3)
    first = np.random.choice(3, 1, p=x / np.sum(x))[0]  # noqa: NPY002
    others = rng.choice(x.shape[0], size=2, p=x / np.sum(x))
    return x[first] ** 2 * np.sum(x[others] ** 3) + x[rng.choice(3, p=x / np.sum(x))]
