"""Where it is not known whether something is a view, a copy is taken before the memory is written."""

import numpy as np
import pandas as pd
import pytest

import adjoint as ad
from regressions.differences import either, refused, right

FRAME = pd.DataFrame({"a": [1.0, 2, 3], "b": [0.5, 0.1, 0.2]})


def test_rows_of_an_array_of_unknown_rank() -> None:
    def one_row(q, frame):
        n = frame.shape[0]
        y = np.zeros((n, 1))
        y[0] = q * np.array([0.1])
        return y.sum()

    def one_after_the_other(q, frame):
        n = frame.shape[0]
        x = np.zeros((n + 1, 2))
        x[0] = np.ones(2) * q
        for t in range(n):
            x[t + 1] = q * x[t] + frame.to_numpy()[t]
        return x[n].sum()

    right(one_row, 1.3, FRAME)
    right(one_after_the_other, 1.3, FRAME)


def test_rows_in_lists_of_an_unknown_kind() -> None:
    def f(q, frame):
        rows = [np.zeros((frame.shape[0], 2))[0] for _ in range(frame.shape[0])]
        rows[0] = q * rows[0] + q
        rows.append(rows[0] * q)
        last = rows.pop()
        rows[1] = last * rows[0]
        return (rows[0] * rows[1]).sum()

    right(f, 1.3, FRAME)


def test_a_choice_of_arrays_is_a_new_array() -> None:
    def f(x):
        z = np.zeros(3)
        m = np.zeros(3)
        z += x
        m += np.where(x[0] > 0, z, 0.0) * x
        z[:] = m * x
        return (m * x * z).sum()

    right(f, np.array([1.5, 0.5, 2.0]))


def test_shapes_with_extents_of_an_unknown_kind_tell_the_rank() -> None:
    def f(q, frame):
        x = np.zeros((frame.shape[0], 2))
        x[0] += np.ones(2) * q
        x[1] = x[0] * q
        x[0] -= x[1]
        return (x * x).sum()

    right(f, 1.3, FRAME)


def test_items_that_may_be_views_are_read_before_they_are_written() -> None:
    def rows_from_each_other(q, frame):
        x = np.zeros(frame.shape)
        x[0] = q * np.ones(2)
        x[1] = x[0] * q
        x[0] -= x[1]
        return (x * x).sum()

    def a_row_by_name(q, frame):
        x = np.zeros(frame.shape)
        x[0] = q * np.ones(2)
        row = x[0]
        scaled = row * q
        x[0] = scaled * row
        return (x * x).sum()

    def rows_in_a_loop(q, frame):
        x = np.zeros(frame.shape)
        x[0] = q * np.ones(2)
        for t in range(2):
            x[t + 1] = x[t] * q + x[t] * x[t]
        return (x * x).sum()

    for f in (rows_from_each_other, a_row_by_name, rows_in_a_loop):
        right(f, 1.3, FRAME)


def test_items_that_may_be_views_are_not_read_after_they_are_written() -> None:
    def by_name(q, frame):
        x = np.zeros(frame.shape)
        x[0] = q * np.ones(2)
        row = x[0]
        x[0] *= q
        return (row * row).sum()

    def in_a_list(q, frame):
        x = np.zeros(frame.shape)
        x[0] = q * np.ones(2)
        rows = []
        for t in range(2):
            rows.append(x[t])
            x[t] *= q
        return (rows[0] * rows[0]).sum()

    def in_a_loop(q, frame):
        x = np.zeros(frame.shape)
        x[0] = q * np.ones(2)
        row = x[0]
        for _ in range(2):
            x[0] = row * q
        return (x * x).sum()

    for f in (by_name, in_a_list, in_a_loop):
        assert not either(right, f, 1.3, FRAME)


def multiplied(x, v, count):
    s = np.squeeze(v[:count]) * 0.2
    s *= x
    return np.sum(s * s)


def added(x, v, count):
    s = np.squeeze(v[:count]) * 0.2
    t = s
    t += x
    return np.sum(s * t)


def in_a_loop(x, v, count):
    s = np.squeeze(v[:count]) + v[0]
    for _ in range(2):
        s -= x * s
    return np.sum(s)


@pytest.mark.parametrize("f", [multiplied, added, in_a_loop])
def test_what_is_changed_in_place_turns_out_to_be_a_number(f) -> None:
    """NumPy makes a number of an array of rank 0 by the first operation: it is bound anew, not written."""
    v = np.array([3.0, 4.0, -1.0])
    right(f, 2.0, v, 2)
    right(f, 2.0, v, 2, wrt=1)
    for derive in (
        lambda: ad.grad(f, (0, 1))(2.0, v, 1),
        lambda: ad.jvp(f, (2.0, v, 1), (1.0, v, None)),
        lambda: ad.vjp(f, 2.0, v, 1),
    ):
        assert "is a number, which is bound anew" in str(refused(derive))
