"""Gradients of sums over shards, on clusters of Dask that live in this process, and in others."""

import doctest
import os
import subprocess
import sys
import textwrap
import weakref
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint import DifferentiationError
from sampling import THOROUGH

distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(203, 3)), RNG.normal(size=203)
W = np.array([0.3, -1.2, 0.7])


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as cluster:
        with distributed.Client(cluster) as client:
            yield client


@pytest.fixture
def scattered(client, monkeypatch):
    """What is sent from now on, call by call."""
    calls, scatter = [], client.scatter
    monkeypatch.setattr(client, "scatter", lambda data, **options: calls.append(data) or scatter(data, **options))
    return calls


def squares(w, X, y):
    return np.sum((np.tanh(X @ w) - y) ** 2)


def mean_of_squares(w, X, y):
    return np.mean((np.tanh(X @ w) - y) ** 2)


def agree(found, expected, tolerance=1e-13):
    difference = ad.tangents.norm(ad.tangents.subtract(found[1], expected[1]))
    assert difference <= tolerance * ad.tangents.norm(expected[1])
    assert abs(found[0] - expected[0]) <= tolerance * abs(expected[0])


def bits(result):
    return np.float64(result[0]).tobytes() + result[1].tobytes()


@pytest.mark.parametrize("shards", [1, 2, 16, 100, 1000])
def test_it_is_the_gradient_of_the_whole(client, shards):
    df = ad.distributed.value_and_grad(squares, over=("X", "y"), shards=shards)
    agree(df(W, X, Y, client=client), ad.value_and_grad(squares)(W, X, Y))


def test_means_weigh_shards_by_their_rows(client):
    df = ad.distributed.value_and_grad(mean_of_squares, over=("X", "y"), reduction="mean", shards=7)
    agree(df(W, X, y=Y, client=client), ad.value_and_grad(mean_of_squares)(W, X, Y))


def test_a_mean_is_no_sum_nor_is_a_sum_with_a_penalty():
    for f in (mean_of_squares, lambda w, X, y: squares(w, X, y) + 0.01 * w @ w):
        with pytest.raises(ValueError, match="not the sum over the rows of X, y: of the first 8"):
            ad.distributed.value_and_grad(f, over=("X", "y"))(W, X, Y, client=Untouched())
    with pytest.raises(ValueError, match="not the mean"):
        ad.distributed.value_and_grad(squares, over=(1, 2), reduction="mean")(W, X, Y, client=Untouched())


class Untouched:
    asynchronous = False


def test_the_bits_are_those_of_the_shards_whoever_computes_them(client):
    plain = ad.distributed.value_and_grad(squares, over=("X", "y"))
    expected = bits(plain(W, X, Y, client=client))
    original = client.map

    def delayed(fn, *args, **options):
        return original(late, *args, run=fn, **options)

    try:
        client.map = delayed
        assert {bits(plain(W, X, Y, client=client)) for _ in range(5)} == {expected}
    finally:
        client.map = original


def late(*args, run, **options):
    import random
    import time

    time.sleep(random.random() * 0.01)
    return run(*args, **options)


@dataclass
class Layer:
    weight: np.ndarray
    bias: float
    name: str = "dense"


def layered(model, X, y):
    total = 0.0
    for layer in model["layers"]:
        total = total + np.sum((X @ layer.weight + layer.bias - y * model["scales"][0]) ** 2)
    return total * model["scales"][1]


def test_tangents_of_any_structure(client):
    model = {"layers": [Layer(W, 0.5), Layer(2 * W, -0.5)], "scales": (1.5, 0.25)}
    found = ad.distributed.value_and_grad(layered, over=("X", "y"))(model, X, Y, client=client)
    expected = ad.value_and_grad(layered)(model, X, Y)
    agree(found, expected)
    assert type(found[1]["layers"][0]) is type(expected[1]["layers"][0])


