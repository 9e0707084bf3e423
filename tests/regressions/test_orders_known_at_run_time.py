"""Constants that are put in an order which depends on numbers."""

import adjoint as ad
from regressions.differences import refused, right


def turned(x, y):
    constants = sorted([3.0, 1.0, 2.0], reverse=x > y)
    keys = sorted({"b": x, "a": y}, reverse=x > y)
    mine = [2.0, 5.0, 1.0]
    mine.sort(reverse=x > y)
    return constants[0] * x + (1.0 if keys[0] == "b" else 2.0) * x * y + mine[0] * x * x


def test_constants_in_an_order_that_depends_on_numbers() -> None:
    right(turned, 0.7, 0.4)
    right(turned, 0.4, 0.7)


def mixed(x):
    try:
        return sorted([1, "a"])[0] * x
    except TypeError:
        return x * x


def test_constants_that_have_no_order() -> None:
    right(mixed, 0.7)
    message = str(refused(lambda: ad.grad(lambda x: sorted([1, "a"])[0] * x)(0.7)))
    assert "not supported between instances of 'str' and 'int'" in message


def test_calls_without_their_arguments() -> None:
    for f in (
        lambda x: x * len([].append()),
        lambda x: x * next(enumerate())[0],
        lambda x: x * max(),
        lambda x: x * float(x, 2),
        lambda x: [x].append(x, x),
        lambda x: x * len(range(0, 5, 0)),
    ):
        assert "AD0213" in str(refused(lambda f=f: ad.grad(f)(0.7)))
