"""A variable that is not bound in a function that is called is for the caller's handler, whatever class that names."""

import contextlib
from collections.abc import Callable

import pytest

import adjoint as ad


def sometimes(n):
    if n > 5.0:
        s = 2.0
    return s * n


def by_its_class(x):
    try:
        return sometimes(x)
    except UnboundLocalError:
        return x * x


def by_a_base(x):
    try:
        return sometimes(x)
    except NameError as problem:
        return x * len(problem.args[0])


def by_any(x):
    try:
        y = sometimes(x)
    except Exception:
        y = x * x
    return y


def suppressed(x):
    y = x * x
    with contextlib.suppress(NameError):
        y = sometimes(x)
    return y


def through_two(x):
    def between(n):
        return sometimes(n) + 1.0

    try:
        return between(x)
    except UnboundLocalError:
        return x * x


def past_another_handler(x):
    def inner(n):
        try:
            return sometimes(n)
        except ValueError:
            return 0.0

    try:
        return inner(x)
    except UnboundLocalError:
        return x * x


def in_its_own_function(x):
    if x > 5.0:
        s = 2.0
    try:
        return s * x
    except:  # noqa: E722
        return x * x


def in_a_loop(x):
    total = 0.0
    for factor in (1.0, 7.0):
        try:
            total += sometimes(x * factor)
        except UnboundLocalError:
            total += x * x
    return total


def by_a_loop(x):
    def last(n):
        for i in range(int(n)):
            if i > 5:
                s = n
        return s * n

    try:
        return last(x)
    except NameError:
        return x * x


def in_a_closure(x):
    def outer(n):
        if n > 5.0:
            s = 2.0
        return (lambda: s * n)()

    try:
        return outer(x)
    except NameError:
        return x * x


def in_a_generator(x):
    def items(n):
        if n > 5.0:
            s = 2.0
        yield s * n

    try:
        return sum(items(x))
    except NameError:
        return x * x


def in_recursion(x):
    def f(n, depth):
        if depth:
            return f(n, depth - 1) * n
        if n > 5.0:
            s = 2.0
        return s * n

    try:
        return f(x, 3)
    except UnboundLocalError:
        return x * x


def read_before(x):
    def f(n):
        y = s * n  # noqa: F821
        s = 2.0  # noqa: F841
        return y

    try:
        return f(x)
    except UnboundLocalError:
        return x * x


def deleted(x):
    def f(n):
        s = 2.0
        if n < 5.0:
            del s
        return s * n

    try:
        return f(x)
    except UnboundLocalError:
        return x * x


def deleted_twice(x):
    def f(n):
        if n > 5.0:
            s = 2.0
        del s
        return n

    try:
        return f(x)
    except UnboundLocalError:
        return x * x


def what_was_done_before(x):
    a = 0.0
    try:
        a = x * 2.0
        sometimes(x)
        a = x * 3.0
    except NameError:
        pass
    return a


PROGRAMS = [
    by_its_class,
    by_a_base,
    by_any,
    suppressed,
    through_two,
    past_another_handler,
    in_its_own_function,
    in_a_loop,
    by_a_loop,
    in_a_closure,
    in_a_generator,
    in_recursion,
    read_before,
    deleted,
    deleted_twice,
    what_was_done_before,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives(program: Callable[[float], float]) -> None:
    derivative = ad.value_and_grad(program)
    for x in (1.3, 7.7):
        value, gradient = derivative(x)
        difference = (program(x + 1e-6) - program(x - 1e-6)) / 2e-6
        assert value == pytest.approx(program(x), rel=1e-12)
        assert gradient == pytest.approx(difference, rel=1e-6)
        assert ad.jvp(program, (x,), (1.0,))[1] == pytest.approx(difference, rel=1e-6)


def test_what_is_deleted_has_to_be_bound() -> None:
    def f(x):
        if x > 5.0:
            s = 2.0
        del s
        return x

    assert ad.grad(f)(7.7) == 1.0
    with pytest.raises(UnboundLocalError):
        ad.grad(f)(1.3)