def test_several_arguments_by_name(client):
    def f(X, slope, *, shift, y):
        return np.sum((X[:, 0] * slope + shift - y) ** 2)

    df = ad.distributed.value_and_grad(f, over=("y", "X"), wrt=("shift", "slope"))
    found = df(X, 2.0, shift=1.0, y=Y, client=client)
    agree(found, ad.value_and_grad(f, wrt=("shift", "slope"))(X, 2.0, shift=1.0, y=Y))


def test_lists_of_rows(client):
    def f(w, texts, lengths):
        return sum(w * len(text) ** 2 / length for text, length in zip(texts, lengths))

    texts, lengths = ["a", "bcd", "ef", "", "ghij"] * 5, [1.0, 2.0, 3.0, 4.0, 5.0] * 5
    df = ad.distributed.value_and_grad(f, over=("texts", "lengths"), shards=4)
    found, expected = df(2.0, texts, lengths, client=client), ad.value_and_grad(f)(2.0, texts, lengths)
    assert found == pytest.approx(expected, rel=1e-13)


def test_data_and_derivative_are_sent_once(client, scattered):
    df = ad.distributed.value_and_grad(squares, over=("X", "y"), shards=5)
    df(W, X, Y, client=client)
    assert [type(data) for data in scattered] == [bytes, list] and len(scattered[1]) == 5
    df(2 * W, X, Y, client=client)
    df(3 * W, X.copy(), Y, client=client)
    assert len(scattered) == 2


def test_rows_that_were_written_are_sent_anew(client, scattered):
    data = X.copy()
    df = ad.distributed.value_and_grad(squares, over=("X", "y"), shards=5)
    df(W, data, Y, client=client)
    data[-1] *= 2.0
    agree(df(W, data, Y, client=client), ad.value_and_grad(squares)(W, data, Y))
    assert len(scattered[-1]) == 1
    fixed = data.copy()
    fixed.flags.writeable = False
    agree(df(W, fixed, Y, client=client), ad.value_and_grad(squares)(W, fixed, Y))
    agree(df(W, fixed[::-1], Y, client=client), ad.value_and_grad(squares)(W, fixed[::-1], Y))


def test_what_a_function_captured_is_that_of_the_call(client):
    factor = 1.0

    def f(w, X):
        return factor * np.sum(X @ w)

    df = ad.distributed.value_and_grad(f, over="X")
    first = df(W, X, client=client)
    factor = 3.0
    agree(df(W, X, client=client), (3.0 * first[0], 3.0 * first[1]))


def test_large_parameters_are_sent_to_each_worker_once(client, scattered):
    def f(w, X):
        return np.sum(X[:, :1] * np.sin(w))

    w = np.linspace(0.0, 1.0, 20_000)
    df = ad.distributed.value_and_grad(f, over="X", shards=4)
    agree(df(w, X, client=client), ad.value_and_grad(f)(w, X))
    assert [len(data) for data in scattered][1:] == [4, len(scattered[2])] and len(scattered[2]) > w.nbytes


def test_sweeps_are_calls(client):
    df = ad.distributed.value_and_grad(squares, over=("X", "y"))
    points = [W, 2 * W, -W]
    swept = df.sweep(points, X, Y, client=client)
    assert [bits(found) for found in swept] == [bits(df(point, X, Y, client=client)) for point in points]
    assert df.sweep([], X, Y, client=client) == []


def test_progress(client):
    seen = []
    df = ad.distributed.value_and_grad(squares, over=("X", "y"), shards=6)
    df(W, X, Y, client=client, progress=lambda done, of: seen.append((done, of)))
    assert seen == [(n, 6) for n in range(1, 7)]


def test_a_function_that_writes_its_data_raises(client):
    def f(w, X):
        X[0] = 0.0
        return np.sum(X @ w)

    before = X.copy()
    df = ad.distributed.value_and_grad(f, over="X")
    with pytest.raises(ValueError, match="read-only"):
        df(W, X, client=client)
    assert np.array_equal(X, before)


def test_arguments_are_not_written(client):
    def f(w, X):
        w[0] = 1.0
        return np.sum(X @ w)

    w = W.copy()
    value, gradient = ad.distributed.value_and_grad(f, over="X")(w, X, client=client)
    assert np.array_equal(w, W) and value == pytest.approx(np.sum(X @ np.array([1.0, *W[1:]])))
    assert gradient[0] == 0.0


