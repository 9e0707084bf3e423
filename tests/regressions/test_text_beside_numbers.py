"""Text that is made while a function runs is text, not an array that might be written."""

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right


def formatted(x, n):
    name = f"value {n}"
    return x * ("%s" % name).count("a")  # noqa: UP031


def repeated(x, n):
    return x * len((str(n) * 2).upper())


def joined(x, n):
    label = f"{x:.2f}" + "%s" % n  # noqa: UP031
    return x * len(label.strip())


def grown(x, n):
    label = ""
    for k in range(n):
        label += str(k)
    return x * label.count("1") + len(label)


@pytest.mark.parametrize("f", [formatted, repeated, joined, grown])
def test_methods_of_text(f) -> None:
    right(f, 2.0, 3)


def joined_numbers(x, n):
    return float(",".join([str(x)])) * n


def joined_list(x, n):
    texts = []
    for k in range(n):
        texts.append(f"{x * k}")
    return float(" ".join(texts).split()[1])


def joined_by_map(x, n):
    return float(" ".join(map(str, [x, x * n])).split()[1])


def raised(x, n):
    try:
        if n > 0:
            raise ValueError(x * n)
    except ValueError as problem:
        return float(str(problem))
    return x


def raised_by_a_function(x, n):
    try:
        raised_always(x, n)
    except RuntimeError as problem:
        return float(f"{problem}")
    return x


def raised_always(x, n):
    raise RuntimeError(x * n)


def shown(x, n):
    try:
        if n > 0:
            raise ValueError(x * n)
    except ValueError as problem:
        return float(repr(problem)[11:-1])
    return x


def items_of_arguments(x, n):
    try:
        if n > 0:
            raise ValueError(x, n)
    except ValueError as problem:
        return float(",".join(map(str, problem.args)).split(",")[0])
    return x


def notes(x, n):
    problem = ValueError(n)
    problem.add_note(str(x))
    try:
        if n > 0:
            raise problem
    except ValueError as caught:
        return float(caught.__notes__[0])
    return x


@pytest.mark.parametrize(
    "f",
    [
        joined_numbers,
        joined_list,
        joined_by_map,
        raised,
        raised_by_a_function,
        shown,
        items_of_arguments,
        notes,
    ],
)
def test_numbers_that_come_back_from_text(f) -> None:
    assert f(2.0, 3) == f(2.0, 3) != f(2.5, 3)  # it varies
    for run in (lambda: ad.grad(f)(2.0, 3), lambda: ad.jvp(f, (2.0, 3), (1.0, None))):
        assert "comes back from text" in str(refused(run))


def test_text_that_tells_of_no_number() -> None:
    def length(x, n):
        try:
            if n > 0:
                raise ValueError(f"{n} of {x}")
        except ValueError as problem:
            return x * x * (2.0 if str(problem).startswith("3") else 1.0)
        return x

    right(length, 2.0, 3)


def of_a_tuple(x, n):
    items = tuple([2.0 * k for k in range(n)])
    return x * len(str(items)) * (2.0 if f"{items}".startswith("(") and "%s" % (items,) == str(items) else 3.0)  # noqa: UP031


def of_elements(x, n):
    v = np.array([x, 2.0 * x, 0.0])
    total = 0.0
    for item in (*v.tolist(), v.item(n - 1), v[1:2].item()):
        try:
            total += 1.0 / item
        except ZeroDivisionError:
            total += item + x
    return total * len(repr(v[2:].tolist()))


@pytest.mark.parametrize("f", [of_a_tuple, of_elements])
def test_what_tuples_and_elements_look_like(f) -> None:
    right(f, 2.0, 3)
