"""An integer among floats in a container stays one for those who ask: texts, indices, ranges."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

X = np.array([1.5, 2.0, 3.0])


def filled(n: int) -> list[Any]:
    found: list[Any] = [0.5]
    for i in range(n):
        found.append(i)
    return found


def texts(x: Any, n: int) -> Any:
    total = 0.0
    for p in filled(n):
        width = len(str(p)) + 10 * len(f"{p}") + 100 * len(format(p)) + 1000 * len(repr(p)) + len(f"{p!r:>5}")
        total = total + x[0] * width + x[1] * len(f"{p:.2f}")
    return total


def text_of_a_field(x: Any, n: int) -> Any:
    class Entry:
        def __init__(self) -> None:
            self.value: Any = 0.5

    entry = Entry()
    for i in range(n):
        if i == 1:
            entry.value = i
    return x[0] * len(str(entry.value))


def text_of_an_entry(x: Any, n: int) -> Any:
    table: dict[int, Any] = {}
    for i in range(n):
        table[i] = i if i % 2 else 0.25
    return sum(x[0] * len(str(value)) for value in table.values())


def index(x: Any, n: int) -> Any:
    found = filled(n)
    place = found[n]
    return x[place] * 2.0 + np.sum(x[:place] ** 2)


def index_of_a_list(x: Any, kinds: Any) -> Any:
    places: list[Any] = []
    rows = []
    for k, kind in enumerate(kinds):
        places.append(k if kind == "c" else np.nan)
        rows.append([x[k] * x[k]])
    total = 0.0
    for i in range(len(places)):
        p = places[i]
        total += 1.0 if np.isnan(p) else rows[p][0] * 2.0
    return total


def counted(x: Any, n: int) -> Any:
    found, total = filled(n), 0.0
    for k in range(found[n]):
        total += x[k] ** 2
    return total


def stored(x: Any, n: int) -> Any:
    out = np.zeros(4)
    for place in filled(n)[1:]:
        out[place] = x[place] ** 2
    return np.sum(out * np.arange(4.0))


def text_of_all(x: Any, n: int) -> Any:
    found = filled(n)
    return x[0] * len(str(found)) + x[1] * len("%s %d" % (found[1], found[2]))  # noqa: UP031


def among_numbers_of_numpy(x: Any, n: int) -> Any:
    found = [x[0]]
    for i in range(n):
        found.append(i)
    return x[1] * len(str(found[n])) + found[0] * found[n]


def dtype(x: Any, n: int) -> Any:
    whole, halves = np.full(2, filled(n)[1]), np.array(filled(n)[:2])
    return x[0] * (whole.dtype == np.int64) + x[1] * (halves.dtype == np.float64)


def exact(x: Any, n: int) -> Any:
    found = [0.5]
    found.append(10**17 + 1)
    return x[0] * (found[1] % 10) * n


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize(
    "function",
    [
        texts,
        text_of_all,
        among_numbers_of_numpy,
        dtype,
        exact,
        text_of_a_field,
        text_of_an_entry,
        index,
        counted,
        stored,
    ],
    ids=lambda function: function.__name__,
)
def test_kinds_are_kept(function: Any) -> None:
    right(function, X, 3 if function is not index else 2, wrt=0)
    right(function, X, 3 if function is not index else 2, wrt=0, native=True)


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
def test_places_among_what_is_no_number() -> None:
    right(index_of_a_list, X, "cic", wrt=0)
    right(index_of_a_list, X, ["c", "i", "c"], wrt=0)
    np.testing.assert_allclose(ad.grad(index_of_a_list, native=True)(X, "cic"), [6.0, 0.0, 12.0])


def test_arrays_of_integers_are_not_written_as_floats() -> None:
    def cut_off(x: Any, n: int) -> Any:
        found = np.full(2, filled(n)[2])
        found[0] = x[0] * 1.5
        return np.sum(found)

    def kept(x: Any, n: int) -> Any:
        found = np.full(2, filled(n)[0])
        found[0] = x[0] * 1.5
        return np.sum(found)

    with pytest.raises(ad.DifferentiationError, match="AD0408"):
        ad.grad(cut_off)(X, 3)
    np.testing.assert_allclose(ad.grad(kept)(X, 3), [1.5, 0.0, 0.0])


def test_who_does_not_ask_is_as_fast() -> None:
    """Messages of exceptions, and notations that read alike, do not ask."""

    def summed(x: Any, n: int) -> Any:
        total = 0.0
        for p in filled(n):
            if total < -1.0:
                raise ValueError(f"{p} is too small")
            print(f"{p:.3f}", end="")
            total = total + x[0] * p
        return total

    assert "float(" in ad.source(ad.grad(summed), X, 3)
    np.testing.assert_allclose(ad.grad(summed, native=True)(X, 3), [3.5, 0.0, 0.0])