def test_refusals_come_from_the_workers(client):
    def f(w, X):
        return float(str(w[0])) * np.sum(X)

    with pytest.raises(DifferentiationError) as here:
        ad.value_and_grad(f)(W, X)
    with pytest.raises(DifferentiationError) as there:
        ad.distributed.value_and_grad(f, over="X")(W, X, client=client)
    assert "AD0" in str(here.value) and str(there.value).split("]")[0] == str(here.value).split("]")[0]


def test_errors_of_functions_come_from_the_workers(client):
    def f(w, X):
        if len(X) > 1:
            raise KeyError("no such row")
        return np.sum(X @ w)

    with pytest.raises(KeyError, match="no such row"):
        ad.distributed.value_and_grad(f, over="X")(W, X, client=client)


def test_shards_go_with_their_gradient(client):
    df = ad.distributed.value_and_grad(squares, over=("X", "y"))
    df(W, X, Y, client=client)
    shard = weakref.ref(next(iter(df._held[1].values())))
    del df
    assert shard() is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"over": "Z"}, "the function has the parameters w, X, y"),
        ({"over": ("X", 7)}, "the function has the parameters"),
        ({"over": ("w", "X")}, "one names the data"),
        ({"over": ()}, "one names the data"),
        ({"over": "X", "reduction": "max"}, "'sum' or 'mean'"),
        ({"over": "X", "shards": 0}, "from 1 on"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        ad.distributed.value_and_grad(squares, **options)
    with pytest.raises(ValueError, match="rename it"):
        ad.distributed.value_and_grad(lambda w, client: w, over="client", wrt=0)


@pytest.mark.parametrize(
    ("args", "failure", "words"),
    [
        ((W, X, Y[:-1]), ValueError, "numbers of rows differ"),
        ((W, X[:0], Y[:0]), ValueError, "or are zero"),
        ((W, {"a": X}, Y), TypeError, "'X' is a value of type 'dict'"),
        ((W, X, np.array(1.0)), TypeError, "'y' is a value of type 'ndarray'"),
        ((W, X), TypeError, "missing"),
    ],
)
def test_data_that_cannot_be_cut_is_refused(args, failure, words):
    with pytest.raises(failure, match=words):
        ad.distributed.value_and_grad(squares, over=("X", "y"))(*args, client=Untouched())


KILLED = """
import os, signal, sys, threading, time
import numpy as np, adjoint as ad
from distributed import Client, LocalCluster

def squares(w, X, y):
    total = 0.0
    for i in range(len(y)):
        total += (np.tanh(X[i] @ w) - y[i]) ** 2
    return total

if __name__ == "__main__":
    rng = np.random.default_rng(1)
    X, y, w = rng.normal(size=(40000, 3)), rng.normal(size=40000), np.ones(3)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        df = ad.distributed.value_and_grad(squares, over=("X", "y"))
        value, gradient = df(w, X, y, client=client)
        done = []
        def progress(*numbers):
            if not done:
                os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
            done.append(numbers)
        again = df(w, X, y, client=client, progress=progress)
        assert len(done) > 1 and not all(a[0] < b[0] for a, b in zip(done, done[1:])), done
        assert again[0] == value and again[1].tobytes() == gradient.tobytes()
        last = df(w, X, y, client=client)
        assert last[0] == value and last[1].tobytes() == gradient.tobytes()
    expected = ad.value_and_grad(squares)(w, X, y)
    assert np.allclose(gradient, expected[1], rtol=1e-13, atol=0.0) and abs(value - expected[0]) < 1e-13 * value
    print("the same")
"""


@pytest.mark.skipif(not THOROUGH, reason="starts processes: 'make thorough' does it")
def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(KILLED))
    path = os.pathsep.join([os.path.dirname(os.path.dirname(ad.__file__)), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "the same\n", done.stderr


def test_page():
    page = Path(__file__).parents[1] / "docs" / "distributed.md"
    text = page.read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert runner.summarize().failed == 0 and runner.tries >= 8
