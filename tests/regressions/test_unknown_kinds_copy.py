"""Where it is not known whether something is a view, a copy is taken before the memory is written."""

import numpy as np
import pandas as pd

from regressions.differences import right

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
