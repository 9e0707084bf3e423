"""What a loop fills in order is read where it is, and only that."""

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

X = np.array([0.7, -0.4, 0.9, 0.3, 1.1])


def recurrence(x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = np.sin(y[i - 1]) * x[i]
    return np.sum(y**2)


def triangle(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        s = x[i]
        for j in range(i):
            s -= np.cos(y[j]) * y[j]
        y[i] = s
    return np.sum(y**2)


def one_ahead(x):
    y = np.zeros(len(x) + 1)
    y[0] = 0.3
    for i in range(len(x)):
        y[i + 1] = y[i] * y[i] * x[i]
    return np.sum(y)


def rows(x):
    y = np.zeros((4, len(x)))
    y[0] = x
    for t in range(3):
        y[t + 1] = np.sin(y[t]) * y[t][1]
    return np.sum(y[-1] ** 2)


@pytest.mark.parametrize("f", [recurrence, triangle, one_ahead])
def test_elements_that_have_their_last_value_are_not_kept(f) -> None:
    assert "_kept" not in ad.source(ad.grad(f), X)
    check_grads(f, (X,))


def test_rows_that_have_their_last_value_are_not_kept() -> None:
    assert ad.source(ad.grad(rows), X).count("_kept = []") == 1  # the sines
    check_grads(rows, (X,))


L = np.tril(np.array([np.roll(X, k) for k in range(len(X))])) + 2.0 * np.eye(len(X))


def triangular_solve(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = (x[i] - L[i, :i] @ y[:i]) / L[i, i]
    return np.sum(y**2)


def back_substitution(x):
    y = np.zeros(len(x))
    for i in range(len(x) - 1, -1, -1):
        y[i] = (x[i] - L[i + 1 :, i] @ y[i + 1 :]) / L[i, i]
    return np.sum(y**2)


def factorisation(x):
    a = L + np.outer(x, x)
    for i in range(len(a)):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, len(a)):
            a[i, j] = a[i, j] - a[i, :i] @ a[:i, j]
    return np.sum(a)


def columns_of_a_row(x):
    y = np.ones((3, len(x))) * x
    for t in range(3):
        row = y[t]
        for i in range(1, len(x)):
            row[i] = row[:i] @ x[:i]
    return np.sum(y**2)


@pytest.mark.parametrize("f", [triangular_solve, back_substitution, factorisation])
def test_parts_that_have_their_last_values_are_not_copied(f) -> None:
    assert "np.copy" not in ad.source(ad.grad(f), X)
    check_grads(f, (X,))


def wraps_around(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i] = y[i - 1] * y[i - 1]
    return np.sum(y)


def reads_ahead(x):
    y = x * 1.0
    for i in range(len(x) - 1):
        y[i] = y[i + 1] * y[i + 1]
    return np.sum(y)


def filled_twice(x):
    y = x * 1.0
    for _ in range(2):
        for i in range(1, len(x)):
            y[i] = y[i - 1] * y[i - 1]
    return np.sum(y)


def filled_backwards(x):
    y = x * 1.0
    for i in range(len(x) - 1, 0, -1):
        y[i] = y[i - 1] * y[i - 1]
    return np.sum(y)


def changed_behind(x):
    y = x * 1.0
    for i in range(1, len(x)):
        y[i] = y[i - 1] * y[i - 1]
        y[i - 1] = x[i]
    return np.sum(y)


def changed_after_the_loop(x):
    y = x * 1.0
    for i in range(1, len(x)):
        y[i] = y[i - 1] * y[i - 1]
    y[0] = 5.0
    return np.sum(y)


def changed_through_a_view(x):
    y = x * 1.0
    tail = y[1:]
    for i in range(1, len(x)):
        y[i] = y[i - 1] * y[i - 1]
        tail[0] = x[i]
    return np.sum(y)


def changed_by_a_call(x):
    def reset(a):
        a[1] = 0.5

    y = x * 1.0
    for i in range(1, len(x)):
        y[i] = y[i - 1] * y[i - 1]
        reset(y)
    return np.sum(y)


def the_place_itself(x):
    y = x * 1.0
    for i in range(len(x)):
        for j in range(i + 1):
            y[i] = y[j] * y[j] + x[i]
    return np.sum(y)


def buffers_that_are_swapped(x):
    y, z = x * 1.0, x * 2.0
    for i in range(1, len(x)):
        y[i] = y[i - 1] * y[i - 1]
        y, z = z, y
    return np.sum(y * z)


def from_an_unknown_start(x):
    y = x * 1.0
    for i in range(len(x) - 5, len(x)):
        y[i] = y[i - 1] * y[i - 1]
    return np.sum(y)


def a_row_that_is_changed_later(x):
    y = np.ones((3, len(x))) * x
    for t in range(1, 3):
        row = y[t - 1]
        y[t] = row * row
        row[0] = x[t]
    return np.sum(y)


def by_a_stride(x):
    y = x * 1.0
    for i in range(2, len(x), 2):
        y[i] = y[i - 2] * y[i - 1] * y[i - 2]
    return np.sum(y)


def one_place_too_many(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i] = y[: i + 1] @ y[: i + 1]
    return np.sum(y)


def from_the_end(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i] = y[: i - 1] @ y[: i - 1]
    return np.sum(y)


def prefixes_written_again(x):
    y = x * 1.0
    for k in range(1, len(x)):
        s = y[:k] @ y[:k]
        y[:k] += s * x[:k]
        y[k] = s
    return np.sum(y)


def prefixes_in_sweeps(x):
    y = x * 1.0
    for _ in range(2):
        for i in range(1, len(x)):
            y[i] = y[:i] @ y[:i]
    return np.sum(y)


def suffix_written_forwards(x):
    y = x * 0.5
    for i in range(len(x) - 1):
        y[i] = y[i + 1 :] @ y[i + 1 :]
    return np.sum(y)


def rows_below_written(x):
    a = L + np.outer(x, x)
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            a[j] = a[j] - a[i, i] * a[j, i] * a[i]
        a[i] = a[i] * x[i]
    return np.sum(a)


def written_through_a_column(x):
    a = L + np.outer(x, x)
    column = a[:, 0]
    for i in range(1, len(a)):
        a[i, i] = a[i, :i] @ a[i, :i]
        column[i] = x[i]
    return np.sum(a)


def in_a_while_loop(x):
    y = x * 1.0
    n = 0
    while n < 2:
        for i in range(1, len(x)):
            y[i] = np.sin(y[:i]) @ y[:i]
        n += 1
    return np.sum(y)


def window_that_moves_back(x):
    y = x * 1.0
    for i in range(len(x) - 2, 0, -1):
        y[i] = y[i - 1 : i + 2] @ y[i - 1 : i + 2]
    return np.sum(y)


@pytest.mark.parametrize(
    "f",
    [
        one_place_too_many,
        from_the_end,
        prefixes_written_again,
        prefixes_in_sweeps,
        suffix_written_forwards,
        rows_below_written,
        written_through_a_column,
        in_a_while_loop,
        window_that_moves_back,
        columns_of_a_row,
        wraps_around,
        reads_ahead,
        filled_twice,
        filled_backwards,
        changed_behind,
        changed_after_the_loop,
        changed_through_a_view,
        changed_by_a_call,
        the_place_itself,
        buffers_that_are_swapped,
        from_an_unknown_start,
        a_row_that_is_changed_later,
        by_a_stride,
    ],
)
def test_what_is_written_again_is_kept(f) -> None:
    check_grads(f, (X,))
