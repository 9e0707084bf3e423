"""What a container holds that has one of several structures: what is refused, what raises, and what callers get."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad

X = np.array([1.5, -2.0, 3.0])


def with_a_hole(x):
    found = [None] * len(x)
    for i in range(len(x)):
        if x[i] > 0:
            found[i] = x[i]
    return found


def none_beside_a_number(x):
    return sum(with_a_hole(x))


def none_among_numbers_for_numpy(x):
    return np.sum(np.array(with_a_hole(x)))


def compared(x):
    return max(with_a_hole(x))


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("f", [none_beside_a_number, none_among_numbers_for_numpy, compared])
def test_what_python_refuses_raises(f, native):
    with pytest.raises(TypeError):
        f(X)
    with pytest.raises(TypeError):
        ad.value_and_grad(f, native=native)(X)


def test_such_a_list_is_a_result_where_nothing_is_missing():
    there = np.abs(X) + 0.1
    value, pullback = ad.vjp(with_a_hole, there)
    assert value == with_a_hole(there)
    np.testing.assert_array_equal(pullback([1.0, 2.0, 3.0])[0], [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="None lies in what 'with_a_hole' returns"):
        ad.vjp(with_a_hole, X)


def test_others_see_it_as_it_is(capsys):
    def printed(x):
        rows = {"found": with_a_hole(x), "pairs": []}
        for each in rows["found"]:
            rows["pairs"].append((each, [each]) if each is None else each)
        print(rows["found"], rows["pairs"], f"{rows['found']}")
        return np.sum(x)

    printed(X)
    said = capsys.readouterr().out
    np.testing.assert_array_equal(ad.grad(printed)(X), np.ones(3))
    assert capsys.readouterr().out == said


def test_a_list_of_the_caller_stays_what_it_is():
    def put(x, items):
        for i in range(len(x)):
            if x[i] > 0:
                items[i] = x[i] ** 2
        return np.sum(x)

    given = [None, None, None]
    try:
        ad.grad(put)(X, given)
    except ad.DifferentiationError:
        assert given == [None, None, None]
    else:
        assert given == [2.25, None, 9.0]


def test_two_names_of_what_may_be_an_array():
    def f(x):
        y = x[0] if len(x) > 5 else x * 2
        total, other = y * 1.0, y * 0.0
        for i in range(3):
            if i == 1:
                other = total
            elif i > 1:
                total += y * x[i]
        return np.sum(total) + np.sum(other * x)

    with pytest.raises(ad.DifferentiationError, match="AD0401"):
        ad.grad(f)(X)


def test_tables_of_constants_of_several_kinds() -> None:
    """Settings that are put into a table one by one: truth values, pairs, texts, None."""

    def settings(count: int) -> Any:
        found: dict[str, Any] = {}
        for i in range(count):
            if i == 0:
                found["copy"] = True
            if i == 1:
                found["range"] = (0, 1)
            if i == 2:
                found["name"] = "s"
            if i == 3:
                found["state"] = None
        return found

    def f(x: np.ndarray, count: int) -> Any:
        factor = 1.0
        for name, value in settings(count).items():
            factor += 1.0 if value is True else len(name)
        return factor * np.sum(x)

    for count in range(5):
        expected = f(np.ones(2), count) / 2.0
        np.testing.assert_allclose(ad.grad(f)(np.array([0.3, 0.4]), count), [expected] * 2)
