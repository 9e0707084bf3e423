"""Large blocks that are freed serve the next call, and nobody who still refers to one sees that."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import adjoint as ad
from adjoint.native.llvm.memory import pool

LARGE = 200_000


def wave(x: np.ndarray) -> float:
    y = np.sin(x)
    for _ in range(3):
        y = np.sin(y * x) + np.roll(y, 1)
    return float(np.sum(y * y))


@pytest.fixture
def emptied() -> Iterator[None]:
    """The lists are empty."""
    with pool.at_most(0):
        ad.grad(wave, native="strict")(np.ones(LARGE))
    assert pool.kept() == 0
    yield


@pytest.mark.usefixtures("emptied")
def test_the_next_call_takes_what_the_last_has_freed() -> None:
    gradient, x = ad.grad(wave, native="strict"), np.linspace(0.0, 1.0, LARGE)
    gradient(x)
    first = pool.kept()
    assert first >= 3 * x.nbytes
    for _ in range(5):
        gradient(x)
        assert pool.kept() == first


@pytest.mark.usefixtures("emptied")
def test_results_stay_what_they_are() -> None:
    gradient, plain = ad.grad(wave, native="strict"), ad.grad(wave, native=False)
    inputs = [np.linspace(0.0, 1.0 + at, LARGE) for at in range(4)]
    results = [gradient(x) for x in inputs]
    views = [gradient(x)[::2][:10] for x in inputs]
    for x, result, view in zip(inputs, results, views, strict=True):
        expected = plain(x)
        np.testing.assert_allclose(result, expected, rtol=1e-10)
        np.testing.assert_allclose(view, expected[::2][:10], rtol=1e-10)


@pytest.mark.usefixtures("emptied")
def test_a_result_that_is_dropped_comes_back() -> None:
    gradient, x = ad.grad(wave, native="strict"), np.ones(LARGE)
    result = gradient(x)
    before = pool.kept()
    del result
    assert pool.kept() >= before + x.nbytes


@pytest.mark.usefixtures("emptied")
def test_no_more_is_kept_than_may_be() -> None:
    gradient = ad.grad(wave, native="strict")
    with pool.at_most(4 << 20):
        for n in (LARGE // 4, LARGE, LARGE // 2, 4 * LARGE):
            gradient(np.ones(n))
            assert pool.kept() <= 4 << 20


@pytest.mark.usefixtures("emptied")
def test_threads_share_the_lists() -> None:
    gradient, plain = ad.grad(wave, native="strict"), ad.grad(wave, native=False)
    gradient(np.ones(LARGE))
    inputs = [np.linspace(0.0, 1.0 + at, LARGE + at) for at in range(4)]
    found: dict[int, list[np.ndarray]] = {at: [] for at in range(4)}

    def many(at: int) -> None:
        for _ in range(10):
            found[at].append(gradient(inputs[at]))

    threads = [threading.Thread(target=many, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, results in found.items():
        expected = plain(inputs[at])
        for result in results:
            np.testing.assert_allclose(result, expected, rtol=1e-10)


def filled(x: float, n: int, m: int) -> float:
    a = np.full((n, m), x)
    return float(np.sum(a))


@pytest.mark.parametrize("n, m", [(2**62, 1), (2**40, 2**40), (2**31, 2**32)])
def test_arrays_that_no_machine_holds_are_refused_as_numpy_does(n: int, m: int) -> None:
    with pytest.raises(ValueError, match="array is too big"):
        filled(1.0, n, m)
    with pytest.raises(ValueError, match="array is too big"):
        ad.grad(filled, wrt=0, native="strict")(1.0, n, m)
