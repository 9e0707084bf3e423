"""Loops add outer products to matrices without making them, some at a time, where their factors are the same then."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.array_functions import delayed_updates, rank_one
from sampling import check_grads


def layers(ws, x):
    for k in range(len(ws)):
        x = np.tanh(ws[k] @ x)
    return np.sum(x)


def same_matrix(w, x):
    for _ in range(3):
        x = np.sin(w @ x)
    return np.sum(x)


def parts(a):
    total = 0.0
    for i in range(a.shape[1] - 1):
        total += np.sum((a[:, i] @ a[:, i + 1 :]) ** 2)
    return total


def eliminated(a):
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(np.log(np.diag(a)))


def covariance(a):
    n = a.shape[1]
    found = np.zeros((n, n))
    for i in range(n):
        found[i:n, i] = found[i, i:n] = a[:, i] @ a[:, i:n] / (n - 1.0)
    return np.sum(found * found)


def factor_written(a, x):
    total = np.zeros((3, 3))
    for _ in range(2):
        t = np.outer(x, a[0])
        x = x * 2.0
        a = a.copy()
        row = a[0]
        t = np.outer(row, x)
        row *= 3.0
        total += t
    return np.sum(total**2)


def inside_while(w, x):
    k = 0
    while k < 3:
        x = np.cos(w @ x)
        k += 1
    return np.sum(x)


def nested(w, x):
    for _ in range(3):
        for k in range(2):
            x = np.sin(w @ x) if k == 0 else np.cos(w @ x) - 0.1
    return np.sum(x)


def read_inside(w, x):
    for _ in range(3):
        x = np.sin(w @ x)
        w = w * np.sum(x)
    return np.sum(x)


def written_inside(w, x):
    w = w.copy()
    for k in range(3):
        x = np.sin(w @ x)
        w[k, 0] = x[1]
    return np.sum(x)


def accumulated(w, x):
    w = w.copy()
    for _ in range(3):
        w -= np.outer(x, x)
    return np.sum(np.sin(w @ x))


def accumulated_and_read(w, x):
    w = w.copy()
    total = 0.0
    for _ in range(3):
        w += np.outer(x, x)
        total += w[0, 1] * w[1, 1]
    return total + np.sum(w)


def handled(w, x):
    for k in range(3):
        try:
            x = np.sin(w @ x)
            [1.0, 2.0][k]
        except IndexError:
            x = x * 2.0
    return np.sum(x)


def added_before_a_handler(w, x):
    w = w.copy()
    for k in range(3):
        try:
            for _ in range(2):
                w += np.outer(x, x)
            [1.0, 2.0][k]
        except IndexError:
            w[0, 0] += w[1, 1] ** 2
    return np.sum(np.sin(w))


def until(w, x):
    for k in range(9):
        x = np.sin(w @ x)
        if x[0] * k > 0.4:
            break
    return np.sum(x)


def own_row(a):
    a = a.copy()
    for _ in range(2):
        a += np.outer(a[0], a[:, 1])
    return np.sum(np.sin(a))


def once(w, x):
    return np.sum(np.sin(w @ x))


def spread(w, x):
    total = np.zeros((2, 3, 3))
    for _ in range(2):
        total += np.outer(w @ x, x)
    return np.sum(total**2)


W = np.array([[3.0, 0.2, 0.3], [0.4, 2.0, 0.6], [0.7, 0.8, 4.0]])
X = np.array([0.1, 0.2, 0.3])
CASES = {
    layers: (np.stack([W, W.T, W @ W / 9]), X),
    same_matrix: (W, X),
    parts: (W,),
    eliminated: (W,),
    covariance: (W,),
    factor_written: (W, X),
    inside_while: (W, X),
    nested: (W, X),
    read_inside: (W, X),
    written_inside: (W, X),
    accumulated: (W, X),
    accumulated_and_read: (W, X),
    handled: (W, X),
    added_before_a_handler: (W, X),
    until: (W, X),
    own_row: (W / 4.0,),
    once: (W, X),
    spread: (W, X),
}
DELAYED = {same_matrix, inside_while, nested, accumulated, handled, until, spread}
IN_PLACE = {layers, parts, eliminated, covariance, written_inside, accumulated_and_read, own_row}


@pytest.mark.parametrize("blas", [True, False])
@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_derivatives(function, blas, monkeypatch):
    monkeypatch.setattr(rank_one, "FEWEST_ELEMENTS", 0 if blas else 10**9)
    monkeypatch.setattr(delayed_updates, "_MOST_ROWS", 2 if blas else 64)
    check_grads(function, CASES[function])


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_text(function):
    derivative = ad.grad(function, native=False)
    derivative(*CASES[function])
    text = ad.source(derivative)
    assert ("rt.rank_one_" in text) == (function in IN_PLACE), text
    assert text.count("rt.delayed_updates(") == text.count("rt.apply_updates(") == (function in DELAYED), text
    assert ("+= np.outer(w @ x, x)" in text) == (function is spread)  # of three axes


def test_updates_wait_for_the_end_of_the_outermost_loop():
    derivative = ad.grad(nested, native=False)
    derivative(W, X)
    lines = ad.source(derivative).splitlines()
    made, applied = (
        next(line for line in lines if f"rt.{name}(" in line) for name in ("delayed_updates", "apply_updates")
    )
    assert len(made) - len(made.lstrip()) == len(applied) - len(applied.lstrip()) == 4
