"""Columns of Jacobians and Hessians are of one function: each sweep draws the numbers that the first drew."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad

COUNT = 1.0
OF_NUMPY = np.random.default_rng(0)
OF_OLD_NUMPY = np.random.RandomState(0)
OF_PYTHON = random.Random(0)
X = np.array([0.5, 1.5, -0.7])


class Dropout:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.mask: Any = None

    def __call__(self, x):
        self.mask = self.rng.random(x.shape) > 0.4
        return x * self.mask


LAYER = Dropout()


def of_a_generator(x):
    return OF_NUMPY.normal(size=3) * x**2


def moved_draws(x):
    return OF_NUMPY.normal(x, 0.5) ** 2


def of_an_old_generator(x):
    return OF_OLD_NUMPY.uniform(size=3) * x**2


def of_the_module(x):
    return np.random.normal(size=3) * x**2  # noqa: NPY002


def of_pythons_module(x):
    return np.array([random.random() * each**2 for each in x])


def of_pythons_generator(x):
    return np.array([OF_PYTHON.gauss(0.0, 1.0) * each**2 for each in x])


def of_a_layer(x):
    return LAYER(x) * x


def of_a_permutation(x):
    return x[OF_NUMPY.permutation(3)] ** 2


def seed() -> None:
    np.random.seed(0)  # noqa: NPY002
    random.seed(0)
    OF_PYTHON.seed(0)
    OF_OLD_NUMPY.seed(0)
    for generator in (OF_NUMPY, LAYER.rng):
        generator.bit_generator.state = np.random.default_rng(0).bit_generator.state


def drawn_next() -> list[float]:
    """What each generator draws next: all are as one run of the function leaves them."""
    return [
        OF_NUMPY.normal(),
        OF_OLD_NUMPY.normal(),
        np.random.normal(),  # noqa: NPY002
        random.random(),
        OF_PYTHON.random(),
        LAYER.rng.random(),
    ]


def seeded(function: Callable[[], Any]) -> tuple[Any, list[float]]:
    seed()
    return function(), drawn_next()


FUNCTIONS = [
    of_a_generator,
    moved_draws,
    of_an_old_generator,
    of_the_module,
    of_pythons_module,
    of_pythons_generator,
    of_a_layer,
    of_a_permutation,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_column_is_of_one_function(function: Any) -> None:
    def value(x):
        return seeded(lambda: function(x))[0]

    expected = np.array([(value(X + step) - value(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)]).T
    after = seeded(lambda: function(X))[1]
    for mode in ("forward", "reverse"):
        found, left = seeded(lambda: ad.jacobian(function, mode=mode)(X.copy()))
        np.testing.assert_allclose(found, expected, atol=1e-8, err_msg=mode)
        assert left == after, mode
    directions = [(each,) for each in np.eye(3)]
    for _ in range(2):
        (_, found), left = seeded(lambda: ad.jvps(function, (X.copy(),), directions))
        np.testing.assert_allclose(np.array(found).T, expected, atol=1e-8)
        assert left == after


@pytest.mark.parametrize("function", [of_a_generator, of_the_module, of_a_layer])
@pytest.mark.parametrize("native", [False, True])
def test_hessians(function: Any, native: bool) -> None:
    total = lambda x: np.sum(function(x))
    weights = seeded(lambda: function(np.ones(3)))[0]
    found, _ = seeded(lambda: ad.hessian(total, native=native)(X.copy()))
    np.testing.assert_allclose(found, np.diag(2.0 * weights))


def test_of_two_arguments() -> None:
    function = lambda x, y: np.sum(OF_NUMPY.normal(size=3) * x * y)
    weights = seeded(lambda: OF_NUMPY.normal(size=3))[0]
    (of_x, of_y), _ = seeded(lambda: ad.jacobian(function, wrt=(0, 1), mode="forward")(X.copy(), 2.0 * X))
    np.testing.assert_allclose((of_x, of_y), (2.0 * weights * X, weights * X))


def test_sparse_jacobians() -> None:
    pytest.importorskip("scipy")
    weights = seeded(lambda: OF_NUMPY.normal(size=3))[0]
    found, _ = seeded(lambda: ad.jacobian(of_a_generator, sparsity="auto")(X.copy()))
    np.testing.assert_allclose(found.toarray(), np.diag(2.0 * weights * X))


def counted(x):
    global COUNT
    COUNT = COUNT + 1.0
    return x**2 * COUNT


def test_the_search_for_a_pattern_leaves_nothing_outside() -> None:
    pytest.importorskip("scipy")
    global COUNT
    COUNT = 1.0
    derive = ad.jacobian(counted, sparsity="auto")
    for _ in range(2):
        found = derive(X.copy()).toarray()
        np.testing.assert_allclose(found, np.diag(2.0 * COUNT * X))
    assert COUNT == 3.0


def test_machine_code_that_was_kept_draws_alike(tmp_path: Path) -> None:
    """A derivative that another process kept knows whether it draws."""
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nimport adjoint as ad\n\nclass Layer:\n    pass\n\nlayer = Layer()\n"
        "layer.rng, layer.kept = np.random.default_rng(0), None\n\n"
        "def f(x):\n    layer.kept = x * x\n    return layer.kept * layer.rng.normal(size=2)\n\n"
        "print(ad.jacobian(f, mode='forward', native=True)(np.ones(2)).tolist())\n"
    )
    a, b = np.random.default_rng(0).normal(size=2).tolist()
    surroundings = {**os.environ, "ADJOINT_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        done = subprocess.run([sys.executable, program], env=surroundings, capture_output=True, text=True, check=True)
        np.testing.assert_allclose(json.loads(done.stdout), [[2.0 * a, 0.0], [0.0, 2.0 * b]])


class Feed:
    def __init__(self) -> None:
        self.numbers = itertools.count(2)


def generated():
    yield from (2.0, 3.0, 5.0)


@pytest.mark.parametrize("where", ["captured", "attribute", "argument"])
def test_what_gives_its_items_once_is_not_run_again(where: str) -> None:
    numbers, feed = iter([2.0, 3.0, 5.0, 7.0]), Feed()
    functions: dict[str, Any] = {
        "captured": (lambda x: next(numbers) * x * next(numbers), ()),
        "attribute": (lambda x: next(feed.numbers) * x * next(feed.numbers), ()),
        "argument": (lambda x, items: next(items) * x * next(items), (generated(),)),
    }
    function, further = functions[where]
    with pytest.raises(ad.DifferentiationError, match="AD0305"):
        ad.jacobian(function, mode="forward")(X, *further)
    numbers, feed = iter([2.0, 3.0, 5.0, 7.0]), Feed()
    given = [generated() for _ in further]
    np.testing.assert_allclose(ad.jacobian(function, mode="reverse")(X, *given), 6.0 * np.eye(3))
