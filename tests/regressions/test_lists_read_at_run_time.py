"""Lists that nobody knows before the program runs, as operands of NumPy: they are arrays there, and lists elsewhere."""

import json
import pickle

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

TEXT = json.dumps({"xs": [0.0, 1.0, 2.0], "k": [1.0, 2.0], "a": 3.0})
PICKLED = pickle.dumps([0.0, 1.0, 2.5])
X = np.array([0.4, 0.7, 1.1])


def interpolated(x):
    places = pickle.loads(PICKLED)
    return np.sum(np.interp(x, places, [1.0, 3.0, 2.0]) ** 2)


def folded(x):
    return np.sum(np.convolve(x, json.loads(TEXT)["k"]) ** 2)


def multiplied(x):
    given = json.loads(TEXT)
    return np.sum(x * given["xs"]) ** 2 * given["a"]


def larger(x):
    return np.sum(np.maximum(x, json.loads(TEXT)["xs"]) ** 2)


def solved(x):
    right_side = json.loads(TEXT)["xs"]
    return np.sum(np.linalg.solve(np.eye(3) + np.outer(x, x), right_side) * np.hypot(right_side, x))


@pytest.mark.parametrize("f", [interpolated, folded, multiplied, larger, solved])
def test_they_are_arrays_to_numpy(f):
    right(f, X)
    right(f, X, native=True)


def test_of_a_number_of_python():
    def scaled(x):
        given = json.loads(TEXT)
        return x ** given["a"] * np.sum(np.multiply(x, given["xs"]))

    right(scaled, 1.3)


def test_python_raises_what_it_raises():
    with pytest.raises(TypeError, match="can't multiply sequence"):
        ad.grad(lambda x: x * json.loads(TEXT)["xs"])(1.3)
