"""A derivative is declared of a function that writes arrays it is given: of what is in them then it says nothing."""

import operator

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.6, -0.4, 1.3])


def doubling(x):
    x *= 2.0
    return np.sum(x)


def through_a_part(x):
    x[1:][0] = 0.0
    return np.sum(x)


def through_a_view(x):
    x.T[0] += 1.0
    return np.sum(x)


def sorting(x):
    x.sort()
    return np.sum(x)


def out(x):
    np.exp(x, out=x)
    return np.sum(x)


def copied_over(x):
    np.copyto(x, 1.0)
    return np.sum(x)


def shuffled(x):
    np.random.default_rng(0).shuffle(x)
    return np.sum(x)


def by_an_operator(x):
    operator.setitem(x, 0, 1.0)
    return np.sum(x)


def by_a_helper(x):
    doubling(x)
    return np.sum(x)


def by_a_helper_of_a_part(x):
    return with_keyword(factor=2.0, values=x[1:])


def with_keyword(values, factor):
    return doubling(values) * factor


def of_what_may_be_itself(x):
    y = np.asarray(x).reshape(-1)
    y[0] = 0.0
    return np.sum(x)


def before_it_is_rebound(x):
    x[0] = 1.0
    x = x + 1.0
    return np.sum(x)


def on_one_path(x):
    if np.sum(x) > 100.0:
        x = x.copy()
    x[0] = 1.0
    return np.sum(x)


def row_by_row(x):
    for row in x.reshape(3, 1):
        row[:] = 0.0
    return np.sum(x)


def by_a_function_inside(x):
    def clear():
        x[:] = 0.0

    clear()
    return np.sum(x)


def accumulated(x):
    np.add.at(x, [0, 1], 1.0)
    return np.sum(x)


def by_position(x):
    np.exp(x, x)
    return np.sum(x)


def of_a_copy(x):
    y = x.copy()
    y *= 2.0
    return np.sum(y)


def rebound(x):
    x = x * 1.0
    x[0] = 0.0
    return np.sum(x)


def in_a_list(x):
    found = []
    found.append(x)
    found[0] = 2.0 * found[0]
    return np.sum(found[0])


def on_each_path(x):
    if np.sum(x) > 100.0:
        x = x.copy()
    else:
        x = np.abs(x)
    x[0] = 1.0
    return np.sum(x)


def by_a_helper_that_copies(x):
    return doubling(x.copy()) + of_a_copy(x)


def plain(function):
    """The function under another name, its derivative declared: it calls the function as it stands."""

    @ad.derivative_of(function, replace=True)
    def _(x):
        return function(x), lambda ct: ct * np.arange(3.0)

    return function


WRITING = [doubling, through_a_part, through_a_view, sorting, out, copied_over, shuffled, by_an_operator]
WRITING += [by_a_helper, by_a_helper_of_a_part, of_what_may_be_itself, before_it_is_rebound, on_one_path, row_by_row]
WRITING += [by_a_function_inside, accumulated, by_position]


@pytest.mark.parametrize("function", WRITING)
def test_refused(function) -> None:
    plain(function)

    def program(x):
        y = x * 1.0
        return function(y) + np.sum(y * y)

    for operator_ in (ad.grad(program), ad.grad(program, native=True), lambda x: ad.vjp(program, x)):
        with pytest.raises(ad.DifferentiationError, match="AD0303") as caught:
            operator_(X)
        assert f"{function.__name__!r} writes its argument 'x'" in str(caught.value)


@pytest.mark.parametrize("function", [of_a_copy, rebound, in_a_list, on_each_path, by_a_helper_that_copies])
def test_what_writes_its_own(function) -> None:
    plain(function)
    gradient = ad.grad(lambda x: function(x) + np.sum(x * x))(X)
    assert np.allclose(gradient, np.arange(3.0) + 2.0 * X)


def test_where_it_writes_for_another() -> None:
    def filled(x, found):
        found[:] = 2.0 * x
        return found[0]

    @ad.derivative_of(filled)
    def _(x, found):
        return filled(x, found), lambda ct: (2.0 * ct * np.eye(3)[0], None)

    def program(x):
        found = np.zeros(3)
        return filled(x, found) + np.sum(found * x)

    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.grad(program)(X)


def test_lists_and_dicts() -> None:
    def doubled(parts, key):
        parts[key] = 2.0 * parts[key]
        return parts[key]

    @ad.derivative_of(doubled, wrt="parts")
    def _(parts, key):
        return doubled(parts, key), lambda ct: type(parts)({key: 2.0 * ct} if key else [2.0 * ct])

    for parts, key in (([1.0], 0), ({"a": 1.0}, "a")):
        with pytest.raises(ad.DifferentiationError, match="AD0303"):
            ad.grad(lambda x: doubled(parts, key) + parts[key] * x)(1.0)

        def program(x, key=key):
            own = [x * 1.0] if key == 0 else {"a": x * 1.0}
            return doubled(own, key) + own[key] ** 2

        with pytest.raises(ad.DifferentiationError, match="AD0303"):
            ad.grad(program)(1.0)


def test_numbers_are_rebound() -> None:
    def halved(x):
        x /= 2.0
        return x

    @ad.derivative_of(halved)
    def _(x):
        return halved(x), lambda ct: ct / 2.0

    assert ad.grad(lambda x: halved(x) * x)(3.0) == 3.0
