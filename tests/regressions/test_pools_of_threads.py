"""What a pool of threads runs is not followed: it is refused where something varies, and runs where nothing does."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

import adjoint as ad

POOL = ThreadPoolExecutor(1)


def square(x):
    return x * x


def submitted(x):
    return POOL.submit(square, x).result()


def submitted_to_its_own(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(square, x).result()


def mapped(x):
    return sum(POOL.map(square, [x, 2.0 * x]))


def mapped_in_order(x):
    return list(POOL.map(pow, [x, x], [2.0, 3.0]))[1]


def several(x):
    futures = [POOL.submit(square, item) for item in (x, 2.0 * x)]
    return sum(future.result() for future in futures)


def a_function_made_inside(x):
    return POOL.submit(lambda: x * x).result()


@pytest.mark.parametrize(
    "program", [submitted, submitted_to_its_own, mapped, mapped_in_order, several, a_function_made_inside]
)
def test_refused(program: Callable[[float], float]) -> None:
    for operator in (ad.grad(program), lambda x: ad.jvp(program, (x,), (1.0,))):
        with pytest.raises(ad.DifferentiationError, match=r"AD020[12]"):
            operator(1.5)


DONE: Future[float] = POOL.submit(square, 3.0)


def test_constants() -> None:
    assert ad.grad(lambda x: POOL.submit(square, 2.0).result() * x)(1.5) == 4.0
    assert ad.grad(lambda x: DONE.result() * x)(1.5) == 9.0
